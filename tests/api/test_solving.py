"""ludus.solve and ludus.perft: the same results as the search's own, with progress, and stoppable."""

import threading
import time

import pytest

import ludus
from ludus.search.solver import NotSolved
from ludus.stopping import Stopped

CONNECT4 = ludus.make("connect4")


class StopsAfter:
    """Is set as soon as it was asked so often."""

    def __init__(self, times):
        self.times = times

    def is_set(self):
        self.times -= 1
        return self.times < 0


def test_solve():
    solution = ludus.solve(ludus.make("tictactoe").start())
    assert solution.value == 0.0
    assert set(solution.values.values()) == {0.0}


def test_solve_reports_and_stops():
    reports = []
    ludus.perft(CONNECT4.start(), 1)
    began = time.perf_counter()
    with pytest.raises(NotSolved, match="stopped, after"):
        ludus.solve(CONNECT4.start(), on_event=reports.append, stop=StopsAfter(5))
    assert reports
    assert reports[-1].positions >= 0
    assert time.perf_counter() - began < 60
    with pytest.raises(NotSolved, match="not solved within"):
        ludus.solve(CONNECT4.start(), limit=0.05)


def test_what_was_solved_before_the_stop_is_kept():
    position = CONNECT4.start()
    for move in "dddddaeeeeeabbb":  # some moves are quick to solve, some not
        position = position.play(move)
    stop = threading.Event()
    stop.set()
    with pytest.raises(NotSolved) as caught:
        ludus.solve(position, stop=stop)
    assert set(caught.value.values) <= set(position.actions)


def test_perft_counts_and_stops():
    assert ludus.perft(CONNECT4.start(), 4) == 2401
    with pytest.raises(Stopped, match="stopped after"):
        ludus.perft(CONNECT4.start(), 20, stop=StopsAfter(3))


def test_perft_ends_with_the_game():
    assert ludus.perft(ludus.make("tictactoe").start(), 10**12) == 0
