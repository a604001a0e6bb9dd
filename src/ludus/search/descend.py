"""The descent of a simulation: from the root to a new position, or to a position whose value is known."""

import numpy as np

from ludus.native import below, part
from ludus.rules import EVERYONE, outcome
from ludus.search.selection import select
from ludus.search.tree import (
    NOTHING,
    PENDING,
    add_edges,
    add_node,
    copy_state,
    follow,
    link,
    list_moves,
    play_edges,
)

LEAF, KNOWN, AWAITED = 0, 1, 2


@part
def pick(rule, trees, tree, index, path_row):
    """Write a node, and the edge that each player follows there, into path_row [1 + D]."""
    node = trees.nodes[index]
    path_row[0] = index
    if path_row.size == 2 or node.mover != EVERYONE:
        path_row[1:] = NOTHING
        path_row[1] = select(rule, trees, tree, index, node.first, node.counts[0], node.mover)
        return
    first = node.first
    for player in range(path_row.size - 1):
        path_row[player + 1] = NOTHING
        if node.counts[player] > 0:
            path_row[player + 1] = select(rule, trees, tree, index, first, node.counts[player], player)
        first += node.counts[player]


@part
def open_node(rules, trees, tree, index, state, actions, counts):
    """Give a node, whose position is `state`, edges in random order, which playouts need; False if the tree is full."""
    list_moves(rules, state, trees.nodes[index].mover, actions, counts)
    first = 0
    for block in range(counts.size):
        for i in range(counts[block] - 1, 0, -1):
            j = below(trees.random[tree], i + 1)
            actions[first + i], actions[first + j] = actions[first + j], actions[first + i]
        first += counts[block]
    return add_edges(trees, tree, index, actions, counts)


@part
def descend(rules, rule, trees, tree, position, slot, path, actions, counts, values, opens):
    """Descend from the root by the selection rule: returns (the last node, depth, one of LEAF, KNOWN, AWAITED).

    LEAF: the position is new and was put into position[slot]; its node is NOTHING if the tree is full. KNOWN: the value
    was put into `values` [P]. AWAITED: another simulation has reached this leaf, whose evaluation is awaited.
    The nodes and edges of the path are put into `path` int32 [longest, 1 + D]. With `opens`, a node without edges gets
    them on its second visit, without an evaluation (for playouts); otherwise it is a leaf. Scratch: actions int32 [R],
    counts int32 [D].
    """
    index = np.int64(trees.root[tree])
    depth = 0
    while True:
        node = trees.nodes[index]
        if node.solved:
            for player in range(values.size):
                values[player] = node.value[player]
            return index, depth, KNOWN
        if node.first == PENDING:
            return index, depth, AWAITED
        stuck = depth == path.shape[0]
        if stuck or node.first == NOTHING:
            copy_state(position, slot, trees.states, index)
            if stuck or not (opens and open_node(rules, trees, tree, index, position[slot], actions, counts)):
                return index, depth, LEAF
        row = path[depth]
        pick(rule, trees, tree, index, row)
        depth += 1
        child = follow(trees, tree, row)
        if child == NOTHING:
            copy_state(position, slot, trees.states, index)
            play_edges(rules, trees, row, position, slot, counts)
            over = outcome(rules, position[slot], values)
            unused = trees.used[tree, 0]
            child = add_node(rules, trees, tree, position, slot, over, values)
            if child != NOTHING:
                link(trees, tree, row, child)
            if child == NOTHING or trees.used[tree, 0] != unused:  # otherwise a transposition: continue from that node
                return child, depth, KNOWN if over else LEAF
        index = child
