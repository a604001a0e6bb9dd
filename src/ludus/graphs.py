"""Positions as graphs, for networks whose weights fit boards of any size: one graph in Python, or batches compiled.

A position becomes nodes with features, edges of several relations, and one node for each legal move (see `graph` in
ludus.rules). A graph network has one logit for each move node, and needs no dense space of actions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus import rules as generic
from ludus.errors import BadOption

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.game import Game, GraphShape, Position


@dataclass
class Graph:
    """One position as a graph of n nodes, of which the last k are the legal moves."""

    features: NDArray[np.float32]
    """[n, features]"""
    edges: NDArray[np.int32]
    """[m, 3]: relation, from, to"""
    actions: NDArray[np.int32]
    """[k]: the moves"""


def shape_of(game: Game) -> GraphShape:
    """The sizes of a game's graphs."""
    if game.graph is None:
        raise BadOption(f"{game.name} has no graph")
    return game.graph


def graph_of(position: Position, player: int) -> Graph:
    """A position as a graph, in plain Python."""
    game = position.game
    shape = shape_of(game)
    features = np.zeros((shape.nodes, shape.features), np.float32)
    edges = np.zeros((shape.edges, 3), np.int32)
    sizes = np.zeros(2, np.int32)
    actions = np.array([] if position.is_over else position.actions_of(player), np.int32)
    with np.errstate(over="ignore"):
        generic.graph(game.rules, position.state, player, actions, len(actions), features, edges, sizes)
    return Graph(features[: sizes[0]], edges[: sizes[1]], actions)


def build(rules, states, players, actions, counts, most, features, edges, starts):
    """Write the graphs of up to K positions, while the largest possible graph still fits; returns the number written.

    players int8 [K], actions int32 [K, R] and counts int32 [K] are as in a Batch; `most` is the upper limit of one
    graph, (nodes, edges). Fills features float32 [N, F]; edges int32 [M, 3], with nodes numbered through all graphs;
    and starts int32 [K + 1, 2], the first node and the first edge of each graph, then the total numbers.
    """
    starts[0, 0] = 0
    starts[0, 1] = 0
    for k in range(counts.size):
        node, edge = starts[k, 0], starts[k, 1]
        if node + most[0] > features.shape[0] or edge + most[1] > edges.shape[0]:
            return k
        sizes = starts[k + 1]
        generic.graph(rules, states[k], players[k], actions[k], counts[k], features[node:], edges[edge:], sizes)
        sizes[0] += node
        sizes[1] += edge
        for i in range(edge, sizes[1]):
            edges[i, 1] += node
            edges[i, 2] += node
    return counts.size


@cache
def build_kernel() -> Any:
    """`build` in machine code, for the rules of a game that is compiled."""
    from ludus import native

    return native.kernel(build)
