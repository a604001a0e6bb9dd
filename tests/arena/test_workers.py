"""Games in processes of their own: the same games on any number of them, and agents that fail lose, and only they."""

import functools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ludus
from ludus.agents import KINDS
from ludus.arena.record import tasks_of
from ludus.arena.remote import Unfit
from ludus.arena.workers import Workers, can_work
from ludus.errors import BrokenGame
from tests.own_games import HEAP, tell_tale, write_heap

TICTACTOE = ludus.make("tictactoe")
play_match = functools.partial(ludus.play_match, parallel=1)  # in this process


pytestmark = pytest.mark.usefixtures("misbehaving")


@pytest.fixture(scope="module")
def workers():
    with Workers(TICTACTOE, 2, move_limit=1.0) as workers:
        yield workers


def played(result):
    return [(record.seed, record.seats, record.actions, record.values) for record in result.games]


def test_the_same_match_on_any_number_of_processes(run_that_plays):
    run = run_that_plays(1)
    with Workers(TICTACTOE, 2) as workers:
        for agents in (
            (f"zero:{run.folder}:20", "uct:50"),
            (f"rollout:{run.folder}:10", f"policy:{run.folder}:sample=yes"),
        ):
            alone = play_match(TICTACTOE, agents, 8, seed=5, openings=1)
            together = [record for record in workers.play(tasks_of(agents, 8, 5, opening=1)) if record]
            assert [record.actions for record in together] == [record.actions for record in alone.games]
            assert len({record.actions for record in together}) > 1
    alone = play_match(TICTACTOE, ["uct:50", "random"], 8, seed=5)
    assert played(play_match(TICTACTOE, ["uct:50", "random"], 8, seed=5, parallel=3)) == played(alone)


def test_a_game_of_ones_own_file_is_played_in_other_processes():
    path = Path(__file__).parent.parent / "broken_games" / "line.py"
    game = ludus.make(path)
    result = play_match(game, ["random", "random"], 4, parallel=2)
    assert played(result) == played(play_match(game, ["random", "random"], 4))


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("crash", "crashed: ZeroDivisionError: oh no (misbehaving.py, line"),
        ("die", "crashed: its process ended with exit code 7"),
        ("hang", "hung: no answer in 1 s"),
        ("cheat", "illegal move: misbehaving:cheat chose action 99, which is not legal in the position"),
        ("mute", "crashed: AttributeError"),
        ("unready", "crashed: RuntimeError: not today"),
    ],
)
def test_an_agent_that_fails_loses_the_game(workers, how, reason):
    records = [record for record in workers.play(tasks_of((f"misbehaving:{how}", "random"), 2, seed=1)) if record]
    assert [record.seats for record in records] == [(0, 1), (1, 0)]
    for record in records:
        mine = record.seats.index(0)
        assert record.values[mine] == -1.0
        assert record.values[1 - mine] == 1.0
        assert record.reason.startswith(reason)
        plies = 0 if how == "unready" else 4 + mine
        assert len(record.actions) == len(record.moves) == len(record.thoughts) == plies
        position = TICTACTOE.start(record.seed)
        for action in record.actions:
            position = position.play(action)
        assert not position.is_over


def test_an_agent_may_print(workers):
    records = [record for record in workers.play(tasks_of(("misbehaving:chatter", "random"), 2, seed=1)) if record]
    assert [record.reason for record in records] == ["", ""]


def test_the_same_failures_in_both_seats_do_not_hurt_the_next_game(workers):
    records = [
        record for record in workers.play(tasks_of(("misbehaving:die", "misbehaving:hang"), 2, seed=1)) if record
    ]
    assert [record.values for record in records] == [(-1.0, 1.0)] * 2
    records = [record for record in workers.play(tasks_of(("random", "random"), 6, seed=1)) if record]
    assert [record.reason for record in records] == [""] * 6


def test_a_worker_that_is_ended_from_outside_is_replaced(workers):
    list(workers.play(tasks_of(("random", "random"), 2, seed=1)))
    for worker in workers.workers:
        os.kill(worker.child.process.pid, signal.SIGKILL)
        worker.child.process.wait()
    records = [record for record in workers.play(tasks_of(("random", "random"), 2, seed=1)) if record]
    assert [record.reason for record in records] == [""] * 2


