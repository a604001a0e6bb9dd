"""A few plies ahead: alpha-beta to a fixed depth, and there the game's heuristic. For two rivals who move in turn.

adversarial          two plies: one's own move and the answer
adversarial:3        three plies; each further ply takes several times as long
"""

from __future__ import annotations

import math
import time
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from ludus.agents.agent import Choice, player_asked
from ludus.agents.budget import Budget
from ludus.errors import BadAgent
from ludus.search.alphabeta import Stack, look_ahead, make_stack

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.naming import Spec
    from ludus.game import Game, Position

BUDGET = Budget(simulations=2)
"""The default budget: a search of two plies."""
DEEPEST = 9


class AdversarialAgent:
    """Of the moves that are worth most, one at random."""

    def __init__(self, game: Game, name: str = "adversarial", depth: int = 2, seed: int = 0):
        self.game, self.name, self.depth = game, name, depth
        self.random = Random(seed)
        self.stack: Stack | None = None

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        stack = self._stack()
        stack.control[:] = 0
        began = time.perf_counter()
        player = player_asked(position, player)
        actions = position.actions_of(player)
        first = {action: self._worth(stack, position.play(action), 0, player, -math.inf) for action in actions}
        best, worth = -math.inf, dict.fromkeys(actions, math.nan)
        for number, action in enumerate(sorted(actions, key=first.__getitem__, reverse=True)):
            # Just below the best, so that a move as good is found to be so.
            value = self._worth(
                stack, position.play(action), self.depth - 1, player, float(np.nextafter(best, -math.inf))
            )
            if value >= best:
                best = worth[action] = value
            if progress is not None and progress((number + 1) / len(actions)) is False:
                break
        action = self.random.choice([action for action in actions if worth[action] == best])
        move = position.game.write_move(position.state, player, action)
        return Choice(
            player,
            action,
            move,
            actions,
            values=np.clip([worth[action] for action in actions], -1.0, 1.0).tolist(),
            value=min(1.0, max(-1.0, best)),
            line=[move],
            simulations=len(actions) + int(stack.control[2]),
            seconds=time.perf_counter() - began,
        )

    def _worth(self, stack: Stack, position: Position, left: int, player: int, low: float) -> float:
        """What a position is worth to a player, if more than `low`; beyond 1 where a win is near."""
        if position.is_over:
            return position.values[player] * (1 + left)
        stack.states[0] = position.states[0]
        value = look_ahead(self.game.rules, stack, left, player, low, math.inf)
        self.game.raise_pending()
        return float(value)

    def new_game(self, seed: int) -> None:
        self.random = Random(seed)
        start = self.game.start()
        if not start.is_over:
            self._worth(self._stack(), start, 0, 0, -math.inf)

    def _stack(self) -> Stack:
        if self.stack is None:
            self.stack = make_stack(self.game.compile(), self.depth)
        return self.stack


def make(spec: Spec, game: Game, seed: int) -> AdversarialAgent:
    depth = (spec.budget or BUDGET).simulations
    if depth is None or not 1 <= depth <= DEEPEST:
        raise BadAgent(f"{spec.text}: adversarial takes the plies to look ahead, from 1 to {DEEPEST}")
    game.require_two_player_zero_sum(f"cannot be played by {spec.text}", BadAgent)
    if not game.has("heuristic"):
        raise BadAgent(f"{spec.text} cannot play {game.name}: the game has no heuristic")
    return AdversarialAgent(game, spec.text, depth, seed, **spec.read())
