"""Results in SQLite: nothing is lost, nothing counted twice, whoever is killed and however many write."""

import dataclasses
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import ludus
from ludus.agents.identity import identify
from ludus.arena.ratings import Tally
from ludus.arena.record import GameRecord
from ludus.arena.store import BadResults, Store, code_version
from ludus.errors import Untrusted

GAME = ludus.make("tictactoe")
RANDOM, UCT = identify("random", GAME), identify("uct:50", GAME)


def some_games(count=4, seed=1, **options):
    return ludus.play_match(GAME, ["random", "uct:50"], count, seed, parallel=1, **options).games


@pytest.fixture
def path(tmp_path):
    return tmp_path / "results.sqlite"


def test_games_come_back_as_they_were(path):
    records = some_games(openings=2)
    with Store(path) as store:
        assert store.add(GAME, [RANDOM, UCT], records) == 4
    with Store.open(path) as store:
        found = list(store.games(GAME.identity))
        assert [game.number for game in found] == [1, 2, 3, 4]
        assert [game.number for game in store.latest(3)] == [4, 3, 2]
        for game, record in zip(found, records, strict=True):
            again = game.record
            assert game.agents == tuple(["random", "uct:50"][seat] for seat in record.seats)
            assert (again.seed, again.actions, again.moves) == (record.seed, record.actions, record.moves)
            assert (again.values, again.opening, again.reason) == (record.values, 2, "")
            assert again.agent_seeds == tuple(record.agent_seeds[seat] for seat in record.seats)
            assert [len(ply) for ply in again.thoughts] == [1] * (len(record.moves) - 2)
            for mine, theirs in zip(again.thoughts, record.thoughts, strict=True):
                assert mine[0].simulations == theirs[0].simulations
                assert mine[0].value == pytest.approx(theirs[0].value, abs=1e-4)
            assert game.code == code_version()
            assert game.code.startswith(ludus.__version__)
        assert store.identities()[UCT.text] == UCT
        (rules,) = store.rules()
        assert (rules.identity, rules.players, rules.games) == (GAME.identity, 2, 4)
        assert rules.make().identity == GAME.identity


def test_the_same_match_is_counted_once(path):
    with Store(path) as store:
        assert store.add(GAME, [RANDOM, UCT], some_games()) == 4
        assert store.add(GAME, [RANDOM, UCT], some_games(6)) == 2
        assert store.add(GAME, [RANDOM, UCT], some_games(2, seed=2)) == 2
        assert store.count(GAME.identity) == 8
        assert sum(sum(tally[2:5]) for tally in store.tallies(GAME.identity)) == 8


def test_games_of_a_start_are_recorded_together_or_not_at_all(path):
    whole, broken = some_games(2)
    with Store(path) as store:
        with pytest.raises(TypeError):
            store.add(GAME, [RANDOM, UCT], [whole, dataclasses.replace(broken, moves=({1, 2},))])
        assert store.count(GAME.identity) == 0
        assert store.add(GAME, [RANDOM, UCT], [whole, broken]) == 2  # and the file is as good as before


def record(seats, values, seed, actions=None):
    actions = (seed,) if actions is None else actions
    return GameRecord(seed, seats, actions, tuple(map(str, actions)), values, agent_seeds=(0,) * len(seats))


def test_tallies_are_seen_from_the_first_seat(path):
    results = [((0, 1), (1, -1)), ((0, 1), (1, -1)), ((0, 1), (0, 0)), ((1, 0), (1, -1)), ((1, 0), (-1, 1))]
    with Store(path) as store:
        store.add(GAME, [RANDOM, UCT], [record(*result, seed) for seed, result in enumerate(results)])
        store.add(GAME, [UCT, UCT], [record((0, 1), (1, -1), 9)])  # tells nothing
        assert store.tallies(GAME.identity) == [
            Tally(RANDOM.text, UCT.text, 2, 1, 0),
            Tally(UCT.text, RANDOM.text, 1, 0, 1),
        ]
        assert store.tallies("another game") == []


def test_placements_become_pairs(path):
    game = ludus.make("laststone")
    three = [identify(name, game) for name in ("random", "uct:10", "uct:20")]
    with Store(path) as store:
        store.add(game, three, [record((2, 0, 1), (1.0, -1.0, 0.0), 1)])
        assert sorted(store.tallies(game.identity)) == sorted(
            [
                Tally(three[2].text, three[0].text, 2 / 3, 0, 0, False),
                Tally(three[2].text, three[1].text, 2 / 3, 0, 0, False),
                Tally(three[0].text, three[1].text, 0, 0, 2 / 3, False),
            ]
        )


