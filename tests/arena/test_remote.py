"""Agents in processes of their own: the referee owns the game, and only an agent that fails is charged."""

import gc
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ludus
from ludus.agents import KINDS, Budget, Choice
from ludus.agents.random import RandomAgent
from ludus.arena.play import play_game
from ludus.arena.record import tasks_of
from ludus.arena.remote import AgentFailed, RemoteAgent, Unfit, agent_for, is_remote
from ludus.arena.workers import Workers
from ludus.errors import BadAgent, BrokenGame
from tests.rogues import vandalise

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as on Unix")

TICTACTOE = ludus.make("tictactoe")


@pytest.fixture(autouse=True)
def rogues(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    monkeypatch.setitem(KINDS, "rogue", "rogues")


@pytest.fixture(scope="module")
def workers():
    with Workers(TICTACTOE, 1, move_limit=1.0) as workers:
        yield workers


@pytest.fixture
def agent():
    """An agent in its own process, which ends with the test."""
    made = []

    def make(name, **options):
        made.append(RemoteAgent(name, TICTACTOE, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def played(workers, *agents):
    return [record for record in workers.play(tasks_of(agents, 2, seed=1)) if record]


def processes_of(record, agent):
    """The processes in which the agent thought, which rogues report as their simulations."""
    player = record.seats.index(agent)
    return {thought.simulations for ply in record.thoughts for thought in ply if thought.player == player}


def check_game(record):
    """The recorded moves are legal, and the result is the result of the rules."""
    position = TICTACTOE.start(record.seed)
    for action in record.actions:
        position = position.play(action)
    assert position.is_over == (not record.reason)
    assert record.reason or position.values == record.values


NONSENSE = "crashed: its process sent nonsense ("
FAILURES = {
    "exit": "crashed: its process ended with exit code 7",
    "sys-exit": "crashed: SystemExit: enough (rogues.py, line",
    "kill": "crashed: its process ended by signal 9 (SIGKILL)",
    "kill-group": "crashed: its process ended by signal 9 (SIGKILL)",
    "segfault": "crashed: its process ended by signal 11 (SIGSEGV)",
    "deadly-del": "crashed: its process ended with exit code 5",
    "bequeath": "crashed: its process ended with exit code 4",
    "hang": "hung: no answer in 1 s",
    "hog": "hung: no answer in 1 s",
    "rude": "crashed: ZeroDivisionError: oh no (rogues.py, line",
    "unspeakable": "crashed: its process ended with exit code 1",
    "recurse": "crashed: RecursionError: maximum recursion depth exceeded",
    "illegal": "illegal move: rogue:illegal chose action 99, which is not legal in the position",
    "half": "crashed: TypeError",
    "huge": f"{NONSENSE}a message does not hold a whole number)",
    "mute": "crashed: AttributeError",
    "babble": f"{NONSENSE}a message of 1,214,606,444 bytes is too large)",
    "flood": f"{NONSENSE}a message that answers no question)",
    "giant": f"{NONSENSE}a message of 1,073,741,824 bytes is too large)",
    "early": f"{NONSENSE}a message that answers no question)",
    "twice": f"{NONSENSE}a message that answers no question)",
    "close": "crashed: its process closed its pipe",
}
opponents = set()
"""The processes of the opponent in all games of the next test."""


@pytest.mark.parametrize(("how", "reason"), FAILURES.items(), ids=FAILURES)
def test_only_the_agent_that_fails_is_charged_and_the_process_of_its_opponent_lives_on(workers, how, reason):
    worker = {each.child.process.pid for each in workers.workers}
    for record in played(workers, f"rogue:{how}", "rogue:good"):
        mine = record.seats.index(0)
        assert (record.values[mine], record.values[1 - mine]) == (-1.0, 1.0)
        assert record.reason.startswith(reason)
        assert len(record.thoughts) == 2 + mine + 2 * (how == "twice")  # the late answer is noticed one move later
        check_game(record)
        opponents.update(processes_of(record, 1))
    assert len(opponents) == 1
    assert not worker or worker == {each.child.process.pid for each in workers.workers}


@pytest.mark.parametrize("how", ["write", "chatter", "bad-del", "boast", "unknown"])
def test_an_agent_that_writes_into_its_position_or_prints_changes_nothing(workers, how):
    records = played(workers, f"rogue:{how}", "random")
    expected = played(workers, "rogue:good", "random")
    assert [(each.actions, each.values, each.reason) for each in records] == [
        (each.actions, each.values, "") for each in expected
    ]
    for record in records:
        check_game(record)
        assert {thought.value for ply in record.thoughts for thought in ply} == {None}


def test_an_agent_that_changes_the_code_in_its_process_deceives_only_itself(workers):
    (record, _) = played(workers, "rogue:patch", "rogue:good")
    assert record.values == (-1.0, 1.0)
    assert record.reason.startswith("crashed: IllegalMove")
    check_game(record)


def test_an_agent_that_ends_during_the_turn_of_its_opponent_is_charged(workers, tmp_path):
    (record, _) = played(workers, f"rogue:exit-later:{tmp_path}", f"rogue:watch:{tmp_path}")
    assert record.reason == "crashed: its process ended with exit code 9"
    assert record.values == (-1.0, 1.0)
    assert len(record.actions) == 4  # the opponent has moved, after the process had ended


def test_an_agent_that_kills_the_referee_in_the_turn_of_its_opponent_is_charged():
    with Workers(ludus.make("connect4"), 1) as workers:
        (record, other) = played(workers, "rogue:assassin", "uct:1s")
    for each in record, other:
        assert each.values[each.seats.index(0)] == -1.0
        assert each.reason.startswith("crashed: its referee failed twice, once without another agent in its process")
        assert "by signal 9 (SIGKILL)" in each.reason


def test_a_game_whose_referee_one_of_two_foreign_agents_kills_is_not_counted():
    with Workers(TICTACTOE, 1) as workers, pytest.raises(BrokenGame, match="each may be the cause"):
        played(workers, "rogue:assassin", "rogue:sleepy")


def test_an_agent_that_ends_during_the_last_turn_of_a_game_is_not_charged(agent, tmp_path):
    one, other = agent(f"rogue:exit-later:{tmp_path}"), agent(f"rogue:watch:{tmp_path}")
    one.new_game(1)
    position = TICTACTOE.parse("xx1/oo1/3")
    for _ in range(2):
        one.choose(position)
    position = position.play("c1")
    other.choose(position)
    assert one._child.exit_code(5) == 9
    one.new_game(2)  # in a new process
    assert one.choose(position.parent).action in position.parent.actions


def test_both_sides_have_a_process_of_their_own_which_is_not_this_one(workers):
    (record, other) = played(workers, "rogue:good", "rogue:good")
    processes = [processes_of(record, 0), processes_of(record, 1)]
    assert [len(each) for each in processes] == [1, 1]
    assert len({os.getpid(), workers.workers[0].child.process.pid}.union(*processes)) == 4
    assert [processes_of(other, 0), processes_of(other, 1)] == processes


# --- the same games ---------------------------------------------------------------------------------------------------


class Local(RandomAgent):
    pass


@pytest.mark.parametrize(("game", "opening"), [("tictactoe", 1), ("sevn", 3), ("roshambo", 0), ("laststone", 0)])
def test_an_agent_plays_the_same_games_in_a_process_of_its_own(monkeypatch, game, opening):
    monkeypatch.setitem(KINDS, "local", lambda spec, game, seed: Local(spec.text, seed))
    game = ludus.make(game)
    others = ["random"] * (game.players - 1)
    options = {"games": 2 * game.players, "seed": 4, "openings": opening, "parallel": 1}
    here = ludus.play_match(game, ["local", *others], **options)
    there = ludus.play_match(game, ["rogue:good", *others], **options)
    assert [record.actions for record in here.games] == [record.actions for record in there.games]
    assert [record.values for record in here.games] == [record.values for record in there.games]


def test_only_agents_that_are_not_built_in_are_remote(monkeypatch):
    monkeypatch.setitem(KINDS, "here", lambda spec, game, seed: Local(spec.text, seed))
    monkeypatch.setitem(KINDS, "main", "__main__")
    assert [is_remote(name) for name in ("rogue:good", "uct:5", "human", "here", "main")] == [True] + [False] * 4
    assert type(agent_for("random", TICTACTOE)) is RandomAgent
    assert type(agent_for("here", TICTACTOE)) is Local


def test_a_search_is_given_its_budget_and_the_clock_is_the_clock_of_the_referee(agent):
    made = agent("rogue:good")
    choice = made.choose(TICTACTOE.parse("xx1/oo1/3"), Budget(seconds=0.5), 0)
    assert choice.action in TICTACTOE.parse("xx1/oo1/3").actions
    assert choice.move == TICTACTOE.parse("xx1/oo1/3").notation(choice.action)
    assert choice.seconds > 0
    with pytest.raises(BadAgent, match="nothing to choose"):
        made.choose(TICTACTOE.parse("xx1/oo1/3"), None, 1)


# --- games in this process --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["exit", "hang", "illegal", "rude"])
def test_a_match_in_this_process_charges_the_agent_and_goes_on(how):
    result = ludus.play_match(TICTACTOE, ["random", f"rogue:{how}"], 2, seed=1, parallel=1, move_limit=0.5)
    assert result.tally(0) == (2, 0, 0)
    assert all(record.reason.startswith(FAILURES[how].replace("1 s", "0.5 s")) for record in result.games)


def test_an_agent_object_gets_copies_of_positions():
    class Vandal(RandomAgent):
        def choose(self, position, budget=None, player=None, progress=None):
            choice = super().choose(position, budget, player)
            vandalise(position)
            return choice

    options = {"games": 6, "seed": 3, "openings": 1, "parallel": 1}
    result = ludus.play_match(TICTACTOE, [Vandal("one"), Vandal("other")], **options)
    honest = ludus.play_match(TICTACTOE, [Local("one"), Local("other")], **options)
    assert [record.actions for record in result.games] == [record.actions for record in honest.games]
    assert [record.values for record in result.games] == [record.values for record in honest.games]
    last = play_game(TICTACTOE.start(), [Vandal("one", 1), Vandal("other", 2)])
    assert last == play_game(TICTACTOE.start(), [Local("one", 1), Local("other", 2)])
    assert last.history[0] == TICTACTOE.start()
    session = ludus.Session(TICTACTOE, [Vandal("one"), "human"])
    move = session.think().move
    assert session.position == TICTACTOE.start().play(move)


@pytest.mark.parametrize("action", [0.0, "a1", None, (0,)])
def test_an_action_that_is_no_whole_number_is_illegal(action):
    class Odd(RandomAgent):
        def choose(self, position, budget=None, player=None, progress=None):
            return Choice(player, action, "?")

    with pytest.raises(BadAgent, match=r"odd chose action .*which is not legal"):
        ludus.play_match(TICTACTOE, [Odd("odd"), Odd("odder")], 2, parallel=1)


def test_an_agent_cannot_move_for_another_player():
    class Other(RandomAgent):
        def choose(self, position, budget=None, player=None, progress=None):
            return Choice(1 - player, position.actions[0], "?")

    session = ludus.Session(TICTACTOE, [Other("other"), "human"])
    assert session.think().player == 0
    assert (session.ply, session.waiting_for) == (1, [1])


def test_an_agent_that_cannot_be_made_is_refused(agent):
    with pytest.raises(Unfit, match=r"rogue: IndexError: list index out of range \(rogues.py, line"):
        agent("rogue").start()
    with pytest.raises(Unfit, match="rogue: IndexError"):
        ludus.play_match(TICTACTOE, ["random", "rogue"], 2, parallel=1)


# --- sessions ---------------------------------------------------------------------------------------------------------


def test_an_agent_of_a_session_has_a_process_of_its_own():
    session = ludus.Session(TICTACTOE, ["rogue:exit", "human"])
    first = session.think()
    assert first.simulations != os.getpid()
    session.play(session.moves()[0])
    with pytest.raises(AgentFailed, match="rogue:exit crashed: its process ended with exit code 7"):
        session.think()
    assert session.ply == 2
    assert session.think().simulations != first.simulations  # a new process
    assert session.ply == 3
    with pytest.raises(Unfit):
        ludus.Session(TICTACTOE, ["rogue", "human"])


def test_an_agent_that_does_not_stop_is_ended(agent, monkeypatch):
    monkeypatch.setattr("ludus.arena.remote.STOP_LIMIT", 0.2)
    made = agent("rogue:hang", move_limit=math.inf)
    made.choose(TICTACTOE.start())
    with pytest.raises(AgentFailed, match=r"hung: no answer in 0.2 s"):
        made.choose(TICTACTOE.start(), progress=lambda fraction: False)


# --- the end ----------------------------------------------------------------------------------------------------------


def wait_for_end(pid):
    for _ in range(500):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the process lived on")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
@pytest.mark.parametrize("way", ["killed", "left"])
def test_the_process_of_an_agent_ends_with_the_worker_even_if_it_lets_no_thread_run(tmp_path, way):
    file = tmp_path / "pid"
    with Workers(TICTACTOE, 1) as workers:
        workers.begin(next(tasks_of((f"rogue:hog:{file}", "random"), 2, 0)))
        while not (file.exists() and file.read_text()):
            assert not workers.wait(0.05)
        os.kill(int(file.read_text()), 0)
        if way == "killed":
            os.kill(workers.workers[0].child.process.pid, signal.SIGKILL)
            wait_for_end(int(file.read_text()))
            ((_, record),) = workers.wait(60)
            assert record.reason == "crashed: its process ended by signal 9 (SIGKILL)"
    wait_for_end(int(file.read_text()))


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_the_process_of_an_agent_ends_with_its_object():
    made = RemoteAgent("rogue:good", TICTACTOE)
    process = made.choose(TICTACTOE.start()).simulations
    os.kill(process, 0)
    del made
    gc.collect()
    wait_for_end(process)


def test_a_program_that_plays_when_it_is_loaded_is_told(tmp_path):
    """Each process would load the module of the agent, and so play again."""
    (tmp_path / "program.py").write_text(
        "import ludus\n"
        "from ludus.agents import KINDS\n"
        "from ludus.agents.random import RandomAgent\n"
        "KINDS['mine'] = 'program'\n"
        "def make(spec, game, seed): return RandomAgent('mine', seed)\n"
        "ludus.play_match('tictactoe', ['mine', 'random'], 2, parallel=1)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(ludus.__file__).parents[1])}
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "put what plays below if __name__ == '__main__':" in done.stderr
