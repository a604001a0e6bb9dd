"""Alpha-beta search without recursion, for two players who move in turn in a zero-sum game.

All values are from the view of the player `me`, who maximises while the other minimises; so a player may move twice in
a row. At each position all moves are played first: finished games and positions in the table often decide at once.

There are two modes, compiled separately:

* With a table of positions, to the end of the game (see solver.py). Moves are ordered by the game's heuristic, then by
  how often they caused a cutoff.
* Without a table, to a fixed depth (see `look_ahead`). The game's heuristic evaluates positions at that depth, and
  orders the moves. Results that come sooner have a greater weight.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ludus.game import Game
from ludus.native import bundle, intensive_kernel, part
from ludus.rules import fingerprint, heuristic, legal, outcome, play, to_move
from ludus.search.tree import copy_state

EXACT, AT_LEAST, AT_MOST = 1, 2, 3
"""The kind of a value in the table: exact or a bound. 0 marks a free slot."""

ENTRY = np.dtype([("key", np.uint64), ("value", np.float32), ("kind", np.int8)], align=True)


def frame_dtype(value: type) -> np.dtype:
    """The dtype of a frame of the stack: one position under search. `value` is the dtype of its values."""
    return np.dtype(
        [
            ("key", np.uint64),  # fingerprint of the position
            ("alpha", value),  # lower end of the window on entry
            ("beta", value),  # upper end of the window on entry
            ("low", value),  # lower end of the window now
            ("high", value),  # upper end of the window now
            ("best", value),
            ("count", np.int32),  # moves to search
            ("next", np.int32),  # index of the next move to search
            ("mover", np.int8),
        ],
        align=True,
    )


@bundle
class Stack(NamedTuple):
    """Memory of a search, with one frame for each ply; A is most_legal."""

    states: Any  # the game's states [1 + plies * A]: the root, and the positions after each move of a frame
    frames: Any  # frame_dtype [plies]
    actions: Any  # int32 [plies, A]
    scores: Any  # float [plies, A]: moves with higher scores are searched first
    order: Any  # int32 [plies, A]: indices of the moves to search
    keys: Any  # uint64 [plies, A]: fingerprints of the positions after each move; [0, 0] without a table
    history: Any  # float32 [2, actions]: how often each player's move caused a cutoff; [2, 0] without a table
    table: Any  # ENTRY [a power of 2]; [0] without a table
    values: Any  # float32 [2]: scratch
    control: Any  # int64 [3]: positions searched; stop if not 0; legal moves listed (without a table only)


def make_stack(game: Game, plies: int, entries: int = 0) -> Stack:
    """A stack for a search of up to `plies` plies, with a table of `entries` positions (a power of 2, or 0)."""
    most = game.most_legal
    with_table = entries > 0
    value = np.float32 if with_table else np.float64
    return Stack(
        states=game.new_states(1 + plies * most),
        frames=np.zeros(plies, frame_dtype(value)),
        actions=np.zeros((plies, most), np.int32),
        scores=np.zeros((plies, most), value),
        order=np.zeros((plies, most), np.int32),
        keys=np.zeros((plies, most) if with_table else (0, 0), np.uint64),
        history=np.zeros((2, game.actions if with_table else 0), np.float32),
        table=np.zeros(entries, ENTRY),
        values=np.zeros(2, np.float32),
        control=np.zeros(3, np.int64),
    )


@part
def recall(table, key, low, high):
    """Find a position in the table: returns (does the entry decide the window from low to high, the value)."""
    entry = table[np.int64(key & np.uint64(table.size - 1))]
    if entry.kind != 0 and entry.key == key:
        if entry.kind == EXACT or (entry.kind == AT_LEAST and entry.value >= high):
            return True, entry.value
        if entry.kind == AT_MOST and entry.value <= low:
            return True, entry.value
    return False, np.float32(0.0)


@part
def remember(table, frame):
    """Put the result of a finished frame into the table. A lower bound of 1 or an upper bound of -1 is exact."""
    entry = table[np.int64(frame.key & np.uint64(table.size - 1))]
    entry.key = frame.key
    entry.value = frame.best
    if frame.best >= frame.beta and frame.best < 1.0:
        entry.kind = AT_LEAST
    elif frame.best <= frame.alpha and frame.best > -1.0:
        entry.kind = AT_MOST
    else:
        entry.kind = EXACT


@part
def improve(frame, value, me):
    """Update the window with a move's value; True for a cutoff: the other moves no longer matter."""
    if frame.mover == me:
        frame.best = max(frame.best, value)
        frame.low = max(frame.low, value)
    else:
        frame.best = min(frame.best, value)
        frame.high = min(frame.high, value)
    return frame.low >= frame.high


