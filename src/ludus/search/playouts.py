"""Search with random playouts, all in compiled code: the classic UCT (Kocsis and Szepesvari, 2006)."""

from ludus.native import intensive_kernel, part
from ludus.native.atomics import atomic_load
from ludus.search.descend import KNOWN, descend
from ludus.search.parcels import WALKS, begin_slice, end_slice
from ludus.search.random_play import play_out
from ludus.search.team import PORTION, hand_in, may_leave, next_piece, open_round
from ludus.search.tree import NOTHING, back_up, prove

ATTEMPTS = 20
"""The number of times that a helper runs out of patience between two rounds of parcels, before it goes to sleep."""


@part
def simulate(rules, rule, trees, tree, buffer, sums, simulations):
    """Run `simulations` playouts in one tree; fewer if its root is solved before. Adds their results to sums [P]."""
    path, values = buffer.path[0], buffer.values[0]
    actions, counts = buffer.actions[0], buffer.counts[0]
    ran = 0
    while ran < simulations and not trees.nodes[trees.root[tree]].solved:
        node, depth, end = descend(rules, rule, trees, tree, buffer.states, 0, path, actions, counts, values, True)
        if end != KNOWN:
            play_out(rules, buffer.states[0], trees.random[tree], actions, buffer.joint[0], values)
        back_up(trees, path, depth, values, False)
        if end == KNOWN and node != NOTHING:
            prove(trees, path, depth, node)
        for player in range(values.size):
            sums[player] += values[player]
        ran += 1
    trees.done[tree] += ran


@intensive_kernel
def run_portion(rules, rule, trees, budgets, buffer, sums, words, thread, threads, opening):
    """Work on the rounds of a team as one of its threads: up to `portion` playouts in each tree.

    budgets int32 [B]: simulations of the whole search. buffer, sums float64 [P]: this thread's own, as scratch. Returns
    True if the thread may leave, False if it has waited in vain (see team.py).
    """
    count = trees.root.size
    if opening:
        open_round(words, threads, count)
    first, last = next_piece(words, thread, threads, count, 1)
    while first < last:
        portion = atomic_load(words, PORTION)
        for tree in range(first, last):
            simulate(rules, rule, trees, tree, buffer, sums, min(portion, budgets[tree] - trees.done[tree]))
        hand_in(words, first, last)
        first, last = next_piece(words, thread, threads, count, 1)
    return may_leave(words, thread, count)


@intensive_kernel
def run_parcels(rules, rule, trees, parcels, budgets, buffer, words, thread, threads, opening):
    """Work on the rounds of a team as one of its threads: `portion` playouts in the parcels of one tree.

    A call may have several rounds of parcels; thread 0 begins and ends them. Arguments and result as in `run_portion`.
    """
    lanes = trees.root.size
    portion = atomic_load(words, PORTION)
    attempts = 0
    opens = opening
    while True:
        if opens:
            given = begin_slice(rule, trees, parcels, budgets[0], portion, threads)
            if given == NOTHING:
                return True
            portion -= max(WALKS, given)  # a round of solved positions takes its time, too
            open_round(words, 1, lanes)
        first, last = next_piece(words, thread, 1, lanes, 1)
        for lane in range(first, last):
            simulate(rules, rule, trees, lane, buffer, parcels.sums[lane], parcels.slice[lane])
        opens = False
        if first < last:
            hand_in(words, first, last)
            attempts = 0
        elif thread == 0 and may_leave(words, thread, lanes):
            end_slice(trees, parcels)
            if not opening or portion <= 0:
                return True
            opens = True
        else:
            attempts += 1
            if thread == 0 or attempts == ATTEMPTS or may_leave(words, thread, lanes):
                return may_leave(words, thread, lanes)