def test_a_busy_parent_does_not_cost_anybody_the_game(workers):
    task = next(tasks_of(("random", "random"), 2, seed=1))
    workers.begin(task)
    time.sleep(2 * workers.move_limit)
    ((_, record),) = workers.wait(60)
    assert record.reason == ""


@pytest.mark.parametrize("how", ["unmade", "unmade-and-dead"])
def test_an_agent_that_cannot_be_made_is_named(workers, how):
    with pytest.raises(Unfit, match="cannot be made") as caught:
        list(workers.play(tasks_of(("random", f"misbehaving:{how}"), 2, seed=1)))
    assert caught.value.name == f"misbehaving:{how}"


def test_thoughts_are_kept(workers):
    (record, _) = [record for record in workers.play(tasks_of(("uct:40", "random"), 2, seed=3)) if record]
    mine, other = record.thoughts[0][0], record.thoughts[1][0]
    assert (mine.player, other.player) == (0, 1)
    assert 0 < mine.simulations <= 40
    assert -1 <= mine.value <= 1
    assert other.value is None
    assert mine.seconds > 0


def test_everyone_at_once_and_three_players():
    for name, agents in (("roshambo", ["random", "uct:20"]), ("laststone", ["random", "uct:20", "random"])):
        game = ludus.make(name)
        together = play_match(game, agents, 2 * game.players, seed=2, parallel=2)
        assert played(together) == played(play_match(game, agents, 2 * game.players, seed=2))


def test_openings_are_shared_by_the_games_of_a_start():
    game = ludus.make("connect4")
    result = play_match(game, ["random", "random"], 8, seed=1, openings=3)
    openings = [record.actions[:3] for record in result.games]
    assert openings[::2] == openings[1::2]
    assert len(set(openings)) == 4
    assert [record.opening for record in result.games] == [3] * 8
    assert all(len(record.thoughts) == len(record.actions) - 3 for record in result.games)
    assert [record.opening for record in play_match(TICTACTOE, ["random"] * 2, 4, openings=30).games] == [8] * 4


def test_a_game_that_is_another_one_in_the_worker_is_refused():
    class Other(type(TICTACTOE)):
        spec = ludus.GameSpec("connect4")

    with pytest.raises(BrokenGame, match=r"connect4 makes connect4\(.*in another process, not tictactoe"):
        play_match(Other(), ["random", "random"], 2, parallel=2)


def test_who_can_play_in_another_process(monkeypatch):
    assert can_work(["uct", "misbehaving:crash"])
    assert not can_work(["uct", "human"])
    monkeypatch.setitem(KINDS, "here", lambda spec, game, seed: None)
    assert not can_work(["here", "random"])


@pytest.mark.parametrize(
    "message",
    [
        ["over", {}],
        ["over"],
        ["played", "a", []],
        ["asks", 2],
        ["asks", True],
        ["makes", -1],
        ["unfit", 0, None],
        ["broken", 5],
        {"over": 1},
        [],
        None,
    ],
)
def test_a_worker_that_sends_nonsense_is_ended(message):
    with Workers(TICTACTOE, 1) as workers:
        worker = workers._start()
        worker.task, worker.asked = next(tasks_of(("random", "random"), 2, seed=1)), 1
        worker.deadline = time.monotonic() + 20
        worker.child.inbox.put(message)
        workers.news.set()
        ((_, record),) = workers.wait(60)
        assert record.values == (1.0, -1.0)
        assert record.reason.startswith("crashed: its process sent nonsense (")
        assert not workers.workers
        assert not worker.child.is_alive()


def test_moves_that_cannot_be_are_left_out_of_the_record():
    with Workers(TICTACTOE, 1) as workers:
        worker = workers._start()
        worker.task, worker.asked = next(tasks_of(("random", "random"), 2, seed=1)), 0
        worker.deadline = time.monotonic() + 20
        for action in (4, 4, 5):
            worker.child.inbox.put(["played", action, [[0, None, 1, 0.1]]])
        worker.child.inbox.put("nonsense")
        ((_, record),) = workers.wait(60)
        assert (record.actions, len(record.thoughts), record.values) == ((4,), 1, (-1.0, 1.0))


# --- modules ----------------------------------------------------------------------------------------------------------

