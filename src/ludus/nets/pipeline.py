"""Trees on the processor, the network on a card, in turn: while the card judges the leaves of one forest, the trees of
the others grow.

One thread drives all forests, so that their parallel kernels never compete for the cores. A round is one kernel: it
takes the card's answers out of its pinned memory, backs them up, brings the next leaves and writes what they look like
where the card reads it. What lies between two searches (recording a move, beginning the next) is done by other threads.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
from numba import prange

from ludus.native import kernel
from ludus.nets.evaluator import answer_one
from ludus.rules import observe
from ludus.search import rounds
from ludus.search.gumbel import Gumbel
from ludus.search.rounds import work_on

if TYPE_CHECKING:
    from ludus.nets.cuda import CudaEngine
    from ludus.search.forest import Forest


PATIENCE = 0.0001
"""Seconds after which the thread that drives the forests gets the interpreter back from one that prepares a search."""


@kernel(parallel=True)
def work_beside_card(rules, rule, trees, leaves, budgets, planes, policy, outputs):
    """A round of every tree, with one leaf each: budgets int32 [B], planes float32 [B, ...], policy float32
    [B, heads, actions] and outputs float32 [B, outputs]. Returns how many leaves wait, and the simulations so far."""
    for tree in prange(trees.root.size):
        if leaves.waiting[tree]:
            answer_one(
                leaves.movers, leaves.actions, leaves.counts, policy, outputs, leaves.logits, leaves.values, tree
            )
        work_on(rules, rule, trees, tree, leaves, budgets)
        if leaves.waiting[tree]:
            planes[tree, ...] = 0.0
            observe(rules, leaves.states[tree], max(0, leaves.movers[tree]), planes[tree])
    waiting, done = 0, 0
    for tree in range(trees.root.size):
        waiting += leaves.waiting[tree]
        done += trees.done[tree]
    return waiting, done


class Turn:
    """A forest and its place on the card."""

    def __init__(self, forest: Forest, engine: CudaEngine, observation: tuple[int, ...]):
        count = len(forest.trees.root)
        self.forest, self.place = forest, engine.place((count, *observation))
        self.planes, self.policy, self.values = (
            array[:count] for array in (self.place.planes, self.place.policy, self.place.values)
        )
        self.budgets = np.zeros(count, np.int32)
        self.before = -1
        self.launched = False

    def begin(self, budgets: np.ndarray) -> None:
        self.budgets[:] = budgets
        self.before = -1
        rounds.begin(self.forest.trees, isinstance(self.forest.rule, Gumbel))

    def advance(self) -> bool:
        """One round; False when the search is over."""
        forest, place = self.forest, self.place
        if self.launched:
            place.wait()
            self.launched = False
        waiting, done = work_beside_card(
            forest.game.rules,
            forest.rule,
            forest.trees,
            forest.leaves,
            self.budgets,
            self.planes,
            self.policy,
            self.values,
        )
        if waiting:
            place.launch()
            self.launched = True
        elif done == self.before:
            return False
        self.before = done
        return True


def search_in_turn(turns: Sequence[Turn], jobs: Sequence[Iterator[np.ndarray]], threads: int) -> None:
    """Run every job to its end: job i yields budgets int32 [B] whenever turns[i] is to search."""
    numba.set_num_threads(threads)
    patience = sys.getswitchinterval()
    sys.setswitchinterval(PATIENCE)

    def prepare(index: int) -> int | None:
        budgets = next(jobs[index], None)
        if budgets is None:
            return None
        turns[index].begin(budgets)
        return index

    try:
        _drive(turns, prepare)
    finally:
        sys.setswitchinterval(patience)


def _drive(turns: Sequence[Turn], prepare: Callable[[int], int | None]) -> None:
    with ThreadPoolExecutor(len(turns)) as others:
        prepared: set[Future[int | None]] = {others.submit(prepare, index) for index in range(len(turns))}
        searching: list[int] = []
        while prepared or searching:
            ready = {future for future in prepared if future.done()}
            if not ready and not searching:
                ready, _ = wait(prepared, return_when=FIRST_COMPLETED)
            prepared -= ready
            searching += [index for future in ready if (index := future.result()) is not None]
            for index in list(searching):
                if not turns[index].advance():
                    searching.remove(index)
                    prepared.add(others.submit(prepare, index))


def can_take_turns(game: Any, evaluators: Sequence[Any]) -> bool:
    """Is this a game, and are these evaluators, that search_in_turn can work with?"""
    return not game.simultaneous and all(hasattr(evaluator.engine, "place") for evaluator in evaluators)
