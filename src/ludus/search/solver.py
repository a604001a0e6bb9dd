"""The exact value of a position, by alpha-beta search with a table of positions; for two rivals who move in turn.

Values are those of player 0, who seeks the highest while player 1 seeks the lowest, so a player may move twice running.
At every position all moves are first played and looked at: finished games and positions in the table often decide
at once. The rest are searched in the order of the game's heuristic and of which moves refuted others before.
"""

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ludus.errors import LudusError, Unsuitable
from ludus.game import Game, Position
from ludus.native import bundle, kernel, part
from ludus.rules import fingerprint, heuristic, legal, outcome, play, to_move
from ludus.search.running import Reporter, StopFlag, run_watched
from ludus.search.tree import copy_state

EXACT, AT_LEAST, AT_MOST = 1, 2, 3
"""What the table knows of a value; 0 marks a free place."""

ENTRY = np.dtype([("key", np.uint64), ("value", np.float32), ("kind", np.int8)], align=True)

FRAME = np.dtype(
    [
        ("key", np.uint64),
        ("alpha", np.float32),  # the window as it was on entering,
        ("beta", np.float32),
        ("low", np.float32),  # and as it is now
        ("high", np.float32),
        ("best", np.float32),
        ("state", np.int64),  # where the position is in `states`
        ("count", np.int32),  # moves left to search, and the next of them
        ("next", np.int32),
        ("mover", np.int8),
    ],
    align=True,
)


class NotSolved(LudusError):
    """The time ran out, or the caller stopped the solver."""

    def __init__(self, message: str, values: dict[int, float] | None = None):
        super().__init__(message)
        self.values = values or {}
        """The exact values of the moves that were solved before, by action."""


@dataclass
class Solution:
    """The truth about a position."""

    value: float
    """For the player to move (for player 0 where the game is over)."""
    values: dict[int, float]
    """The same for each action; empty where the game is over."""
    best: list[int]
    """The actions that keep the value."""
    positions: int
    seconds: float


@bundle
class Stack(NamedTuple):
    """Room for a search of so many plies; A is most_legal."""

    states: Any  # the game's states [1 + plies * A]: the root, and the positions after each move of a frame
    frames: Any  # FRAME [plies]
    actions: Any  # int32 [plies, A]
    scores: Any  # float32 [plies, A]: higher is searched first
    order: Any  # int32 [plies, A]: the moves left to search
    keys: Any  # uint64 [plies, A]: fingerprints of the positions after each move
    history: Any  # float32 [2, actions]: how often a move refuted
    table: Any  # ENTRY [a power of 2]
    values: Any  # float32 [2]
    control: Any  # int64 [2]: positions searched so far; stop if not 0


@part
def recall(stack, key, low, high):
    """What the table says of a position where only values between low and high matter: (does it decide, value)."""
    entry = stack.table[np.int64(key & np.uint64(stack.table.size - 1))]
    if entry.kind != 0 and entry.key == key:
        if entry.kind == EXACT or (entry.kind == AT_LEAST and entry.value >= high):
            return True, entry.value
        if entry.kind == AT_MOST and entry.value <= low:
            return True, entry.value
    return False, np.float32(0.0)


@part
def remember(stack, frame):
    """Put the result of a finished frame into the table."""
    entry = stack.table[np.int64(frame.key & np.uint64(stack.table.size - 1))]
    entry.key = frame.key
    entry.value = frame.best
    if frame.best >= frame.beta and frame.best < 1.0:
        entry.kind = AT_LEAST
    elif frame.best <= frame.alpha and frame.best > -1.0:
        entry.kind = AT_MOST
    else:
        entry.kind = EXACT


@part
def improve(frame, value):
    """Take a move's value into account; True if the rest of the moves no longer matter."""
    if frame.mover == 0:
        frame.best = max(frame.best, value)
        frame.low = max(frame.low, value)
    else:
        frame.best = min(frame.best, value)
        frame.high = min(frame.high, value)
    return frame.low >= frame.high


@part
def enter(rules, stack, ply, at, key, low, high):
    """Open a frame for states[at]: play all its moves, and settle what can be settled at once."""
    stack.control[0] += 1
    frame = stack.frames[ply]
    frame.key = key
    frame.alpha = low
    frame.beta = high
    frame.low = low
    frame.high = high
    frame.state = at
    frame.next = 0
    frame.count = 0
    mover = to_move(rules, stack.states[at])
    frame.mover = mover
    frame.best = -2.0 if mover == 0 else 2.0
    actions, scores, order = stack.actions[ply], stack.scores[ply], stack.order[ply]
    count = legal(rules, stack.states[at], mover, actions)
    base = 1 + ply * actions.size
    for i in range(count):
        copy_state(stack.states, base + i, stack.states, at)
        child = stack.states[base + i]
        play(rules, child, actions[i])
        if outcome(rules, child, stack.values):
            if improve(frame, stack.values[0]):
                frame.count = 0
                return
            continue
        stack.keys[ply, i] = fingerprint(rules, child)
        known, value = recall(stack, stack.keys[ply, i], frame.low, frame.high)
        if known:
            if improve(frame, value):
                frame.count = 0
                return
            continue
        score = np.float32(heuristic(rules, child, mover)) * np.float32(1e6) + stack.history[mover, actions[i]]
        scores[i] = score
        place = frame.count
        while place > 0 and scores[order[place - 1]] < score:
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
        frame.count += 1


