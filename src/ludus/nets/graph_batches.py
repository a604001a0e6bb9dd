"""Batches of positions as graphs, for a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus.graphs import shape_of
from ludus.search.neighbours import build_graphs, sort_all_edges

if TYPE_CHECKING:
    from ludus.game import Game


class Graphs(NamedTuple):
    """K graphs with N nodes and M edges in all: arrays, or tensors on one device.

    Nodes are numbered through all graphs. The last nodes of a graph are its moves.
    """

    features: Any  # float32 [N, F]
    starts: Any  # int32 [R, N + 1]
    sources: Any  # int32 [M]: the neighbours of node i in relation r are sources[starts[r, i] : starts[r, i + 1]]
    ends: Any  # int32 [K]: the end of each graph's nodes; nodes after the last end belong to no graph
    moves: Any  # int32 [K]: the number of moves of each graph


class GraphBuilder:
    """Turns positions into graphs, in arrays that grow when needed. The graphs are valid until the next call."""

    def __init__(self, game: Game):
        self.game = game.compile()
        self.shape = shape_of(game)
        self.features = np.zeros((0, self.shape.features), np.float32)
        self.edges = np.zeros((0, 3), np.int32)

    def build(self, states: Any, players: Any, actions: Any, counts: Any, rounded: bool = False) -> Graphs:
        """The graphs of K positions: players int8 [K], actions int32 [K, R] and counts int32 [K], as in a batch.

        If `rounded`, the numbers of nodes and edges are filled up, so that they are the same for most batches.
        """
        count = len(counts)
        ends = np.zeros((count, 2), np.int32)
        most = (self.shape.nodes, self.shape.edges)
        while True:
            arrays = (states, players, actions, counts, most, self.features, self.edges, ends)
            fitted = build_graphs(self.game.rules, *arrays)
            if fitted == count:
                break
            self._grow(ends[fitted - 1] if fitted else np.zeros(2, np.int32), count, fitted)
        used, edges = ends[-1].tolist()
        nodes, room = (round_up(used, 5), round_up(edges, 4)) if rounded else (used, edges)
        if nodes > used:
            self._fill_up(used, nodes)
        starts = np.empty((len(self.shape.relations), nodes + 1), np.int32)
        sources = np.zeros(room, np.int32)
        sort_all_edges(self.edges, edges, starts, sources)
        return Graphs(self.features[:nodes], starts, sources, ends[:, 0].copy(), counts)

    def _grow(self, used: np.ndarray, count: int, fitted: int) -> None:
        """Make the arrays large enough for all positions, estimated from those that fitted, and for one more graph."""
        for name, taken, most in (("features", used[0], self.shape.nodes), ("edges", used[1], self.shape.edges)):
            old = getattr(self, name)
            needed = int(taken * count / max(1, fitted)) + most + 1
            setattr(self, name, np.zeros((max(needed, len(old) * 5 // 4), old.shape[1]), old.dtype))

    def _fill_up(self, used: int, nodes: int) -> None:
        """Add nodes without features and edges."""
        if len(self.features) < nodes:
            self.features = np.concatenate(
                [self.features, np.zeros((nodes - len(self.features), *self.features.shape[1:]), np.float32)]
            )
        self.features[used:nodes] = 0.0


def round_up(number: int, bits: int) -> int:
    """The next number of which only the first `bits` bits may be set, or a multiple of 64 if that is more."""
    step = max(64, 1 << max(0, number.bit_length() - bits))
    return -(-number // step) * step
