"""One move ahead: the move whose position is best by the game's heuristic, or by the result where the game is over."""

from __future__ import annotations

import time
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from ludus import rules as generic
from ludus.agents.agent import Choice, player_asked
from ludus.errors import BadAgent
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.budget import Budget
    from ludus.agents.naming import Spec
    from ludus.game import Game, Position


class GreedyAgent:
    """Where everyone moves at once, a move counts as the mean over all that the others may do."""

    def __init__(self, name: str = "greedy", seed: int = 0):
        self.name = name
        self.random = Random(seed)

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        began = time.perf_counter()
        player = player_asked(position, player)
        actions = position.actions_of(player)
        values = [0.0] * len(actions)
        judged = 0
        for joint in position.actions:
            mine = joint[player] if isinstance(joint, tuple) else joint
            values[actions.index(mine)] += judge(position.play(joint), player)
            judged += 1
        if position.to_move == EVERYONE:
            values = [value * len(actions) / judged for value in values]
        best = max(values)
        action = self.random.choice([action for action, value in zip(actions, values, strict=True) if value == best])
        move = position.game.write_move(position.state, player, action)
        return Choice(
            player,
            action,
            move,
            actions,
            values=values,
            value=best,
            line=[move] if position.to_move != EVERYONE else [],
            simulations=judged,
            seconds=time.perf_counter() - began,
        )

    def new_game(self, seed: int) -> None:
        self.random = Random(seed)


def judge(position: Position, player: int) -> float:
    """A player's result where the game is over, else the heuristic's guess."""
    if position.is_over:
        return position.values[player]
    with np.errstate(over="ignore"):
        return float(generic.heuristic(position.game.rules, position.state, player))


def make(spec: Spec, game: Game, seed: int) -> GreedyAgent:
    spec.refuse_budget()
    if not game.has("heuristic"):
        raise BadAgent(f"{spec.text} cannot play {game.name}: the game has no heuristic")
    return GreedyAgent(spec.text, seed, **spec.read())
