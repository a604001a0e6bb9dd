"""A round of a forest: apply the evaluations of the last leaves, then find the next leaves."""

import numpy as np

from ludus.native import compiled_names, intensive_kernel, kernel, part
from ludus.rules import EVERYONE, to_move
from ludus.search import arithmetic, visits
from ludus.search.descend import AWAITED, KNOWN, descend
from ludus.search.selection import decide, target_policy
from ludus.search.team import hand_in, may_leave, next_piece, open_round
from ludus.search.tree import (
    NOTHING,
    PENDING,
    add_edges,
    add_virtual_loss,
    back_up,
    list_moves,
    prove,
    remove_virtual_loss,
)

most_visited = compiled_names(visits)["most_visited"]
_arithmetic = compiled_names(arithmetic)
exponential, gumbel_noise = _arithmetic["exponential"], _arithmetic["gumbel_noise"]


MAX_KNOWN_LEAVES = 1000
"""Largest number of simulations without an evaluation that a tree runs in one round, so that the clock is read."""
PIECES = 8
"""The number of pieces of each thread's share of the trees: few enough that claiming them costs little."""


@part
def set_priors(trees, first, count, logits, begin):
    """Set the priors of one block of edges to the softmax of logits[begin : begin + count]. Overwrites the logits."""
    highest = np.float32(-np.inf)
    for i in range(begin, begin + count):
        highest = max(highest, logits[i])
    for i in range(begin, begin + count):
        logits[i] = exponential(logits[i] - highest)
    total = np.float32(0.0)
    for i in range(begin, begin + count):
        total += logits[i]
    share = np.float32(1.0) / total
    for i in range(count):
        trees.edges[first + i].prior = logits[begin + i] * share


@part
def apply_evaluation(trees, tree, buffer, row, virtual_loss):
    """Give an evaluated leaf its edges and priors, and back its values up."""
    buffer.waiting[row] = False
    index = buffer.nodes[row]
    values = buffer.values[row]
    if index != NOTHING:
        node = trees.nodes[index]
        if not node.solved:
            for player in range(values.size):
                node.value[player] = values[player]
        if node.first < 0:
            node.first = NOTHING
            counts = buffer.counts[row]
            if add_edges(trees, tree, index, buffer.actions[row], counts):
                begin = 0
                for block in range(counts.size):
                    set_priors(trees, node.first + begin, counts[block], buffer.logits[row], begin)
                    begin += counts[block]
    back_up(trees, buffer.path[row], buffer.depths[row], values, virtual_loss)


@part
def find_leaf(rules, rule, trees, tree, buffer, row, budget, virtual_loss):
    """Find a leaf that needs an evaluation and put it into `row`; False if the budget is spent or no leaf was found."""
    path, values = buffer.path[row], buffer.values[row]
    actions, counts = buffer.actions[row], buffer.counts[row]
    for _ in range(MAX_KNOWN_LEAVES):
        root = trees.nodes[trees.root[tree]]
        counted = root.first != NOTHING  # the evaluation of the root itself does not count as a simulation
        if root.solved or (counted and trees.done[tree] >= budget):
            return False
        index, depth, end = descend(rules, rule, trees, tree, buffer.states, row, path, actions, counts, values, False)
        if end == AWAITED:
            return False
        if counted:
            trees.done[tree] += 1
        if end == KNOWN:
            back_up(trees, path, depth, values, False)
            if index != NOTHING:
                prove(trees, path, depth, index)
            continue
        mover = to_move(rules, buffer.states[row])
        list_moves(rules, buffer.states[row], mover, actions, counts)
        if index != NOTHING and trees.nodes[index].first == NOTHING:
            trees.nodes[index].first = PENDING
        if virtual_loss:
            add_virtual_loss(trees, path, depth)
        buffer.movers[row] = mover
        buffer.nodes[row] = index
        buffer.depths[row] = depth
        buffer.waiting[row] = True
        return True
    return False


@part
def advance_tree(rules, rule, trees, tree, buffer, budgets):
    """One round of one tree: apply the evaluations of its leaves, then find new leaves."""
    rows = buffer.nodes.size // trees.root.size
    virtual_loss = rows > 1
    for row in range(tree * rows, (tree + 1) * rows):
        if buffer.waiting[row]:
            apply_evaluation(trees, tree, buffer, row, virtual_loss)
    for row in range(tree * rows, (tree + 1) * rows):
        if not find_leaf(rules, rule, trees, tree, buffer, row, budgets[tree], virtual_loss):
            break