PLAYS = """
import ludus
from ludus.agents import KINDS
from ludus import play_match
{before}
result = play_match(ludus.make({game!r}), [{agent!r}, "random"], 2, parallel=2)
print([record.reason for record in result.games])
"""


def environment():
    """Without the current folder in PYTHONPATH, where these tests may have it."""
    return {**os.environ, "PYTHONPATH": str(Path(ludus.__file__).parents[1])}


@pytest.mark.parametrize("way", ["-c", "script", "-m", "command"])
def test_workers_import_nothing_from_the_current_folder(way, tmp_path):
    file, marker = write_heap(tmp_path), tmp_path / "marker"
    plays = PLAYS.format(before="", game=str(file), agent="random")
    modules = ("json", "multiprocessing", "subprocess", "threading", "numpy", "numba", "typing", "cupy", "ludus_extra")
    code = (
        "import json, subprocess, threading, typing, numpy, numba, sys, pathlib\n"  # what the parent itself needs
        f"from pathlib import Path\n"
        f"for name in {modules}:\n"
        f"    Path({str(tmp_path)!r}, name + '.py').write_text({tell_tale(marker)!r})\n"
    )
    if way == "command":
        exec(code, {})
        (tmp_path / "bin").mkdir()
        (tmp_path / "bin" / "ludus").write_text("from ludus.cli import main; main()")
        command = [sys.executable, "bin/ludus", "match", "heap.py", "random", "random", "--games", "2"]
    elif way == "-c":
        command = [sys.executable, "-c", code + plays]
    else:
        (tmp_path / "program.py").write_text(code + plays)
        command = [sys.executable, *(["program.py"] if way == "script" else ["-m", "program"])]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "['', '']" in done.stdout or "2 games in" in done.stdout
    assert not marker.exists()


@pytest.mark.parametrize("way", ["-c", "script", "-m"])
def test_agents_that_a_program_registers_are_found_beside_it(way, tmp_path):
    (tmp_path / "my_helper.py").write_text("NAME = 'mine'\n")
    (tmp_path / "my_agents").mkdir()
    (tmp_path / "my_agents" / "__init__.py").touch()
    (tmp_path / "my_agents" / "first.py").write_text(
        "import my_helper\nfrom ludus.agents.random import RandomAgent\n"
        "def make(spec, game, seed):\n    return RandomAgent(my_helper.NAME, seed)\n"
    )
    plays = PLAYS.format(before="KINDS['mine'] = 'my_agents.first'", game="tictactoe", agent="mine")
    (tmp_path / "program.py").write_text(plays)
    command = [sys.executable, *{"-c": ["-c", plays], "script": ["program.py"], "-m": ["-m", "program"]}[way]]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("['', '']\n", "")


def test_a_game_in_the_program_itself_needs_the_guard(tmp_path):
    write_heap(tmp_path)
    plays = "from ludus import play_match\n{0}print(len(play_match(HeapGame(), ['random'] * 2, 2, parallel=2).games))"
    for guard, told in (
        ("if __name__ == '__main__':\n    ", ""),
        ("", "put what plays below if __name__ == '__main__':"),
    ):
        (tmp_path / "heap.py").write_text(HEAP + plays.format(guard))
        command = [sys.executable, "heap.py"]
        done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True)
        assert (done.returncode, done.stdout) == ((1, "") if told else (0, "2\n"))
        assert told in done.stderr


def test_a_file_that_changes_while_it_is_played_is_noticed(tmp_path):
    file = write_heap(tmp_path)
    game = ludus.make(file)
    file.write_text(HEAP.replace("action + 1", "action + 2"))
    with pytest.raises(BrokenGame, match=r"heap.py has changed: its rules are \w+ now and were \w+"):
        play_match(game, ["random", "random"], 2, parallel=2)


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_workers_end_when_their_parent_is_killed():
    script = """if True:
        import ludus, time
        from ludus.arena.record import tasks_of
        from ludus.arena.workers import Workers
        workers = Workers(ludus.make("tictactoe"), 1)
        workers.begin(next(tasks_of(("uct:300s", "random"), 2, 0)))
        while workers.workers[0].asked is None:
            workers.wait(0.1)
        print(workers.workers[0].child.process.pid, flush=True)
        time.sleep(60)
    """
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        os.kill(child, 0)
        parent.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not Path(f"/proc/{child}").exists():
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the worker lived on")
