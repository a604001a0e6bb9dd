"""Agents that grow a search tree: they can be watched, stopped at any time, and their tree can be read.

`SearchAgent` is the capability that `ludus.analyse`, `ludus.Tree`, `ludus.Session` and the protocols build on. A kind
of agent derives from it and says which forest it grows.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from ludus.agents.agent import Choice, player_asked
from ludus.agents.asking import position_for
from ludus.agents.budget import MOST_SIMULATIONS, Budget
from ludus.agents.resistance import longest_resistance
from ludus.agents.snapshot import Block, Snapshot, block_of, snapshot_of
from ludus.errors import BadAgent
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents.agent import Agent, Progress
    from ludus.game import Action, Game, Position
    from ludus.search.forest import Evaluator, Forest, Root

SEARCHES_KEPT = 4
"""A forest has space for the nodes of this many searches: those reused from earlier searches, and the search's own."""

POSITION_COST = 16
"""A position that is searched for resistance takes about as long as this many simulations, and counts as many."""

Watch = Callable[["Thinking"], object]
"""Called in the thread of the search between its rounds, hundreds of times a second or more.

It may read the search, and ends it by returning False. It limits its own rate: `Thinking.snapshot` takes about 0.2 ms.
"""


class Thinking:
    """A search under way, as its watcher sees it between two rounds. It means nothing after the search."""

    def __init__(self, agent: SearchAgent, position: Position, player: int, budget: Budget):
        self._agent, self._position, self._player, self._budget = agent, position, player, budget
        self._began = time.perf_counter()
        self._fraction = 0.0
        self._more = 0
        """Positions searched after the tree search."""
        self.ended = ""

    @property
    def simulations(self) -> int:
        return int(self._agent.grown.trees.done.sum()) + self._more

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._began

    @property
    def fraction(self) -> float | None:
        """The fraction of the budget that is spent, from 0 to 1; None where there is no limit."""
        return None if self._budget.infinite else self._fraction

    def snapshot(self) -> Snapshot:
        """What the search knows now."""
        forest = self._agent.grown
        has_priors = self._agent.evaluator is not None
        return self._snapshot(tuple(block_of(root, has_priors) for root in forest.roots()), tuple(forest.line()))

    def _snapshot(self, blocks: tuple[Block, ...], line: tuple[int, ...]) -> Snapshot:
        solved = bool(self._agent.grown.trees.nodes["solved"][self._agent.grown.trees.root[0]])
        return Snapshot(
            self._position,
            self._player,
            blocks,
            line,
            self.simulations,
            self.seconds,
            1.0 if self.ended == "budget" else self.fraction,
            solved,
            bool(self.ended),
            self.ended,
        )

    def _time_left(self) -> float:
        return np.inf if self._budget.seconds is None else self._budget.seconds - self.seconds


class SearchEnded(Exception):
    """Ends a search from within its evaluator, see SearchAgent.poll."""