@part
def open_frame(rules, stack, table, ply, at, key, left, me, low, high):
    """Open a frame for states[at]: play its moves, use the values that are known, and order the other moves.

    `left` is the number of plies below the moves of this frame; it is not used with a table. Numba compiles only one
    branch of each `table is None`, by the type of the argument.
    """
    stack.control[0] += 1
    frame = stack.frames[ply]
    frame.key = key
    frame.alpha = low
    frame.beta = high
    frame.low = low
    frame.high = high
    frame.next = 0
    frame.count = 0
    mover = to_move(rules, stack.states[at])
    frame.mover = mover
    frame.best = -math.inf if mover == me else math.inf
    actions, scores, order = stack.actions[ply], stack.scores[ply], stack.order[ply]
    count = legal(rules, stack.states[at], mover, actions)
    base = 1 + ply * actions.size
    if table is None:
        stack.control[2] += count
    for i in range(count):
        copy_state(stack.states, base + i, stack.states, at)
        child = stack.states[base + i]
        play(rules, child, actions[i])
        if outcome(rules, child, stack.values):
            if table is None:
                settled = improve(frame, stack.values[me] * (1 + left), me)
            else:
                settled = improve(frame, stack.values[me], me)
            if settled:
                frame.count = 0
                return
            continue
        if table is None:
            value = np.float64(heuristic(rules, child, me))
            if left == 0:
                if improve(frame, value, me):
                    frame.count = 0
                    return
                continue
            score = value if mover == me else -value
        else:
            stack.keys[ply, i] = fingerprint(rules, child)
            known, value = recall(table, stack.keys[ply, i], frame.low, frame.high)
            if known:
                if improve(frame, value, me):
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


@intensive_kernel
def alpha_beta(rules, stack, table, depth, me, low, high):
    """The value of states[0] for `me` if it lies between low and high, else a bound of the value.

    `table` is stack.table, or None for a search of `depth` >= 1 plies. The game must not be over at states[0]. Returns
    0 where stack.control[1] stopped the search.
    """
    key = np.uint64(0)
    if table is not None:
        key = np.uint64(fingerprint(rules, stack.states[0]))
    open_frame(rules, stack, table, 0, 0, key, depth - 1, me, low, high)
    ply = 0
    while stack.control[1] == 0:
        frame = stack.frames[ply]
        if frame.next < frame.count and frame.low < frame.high:
            i = stack.order[ply, frame.next]
            frame.next += 1
            if table is not None:
                key = stack.keys[ply, i]
                known, value = recall(table, key, frame.low, frame.high)
                if known:
                    improve(frame, value, me)
                    continue
            at = 1 + ply * stack.actions.shape[1] + i
            open_frame(rules, stack, table, ply + 1, at, key, depth - 2 - ply, me, frame.low, frame.high)
            ply += 1
            continue
        if table is not None:
            remember(table, frame)
        best = frame.best
        if ply == 0:
            return best
        ply -= 1
        parent = stack.frames[ply]
        refuted = improve(parent, best, me)
        if table is not None and refuted:
            action = stack.actions[ply, stack.order[ply, parent.next - 1]]
            stack.history[parent.mover, action] += 1.0
    return 0.0


@intensive_kernel
def look_ahead(rules, stack, depth, me, low, high):
    """The value of states[0] for `me` by a search of `depth` plies, if it lies between low and high; else a bound.

    A result `left` plies above the horizon is multiplied by 1 + left, so that a near win beats a distant one. The game
    must not be over at states[0].
    """
    if depth == 0:
        return np.float64(heuristic(rules, stack.states[0], me))
    return alpha_beta(rules, stack, None, depth, me, low, high)
