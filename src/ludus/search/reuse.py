"""Tree reuse: after a move, the subtree of the new position is kept, and the rest of the tree is dropped."""

from typing import Any, NamedTuple

import numpy as np

from ludus.native import bundle, kernel, part
from ludus.search.tree import JOINT, NOTHING, Trees, copy_state, follow, joint_slot, plant_position


@bundle
class Scratch(NamedTuple):
    """Scratch to compact one tree within its own arrays."""

    place: Any  # int32 [N]: the new index of a node, or NOTHING
    queue: Any  # int32 [N]: the nodes to keep
    owner: Any  # int32 [E]: the node + 1 whose edges begin here
    joints: Any  # JOINT [T]: a copy of the table of joint moves


def make_scratch(trees: Trees) -> Scratch:
    """Scratch for the trees of a forest, one at a time."""
    count = len(trees.root)
    return Scratch(
        place=np.zeros(len(trees.nodes) // count, np.int32),
        queue=np.zeros(len(trees.nodes) // count, np.int32),
        owner=np.zeros(len(trees.edges) // count, np.int32),
        joints=np.zeros(trees.joints.shape[1], JOINT),
    )


@kernel
def advance_roots(rules, trees, actions, position, values, scratch, kept):
    """Play actions [B, D] at the roots, which leads to position[tree]; kept bool [B]: True if the new root existed."""
    for tree in range(trees.root.size):
        kept[tree] = advance_root(rules, trees, tree, actions[tree], position, values, scratch)


@part
def advance_root(rules, trees, tree, actions, position, values, scratch):
    """Play actions [D] at the root of one tree; True if the new root was in it."""
    index = trees.root[tree]
    node = trees.nodes[index]
    row = scratch.queue[: actions.size + 1]
    row[0] = index
    row[1:] = NOTHING
    found = node.first >= 0
    first = np.int64(node.first)
    for block in range(actions.size):
        if not found:
            break
        for edge in range(first, first + node.counts[block]):
            if trees.edges[edge].action == actions[block]:
                row[block + 1] = edge
        found = row[block + 1] != NOTHING or node.counts[block] == 0
        first += node.counts[block]
    child = np.int64(NOTHING)
    if found:
        child = follow(trees, tree, row)
    if child != NOTHING:
        keep_from(trees, tree, child, scratch)
        return True
    plant_position(rules, trees, tree, position, tree, values)
    return False


@part
def mark(trees, tree, index, base, scratch, count):
    """Put a node on the list of nodes to keep, unless it is there; returns the length of the list."""
    if scratch.place[index - base] == NOTHING:
        scratch.place[index - base] = 0
        scratch.queue[count] = index
        return count + 1
    return count


@part
def keep_from(trees, tree, root, scratch):
    """Drop the nodes and edges that cannot be reached from `root`, and close the gaps."""
    base = tree * scratch.place.size
    edge_base = tree * scratch.owner.size
    scratch.place[:] = NOTHING
    scratch.owner[:] = 0
    count = mark(trees, tree, root, base, scratch, 0)
    reached = 0
    while reached < count:
        while reached < count:
            node = trees.nodes[scratch.queue[reached]]
            if node.first >= 0:
                scratch.owner[node.first - edge_base] = scratch.queue[reached] + 1
                total = 0
                for block in range(node.counts.size):
                    total += node.counts[block]
                for edge in range(node.first, node.first + total):
                    if trees.edges[edge].child != NOTHING:
                        count = mark(trees, tree, trees.edges[edge].child, base, scratch, count)
            reached += 1
        for slot in range(trees.joints.shape[1]):  # nodes do not list their joint moves, so the whole table is read
            joint = trees.joints[tree, slot]
            if joint.child != 0 and scratch.place[joint.parent - base] != NOTHING:
                count = mark(trees, tree, joint.child - 1, base, scratch, count)

    free = base
    for index in range(base, trees.used[tree, 0]):
        if scratch.place[index - base] != NOTHING:
            scratch.place[index - base] = free
            if free != index:
                copy_state(trees.states, free, trees.states, index)
                trees.nodes[free] = trees.nodes[index]
            free += 1
    trees.used[tree, 0] = free
    trees.root[tree] = scratch.place[root - base]

    free_edge = edge_base
    for index in range(edge_base, trees.used[tree, 1]):
        if scratch.owner[index - edge_base] == 0:
            continue
        node = trees.nodes[scratch.place[scratch.owner[index - edge_base] - 1 - base]]
        node.first = free_edge
        total = 0
        for block in range(node.counts.size):
            total += node.counts[block]
        for i in range(total):
            trees.edges[free_edge] = trees.edges[index + i]
            edge = trees.edges[free_edge]
            if edge.child != NOTHING:
                edge.child = scratch.place[edge.child - base]
            free_edge += 1
    trees.used[tree, 1] = free_edge
    rebuild_tables(trees, tree, base, scratch)


@part
def rebuild_tables(trees, tree, base, scratch):
    """Enter the nodes into the tables of transpositions and joint moves again, by their new indices."""
    size = trees.transpositions.shape[1]
    if size > 0:
        trees.transpositions[tree, :] = 0
        for index in range(base, trees.used[tree, 0]):
            slot = np.int64(trees.nodes[index].key & np.uint64(size - 1))
            while trees.transpositions[tree, slot] != 0:
                slot = (slot + 1) & (size - 1)
            trees.transpositions[tree, slot] = index + 1
    for slot in range(scratch.joints.size):
        scratch.joints[slot] = trees.joints[tree, slot]
        trees.joints[tree, slot].child = 0
    trees.used[tree, 2] = 0
    for slot in range(scratch.joints.size):
        old = scratch.joints[slot]
        if old.child != 0 and scratch.place[old.parent - base] != NOTHING:
            new = trees.joints[tree, joint_slot(trees, tree, old.key)]
            trees.used[tree, 2] += 1
            new.key = old.key
            new.child = scratch.place[old.child - 1 - base] + 1
            new.parent = scratch.place[old.parent - base]
