"""Threads that share rounds: every tree is worked on once in each round, with helpers, late helpers and none."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ludus.native import kernel
from ludus.native.atomics import atomic_add
from ludus.search import team
from ludus.search.team import DONE, LEAVE, Pool, Team, hand_in, may_leave, next_piece, open_round

TREES = 40


@kernel
def add_one(counts, workers, words, thread, threads, opening):
    """A kernel for a team: adds 1 to the count of each tree, and notes which thread did it."""
    if opening:
        open_round(words, threads, counts.size)
    first, last = next_piece(words, thread, threads, counts.size, 2)
    while first < last:
        for tree in range(first, last):
            counts[tree] += 1
            workers[tree] = thread
        hand_in(words, first, last)
        first, last = next_piece(words, thread, threads, counts.size, 2)
    return may_leave(words, thread, counts.size)


def new_team(threads, work=add_one):
    counts, workers = np.zeros(TREES, np.int64), np.zeros(TREES, np.int64)
    return Team(work, (counts, workers), TREES, threads), counts, workers


@kernel
def count_up(words, times):
    for _ in range(times):
        atomic_add(words, 1, 1)


def test_no_addition_is_lost():
    words = np.zeros(3, np.int64)
    count_up(words.ctypes.data, 0)
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: count_up(words.ctypes.data, 200_000), range(3)))
    assert words.tolist() == [0, 600_000, 0]


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
def test_every_tree_is_worked_on_once_in_each_round(threads):
    crew, counts, _ = new_team(threads)
    with crew:
        for number in range(1, 3001):
            crew.run_round()
            assert (counts == number).all()
            assert crew.words[DONE] == TREES


def test_teams_of_several_searches_share_the_helpers():
    def search(_):
        crew, counts, _ = new_team(3)
        with crew:
            for _ in range(500):
                crew.run_round()
        return counts.tolist()

    with ThreadPoolExecutor(4) as searches:
        assert list(searches.map(search, range(4))) == [[500] * TREES] * 4


def test_helpers_work_on_a_round():
    """Thread 0 opens a round and waits; the helper, a thread of the pool, does all of it."""
    crew, counts, workers = new_team(2)
    with crew:
        crew.run_round()
        open_only(crew.address, 2, TREES)
        while crew.words[DONE] != TREES:  # a helper may run out of patience before it begins
            crew._invite()
        assert (workers == 1).all()
        assert (counts == 2).all()


@kernel
def open_only(words, threads, count):
    open_round(words, threads, count)


def test_rounds_do_not_wait_for_helpers_that_do_not_come(monkeypatch):
    monkeypatch.setattr(Pool, "invite", lambda pool, crew, thread: None)
    crew, counts, workers = new_team(4)
    with crew:
        for _ in range(10):
            crew.run_round()
    assert (counts == 10).all()
    assert (workers == 0).all()


def test_a_helper_that_comes_after_the_search_finds_nothing_to_do(monkeypatch):
    invited = []
    monkeypatch.setattr(Pool, "invite", lambda pool, crew, thread: invited.append(thread))
    crew, counts, _ = new_team(2)
    with crew:
        crew.run_round()
        crew.run_round()
    assert invited == [1]
    crew.help(1)
    assert (counts == 2).all()
    assert crew.absent == {1}


class Clock:
    """A clock that only sleep() moves on."""

    def __init__(self):
        self.now = 100.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += 1.0


class HeldUp:
    """In place of a kernel: a helper keeps thread 0 waiting in the second round, for two naps."""

    def __init__(self):
        self.answers = [True, False, False, True]
        self.opened = 0

    def __call__(self, counts, workers, words, thread, threads, opening):
        self.opened += opening
        return self.answers.pop(0) if self.answers else True


def test_after_a_wait_for_a_helper_the_search_goes_on_alone_for_a_while(monkeypatch):
    clock = Clock()
    invited = []
    monkeypatch.setattr(team, "time", clock)
    monkeypatch.setattr(Pool, "invite", lambda pool, crew, thread: invited.append(clock.now))
    crew, _, _ = new_team(2, HeldUp())
    with crew:
        crew.run_round()
        crew.run_round()
        assert invited == [100.0]
        assert crew.words[LEAVE] == 1
        crew.absent.add(1)
        for _ in range(12):
            crew.run_round()
            clock.now += 1.0
    # Two seconds were lost, up to 102.0, so helpers are called again after eight more.
    assert invited == [100.0, 111.0]


def test_ctrl_c_leaves_no_helper_at_work(monkeypatch):
    class Interrupted(Clock):
        def sleep(self, seconds):
            raise KeyboardInterrupt

    monkeypatch.setattr(team, "time", Interrupted())
    work = HeldUp()
    crew, _, _ = new_team(2, work)
    with crew:
        crew.run_round()
        with pytest.raises(KeyboardInterrupt):
            crew.run_round()
    assert work.answers == []
    assert work.opened == 2


def test_helpers_sleep_in_the_pool_when_no_round_begins():
    crew, _, _ = new_team(2)
    back = threading.Event()

    class Watched(set):
        def add(self, thread):
            super().add(thread)
            back.set()

    crew.absent = Watched(crew.absent)
    with crew:
        crew.run_round()
        crew.run_round()
        assert back.wait(60)
        assert crew.absent == {1}
