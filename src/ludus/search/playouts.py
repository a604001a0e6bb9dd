"""Search with random playouts, all in compiled code: the classic UCT (Kocsis and Szepesvari, 2006)."""

from ludus.native import intensive_kernel, part
from ludus.native.atomics import atomic_load
from ludus.search.descend import KNOWN, descend
from ludus.search.random_play import play_out
from ludus.search.team import PORTION, hand_in, may_leave, next_piece, open_round
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


@intensive_kernel
def run_portion(rules, rule, trees, buffer, budgets, words, thread, threads, opening):
    """Work on the rounds of a team as one of its threads: up to `portion` playouts in each tree.

    budgets int32 [B]: simulations of the whole search. Returns True if the thread may leave, False if it has waited in
    vain (see team.py).
    """
    count = trees.root.size
    if opening:
        open_round(words, threads, count)
    first, last = next_piece(words, thread, threads, count, 1)
    while first < last:
        portion = atomic_load(words, PORTION)
        for tree in range(first, last):
            simulate(rules, rule, trees, tree, buffer, min(portion, budgets[tree] - trees.done[tree]))
        hand_in(words, first, last)
        first, last = next_piece(words, thread, threads, count, 1)
    return may_leave(words, thread, count)
