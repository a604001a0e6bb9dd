"""Search with random playouts, all in one compiled call: the classic UCT (Kocsis and Szepesvari, 2006)."""

from numba import prange

from ludus.native import below, kernel, part
from ludus.rules import EVERYONE, legal, outcome, play, play_together, to_move
from ludus.search.descend import KNOWN, descend
from ludus.search.tree import NOTHING, back_up, prove


@part
def play_out(rules, state, random, actions, joint, values):
    """Play random moves to the end; the result goes into `values` [P]. Room: actions [R], joint [P]."""
    while not outcome(rules, state, values):
        mover = to_move(rules, state)
        if mover != EVERYONE:
            count = legal(rules, state, mover, actions)
            play(rules, state, actions[below(random, count)])
        else:
            for player in range(joint.size):
                count = legal(rules, state, player, actions)
                joint[player] = actions[below(random, count)] if count > 0 else -1
            play_together(rules, state, joint)


@part
def simulate(rules, rule, trees, tree, buffer, simulations):
    """Run so many playouts in one tree; fewer where its root is solved."""
    row = tree * (buffer.nodes.size // trees.root.size)
    path, values = buffer.path[row], buffer.values[row]
    actions, counts = buffer.actions[row], buffer.counts[row]
    ran = 0
    while ran < simulations and not trees.nodes[trees.root[tree]].solved:
        node, depth, end = descend(rules, rule, trees, tree, buffer.states, row, path, actions, counts, values, True)
        if end != KNOWN:
            play_out(rules, buffer.states[row], trees.random[tree], actions, buffer.joint[row], values)
        back_up(trees, path, depth, values, False)
        if end == KNOWN and node != NOTHING:
            prove(trees, path, depth, node)
        ran += 1
    trees.done[tree] += ran


@kernel
def simulate_serial(rules, rule, trees, buffer, budgets, portion):
    """Up to `portion` playouts in every tree, one tree after the other; budgets int32 [B] for the whole search."""
    for tree in range(trees.root.size):
        simulate(rules, rule, trees, tree, buffer, min(portion, budgets[tree] - trees.done[tree]))


@kernel(parallel=True)
def simulate_parallel(rules, rule, trees, buffer, budgets, portion):
    """The same on all threads, with the same result."""
    for tree in prange(trees.root.size):
        simulate(rules, rule, trees, tree, buffer, min(portion, budgets[tree] - trees.done[tree]))
