"""A few plies ahead: alpha-beta to a fixed depth, and there the game's heuristic. For two rivals who move in turn.

adversarial          two plies: one's own move and the answer
adversarial:3        three plies; each further ply takes several times as long
"""

from __future__ import annotations

import math
import time
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus.agents.agent import Choice, player_asked
from ludus.agents.budget import Budget
from ludus.errors import BadAgent
from ludus.native import bundle, kernel, part
from ludus.rules import heuristic, legal, outcome, play, to_move
from ludus.search.tree import copy_state

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.naming import Spec
    from ludus.game import Game, Position

BUDGET = Budget(simulations=2)
"""For this kind, plies."""
DEEPEST = 9

FRAME = np.dtype([("low", float), ("high", float), ("best", float), ("next", int), ("count", int), ("mover", int)])


@bundle
class Scratch(NamedTuple):
    """Scratch for a search of so many plies; A is most_legal."""

    states: Any  # the game's states [1 + plies * A]: the root, and the positions after each move of a frame
    frames: Any  # FRAME [plies]
    actions: Any  # int32 [plies, A]
    order: Any  # int32 [plies, A]: which move is searched when
    scores: Any  # float64 [plies, A]: what the position after each move is worth at first sight,
    over: Any  # bool [plies, A]: and whether that is final
    values: Any  # float32 [2]
    looked_at: Any  # int64 [1]: positions so far


@part
def enter(rules, scratch, ply, at, left, me, low, high):
    """Open a frame for states[at]: play all its moves, judge them, and put those first that are best for the mover."""
    frame, actions, order, scores = scratch.frames[ply], scratch.actions[ply], scratch.order[ply], scratch.scores[ply]
    mover = to_move(rules, scratch.states[at])
    frame.low, frame.high, frame.next, frame.mover = low, high, 0, mover
    frame.best = -math.inf if mover == me else math.inf
    frame.count = legal(rules, scratch.states[at], mover, actions)
    scratch.looked_at[0] += frame.count
    for i in range(frame.count):
        place = 1 + ply * actions.size + i
        copy_state(scratch.states, place, scratch.states, at)
        play(rules, scratch.states[place], actions[i])
        scratch.over[ply, i] = outcome(rules, scratch.states[place], scratch.values)
        if scratch.over[ply, i]:
            scores[i] = scratch.values[me] * (1 + left)  # more the sooner it comes
        else:
            scores[i] = heuristic(rules, scratch.states[place], me)
        slot = i
        while slot > 0 and (scores[order[slot - 1]] < scores[i]) == (mover == me):
            order[slot] = order[slot - 1]
            slot -= 1
        order[slot] = i


@part
def improve(frame, value, me):
    """Take a move's worth into account."""
    if frame.mover == me:
        frame.best = max(frame.best, value)
        frame.low = max(frame.low, value)
    else:
        frame.best = min(frame.best, value)
        frame.high = min(frame.high, value)


@kernel
def look_ahead(rules, scratch, depth, me, low, high):
    """What states[0] is worth to a player so many plies ahead, if that is between low and high; else a bound of it.

    The game must not be over there.
    """
    if depth == 0:
        return heuristic(rules, scratch.states[0], me) + 0.0
    enter(rules, scratch, 0, 0, depth - 1, me, low, high)
    ply = 0
    while True:
        frame = scratch.frames[ply]
        left = depth - 1 - ply
        if frame.next == frame.count or frame.low >= frame.high:
            if ply == 0:
                return frame.best
            ply -= 1
            improve(scratch.frames[ply], frame.best, me)
            continue
        i = scratch.order[ply, frame.next]
        frame.next += 1
        if scratch.over[ply, i] or left == 0:
            improve(frame, scratch.scores[ply, i], me)
        else:
            ply += 1
            at = 1 + (ply - 1) * scratch.actions.shape[1] + i
            enter(rules, scratch, ply, at, left - 1, me, frame.low, frame.high)


class AdversarialAgent:
    """Of the moves that are worth most, one at random."""

    def __init__(self, game: Game, name: str = "adversarial", depth: int = 2, seed: int = 0):
        self.game, self.name, self.depth = game, name, depth
        self.random = Random(seed)
        self.scratch: Scratch | None = None

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        scratch = self._scratch()
        scratch.looked_at[0] = 0
        began = time.perf_counter()
        player = player_asked(position, player)
        actions = position.actions_of(player)
        first = {action: self._worth(scratch, position.play(action), 0, player, -math.inf) for action in actions}
        best, worth = -math.inf, dict.fromkeys(actions, math.nan)
        for number, action in enumerate(sorted(actions, key=first.__getitem__, reverse=True)):
            # Just below the best, so that a move as good is found to be so.
            value = self._worth(
                scratch, position.play(action), self.depth - 1, player, float(np.nextafter(best, -math.inf))
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
            simulations=len(actions) + int(scratch.looked_at[0]),
            seconds=time.perf_counter() - began,
        )

    def _worth(self, scratch: Scratch, position: Position, left: int, player: int, low: float) -> float:
        """What a position is worth to a player, if more than `low`; beyond 1 where a win is near."""
        if position.is_over:
            return position.values[player] * (1 + left)
        scratch.states[0] = position.states[0]
        value = look_ahead(self.game.rules, scratch, left, player, low, math.inf)
        self.game.raise_pending()
        return float(value)

    def new_game(self, seed: int) -> None:
        self.random = Random(seed)
        start = self.game.start()
        if not start.is_over:
            self._worth(self._scratch(), start, 0, 0, -math.inf)

    def _scratch(self) -> Scratch:
        if self.scratch is None:
            plies, most = self.depth, self.game.compile().most_legal
            self.scratch = Scratch(
                states=self.game.new_states(1 + plies * most),
                frames=np.zeros(plies, FRAME),
                actions=np.zeros((plies, most), np.int32),
                order=np.zeros((plies, most), np.int32),
                scores=np.zeros((plies, most)),
                over=np.zeros((plies, most), np.bool_),
                values=np.zeros(2, np.float32),
                looked_at=np.zeros(1, np.int64),
            )
        return self.scratch


def make(spec: Spec, game: Game, seed: int) -> AdversarialAgent:
    depth = (spec.budget or BUDGET).simulations
    if depth is None or not 1 <= depth <= DEEPEST:
        raise BadAgent(f"{spec.text}: adversarial takes the plies to look ahead, from 1 to {DEEPEST}")
    if game.players != 2 or not game.zero_sum or game.simultaneous:
        raise BadAgent(f"{spec.text} cannot play {game.name}: it needs two players who move in turn, a zero-sum game")
    if not game.has("heuristic"):
        raise BadAgent(f"{spec.text} cannot play {game.name}: the game has no heuristic")
    return AdversarialAgent(game, spec.text, depth, seed, **spec.read())
