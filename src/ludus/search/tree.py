"""Trees in flat arrays: nodes, edges, and the backup of values and proofs.

A node has one block of edges for each player that decides there: one block in a sequential position, one for every
player where all move at once (each picks for itself). An edge keeps the visits and the value sum of *its own* player.
So the same backup serves any number of players, zero-sum or not, who move in turn or at once.

All trees of a forest share the same arrays. Each tree has a contiguous part, and nodes and edges are array indices.
Shapes use B trees, N nodes and E edges in a tree, P players, D blocks (1, or P if the game is simultaneous), and
R = D * most_legal, the most edges of one node.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from ludus.native import bundle, kernel, part
from ludus.rules import EVERYONE, fingerprint, legal, outcome, play, play_together, to_move

NOTHING = -1
"""No node, no edge; or a node's `first` while it has no edges."""
PENDING = -2
"""A node's `first` while its evaluation is awaited."""
LOST = -math.inf
"""An edge's `total` once its move is proven to lose."""

EDGE = np.dtype(
    [
        ("total", np.float64),  # sum of the values that its player got here; LOST if proven
        ("visits", np.int32),
        ("child", np.int32),  # a node, or NOTHING (always NOTHING where everyone moves: the joint move has the child)
        ("action", np.int32),
        ("prior", np.float32),  # negative once the move is solved and needs no exploration
    ],
    align=True,
)


PLAYERS = (2, 4, 16, 64, 256)
"""Numbers of players that nodes have room for: few, as each has machine code of its own."""


def node_dtype(players: int, blocks: int) -> np.dtype:
    """The dtype of nodes for so many players and blocks, and with zeros where there is room for more."""
    players, blocks = room_for(players), 1 if blocks == 1 else room_for(blocks)
    return np.dtype(
        [
            ("visits", np.int32),  # simulations that continued below this node
            ("first", np.int32),  # first edge of the first block
            ("mover", np.int8),  # a player, or EVERYONE
            ("solved", np.int8),  # is `value` exact?
            ("length", np.int16),  # length of the proof of a solved node in plies
            ("counts", np.int32, (blocks,)),  # edges in each block
            ("value", np.float32, (players,)),  # the evaluation, or the exact value
            ("key", np.uint64),  # fingerprint where transpositions are on; else a serial number, 0 if nobody needs it
        ],
        align=True,  # a GPU reads unaligned numbers byte by byte
    )


def room_for(players: int) -> int:
    """The number of players that nodes have room for in a game of so many."""
    return next((room for room in PLAYERS if room >= players), players)


JOINT = np.dtype(
    [
        ("key", np.uint64),  # made of the node's key and every player's action (see joint_key)
        ("child", np.int32),  # the child node + 1, or 0 if the slot is free
        ("parent", np.int32),
    ],
    align=True,
)


@bundle
class Trees(NamedTuple):
    """The arrays of a forest."""

    states: Any  # the game's states [B * N]
    nodes: Any  # node_dtype [B * N]
    edges: Any  # EDGE [B * E]
    used: Any  # int32 [B, 3]: the next free node, the next free edge, and the number of joint moves in the table
    room: Any  # int32 [B, 6]: the ends of the free nodes and edges; first and end of spare nodes and of spare edges
    root: Any  # int32 [B]
    done: Any  # int32 [B]: simulations of the search under way
    random: Any  # uint64 [B, 1]
    bonus: Any  # float32 [B, R]: noise that a selection rule adds at the root
    before: Any  # int32 [B, R]: visits of the root's edges when the search under way began
    transpositions: Any  # int32 [B, T]: nodes + 1 by the fingerprint of their position, or [B, 0]
    joints: Any  # JOINT [B, T]: where joint moves lead, or [B, 0] in a sequential game
    serial: Any  # uint64 [B]: the key of the latest node, where keys are serial numbers
    scratch: Any  # float32 [B, R]: scratch of a selection rule
    zero_sum: bool  # two players, values that add up to 0


@part
def copy_state(target, i, source, j):
    """target[i] = source[j], for records and for rows of integers, of which one may have scratch behind it."""
    if source.ndim == 1:
        target[i] = source[j]
    else:
        for k in range(min(target.shape[1], source.shape[1])):
            target[i, k] = source[j, k]


@kernel
def plant(rules, trees, position, values):
    """Make position[tree] the root of every tree, and drop its nodes. Scratch: values [P]."""
    for tree in range(trees.root.size):
        plant_position(rules, trees, tree, position, tree, values)


