"""ludus.analyse: snapshots of the same search that `choose` runs, which ends when nobody wants it any more."""

import gc
import json
import math
import threading
import time

import pytest

import ludus
from ludus.agents import make_agent
from ludus.agents.search import Thinking
from ludus.errors import BadAgent, BadOption, IllegalMove

CONNECT4 = ludus.make("connect4")


@pytest.fixture(scope="module", autouse=True)
def compiled():
    make_agent("uct", CONNECT4).new_game(0)


def searching():
    return [thread for thread in threading.enumerate() if thread.name.startswith("ludus analysis")]


def wait_until_none_searches(seconds=0.5):
    """True if all searches have ended by then. A round takes 10 ms; the rest allows for a busy machine."""
    deadline = time.perf_counter() + seconds
    while searching() and time.perf_counter() < deadline:
        for thread in searching():
            thread.join(0.01)
    return not searching()


def test_the_last_snapshot_is_what_choose_answers_with():
    start = CONNECT4.start()
    choice = make_agent("uct", CONNECT4, seed=3).choose(start, 30_000)
    *early, last = ludus.analyse(start, make_agent("uct", CONNECT4, seed=3), 30_000, every=0.005)
    assert early, "no snapshot came while the search went on"
    assert not any(snapshot.final for snapshot in early)
    assert (last.final, last.ended, last.fraction) == (True, "budget", 1.0)
    assert last.simulations == choice.simulations == 30_000
    assert list(last.block.visits) == choice.visits
    assert list(last.block.values) == choice.values
    assert list(last.block.policy) == choice.policy
    assert (last.best, last.value, last.line) == (choice.move, choice.value, choice.line)


def test_snapshots_grow_and_agree_with_themselves():
    before = 0
    for snapshot in ludus.analyse(CONNECT4.start(), "uct", 40_000, every=0.005):
        assert snapshot.simulations == sum(stats.visits for stats in snapshot.moves) >= before
        assert math.isclose(sum(stats.policy for stats in snapshot.moves), 1.0, rel_tol=1e-5)
        assert [stats.move for stats in snapshot.moves] == list("abcdefg")
        assert all(stats.prior is None for stats in snapshot.moves)  # there is no network
        assert snapshot.line[0] == snapshot.best
        assert 0 < snapshot.fraction <= 1
        before = snapshot.simulations


def test_a_position_that_is_solved_ends_the_search():
    position = CONNECT4.start()
    for move in "dadada":
        position = position.play(move)
    *_, last = ludus.analyse(position, "uct", "infinite")
    assert (last.solved, last.ended, last.value, last.best, last.line) == (True, "solved", 1.0, "d", ["d"])
    assert last.fraction is None


def test_an_infinite_search_ends_when_its_memory_is_full():
    *_, last = ludus.analyse(CONNECT4.start(), "uct:memory=1MB", "infinite")
    assert (last.ended, last.final) == ("full", True)


def test_stop_gives_the_best_so_far():
    analysis = ludus.analyse(CONNECT4.start(), "uct", "infinite", every=0.01)
    next(analysis)
    analysis.stop()
    *_, last = analysis
    assert (last.final, last.ended) == (True, "stopped")
    assert last.best in CONNECT4.start().moves
    assert wait_until_none_searches()


def test_it_is_stopped_from_another_thread():
    analysis = ludus.analyse(CONNECT4.start(), "uct", "infinite", every=0.01)
    threading.Timer(0.05, analysis.stop).start()
    *_, last = analysis
    assert last.ended == "stopped"


@pytest.mark.parametrize("leave", ["break", "close", "with", "collect"])
def test_an_abandoned_search_ends(leave):
    analysis = ludus.analyse(CONNECT4.start(), "uct", "infinite", every=0.01)
    assert searching()
    if leave == "break":
        for _ in analysis:
            break
        del analysis
    elif leave == "close":
        analysis.close()
        assert next(analysis, None) is None
    elif leave == "with":
        with analysis:
            next(analysis)
    else:
        circle = [analysis]
        circle.append(circle)
        del analysis, circle
        gc.collect()
    assert wait_until_none_searches()


