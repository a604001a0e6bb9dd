"""The arrays of a forest, and their sizes, from the caller's arguments and the available memory."""

from __future__ import annotations

import numpy as np

from ludus.errors import BadOption
from ludus.game import Game
from ludus.rng import generators
from ludus.search import parcels
from ludus.search.batch import APART, rows_apart
from ludus.search.tree import EDGE, JOINT, NOTHING, Trees, node_dtype

LONGEST_PATH = 1024
"""Longest path of a simulation. With transpositions, a path can contain a cycle and be longer than the game."""

LANE_BYTES = 2 * APART + 32
"""Memory of a lane in the arrays of a forest, apart from the scratch of its selection rule."""


def empty_states(game: Game, count: int) -> np.ndarray:
    """An array of states that are not initialised."""
    one = game.new_states(1)
    return np.empty((count, *one.shape[1:]), one.dtype)


def forest_sizes(
    game: Game,
    trees: int,
    nodes: int | None,
    edges: int | None,
    memory: int | None,
    batch: int,
    transpositions: bool,
    threads: int,
) -> tuple[int, int, int]:
    """The number of nodes and edges of each tree, and of lanes for parcels, from the arguments of Forest."""
    arguments = (game, trees, nodes, edges, memory, batch, transpositions)
    sizes = tree_sizes(*arguments)
    # Joint moves and transpositions are in tables of the whole tree, and transpositions belong to several subtrees.
    is_one = trees == 1 and not game.simultaneous and not transpositions
    if threads > 1 and is_one and sizes[0] >= parcels.FEWEST:
        smaller = tree_sizes(*arguments, lanes=parcels.LANES)
        if smaller[0] >= parcels.FEWEST:
            return *smaller, parcels.LANES
    return *sizes, 0


def tree_sizes(
    game: Game,
    trees: int,
    nodes: int | None,
    edges: int | None,
    memory: int | None,
    batch: int,
    transpositions: bool,
    lanes: int = 0,
) -> tuple[int, int]:
    """The number of nodes and edges of each tree of a forest with so many lanes."""
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
        if lanes:
            own = sum(array.nbytes for array in parcels.make_parcels(trees, lanes, game.players))
            rows += own + (trees + lanes) * (LANE_BYTES + 4 * max_edges)
        left = memory // trees - rows - 4 * (1 + blocks) * batch * min(game.longest, LONGEST_PATH)
        fits = left // (node_bytes + ratio * edge_bytes)
        if fits < 2:
            raise BadOption(f"{memory} bytes are too few for {trees} trees of {game.name}")
        nodes = min(fits if nodes is None else nodes, fits, limit)
        most_edges = min((left - nodes * node_bytes) // edge_bytes, limit)
        if most_edges < max_edges:  # fewer nodes leave space for the edges that one may have
            nodes = (left - max_edges * edge_bytes) // node_bytes
            most_edges = max_edges
        edges = min(max(nodes * ratio, max_edges) if edges is None else edges, most_edges)
    if nodes < 1 or edges < max_edges:
        raise BadOption(f"a tree of {game.name} needs at least 1 node and {max_edges} edges")
    return nodes, edges


def make_trees(
    game: Game, trees: int, nodes: int, edges: int, lanes: int, transpositions: bool, seed: int
) -> tuple[Trees, Trees]:
    """The arrays of trees for `nodes` and `edges` each, and the same arrays with rows for so many lanes below."""
    blocks = game.players if game.simultaneous else 1
    max_edges = blocks * game.most_legal
    table = 1 << max(1, (2 * nodes - 1).bit_length())
    rows = trees + lanes
    made = Trees(
        states=empty_states(game, trees * nodes),
        nodes=np.empty(trees * nodes, node_dtype(game.players, blocks)),
        edges=np.empty(trees * edges, EDGE),
        used=rows_apart(rows, 3, np.int32) if lanes else np.zeros((rows, 3), np.int32),
        room=np.zeros((rows, 6), np.int32),
        root=np.full(rows, NOTHING, np.int32),
        done=np.zeros(rows, np.int32),
        random=rows_apart(rows, 1, np.uint64) if lanes else np.zeros((rows, 1), np.uint64),
        bonus=np.zeros((trees, max_edges), np.float32),
        before=np.zeros((trees, max_edges), np.int32),
        transpositions=np.zeros((trees, table if transpositions else 0), np.int32),
        joints=np.zeros((trees, table if game.simultaneous else 0), JOINT),
        serial=np.zeros(trees, np.uint64),
        scratch=np.zeros((rows, max_edges), np.float32),
        zero_sum=game.players == 2 and game.zero_sum,
    )
    made.random[:, :1] = generators(seed, rows)
    made.room[:trees, 0] = nodes * np.arange(1, trees + 1)
    made.room[:trees, 1] = edges * np.arange(1, trees + 1)
    if not lanes:
        return made, made
    first = {name: getattr(made, name)[:trees] for name in ("room", "root", "done", "scratch")}
    return made._replace(used=made.used[:trees, :3], random=made.random[:trees, :1], **first), made
