"""Perft: the number of move sequences of a given length, the classic check of a game's rules."""

from typing import Any, NamedTuple

import numpy as np

from ludus.errors import BadOption
from ludus.game import Game, Position
from ludus.native import bundle, intensive_kernel, part
from ludus.rules import EVERYONE, outcome, play, play_together, to_move
from ludus.search.running import Reporter, run_watched
from ludus.search.tree import copy_state, list_moves
from ludus.stopping import Stop, Stopped


@bundle
class Levels(NamedTuple):
    """A stack with one level for every ply; D blocks and R actions as in ludus.search.tree."""

    states: Any  # the game's states [depth + 1]
    actions: Any  # int32 [depth, R]
    counts: Any  # int32 [depth, D]
    index: Any  # int64 [depth]: the next of the joint moves, counted in mixed radix
    total: Any  # int64 [depth]: the number of joint moves
    joint: Any  # int32 [P]
    values: Any  # float32 [P]
    control: Any  # int64 [2]: positions counted so far; stop if not 0


@part
def open_level(rules, levels, level):
    """List the moves of the position at a level; 0 moves where the game is over."""
    levels.index[level] = 0
    levels.total[level] = 0
    state = levels.states[level]
    if outcome(rules, state, levels.values):
        return
    counts = levels.counts[level]
    list_moves(rules, state, to_move(rules, state), levels.actions[level], counts)
    total = 1
    for block in range(counts.size):
        total *= max(1, counts[block])
    levels.total[level] = total


@part
def play_next(rules, levels, level):
    """Play the next move of a level into the level below."""
    copy_state(levels.states, level + 1, levels.states, level)
    state = levels.states[level + 1]
    index = levels.index[level]
    levels.index[level] += 1
    actions, counts = levels.actions[level], levels.counts[level]
    if to_move(rules, state) != EVERYONE:
        play(rules, state, actions[index])
        return
    first = 0
    for block in range(counts.size):
        levels.joint[block] = -1
        if counts[block] > 0:
            levels.joint[block] = actions[first + index % counts[block]]
            index //= counts[block]
        first += counts[block]
    play_together(rules, state, levels.joint)


@intensive_kernel
def count_leaves(rules, levels, depth):
    """The number of sequences of `depth` >= 1 moves from levels.states[0]. Moves of the last ply are not played."""
    control = levels.control
    open_level(rules, levels, 0)
    level = 0
    while level >= 0 and control[1] == 0:
        if level == depth - 1:
            control[0] += levels.total[level]
            level -= 1
        elif levels.index[level] < levels.total[level]:
            play_next(rules, levels, level)
            level += 1
            open_level(rules, levels, level)
        else:
            level -= 1


def perft(position: Position, depth: int, progress: Reporter | None = None, stop: Stop | None = None) -> int:
    """The number of sequences of `depth` moves from a position; 0 if every game ends sooner.

    Raises Stopped when `stop` is set or `progress` returns False.
    """
    if depth < 0:
        raise BadOption(f"the depth must not be negative, as {depth} is")
    if depth == 0:
        return 1
    game: Game = position.game.compile()
    if depth > game.longest:
        return 0
    blocks = game.players if game.simultaneous else 1
    states = game.new_states(depth + 1)
    states[0] = position.states[0]
    levels = Levels(
        states=states,
        actions=np.zeros((depth, blocks * game.most_legal), np.int32),
        counts=np.zeros((depth, blocks), np.int32),
        index=np.zeros(depth, np.int64),
        total=np.zeros(depth, np.int64),
        joint=np.zeros(game.players, np.int32),
        values=np.zeros(game.players, np.float32),
        control=np.zeros(2, np.int64),
    )
    run_watched(lambda: count_leaves(game.rules, levels, depth), levels.control, progress, stop=stop)
    game.raise_pending()
    if levels.control[1]:
        raise Stopped(f"stopped after {levels.control[0]:,} lines of play")
    return int(levels.control[0])