def test_a_game_of_ones_own_is_made_again(path, tmp_path):
    file = tmp_path / "mine.py"
    source = (ludus.registry.Path(ludus.__file__).parent / "games" / "tictactoe.py").read_text()
    file.write_text(source)
    game = ludus.make(file)
    with Store(path) as store:
        store.add(game, [RANDOM, UCT], [record((0, 1), (1, -1), 1)])
        with pytest.raises(Untrusted, match=r"mine.py is Python code \(checksum [0-9a-f]{16}, no helper files\)"):
            store.rules()[0].make()
        assert store.rules()[0].make(trust=True).spec == game.spec
        moved = ludus.make(file.rename(tmp_path / "moved.py"))
        store.add(moved, [RANDOM, UCT], [record((0, 1), (1, -1), 2)])
        assert [each.games for each in store.rules()] == [2]
        assert store.rules()[0].make(trust=True).spec == moved.spec
        (tmp_path / "moved.py").write_text(source.replace('name = "tictactoe"', 'name, version = "tictactoe", 77'))
        with pytest.raises(BadResults, match=r"moved.py has changed: its rules are .*; these are games of tictactoe"):
            store.rules()[0].make(trust=True)
        changed = ludus.make(tmp_path / "moved.py")
        assert store.count_other_rules(changed.identity) == 0  # another version is another game


# --- files that are no good -------------------------------------------------------------------------------------------


def test_files_that_are_no_good_get_one_line(path, tmp_path):
    with pytest.raises(BadResults, match="there are no results at"):
        Store.open(path)
    path.write_text("This is no database, however often somebody calls it one." * 100)
    with pytest.raises(BadResults, match="is not a file of results"):
        Store(path)
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE agents (id INTEGER)")
    other.close()
    with pytest.raises(BadResults, match="database of another program"):
        Store(path)
    path.unlink()
    Store(path).close()
    newer = sqlite3.connect(path)
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(BadResults, match="written by a newer Ludus"):
        Store(path)
    with pytest.raises(BadResults, match="cannot be used"):
        Store(tmp_path)


def test_a_damaged_file_gets_one_line(path):
    with Store(path) as store:
        for seed in range(60):
            store.add(GAME, [RANDOM, UCT], some_games(2, seed))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x55" * (size - 8192))
    with pytest.raises(BadResults, match=r"is damaged \(.*\): move it away"), Store(path) as store:
        store.latest(100)


def test_an_empty_file_is_begun(path):
    path.touch()
    with Store(path) as store:
        assert store.count(GAME.identity) == 0


def test_no_such_game(path):
    with Store(path) as store:
        store.add(GAME, [RANDOM, UCT], some_games(2))
        with pytest.raises(BadResults, match="has no game 3; games are numbered from 1 to 2"):
            store.game(3)


# --- several processes ------------------------------------------------------------------------------------------------

WRITER = """if True:
    import sys, ludus
    from ludus.agents.identity import identify
    from ludus.arena.record import GameRecord
    from ludus.arena.store import Store
    game = ludus.make("tictactoe")
    agents = [identify("random", game), identify("uct:50", game)]
    path, first, last = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    print("ready", flush=True)
    sys.stdin.readline()
    with Store(path) as store:
        for seed in range(first, last):
            both = (0, 1), (1, 0)
            pair = [GameRecord(seed, seats, (seed, 1), ("a1", "b1"), (1.0, -1.0), 0, (5, 6)) for seats in both]
            store.add(game, agents, pair)
            print(seed, flush=True)
"""


def writer(path, first, last):
    command = [sys.executable, "-c", WRITER, str(path), str(first), str(last)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    return process


def go(process):
    process.stdin.write("go\n")
    process.stdin.flush()


def test_two_processes_at_once_do_not_harm_each_other(path):
    writers = [writer(path, 0, 150), writer(path, 100, 250)]  # fifty starts are of both
    for each in writers:
        go(each)  # neither finds a file: both want to make the tables
    for each in writers:
        shown = each.communicate(timeout=60)[0]
        assert each.returncode == 0
        assert len(shown.splitlines()) == 150
    with Store.open(path) as store:
        assert store.count(GAME.identity) == 500
        assert store.tallies(GAME.identity) == [
            Tally(RANDOM.text, UCT.text, 250, 0, 0),
            Tally(UCT.text, RANDOM.text, 250, 0, 0),
        ]


def test_several_that_begin_a_file_at_once(tmp_path):
    """Nobody takes the half-made file of another for one of another program."""

    def begin(path):
        barrier.wait()
        Store(path).close()

    for turn in range(40):
        barrier = threading.Barrier(8)
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(begin, [tmp_path / f"{turn}.sqlite"] * 8))


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_killed_at_any_time_nothing_recorded_is_lost(path):
    told = 0
    for turn, wait in enumerate((0.013, 0.031, 0.072)):
        process = writer(path, 10_000 * turn, 10_000 * turn + 9_999)
        go(process)
        process.stdout.readline()
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        told += 1 + len(process.communicate()[0].splitlines())
        with Store.open(path) as store:
            count = store.count(GAME.identity)
            assert count % 2 == 0
            assert 0 <= count // 2 - told <= turn + 1  # one may have been written and not yet told
            assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)
