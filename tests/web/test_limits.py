"""What agents may use together: memory for their trees, and turns of computing."""

import threading
import time
from types import SimpleNamespace

import pytest

import ludus
from ludus.compile_events import CompileEnded, CompileStarted
from ludus.web.compiling import CompileStatus, titles_of
from ludus.web.jobs import Job
from ludus.web.memory import Cancelled, TreeMemory
from ludus.web.turns import Turns
from tests.web.serving import wait_for

MB = 1 << 20


@pytest.fixture(scope="module")
def game():
    return ludus.make("tictactoe")


def test_all_trees_together_stay_within_the_bound(game):
    memory = TreeMemory(8 * MB)
    agents = [ludus.make_agent("uct:20ms", game, seed) for seed in range(100)]
    for agent in agents:
        with memory.lease(agent):
            agent.choose(game.start())
        grown = sum(each.forest.bytes for each in agents if each.forest is not None)
        assert grown <= memory.leased <= memory.total
    assert agents[0].forest is None  # the tree that was idle for longest was dropped
    assert agents[-1].forest is not None


def test_a_tree_that_was_dropped_is_grown_again(game):
    memory = TreeMemory(8 * MB)
    agent = ludus.make_agent("uct:100", game)
    own = agent.memory
    with memory.lease(agent):
        agent.choose(game.start())
    memory.release(agent)
    assert agent.forest is None
    assert agent.memory == own
    with memory.lease(agent):
        assert agent.choose(game.start()).simulations == 100


def test_an_agent_waits_while_all_memory_is_in_use(game):
    memory = TreeMemory(64 * MB)
    holders = [memory.lease(ludus.make_agent("uct", game)) for _ in range(64)]
    for holder in holders:
        holder.__enter__()
    waiting = ludus.make_agent("uct", game)
    with pytest.raises(Cancelled), memory.lease(waiting, lambda: True):
        pass
    got = threading.Event()

    def wait():
        with memory.lease(waiting):
            got.set()

    thread = threading.Thread(target=wait)
    thread.start()
    assert not got.wait(0.05)
    holders[0].__exit__(None, None, None)
    assert got.wait(10)
    thread.join()


def test_agents_without_a_tree_need_no_lease(game):
    memory = TreeMemory(64)
    with memory.lease(ludus.make_agent("random", game)):
        assert memory.leased == 0


def test_searches_take_turns_and_all_advance():
    turns, running, most, counts = Turns(2), set(), [], [0] * 8
    lock, stop = threading.Lock(), threading.Event()

    def search(number):
        while not stop.is_set():
            turns.pace()
            with lock:
                running.add(number)
                most.append(len(running))
            counts[number] += 1
            time.sleep(0.002)  # a round of a search, without Python's global lock
            with lock:
                running.discard(number)

    threads = [threading.Thread(target=search, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    wait_for(lambda: min(counts) >= 10)
    stop.set()
    for thread in threads:
        thread.join()
    assert max(most) <= 2


def test_the_turn_of_a_search_that_has_ended_expires():
    turns = Turns(1)
    ended = threading.Thread(target=turns.pace)
    ended.start()
    ended.join()
    began = time.monotonic()
    turns.pace()
    assert time.monotonic() - began < 20


def test_a_job_that_was_stopped_has_not_failed():
    job = Job(["analyse", "--json"])
    job.stop()
    job.end()
    assert (job.is_running, job.failure) == (False, "")


def test_the_seconds_of_compiling_are_counted_over_its_pieces(monkeypatch):
    now = 100.0
    monkeypatch.setattr("ludus.web.compiling.time", SimpleNamespace(monotonic=lambda: now))
    status = CompileStatus()
    assert status.line == ""
    status.hear(CompileStarted("Chess", 1, 1.0))
    now += 2.0
    status.hear(CompileEnded("Chess", 5, 3.0))
    now += 0.5
    assert status.line == "Compiling Chess for this use, once on this machine (4 s) ..."
    status.hear(CompileStarted("Chess", 1, 1.0))
    now += 30.0
    assert "(34 s)" in status.line
    status.hear(CompileEnded("Chess", 5, 31.0))
    now += 2.0
    assert status.line == ""
    assert titles_of(ludus.make("connect4")) == ["Connect-4"]
    described = ludus.make("gdl:tictactoe", reasoner=True)
    assert titles_of(described) == ["tictactoe", "games in GDL", "games in ordinary Python"]