@part
def plant_position(rules, trees, tree, position, i, values):
    """Make position[i] the root of an empty tree."""
    first_node = tree * (trees.nodes.size // trees.root.size)
    trees.used[tree, 0] = first_node
    trees.used[tree, 1] = tree * (trees.edges.size // trees.root.size)
    trees.used[tree, 2] = 0
    trees.done[tree] = 0
    trees.serial[tree] = 0
    trees.transpositions[tree, :] = 0
    for slot in range(trees.joints.shape[1]):
        trees.joints[tree, slot].child = 0
    over = outcome(rules, position[i], values)
    trees.root[tree] = add_node(rules, trees, tree, position, i, over, values)


@part
def has_room(trees, tree, kind, count):
    """True if a tree has space for `count` more nodes (kind 0) or edges (kind 1), if need be the spare ones."""
    used, room = trees.used[tree], trees.room[tree]
    spare = 2 + 2 * kind
    if used[kind] + count <= room[kind]:
        return True
    if room[spare] + count > room[spare + 1]:
        return False
    used[kind], room[kind] = room[spare], room[spare + 1]
    room[spare] = room[spare + 1]
    return True


@part
def add_node(rules, trees, tree, position, i, over, values):
    """A new node for position[i], or the node that it has already, or NOTHING if the tree is full."""
    size = trees.transpositions.shape[1]
    slot = 0
    key = np.uint64(0)
    if size > 0:
        key = fingerprint(rules, position[i])
        slot = np.int64(key & np.uint64(size - 1))
        while trees.transpositions[tree, slot] != 0:
            known = trees.transpositions[tree, slot] - 1
            if trees.nodes[known].key == key:
                return known
            slot = (slot + 1) & (size - 1)
    if not has_room(trees, tree, 0, 1):
        return NOTHING
    index = trees.used[tree, 0]
    trees.used[tree, 0] = index + 1
    if size > 0:
        trees.transpositions[tree, slot] = index + 1
    elif trees.joints.shape[1] > 0:
        trees.serial[tree] += np.uint64(1)
        key = trees.serial[tree]
    copy_state(trees.states, index, position, i)
    node = trees.nodes[index]
    node.visits = 0
    node.first = NOTHING
    node.solved = over
    node.length = 0
    node.key = key
    for player in range(node.value.size):
        node.value[player] = values[player] if over and player < values.size else 0.0
    node.mover = 0 if over else to_move(rules, position[i])
    return np.int64(index)


@part
def list_moves(rules, state, mover, actions, counts):
    """Write the legal actions of everyone who decides here, block after block: actions [R], counts [D]."""
    if mover != EVERYONE:
        counts[:] = 0
        counts[0] = legal(rules, state, mover, actions)
        return
    total = 0
    for player in range(counts.size):
        counts[player] = legal(rules, state, player, actions[total:])
        total += counts[player]


@part
def add_edges(trees, tree, index, actions, counts):
    """Give a node its edges, one for each listed action; False where the tree is full."""
    total = 0
    for block in range(counts.size):
        total += counts[block]
    if not has_room(trees, tree, 1, total):
        return False
    first = trees.used[tree, 1]
    trees.used[tree, 1] = first + total
    node = trees.nodes[index]
    node.first = first
    for block in range(node.counts.size):
        node.counts[block] = counts[block] if block < counts.size else 0
    for i in range(total):
        edge = trees.edges[first + i]
        edge.total = 0.0
        edge.visits = 0
        edge.child = NOTHING
        edge.action = actions[i]
        edge.prior = 1.0
    return True


@part
def joint_key(trees, path_row):
    """A 64-bit key of a node and everyone's action there: path_row = (node, edge, edge, ...)."""
    # The bits are spread first: serial numbers and actions are small, and would cancel each other.
    key = trees.nodes[path_row[0]].key * np.uint64(0xBF58476D1CE4E5B9)
    key ^= key >> np.uint64(32)
    for block in range(path_row.size - 1):
        edge = path_row[block + 1]
        action = trees.edges[edge].action if edge != NOTHING else -1
        key = (key ^ np.uint64(action + 2)) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(32)
    return key


@part
def joint_slot(trees, tree, key):
    """The slot of a joint move in the tree's table, or the free slot where it would be."""
    size = trees.joints.shape[1]
    slot = np.int64(key & np.uint64(size - 1))
    while trees.joints[tree, slot].child != 0 and trees.joints[tree, slot].key != key:
        slot = (slot + 1) & (size - 1)
    return slot


@part
def follow(trees, tree, path_row):
    """The child that the chosen edges lead to, or NOTHING if it does not exist yet."""
    if path_row.size == 2 or trees.nodes[path_row[0]].mover != EVERYONE:
        return np.int64(trees.edges[path_row[1]].child)
    return np.int64(trees.joints[tree, joint_slot(trees, tree, joint_key(trees, path_row))].child - 1)


@kernel
def find_children(trees, tree, rows, children):
    """For rows of a node and chosen edges, int32 [k, 1 + D], the nodes that they lead to, int32 [k] (see `follow`)."""
    for i in range(children.size):
        children[i] = follow(trees, tree, rows[i])


@part
def link(trees, tree, path_row, child):
    """Remember that the chosen edges lead to `child`."""
    if path_row.size == 2 or trees.nodes[path_row[0]].mover != EVERYONE:
        trees.edges[path_row[1]].child = child
        return
    if 4 * trees.used[tree, 2] > 3 * trees.joints.shape[1]:
        return  # the table is full: the child is found again by its position
    key = joint_key(trees, path_row)
    joint = trees.joints[tree, joint_slot(trees, tree, key)]
    if joint.child == 0:
        trees.used[tree, 2] += 1
    joint.key = key
    joint.child = child + 1
    joint.parent = path_row[0]


@part
def play_edges(rules, trees, path_row, position, i, joint):
    """Play the chosen edges in position[i]; `joint` int32 [D] is scratch for the joint move."""
    if path_row.size == 2 or trees.nodes[path_row[0]].mover != EVERYONE:
        play(rules, position[i], trees.edges[path_row[1]].action)
        return
    for block in range(path_row.size - 1):
        edge = path_row[block + 1]
        joint[block] = trees.edges[edge].action if edge != NOTHING else -1
    play_together(rules, position[i], joint)


@part
def back_up(trees, path, depth, values, virtual_loss):
    """Add the values of one simulation to every edge of its path; `virtual_loss`: its visits are counted already."""
    for level in range(depth - 1, -1, -1):
        row = path[level]
        node = trees.nodes[row[0]]
        if not virtual_loss:
            node.visits += 1
        for block in range(row.size - 1):
            if row[block + 1] != NOTHING:
                edge = trees.edges[row[block + 1]]
                player = block if node.mover == EVERYONE else node.mover
                if (
                    virtual_loss and edge.prior < 0.0 and edge.total != LOST
                ):  # solved in the meantime: the exact value stays
                    edge.total = np.float64(trees.nodes[edge.child].value[player]) * edge.visits
                elif virtual_loss:
                    edge.total += values[player] + 1.0
                else:
                    edge.visits += 1
                    edge.total += values[player]


@part
def add_virtual_loss(trees, path, depth):
    """Count a simulation whose result is awaited as a loss for everyone on its path (virtual loss)."""
    for level in range(depth):
        row = path[level]
        trees.nodes[row[0]].visits += 1
        for block in range(row.size - 1):
            if row[block + 1] != NOTHING:
                edge = trees.edges[row[block + 1]]
                edge.visits += 1
                edge.total -= 1.0


@part
def remove_virtual_loss(trees, path, depth):
    """Take back what `add_virtual_loss` did."""
    for level in range(depth):
        row = path[level]
        trees.nodes[row[0]].visits -= 1
        for block in range(row.size - 1):
            if row[block + 1] != NOTHING:
                edge = trees.edges[row[block + 1]]
                edge.visits -= 1
                if edge.prior < 0.0 and edge.total != LOST:
                    edge.total = np.float64(trees.nodes[edge.child].value[trees.nodes[row[0]].mover]) * edge.visits
                else:
                    edge.total += 1.0


@part
def prove(trees, path, depth, child):
    """`child`, at the end of the path, is solved: mark the nodes above it as solved as far as it decides them.

    A node is solved by a move that gives its mover 1, the highest value, or when all its moves are solved. Outside
    two-player zero-sum games, moves that are equally good for the mover may differ for the other players. Such a node
    stays unsolved, because its value is not determined. (A move with value 1 is assumed to be the one played.) Joint
    moves are never solved. The proof of a win is one ply longer than the proof of the winning move; any other proof is
    one ply longer than the longest proof of all moves.
    """
    for level in range(depth - 1, -1, -1):
        index, edge_index = path[level, 0], path[level, 1]
        node, edge = trees.nodes[index], trees.edges[edge_index]
        if node.mover == EVERYONE or node.solved:
            return
        mover = node.mover
        value = trees.nodes[child].value[mover]
        if trees.zero_sum and value <= -1.0:
            edge.total = LOST
        else:
            edge.total = np.float64(value) * edge.visits
        edge.prior = -abs(edge.prior)
        best = child
        length = trees.nodes[child].length
        if value < 1.0:
            for e in range(node.first, node.first + node.counts[0]):
                other = trees.edges[e].child
                if other == NOTHING or not trees.nodes[other].solved:
                    return
                length = max(length, trees.nodes[other].length)
                if trees.nodes[other].value[mover] > trees.nodes[best].value[mover]:
                    best = np.int64(other)
            if not trees.zero_sum:
                for e in range(node.first, node.first + node.counts[0]):
                    other = trees.edges[e].child
                    if trees.nodes[other].value[mover] == trees.nodes[best].value[mover]:
                        for player in range(node.value.size):
                            if trees.nodes[other].value[player] != trees.nodes[best].value[player]:
                                return
        for player in range(node.value.size):
            node.value[player] = trees.nodes[best].value[player]
        node.length = length + 1
        node.solved = 1
        child = np.int64(index)