class SearchAgent:
    """Plays the most visited move.

    Where both players of a zero-sum game move at once, the move is drawn in proportion to the visits, which converge to
    an equilibrium. In other games they do not, and a move that was visited only to explore is not worth playing.
    """

    evaluator: Evaluator | None = None
    """What evaluates positions; None: random playouts."""
    pace: Callable[[], object] | None = None
    """Called between two rounds of a search. It may wait, to let other searches of this process run."""

    def __init__(self, game: Game, name: str, budget: Budget, seed: int = 0, reuse: bool = True):
        self.game, self.name, self.budget, self.reuse = game, name, budget, reuse
        self.generation = 0
        """Raised whenever the nodes of the tree no longer stand for the positions they stood for."""
        self.temperature = 0.0
        """Above 0, the move is drawn: in proportion to (visits and prior) ** (1 / temperature)."""
        self._warm = False
        self._busy = threading.Lock()
        self._trees = threading.RLock()
        """Held by the thread that searches, except between rounds, and by a thread that reads the trees."""
        self._change = threading.Condition(self._trees)
        self._poll: Callable[[], None] | None = None
        self._readers = 0
        self._counting = threading.Lock()
        self._begin(seed)

    def make_forest(self, nodes: int | None) -> Forest:
        """A forest of one tree, with space for this many nodes; None: for as many as the agent's memory holds."""
        raise NotImplementedError(f"{type(self).__name__} must define make_forest()")

    def _begin(self, seed: int) -> None:
        self.seed = seed
        self.random = Random(seed)
        self.forest: Forest | None = None
        self.nodes: int | None = 0
        """The number of nodes that the forest was made for; None: as many as the memory holds."""
        self.root: Position | None = None
        """The position at the root of the tree; None if there is no tree."""
        self.generation += 1

    # --- an agent -----------------------------------------------------------------------------------------------------

    def new_game(self, seed: int) -> None:
        with self._alone(), self._trees:
            self._begin(seed)
            self.prepare()

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        if progress is None:
            return self.think(position, budget, player)[0]
        return self.think(position, budget, player, lambda search: progress(search.fraction or 0.0))[0]

    def think(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        watch: Watch | None = None,
    ) -> tuple[Choice, Snapshot]:
        """Search a position: the choice, and what the search knew at its end.

        `watch` sees the search between rounds and may end it. A search that is ended answers with its best move so
        far. The search is the same, simulation for simulation, with and without a watcher.
        """
        if position.game is not self.game and position.game.identity != self.game.identity:
            raise BadAgent(f"{self.name} was made for {self.game.identity}, not for {position.game.identity}")
        with self._alone():
            self.prepare()
            allowed = self.budget if budget is None else Budget.of(budget)
            thinking = Thinking(self, position, player_asked(position, player), allowed)
            with self._trees:
                self._go_to(self._forest_for(allowed), position)
                self._search(thinking, watch)
                return self._conclude(thinking, watch)

    def prepare(self) -> None:
        """Compile everything that a search needs, once in a process."""
        if self._warm:
            return
        start = self.game.compile().start()
        if not start.is_over:
            forest = self.make_forest(self.nodes_to_prepare())
            forest.plant(start)
            forest.search(self.evaluator, simulations=2)
            forest.roots()
            forest.line()
            child = start.play(start.actions[0])
            forest.advance(as_row(self.game, child.action), child)
        self._warm = True

    def nodes_to_prepare(self) -> int:
        """Nodes of the smallest forest that searches as the agent does with its own budget."""
        return 64

    # --- the search ---------------------------------------------------------------------------------------------------

    def _search(self, thinking: Thinking, watch: Watch | None) -> None:
        forest, budget = self.grown, thinking._budget

        def goes_on() -> bool:
            self._let_others_in()
            if thinking.ended or thinking.simulations == 0:  # a search that has not begun has no best move yet
                return not thinking.ended
            if budget.infinite and forest.is_full:
                thinking.ended = "full"
            elif watch is not None and watch(thinking) is False:
                thinking.ended = "stopped"
            return not thinking.ended

        def between_rounds(fraction: float) -> bool:
            thinking._fraction = fraction
            return goes_on()

        def within_a_batch() -> None:
            if not goes_on() or (thinking.simulations > 0 and thinking._time_left() <= 0):
                raise SearchEnded

        simulations = MOST_SIMULATIONS if budget.infinite else budget.simulations
        seconds = None if budget.seconds is None else max(0.001, thinking._time_left())
        self._poll = within_a_batch
        try:
            forest.search(self.evaluator, simulations=simulations, seconds=seconds, progress=between_rounds)
        except SearchEnded:
            pass  # the forest has taken back what was under way
        finally:
            self._poll = None
        if not forest.roots():  # the time was up before it began
            forest.search(self.evaluator, simulations=1)

    def poll(self) -> None:
        """Called by an evaluator whose batches take long, again and again: ends the search at once where it shall end,
        by an exception that the evaluator lets pass."""
        if self._poll is not None:
            self._poll()

    def _conclude(self, thinking: Thinking, watch: Watch | None) -> tuple[Choice, Snapshot]:
        position, player = thinking._position, thinking._player
        roots = self.grown.roots()
        root = next(root for root in roots if root.player == player)
        together = position.to_move == EVERYONE
        if is_mixed(position):
            root.best = self.random.choices(root.actions.tolist(), root.policy.tolist())[0]
        elif not together and root.solved and root.value <= -1.0:
            root.best = self._resist(thinking, watch, root)
        elif self.temperature > 0.0:
            root.best = self._draw_warm(root)
        thinking.ended = thinking.ended or ("solved" if root.solved else "budget")
        blocks = tuple(block_of(each, self.evaluator is not None) for each in roots)
        report = thinking._snapshot(blocks, tuple(self.grown.line(action=None if together else root.best)))
        choice = Choice(
            player,
            root.best,
            report.best,
            root.actions.tolist(),
            root.visits.tolist(),
            root.values.tolist(),
            root.policy.tolist(),
            root.value,
            report.line,
            report.simulations,
            report.seconds,
            root.solved,
            None if self.evaluator is None else root.priors.tolist(),
        )
        return choice, report

    def _draw_warm(self, root: Root) -> int:
        shares = root.visits / max(1, root.visits.sum()) + root.priors
        weights = (shares / shares.max()) ** (1.0 / self.temperature)
        return self.random.choices(root.actions.tolist(), weights.tolist())[0]

    def _resist(self, thinking: Thinking, watch: Watch | None, root: Root) -> int:
        """The move that holds out longest in a lost position, searched for with the rest of the budget."""
        allowed = thinking._budget.simulations or MOST_SIMULATIONS
        stopped = thinking.ended == "stopped"
        exact = self.game.players == 2 and self.game.zero_sum  # else the others need not want this player to lose
        checked = time.perf_counter()

        def may_search() -> bool:
            nonlocal stopped, checked
            thinking._more += 1
            spent = thinking.simulations + (POSITION_COST - 1) * thinking._more
            if time.perf_counter() - checked > 0.005:
                checked = time.perf_counter()
                self._let_others_in()
                stopped = watch is not None and watch(thinking) is False
            return exact and not stopped and spent <= allowed and thinking._time_left() > 0

        actions = root.actions.tolist()
        lengths = dict(zip(actions, root.lengths.tolist(), strict=True))
        visits = dict(zip(actions, root.visits.tolist(), strict=True))
        action = longest_resistance(thinking._position, root.player, lengths, visits, may_search)
        if stopped:
            thinking.ended = "stopped"
        return action

    # --- the tree -----------------------------------------------------------------------------------------------------

    @property
    def grown(self) -> Forest:
        """The forest of the present tree."""
        if self.forest is None or self.root is None:
            raise BadAgent(f"{self.name} has no tree: it has not searched a position yet")
        return self.forest

    def _forest_for(self, budget: Budget) -> Forest:
        """A forest with space for this budget."""
        nodes = nodes_for(budget)
        if self.forest is None or (self.nodes is not None and (nodes is None or nodes > self.nodes)):
            self.generation += 1
            self.root = None
            self.forest, self.nodes = self.make_forest(nodes), nodes
        return self.forest

    def _go_to(self, forest: Forest, position: Position) -> None:
        """Make a position the root: by playing on from the present root where that leads there, else anew."""
        steps = steps_between(self.root, position) if self.reuse else None
        if steps == []:
            self.root = position
            return
        self.generation += 1
        self.root = None  # until it is done: an interrupt must not leave the tree at an unknown position
        if steps is None:
            forest.plant(position)
        else:
            for step in steps:
                forest.advance(as_row(self.game, step.action), step)
        self.root = position

    def drop_tree(self) -> None:
        """Give the memory of the tree back; the next search begins a new one. BadAgent while a search goes on."""
        with self._alone(), self._trees:
            self.generation += 1
            self.root, self.forest, self.nodes = None, None, 0

    # --- threads ------------------------------------------------------------------------------------------------------

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One search at a time."""
        if not self._busy.acquire(blocking=False):
            raise BadAgent(f"{self.name} is thinking already: stop that search first, or use another agent")
        try:
            yield
        finally:
            self._busy.release()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While this lasts no tree changes; a search under way waits, and lets the reader in between two rounds."""
        with self._counting:
            self._readers += 1
        try:
            with self._trees:
                yield
        finally:
            with self._counting:
                self._readers -= 1

    def _let_others_in(self) -> None:
        """Give way to other searches, and to threads that wait to read, for about as long as a round takes."""
        if self.pace is not None:
            self._trees.release()
            try:
                self.pace()
            finally:
                self._trees.acquire()
        if self._readers:
            deadline = time.perf_counter() + 0.01
            while self._readers and time.perf_counter() < deadline:
                self._change.wait(0.0005)  # releases the lock


