"""A position as a graph, for people: nodes with features, edges of several relations, one node for each legal move.

The game's function `graph` writes it (see ludus.rules). Batches for a network are made by search/neighbours.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
