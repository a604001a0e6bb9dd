"""The arena: plays on whatever happens, records everything, and finds out who is stronger."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

import ludus
from ludus.arena import loop
from ludus.arena.events import ArenaProgress, EntrantLeftOut, GameLost
from ludus.arena.loop import Arena
from ludus.arena.results import Results
from ludus.arena.roster import Plan, Roster
from ludus.arena.series import read_series
from ludus.arena.store import Store

GAME = ludus.make("tictactoe")


@pytest.fixture
def store(tmp_path):
    with Results(tmp_path / "results.sqlite") as store:
        yield store


def play(store, agents, games, game=GAME, **options):
    seen = []
    arena = Arena(game, store, Roster(game, "random", agents), on_event=seen.append, **options)
    arena.run(games=games)
    arena.rate()
    return arena, seen


class Until:
    """A stop signal that asks a question."""

    def __init__(self, is_set):
        self.is_set = is_set


def test_it_finds_out_who_is_stronger(store, monkeypatch):
    monkeypatch.setattr(loop, "EVENTS_APART", 0.0)
    arena, seen = play(store, ["uct:2", "uct:500"], 60, parallel=2, opening=1)
    assert all(isinstance(event, ArenaProgress) for event in seen)
    games = [event.games for event in seen]
    assert games == sorted(games)
    assert games[-1] == 60
    assert any(event.standings.rows and event.games_per_minute > 0 for event in seen)
    assert {label for event in seen for pair in event.pairs for label in pair} == {"random", "uct:2", "uct:500"}
    assert arena.games == store.count(GAME.identity) == 60
    names = [store.identities()[row.name].label for row in arena.ratings.rows]
    assert names[0] == "uct:500"
    assert arena.ratings[arena.roster.anchor].rating == 500
    assert all(row.connected for row in arena.ratings.rows)
    starts = Counter((game.record.seed, game.record.actions[:1]) for game in store.games(GAME.identity))
    assert set(starts.values()) == {2}  # every start from both seats, after the same random move
    assert len(starts) == 30
    again, _ = play(store, ["uct:2", "uct:500"], 10)
    assert again.games == 10  # another sitting plays other games
    assert store.count(GAME.identity) == 70


@pytest.mark.usefixtures("misbehaving")
def test_it_goes_on_whatever_agents_do(store):
    agents = ["uct:5", *(f"misbehaving:{how}" for how in ("crash", "hang", "die", "cheat", "unmade"))]
    arena, seen = play(store, agents, 30, parallel=2, move_limit=1.0, opening=0)
    (left_out,) = (event for event in seen if isinstance(event, EntrantLeftOut))
    assert left_out.name == "misbehaving:unmade"
    assert left_out.reason == ("misbehaving:unmade: RuntimeError: this agent cannot be made (misbehaving.py, line 45)")
    lost = [event for event in seen if isinstance(event, GameLost)]
    assert GameLost("misbehaving:hang", "hung: no answer in 1 s") in lost
    assert store.count(GAME.identity) >= 26  # those of the one left out were given up
    assert len(arena.ratings.rows) == 6
    reasons = {game.record.reason.partition(":")[0] for game in store.games(GAME.identity)}
    assert reasons >= {"crashed", "hung", "illegal move"}
    failed = dict(arena.standings().failures)
    assert failed.keys() == {f"misbehaving:{how}" for how in ("crash", "hang", "die", "cheat")}
    assert sum(failed.values()) <= len(lost)


def test_it_rates_new_checkpoints_of_a_run_that_trains(store, run_that_plays, monkeypatch):
    monkeypatch.setattr(loop, "RESCAN", 0.0)
    monkeypatch.setattr(loop, "EVENTS_APART", 0.0)
    run = run_that_plays(1)
    roster = Roster(GAME, "random", runs=[(run, Plan(simulations=4, agents=()))])

    def watch(event):
        if event.games >= 4 and run.checkpoints() == [1]:
            run_that_plays(2)

    Arena(GAME, store, roster, on_event=watch).run(games=16)
    played = {each.label for each in store.identities().values()}
    assert played == {"random", "zero:run@1:4", "zero:run@2:4"}


def test_a_series_decides_who_plays(store, run_that_plays):
    for number in (1, 2, 3):
        run = run_that_plays(number)
    roster = Roster(GAME, "random", runs=[(run, Plan(simulations=2, agents=("uct:3",)))])
    arena = Arena(GAME, store, roster, series=read_series("before:2 nearest:uct:1"))
    arena.run(games=40)
    met = Counter()
    for game in store.games(GAME.identity):
        met[tuple(sorted(game.agents))] += 1
    asked = {("uct:3", f"zero:run@{number}:2") for number in (1, 2, 3)} | {("zero:run@1:2", "zero:run@3:2")}
    assert sum(met[pair] for pair in asked) >= 30  # the others only to have everybody compared
    assert max(met[pair] for pair in asked) - min(met[pair] for pair in asked) <= 4


def test_three_players(store):
    game = ludus.make("laststone")
    arena, _ = play(store, ["uct:200", "uct:300"], 30, game, opening=0)
    assert store.count(game.identity) == 30
    assert not any(tally.seated for tally in store.tallies(game.identity))
    assert store.identities()[arena.ratings.rows[0].name].label != "random"


def test_it_stops_when_told(store):
    arena = Arena(GAME, store, Roster(GAME, "random", ["uct:5"]))
    arena.run(Until(lambda: arena.games >= 6))
    assert store.count(GAME.identity) == 6


def test_it_stops_when_the_time_is_over(store):
    arena = Arena(GAME, store, Roster(GAME, "random", ["greedy"]))
    began = time.monotonic()
    arena.run(seconds=0.5)
    assert 0.5 <= time.monotonic() - began < 10


def test_progress_comes_a_few_times_a_second(store):
    seen = []
    arena = Arena(GAME, store, Roster(GAME, "random", ["greedy"]), on_event=lambda event: seen.append(time.monotonic()))
    began = time.monotonic()
    arena.run(seconds=2.0)
    assert 2 <= len(seen) <= 1 + (time.monotonic() - began) / loop.EVENTS_APART


def test_a_pair_that_repeats_itself_is_not_played_for_ever(store):
    """Two solvers play one game of tic-tac-toe from each seat; the rest of the time goes to games that are new."""
    arena, _ = play(store, ["solver", "solver:memory=8MB"], 60, opening=0)
    met = Counter(tuple(sorted(game.agents)) for game in store.games(GAME.identity))
    assert met["solver", "solver:memory=8388608"] <= 20
    standings = arena.standings()
    assert standings.games == 60
    distinct = {(game.agents, game.record.moves) for game in store.games(GAME.identity)}
    assert standings.repeated == 60 - len(distinct)


# --- as a program -----------------------------------------------------------------------------------------------------


def program(path, *more):
    command = [sys.executable, "-m", "ludus.cli", "arena", "greedy", "random", "--game", "tictactoe", "--parallel", "1"]
    command += ["--results", str(path), *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until_there_are(games, path):
    for _ in range(300):
        if Path(path).exists():
            with Store(path) as store:
                if store.count(GAME.identity) >= games:
                    return
        time.sleep(0.1)
    pytest.fail("no games are recorded")


def test_two_arenas_on_one_file(tmp_path):
    path = tmp_path / "shared.sqlite"
    both = [program(path, "--games", "40") for _ in range(2)]
    for each in both:
        shown, error = each.communicate(timeout=120)
        assert each.returncode == 0, error
        assert "40 games more" in shown
    with Results(path) as store:
        assert store.count(GAME.identity) == 80
        standings = store.ratings()
        assert standings.games == 80
        assert sum(sum(tally[2:5]) for tally in store.tallies(GAME.identity)) == 80 - standings.repeated


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_killed_and_stopped_arenas_lose_nothing(tmp_path):
    path = tmp_path / "results.sqlite"
    killed = program(path)
    until_there_are(10, path)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    with Store(path) as store:
        count = store.count(GAME.identity)
        assert count >= 10
        assert count % 2 == 0
    stopped = program(path)
    until_there_are(count + 6, path)
    stopped.send_signal(signal.SIGINT)
    shown, error = stopped.communicate(timeout=30)
    assert stopped.returncode == 0, error
    assert f"{count} games are there already" in shown
    assert "Stopped." in shown
    assert "95 % interval" in shown
    with Store(path) as store:
        more = int(shown.rpartition(" games more")[0].split()[-1])
        assert store.count(GAME.identity) == count + more >= count + 6
