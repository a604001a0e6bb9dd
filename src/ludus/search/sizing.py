"""The sizes of trees, from the caller's arguments and the available memory."""

from __future__ import annotations

import numpy as np

from ludus.errors import BadOption
from ludus.game import Game
from ludus.search.tree import EDGE, JOINT, node_dtype

LONGEST_PATH = 1024
"""Longest path of a simulation. With transpositions, a path can contain a cycle and be longer than the game."""


def empty_states(game: Game, count: int) -> np.ndarray:
    """An array of states that are not initialised."""
    one = game.new_states(1)
    return np.empty((count, *one.shape[1:]), one.dtype)


def tree_sizes(
    game: Game, trees: int, nodes: int | None, edges: int | None, memory: int | None, batch: int, transpositions: bool
) -> tuple[int, int]:
    """The number of nodes and edges of each tree, from the arguments of Forest."""
    blocks = game.players if game.simultaneous else 1
    max_edges = blocks * game.most_legal
    state = game.new_states(1).nbytes
    # A state, a node, its entries in the scratch, and up to four slots in each table.
    node_bytes = state + node_dtype(game.players, blocks).itemsize + 8
    node_bytes += 16 * transpositions + 8 * JOINT.itemsize * game.simultaneous
    edge_bytes = EDGE.itemsize + 4
    ratio = min(max_edges, 16)
    limit = np.iinfo(np.int32).max // trees
    if nodes is None and memory is None:
        memory = 1 << 30
    if memory is None:
        nodes = min(nodes or 0, limit)
        edges = min(nodes * max_edges if edges is None else edges, limit)
    else:
        rows = batch * (state + 12 * max_edges + 12 * game.players + 64) + 12 * max_edges + 64
        left = memory // trees - rows - 4 * (1 + blocks) * batch * min(game.longest, LONGEST_PATH)
        fits = left // (node_bytes + ratio * edge_bytes)
        if fits < 2:
            raise BadOption(f"{memory} bytes are too few for {trees} trees of {game.name}")
        nodes = min(fits if nodes is None else nodes, fits, limit)
        most_edges = min((left - nodes * node_bytes) // edge_bytes, limit)
        edges = min(max(nodes * ratio, max_edges) if edges is None else edges, most_edges)
    if nodes < 1 or edges < max_edges:
        raise BadOption(f"a tree of {game.name} needs at least 1 node and {max_edges} edges")
    return nodes, edges
