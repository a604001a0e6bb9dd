"""Search with random playouts, all in one compiled call: the classic UCT (Kocsis and Szepesvari, 2006)."""

from numba import prange

from ludus.native import kernel, part
from ludus.search.descend import KNOWN, descend
from ludus.search.random_play import play_out
from ludus.search.tree import NOTHING, back_up, prove


@part
def simulate(rules, rule, trees, tree, buffer, simulations):
    """Run `simulations` playouts in one tree; fewer if its root is solved before."""
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
    """Run up to `portion` playouts in each tree, on one thread. budgets int32 [B]: simulations of the whole search."""
    for tree in range(trees.root.size):
        simulate(rules, rule, trees, tree, buffer, min(portion, budgets[tree] - trees.done[tree]))


@kernel(parallel=True)
def simulate_parallel(rules, rule, trees, buffer, budgets, portion):
    """Run up to `portion` playouts in each tree, on all threads. The result equals `simulate_serial`'s."""
    for tree in prange(trees.root.size):
        simulate(rules, rule, trees, tree, buffer, min(portion, budgets[tree] - trees.done[tree]))
