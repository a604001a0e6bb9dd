"""What passes between the trees and the evaluator: positions down, logits and values up."""

from typing import Any, NamedTuple

import numpy as np

from ludus.game import Game
from ludus.native import bundle


class Batch(NamedTuple):
    """Positions for the evaluator, K rows: it fills `logits` and `values`."""

    states: Any  # the game's states [K]
    movers: Any  # int8 [K]: who moves there, or EVERYONE
    actions: Any  # int32 [K, R]: the legal actions, block after block: one block, or one for each player
    counts: Any  # int32 [K, D]: how many in each block
    logits: Any  # float32 [K, R]: one for each action, in the same order
    values: Any  # float32 [K, P]: one for each player


@bundle
class LeafBuffer(NamedTuple):
    """One row for each leaf that a round may bring: S rows, those of a tree beside each other. A Batch, and more."""

    states: Any
    movers: Any
    actions: Any
    counts: Any
    logits: Any
    values: Any
    waiting: Any  # bool [S]: is there a leaf in this row?
    nodes: Any  # int32 [S]: its node
    depths: Any  # int32 [S]
    joint: Any  # int32 [S, P]: scratch for a joint move
    path: Any  # int32 [S, longest, 1 + D]: the nodes and edges that lead there


def make_buffer(game: Game, rows: int, longest: int) -> LeafBuffer:
    blocks = game.players if game.simultaneous else 1
    max_edges = blocks * game.most_legal
    return LeafBuffer(
        states=game.new_states(rows),
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