def nodes_for(budget: Budget) -> int | None:
    """Nodes of a forest for searches with this budget; None: as many as the agent's memory holds."""
    return None if budget.simulations is None else SEARCHES_KEPT * budget.simulations + 1


def is_mixed(position: Position) -> bool:
    """True where two opponents in a zero-sum game move at once: a search then draws the move from its policy."""
    return position.to_move == EVERYONE and position.game.players == 2 and position.game.zero_sum


def prepare(agent: Agent) -> None:
    """Compile everything that an agent's search needs, so that no clock runs meanwhile. Its tree is kept."""
    if isinstance(agent, SearchAgent):
        agent.prepare()


def think(
    agent: Agent,
    position: Position,
    budget: Budget | str | int | None = None,
    player: int | None = None,
    watch: Watch | None = None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> tuple[Choice, Snapshot]:
    """Any agent's choice, and what it knew at the end: all searches of the library go through here.

    An agent that searches is shown to `watch`. Every other agent is only asked whether to stop, by `is_stopped`. An
    agent that is not part of Ludus gets a copy of the position.
    """
    shown = position_for(agent, position)
    if isinstance(agent, SearchAgent):

        def seen(search: Thinking) -> bool:
            return not is_stopped() and (watch is None or watch(search) is not False)

        return agent.think(shown, budget, player, seen)
    choice = agent.choose(shown, budget, player, lambda fraction: not is_stopped())
    return choice, snapshot_of(position, choice, "stopped" if is_stopped() else "budget")


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
    """An action as Forest.advance takes it: int32 [1, D]."""
    row = np.full((1, game.players if game.simultaneous else 1), -1, np.int32)
    if action is not None:
        parts = action if isinstance(action, tuple) else (action,)
        row[0, : len(parts)] = parts
    return row