@intensive_kernel
def advance(rules, rule, trees, buffer, budgets, words, thread, threads, opening):
    """Work on the rounds of a team as one of its threads: one round of every tree; budgets int32 [B] in simulations.

    Returns True if the thread may leave, False if it has waited in vain (see team.py).
    """
    count = trees.root.size
    size = count if threads == 1 else max(1, count // (PIECES * threads))
    if opening:
        open_round(words, threads, count)
    first, last = next_piece(words, thread, threads, count, size)
    while first < last:
        for tree in range(first, last):
            advance_tree(rules, rule, trees, tree, buffer, budgets)
        hand_in(words, first, last)
        first, last = next_piece(words, thread, threads, count, size)
    return may_leave(words, thread, count)


@intensive_kernel
def advance_rows(rules, rule, trees, buffer, budgets, first, last, leaves):
    """Apply the evaluations in rows first to last - 1 of a single tree, then find up to `leaves` new leaves for them.

    The leaves fill the rows from `first` on. Returns their number.
    """
    for row in range(first, last):
        if buffer.waiting[row]:
            apply_evaluation(trees, 0, buffer, row, True)
    found = 0
    while found < leaves and find_leaf(rules, rule, trees, 0, buffer, first + found, budgets[0], True):
        found += 1
    return found


@kernel
def abandon(trees, buffer):
    """Take back the simulations that wait for an evaluation."""
    rows = buffer.nodes.size // trees.root.size
    for row in range(buffer.nodes.size):
        if not buffer.waiting[row]:
            continue
        buffer.waiting[row] = False
        index, depth = buffer.nodes[row], buffer.depths[row]
        if index != NOTHING and trees.nodes[index].first == PENDING:
            trees.nodes[index].first = NOTHING
        if depth > 0:
            trees.done[row // rows] -= 1
        if rows > 1:
            remove_virtual_loss(trees, buffer.path[row], depth)


@kernel
def begin(trees, noisy):
    """Begin a search: set the count of simulations to 0, and note the visits of the root's edges for halving.

    With `noisy`, draw Gumbel noise for the root's moves.
    """
    for tree in range(trees.root.size):
        trees.done[tree] = 0
        if noisy:
            for i in range(trees.bonus.shape[1]):
                trees.bonus[tree, i] = gumbel_noise(trees.random[tree])
        root = trees.nodes[trees.root[tree]]
        if root.first >= 0:
            total = 0
            for block in range(root.counts.size):
                total += root.counts[block]
            for i in range(total):
                trees.before[tree, i] = trees.edges[root.first + i].visits
        else:
            trees.before[tree, :] = 0


@part
def conclude_tree(rule, trees, tree, edges, policy):
    """Write the result of one tree's search into its row of `edges` and `policy` (see `conclude`)."""
    index = trees.root[tree]
    root = trees.nodes[index]
    edges[tree, :] = NOTHING
    policy[tree, :] = 0.0
    if root.first < 0:
        return
    first = np.int64(root.first)
    for block in range(root.counts.size):
        count = root.counts[block]
        if count > 0:
            player = block if root.mover == EVERYONE else root.mover
            begin = first - root.first
            edges[tree, block] = decide(rule, trees, tree, index, first, count, player)
            target_policy(rule, trees, tree, index, first, count, player, policy[tree, begin : begin + count])
        first += count


@kernel
def conclude(rule, trees, edges, policy):
    """Write the result of a search at every root: edges int32 [B, D] to play (or NOTHING), policy float32 [B, R]."""
    for tree in range(trees.root.size):
        conclude_tree(rule, trees, tree, edges, policy)


@kernel
def best_line(trees, tree, edge, line):
    """Write the edges of the principal variation, from `edge` at the root on, into `line`; returns their number."""
    count = 0
    while count < line.size:
        line[count] = edge
        count += 1
        index = trees.edges[edge].child
        if index == NOTHING:
            break
        node = trees.nodes[index]
        if node.first < 0 or node.mover == EVERYONE or (node.visits == 0 and not node.solved):
            break
        edge = most_visited(trees, index, node.first, node.counts[0], node.mover)
    return count