@kernel
def alpha_beta(rules, stack, low, high):
    """The value of states[0] for player 0; exact if it lies between low and high. The game must not be over there."""
    enter(rules, stack, 0, 0, fingerprint(rules, stack.states[0]), np.float32(low), np.float32(high))
    ply = 0
    while stack.control[1] == 0:
        frame = stack.frames[ply]
        if frame.next < frame.count and frame.low < frame.high:
            i = stack.order[ply, frame.next]
            frame.next += 1
            known, value = recall(stack, stack.keys[ply, i], frame.low, frame.high)
            if known:
                improve(frame, value)
                continue
            at = 1 + ply * stack.actions.shape[1] + i
            enter(rules, stack, ply + 1, at, stack.keys[ply, i], frame.low, frame.high)
            ply += 1
            continue
        remember(stack, frame)
        value = frame.best
        if ply == 0:
            return np.float64(value)
        ply -= 1
        parent = stack.frames[ply]
        if improve(parent, value):
            action = stack.actions[ply, stack.order[ply, parent.next - 1]]
            stack.history[parent.mover, action] += 1.0
    return 0.0


def solve(
    position: Position,
    *,
    limit: float | None = None,
    memory: int = 1 << 28,
    progress: Reporter | None = None,
    stack: Stack | None = None,
    stop: StopFlag | None = None,
) -> Solution:
    """The exact value of a position and of each of its moves.

    Raises NotSolved after `limit` seconds, when `stop` is set, or when `progress` returns False. To solve many
    positions of one game, keep a `stack` from `prepare`: its table remembers earlier positions.
    """
    stack = prepare(position, memory) if stack is None else stack
    stack.control[:] = 0
    game = position.game
    if position.is_over:
        return Solution(position.values[0], {}, [], 0, 0.0)
    began = time.perf_counter()
    sign = 1.0 if position.to_move == 0 else -1.0
    values: dict[int, float] = {}
    for action in position.actions_of(position.to_move):
        after = position.play(action)
        if after.is_over:
            values[action] = sign * after.values[0]
            continue
        stack.states[0] = after.states[0]
        left = None if limit is None else began + limit - time.perf_counter()
        value = run_watched(lambda: alpha_beta(game.rules, stack, -1.0, 1.0), stack.control, progress, left, stop)
        game.raise_pending()
        if stack.control[1]:
            late = limit is not None and time.perf_counter() - began >= limit
            why = f"not solved within {limit:g} s" if late else "stopped"
            raise NotSolved(f"{why}, after {stack.control[0]:,} positions", values)
        values[action] = sign * value
    best = max(values.values())
    return Solution(
        value=best,
        values=values,
        best=[action for action, value in values.items() if value == best],
        positions=int(stack.control[0]),
        seconds=time.perf_counter() - began,
    )


def prepare(position: Position, memory: int) -> Stack:
    """Refuse what cannot be solved, and do what takes long only once (compiling), so that no clock runs meanwhile."""
    game = position.game
    check_suitable(game)
    stack = make_stack(game.compile(), memory)
    if not position.is_over:
        stack.states[0] = position.states[0]
        stack.control[1] = 1  # it stops at once
        alpha_beta(game.rules, stack, -1.0, 1.0)
        game.raise_pending()
        stack.control[:] = 0
    return stack


def check_suitable(game: Game) -> None:
    if game.players != 2 or not game.zero_sum or game.simultaneous:
        raise Unsuitable(
            f"{game.name} cannot be solved: that takes two players who move in turn and whose values cancel"
        )


def value_of(position: Position, *, memory: int = 1 << 28) -> float:
    """The exact value of a position for the player to move, without those of its moves; quicker than `solve`."""
    check_suitable(position.game)
    if position.is_over:
        return position.values[0]
    stack = make_stack(position.game.compile(), memory)
    stack.states[0] = position.states[0]
    value = run_watched(lambda: alpha_beta(position.game.rules, stack, -1.0, 1.0), stack.control)
    position.game.raise_pending()
    return value if position.to_move == 0 else -value


def make_stack(game: Game, memory: int) -> Stack:
    """A stack as deep as the game can be long, and a table in the rest of the memory."""
    plies, most = game.longest + 1, game.most_legal
    states = game.new_states(1 + plies * most)
    room = memory - states.nbytes - plies * (FRAME.itemsize + 20 * most) - 8 * game.actions
    if room < (1 << 16) * ENTRY.itemsize:
        raise Unsuitable(f"{game.name} is too long a game to be solved in {memory >> 20} MiB")
    entries = 1 << ((room // ENTRY.itemsize).bit_length() - 1)
    return Stack(
        states=states,
        frames=np.zeros(plies, FRAME),
        actions=np.zeros((plies, most), np.int32),
        scores=np.zeros((plies, most), np.float32),
        order=np.zeros((plies, most), np.int32),
        keys=np.zeros((plies, most), np.uint64),
        history=np.zeros((2, game.actions), np.float32),
        table=np.zeros(entries, ENTRY),
        values=np.zeros(2, np.float32),
        control=np.zeros(2, np.int64),
    )