def test_a_search_that_is_never_looked_at_runs_to_its_end():
    analysis = ludus.analyse(CONNECT4.start(), "uct", 5_000)
    assert wait_until_none_searches(5)
    assert [snapshot.simulations for snapshot in analysis] == [5_000]


@pytest.mark.parametrize("name", ["random", "greedy", "solver"])
def test_agents_without_a_search_give_one_final_snapshot(name):
    game = ludus.make("tictactoe")
    (last,) = ludus.analyse(game.start(), name)
    assert last.final
    assert last.best in game.start().moves
    assert len(last.moves) == 9
    assert last.solved == (name == "solver")


def test_a_solver_can_be_stopped():
    analysis = ludus.analyse(CONNECT4.start(), "solver")  # would take hours
    analysis.stop()
    (last,) = analysis
    assert (last.ended, last.solved, last.value) == ("stopped", False, None)


def test_a_network_gives_priors(run_that_plays):
    run = run_that_plays(1)
    *_, last = ludus.analyse(ludus.make("tictactoe").start(), f"zero:{run.folder}:60")
    assert sum(stats.prior for stats in last.moves) == pytest.approx(1.0, abs=1e-5)
    (alone,) = ludus.analyse(ludus.make("tictactoe").start(), f"policy:{run.folder}")
    assert [stats.policy for stats in alone.moves] == pytest.approx([stats.prior for stats in last.moves], abs=1e-4)


def test_where_everyone_moves_there_is_a_block_for_each_player():
    game = ludus.make("roshambo")
    with pytest.raises(BadAgent, match="for which player"):
        ludus.analyse(game.start())
    *_, last = ludus.analyse(game.start(), "uct", 2_000, player=1)
    assert [block.player for block in last.blocks] == [0, 1]
    assert [stats.move for stats in last.moves_of(0)] == ["rock", "paper", "scissors"]
    assert last.block.player == 1
    assert last.line == []


def test_three_players_have_one_block():
    game = ludus.make("laststone")
    *_, last = ludus.analyse(game.start(), "uct", 3_000)
    assert [block.player for block in last.blocks] == [0]
    assert last.best == "2"
    assert last.value > 0.5  # taking two leaves 10: the mover will take the last stone


def test_a_snapshot_goes_into_json():
    *_, last = ludus.analyse(CONNECT4.start(), "uct", 10)
    read = json.loads(json.dumps(last.json, allow_nan=False))
    assert read["simulations"] == 10
    assert {stats["move"] for stats in read["blocks"][0]["moves"]} == set("abcdefg")


def test_what_cannot_be_analysed_is_refused_at_once():
    with pytest.raises(BadAgent, match="a person cannot analyse"):
        ludus.analyse(CONNECT4.start(), "human")
    with pytest.raises(BadAgent, match="not a budget"):
        ludus.analyse(CONNECT4.start(), "uct", "soon")
    with pytest.raises(BadOption, match="above 0"):
        ludus.analyse(CONNECT4.start(), every=0)
    with pytest.raises(IllegalMove, match="over"):
        ludus.analyse(ludus.make("tictactoe").parse("xxx/oo1/3"))


def test_an_agent_that_fails_raises_where_its_snapshots_are_taken():
    class Broken:
        name = "broken"

        def choose(self, position, budget=None, player=None, progress=None):
            raise ZeroDivisionError("oh no")

        def new_game(self, seed):
            pass

    with pytest.raises(ZeroDivisionError):
        next(ludus.analyse(CONNECT4.start(), Broken()))


def test_an_agent_thinks_about_one_thing_at_a_time():
    analysis = ludus.analyse(CONNECT4.start(), "uct", "infinite", every=0.01)
    next(analysis)
    with pytest.raises(BadAgent, match="thinking already"):
        analysis.agent.choose(CONNECT4.start())
    analysis.close()
    assert analysis.agent.choose(CONNECT4.start(), 10).simulations == 10


def test_a_watcher_may_read_but_does_not_change_the_search():
    agent, twin = make_agent("uct:20000", CONNECT4, 1), make_agent("uct:20000", CONNECT4, 1)
    seen = []

    def watch(search: Thinking):
        seen.append(search.snapshot().simulations)

    choice, _ = agent.think(CONNECT4.start(), watch=watch)
    assert choice.visits == twin.choose(CONNECT4.start()).visits
    assert seen == sorted(seen)
