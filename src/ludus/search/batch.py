"""Batches: the trees hand positions to an evaluator, which returns logits and values.

Shapes use K positions, P players, D blocks of moves (1, or P if the game is simultaneous) and R = D * most_legal.
"""

from typing import Any, NamedTuple

import numpy as np

from ludus.game import Game, GraphShape, GroupShape, TouchShape
from ludus.native import bundle, kernel, part
from ludus.rules import EVERYONE


class Batch(NamedTuple):
    """K positions for an evaluator, which fills `logits` and `values`."""

    states: Any  # the game's states [K]
    movers: Any  # int8 [K]: the player to move, or EVERYONE
    actions: Any  # int32 [K, R]: the legal actions, block after block: one block, or one for each player
    counts: Any  # int32 [K, D]: the number of actions in each block
    logits: Any  # float32 [K, R]: one for each action, in the same order
    values: Any  # float32 [K, P]: one for each player


class View(NamedTuple):
    """How a network sees the positions of a batch."""

    shape: tuple[int, ...]
    """The shape of one observation."""
    observers: int = 1
    """The number of observations of each position: 1, or one for each player."""
    groups: GroupShape | None = None
    """If set, the observations are made by `groups` of the rules, else by `observe`."""
    touches: TouchShape | None = None
    """Set together with `groups`: the answer is spread by what moves touch (see touching.py), else by action ids."""
    graph: GraphShape | None = None
    """If set, a position is seen as a graph, and the answer is spread by its nodes (see neighbours.py)."""


@bundle
class LeafBuffer(NamedTuple):
    """The fields of a Batch, and the paths to its leaves. S rows: the leaves of one round, tree after tree."""

    states: Any
    movers: Any
    actions: Any
    counts: Any
    logits: Any
    values: Any
    waiting: Any  # bool [S]: does the row hold a leaf that waits for its evaluation?
    nodes: Any  # int32 [S]: the node of the leaf
    depths: Any  # int32 [S]: the length of the path
    joint: Any  # int32 [S, P]: scratch for a joint move
    path: Any  # int32 [S, longest, 1 + D]: the nodes and edges from the root to the leaf


MOST_SCRATCH = 1 << 24
"""Buffers whose scratch would take more bytes have none."""


def make_buffer(game: Game, rows: int, longest: int, scratch: bool = False) -> LeafBuffer:
    """A buffer with `rows` rows, for paths of up to `longest` moves; with `scratch`, behind the states."""
    blocks = game.players if game.simultaneous else 1
    max_edges = blocks * game.most_legal
    return LeafBuffer(
        states=game.new_states(rows, scratch=scratch and rows * game.scratch <= MOST_SCRATCH),
        movers=np.zeros(rows, np.int8),
        actions=np.zeros((rows, max_edges), np.int32),
        counts=np.zeros((rows, blocks), np.int32),
        logits=np.zeros((rows, max_edges), np.float32),
        values=np.zeros((rows, game.players), np.float32),
        waiting=np.zeros(rows, np.bool_),
        nodes=np.zeros(rows, np.int32),
        depths=np.zeros(rows, np.int32),
        joint=np.zeros((rows, game.players), np.int32),
        path=np.zeros((rows, longest, 1 + blocks), np.int32),
    )


APART = 128
"""Bytes between numbers that different threads change: more than a cache line."""


def make_buffer_apart(game: Game, longest: int) -> LeafBuffer:
    """A buffer with one row, with scratch, for a thread: no other array is on the same cache line."""
    return LeafBuffer(*map(copy_apart, make_buffer(game, 1, longest, scratch=True)))


def copy_apart(array: np.ndarray) -> np.ndarray:
    """A copy of an array with a gap before and behind it."""
    place = np.zeros(array.nbytes + 2 * APART, np.uint8)[APART : APART + array.nbytes]
    return place.view(array.dtype).reshape(array.shape)


def rows_apart(rows: int, columns: int, dtype: Any) -> np.ndarray:
    """Zeros [rows, columns or more], such that the first columns of two rows are never on the same cache line."""
    gap = APART // np.dtype(dtype).itemsize
    return np.zeros((rows, gap * (1 + (columns + gap // 2 - 1) // gap)), dtype)


@part
def spread_values(observer, outputs, values, k):
    """Write outputs float32 [K, outputs] of position k into its values: one is the observer's, and its negative the
    other player's, if there is one; several are the values of all players, beginning with the observer."""
    players = values.shape[1]
    if players == 2 and outputs.shape[1] == 1:
        values[k, observer] = outputs[k, 0]
        values[k, 1 - observer] = -outputs[k, 0]
    else:
        for seat in range(players):
            values[k, (observer + seat) % players] = outputs[k, seat]


@part
def spread_answer(movers, actions, counts, policy, outputs, logits, values, k):
    """Write a network's answer for position k of a batch into its logits and values.

    policy float32 [V, heads, actions] and outputs float32 [V, outputs] have one row for each position (V = K), or one
    for each player of each position (V = K * P). There is one policy head for all seats, or one for each seat. A single
    output is the observer's value, and its negative is the other player's. Several outputs are the values of all
    players, beginning with the observer. One row for each position of a simultaneous game is the first player's view,
    with a head for each seat.
    """
    players = values.shape[1]
    observers = policy.shape[0] // values.shape[0]
    heads = policy.shape[1]
    is_shared = observers == 1 and counts.shape[1] > 1
    if is_shared:
        spread_values(0, outputs, values, k)
    elif observers == 1:
        mover = max(0, movers[k])
        head = mover if heads > 1 else 0
        for i in range(counts[k, 0]):
            logits[k, i] = policy[k, head, actions[k, i]]
        spread_values(mover, outputs, values, k)
        return
    begin = 0
    for player in range(players):
        row = k if is_shared else k * observers + player
        if not is_shared:
            values[k, player] = outputs[row, 0]
        if movers[k] == EVERYONE or movers[k] == player:
            block = player if movers[k] == EVERYONE else 0
            head = player if heads > 1 else 0
            for i in range(begin, begin + counts[k, block]):
                logits[k, i] = policy[row, head, actions[k, i]]
            begin += counts[k, block]


@kernel
def spread_answers(movers, actions, counts, policy, outputs, logits, values):
    """Write a network's answer into the logits and values of a batch, for all positions (see spread_answer)."""
    for k in range(values.shape[0]):
        spread_answer(movers, actions, counts, policy, outputs, logits, values, k)
