"""Tree search with random playouts: needs nothing but the rules, and plays every kind of game.

uct:10000            simulations a move        uct:2s        seconds a move
c=0.7                weight of the uncertainty in UCB1: more explores more
transpositions=yes   positions that are reached in two ways share what is known of them
memory=256MB         the tree never takes more; when it is full, the search goes on without growing it
reuse=no             start every move from nothing, instead of from what the last search knew
"""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.agents.agent import Choice, player_asked
from ludus.agents.budget import Budget
from ludus.agents.naming import number_from_0, size, yes_or_no
from ludus.errors import BadAgent
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.naming import Spec
    from ludus.game import Action, Game, Position
    from ludus.search.forest import Evaluator, Forest, Root

BUDGET = Budget(simulations=10_000)
OPTIONS = {"c": number_from_0, "transpositions": yes_or_no, "memory": size, "reuse": yes_or_no}

SEARCHES_KEPT = 4
"""Room for the nodes of so many searches: what is reused from earlier ones comes on top of a search's own."""


class UctAgent:
    """Plays the most visited move; where everyone moves at once, a move drawn in proportion to the visits."""

    evaluator: Evaluator | None = None
    """What judges positions; None: random playouts."""

    def __init__(
        self,
        game: Game,
        name: str = "uct",
        budget: Budget | None = None,
        seed: int = 0,
        c: float = 1.0,
        transpositions: bool = False,
        memory: int = 1 << 28,
        reuse: bool = True,
    ):
        self.game, self.name = game, name
        self.budget = budget or BUDGET
        self.c, self.transpositions, self.memory, self.reuse = c, transpositions, memory, reuse
        self.warm = False
        self._begin(seed)

    def _begin(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.forest: Forest | None = None
        self.nodes: int | None = 0
        """How many nodes the forest was made for; None: as many as the memory holds."""
        self.root: Position | None = None
        """The root of the tree, if there is one."""

    def new_game(self, seed: int) -> None:
        self._begin(seed)
        self._warm_up()

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        if position.game is not self.game and position.game.identity != self.game.identity:
            raise BadAgent(f"{self.name} was made for {self.game.identity}, not for {position.game.identity}")
        self._warm_up()
        began = time.perf_counter()
        player = player_asked(position, player)
        allowed = self.budget if budget is None else Budget.of(budget)
        forest = self._forest_for(allowed)
        self._go_to(forest, position)
        spent = time.perf_counter() - began
        seconds = None if allowed.seconds is None else max(0.001, allowed.seconds - spent)
        simulations = forest.search(self.evaluator, simulations=allowed.simulations, seconds=seconds, progress=progress)
        root = next(root for root in forest.roots() if root.player == player)
        together = position.to_move == EVERYONE
        action = self._draw(root) if together else root.best
        return Choice(
            player,
            action,
            position.game.write_move(position.state, player, action),
            root.actions.tolist(),
            root.visits.tolist(),
            root.values.tolist(),
            root.policy.tolist(),
            root.value,
            [] if together else in_notation(position, forest.line()),
            simulations,
            time.perf_counter() - began,
            root.solved,
        )

    def _draw(self, root: Root) -> int:
        return self.random.choices(root.actions.tolist(), root.policy.tolist())[0]

    # --- the tree -----------------------------------------------------------------------------------------------------

    def _forest_for(self, budget: Budget) -> Forest:
        """A forest with room for this budget."""
        nodes = None if budget.simulations is None else SEARCHES_KEPT * budget.simulations + 1
        if self.forest is None or (self.nodes is not None and (nodes is None or nodes > self.nodes)):
            self.forest, self.nodes, self.root = self._make_forest(nodes), nodes, None
        return self.forest

    def _make_forest(self, nodes: int | None) -> Forest:
        from ludus.search.forest import Forest
        from ludus.search.ucb1 import Ucb1

        return Forest(
            self.game,
            Ucb1(self.c),
            nodes=nodes,
            memory=self.memory,
            transpositions=self.transpositions,
            seed=self.seed,
        )

    def _go_to(self, forest: Forest, position: Position) -> None:
        """Make a position the root: by playing on from the present one where that leads there, else anew."""
        steps = steps_between(self.root, position) if self.reuse else None
        self.root = (
            None  # until it is done: an interrupt must not leave the tree somewhere else than it is thought to be
        )
        if steps is None:
            forest.plant(position)
        else:
            for step in steps:
                forest.advance(as_row(self.game, step.action), step)
        self.root = position

    def _warm_up(self) -> None:
        """Compile, once in a process, all that a choice needs."""
        if self.warm:
            return
        start = self.game.compile().start()
        if not start.is_over:
            forest = self._make_forest(64)
            forest.plant(start)
            forest.search(self.evaluator, simulations=2)
            forest.roots()
            forest.line()
            child = start.play(start.actions[0])
            forest.advance(as_row(self.game, child.action), child)
        self.warm = True


def steps_between(root: Position | None, position: Position) -> list[Position] | None:
    """The positions after `root` up to `position`, each with the action that led there; None where `root` is no
    ancestor."""
    if root is None:
        return None
    steps: list[Position] = []
    at: Position | None = position
    while at is not None and at != root:
        steps.append(at)
        at = at.parent
    return None if at is None else steps[::-1]


def as_row(game: Game, action: Action | None) -> np.ndarray:
    """An action as Forest.move takes it: int32 [1, D]."""
    row = np.full((1, game.players if game.simultaneous else 1), -1, np.int32)
    if action is not None:
        parts = action if isinstance(action, tuple) else (action,)
        row[0, : len(parts)] = parts
    return row


def in_notation(position: Position, line: list[Any]) -> list[str]:
    moves = []
    for action in line:
        moves.append(position.notation(action))
        position = position.play(action)
    return moves


def make(spec: Spec, game: Game, seed: int) -> UctAgent:
    return UctAgent(game, spec.text, spec.budget, seed, **spec.read(**OPTIONS))
