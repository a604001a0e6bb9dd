"""Batches that grow with the tree, evaluated in chunks by several threads: the result depends on neither."""

import threading

import numpy as np
import pytest

import ludus
from ludus.errors import BadOption
from ludus.search.batch import Batch
from ludus.search.forest import IN_HALVES, Forest
from ludus.search.puct import Puct
from ludus.search.spread import Spread
from tests.search.invariants import check_trees

GAME = ludus.make("connect4", rows=4, columns=5)


class Judge:
    """Evaluates a position by a digest of its state, and notes the sizes of its batches and the threads."""

    def __init__(self, log=None):
        self.log = [] if log is None else log

    def evaluate(self, batch):
        for k in range(len(batch.movers)):
            digest = np.frombuffer(batch.states[k].tobytes(), np.uint8).astype(np.int64)
            value = (digest * np.arange(7, 7 + len(digest))).sum() % 199 / 100 - 1
            batch.values[k] = value, -value
            batch.logits[k] = (batch.actions[k] * 7 + digest.sum()) % 5
        self.log.append((len(batch.movers), threading.current_thread().name))


def search(threads, simulations=3000, chunk=4, batch=256, growth=8):
    forest = Forest(GAME, Puct(), nodes=4000, batch=batch, growth=growth)
    forest.plant(GAME.start())
    log = []
    done = forest.search(Spread([Judge(log) for _ in range(threads)], chunk), simulations=simulations)
    check_trees(forest)
    return forest, done, log


def test_the_tree_is_the_same_for_every_number_of_threads():
    trees = []
    for threads in (1, 2, 3):
        forest, done, _ = search(threads)
        assert done == 3000
        used = forest.trees.used[0]
        nodes = forest.trees.nodes[: used[0]]
        fields = [nodes[field].tolist() for field in ("visits", "first", "mover", "solved", "value")]
        trees.append((fields, forest.trees.edges[: used[1]].tolist()))
    assert trees[0] == trees[1] == trees[2]


def test_helpers_take_part():
    class Slow(Judge):
        def evaluate(self, batch):
            super().evaluate(batch)
            meeting.wait(20)

    meeting = threading.Barrier(2)  # two chunks are evaluated at the same time, or this fails
    buffer = Forest(GAME, batch=8, nodes=9).batch
    log = []
    Spread([Slow(log), Slow(log)], 4).evaluate(buffer)
    assert [count for count, _ in log] == [4, 4]
    assert len({thread for _, thread in log}) == 2


@pytest.mark.parametrize(("count", "sizes"), [(1, [1]), (4, [4]), (5, [2, 3]), (13, [3, 3, 3, 4])])
def test_chunks_are_of_nearly_equal_sizes(count, sizes):
    log = []
    Spread([Judge(log)], 4).evaluate(Batch(*(array[:count] for array in Forest(GAME, batch=16, nodes=9).batch)))
    assert [size for size, _ in log] == sizes


def test_batches_grow_with_the_search_and_come_in_halves():
    _, _, log = search(1, chunk=1000)
    sizes = [count for count, _ in log]
    assert sizes[0] == 1
    # In all, at most one leaf in 8 simulations waits.
    for number in range(1, len(sizes)):
        assert sizes[number] <= 1 + sum(sizes[:number]) // 8
    assert IN_HALVES // 2 <= max(sizes) <= 128


def test_one_leaf_at_a_time_is_the_plain_search():
    plain = Forest(GAME, Puct(), nodes=4000)
    plain.plant(GAME.start())
    plain.search(Judge(), simulations=500)
    grown, _, _ = search(1, simulations=500, growth=1_000_000)
    assert grown.roots()[0].visits.tolist() == plain.roots()[0].visits.tolist()


@pytest.mark.parametrize("culprit", [0, 1])
def test_an_evaluator_that_fails_leaves_the_tree_whole(culprit):
    class Failing(Judge):
        left = 40

        def evaluate(self, batch):
            self.left -= 1
            if self.left <= 0:
                raise ArithmeticError("no more")
            super().evaluate(batch)

    evaluators = [Judge(), Judge()]
    evaluators[culprit] = Failing()
    spread = Spread(evaluators, 1)
    forest = Forest(GAME, Puct(), nodes=40_000, batch=256, growth=4)
    forest.plant(GAME.start())
    with pytest.raises(ArithmeticError, match="no more"):
        forest.search(spread, simulations=30_000)
    assert len(spread.idle) == 1  # no helper is left at work
    check_trees(forest)
    forest.search(Spread([Judge()]), simulations=100)
    check_trees(forest)
    assert forest.trees.done.tolist() == [100]


def test_a_search_that_is_stopped_takes_in_what_is_under_way():
    forest = Forest(GAME, Puct(), nodes=4000, batch=256, growth=4)
    forest.plant(GAME.start())
    done = forest.search(Spread([Judge(), Judge()], 4), simulations=3000, progress=lambda fraction: fraction < 0.5)
    assert 1500 <= done < 2000
    assert sum(forest.roots()[0].visits) == done
    check_trees(forest)


def test_what_is_awaited_does_not_show_in_the_result():
    forest = Forest(GAME, Puct(), nodes=4000, batch=256, growth=4)
    forest.plant(GAME.start())
    seen = []

    def watch(fraction):
        waiting = int(np.count_nonzero(forest.buffer.waiting))
        if fraction > 0.3:
            (root,) = forest.roots()
            seen.append((waiting, int(root.visits.sum()) + waiting - int(forest.trees.done[0])))
            assert np.abs(root.values[root.visits > 0]).max() <= 1.0

    forest.search(Spread([Judge()]), simulations=2000, progress=watch)
    assert max(waiting for waiting, _ in seen) > 64
    assert {difference for _, difference in seen} == {0}


def test_growth_is_for_one_tree():
    with pytest.raises(BadOption, match="one tree"):
        Forest(GAME, Puct(), trees=2, nodes=9, batch=4, growth=8)
