"""Programs that speak the engine protocol: they play any game, and when they fail they lose the game alone."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ludus
from ludus.agents import make_agent
from ludus.agents.agent import AgentFault
from ludus.agents.budget import Budget
from ludus.agents.external import engine as external
from ludus.agents.external import program
from ludus.agents.external.engine import answer_to, position_json
from ludus.agents.identity import identify
from ludus.agents.naming import names_a_program, parse
from ludus.arena.record import tasks_of
from ludus.arena.remote import AgentFailed, RemoteAgent, is_remote
from ludus.arena.workers import Workers
from ludus.cli import main
from ludus.errors import BadAgent, BadOption, Untrusted
from ludus.protocols.engine import Engine

TICTACTOE = ludus.make("tictactoe")
ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes as on Unix")
ODD = Path(__file__).with_name("odd_engine.py")


def odd(mode="good", *arguments):
    return "engine:" + shlex.join([sys.executable, str(ODD), mode, *map(str, arguments)])


def is_running(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_until_ended(*pids):
    deadline = time.monotonic() + 60
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_running, pids))


@pytest.fixture(scope="module")
def workers():
    with Workers(TICTACTOE, 1) as workers:
        yield workers


def played(workers, *agents):
    return [record for record in workers.play(tasks_of(agents, 2, seed=1)) if record]


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "command", "budget", "options"),
    [
        ("engine:./a b --level=3:2s", "./a b --level=3", "2s", {}),
        ("engine:./a:1000", "./a", "1000", {}),
        ("engine:./a 'host:9000'", "./a 'host:9000'", "None", {}),
        (r"engine:C:\a.exe", r"C:\a.exe", "None", {}),
        ("uhp:./a:depth=3", "./a", "None", {"depth": "3"}),
        ("ggp:http://127.0.0.1:9147", "http://127.0.0.1:9147", "None", {}),
        ("ggp:127.0.0.1:9147:5s:start=30", "127.0.0.1:9147", "5s", {"start": "30"}),
        ("cachex:player.py:Other:seconds=9", "player.py:Other", "None", {"seconds": "9"}),
    ],
)
def test_a_command_may_hold_colons_and_a_budget_and_options_follow_it(name, command, budget, options):
    spec = parse(name)
    assert (spec.words, str(spec.budget), spec.options) == ([command], budget, options)
    assert names_a_program(name)
    assert is_remote(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("engine", "name the program, as in engine:path/to/program"),
        ("engine:", "name the program"),
        ("engine:'", "the command cannot be read: No closing quotation"),
        ("engine:no/such/program", "the program no/such/program does not exist"),
        (f"engine:{ODD}:c=1", "engine has no option 'c'"),
        (odd("choosy"), "cannot be used: refused: I know no such game"),
        (odd("ends"), "cannot be used: crashed: the program ended with exit code 3"),
    ],
)
def test_a_program_that_cannot_play_is_refused_in_one_line(name, message):
    with pytest.raises(BadAgent, match=message) as caught:
        make_agent(name, TICTACTOE)
    assert "\n" not in str(caught.value)


def test_a_program_that_says_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(external, "START_SECONDS", 0.3)
    with pytest.raises(BadAgent, match=r"hung: no answer in 0\.3 s"):
        make_agent(odd("dumb"), TICTACTOE)


def test_the_identity_holds_the_contents_of_the_program(tmp_path):
    file = tmp_path / "player.py"
    file.write_text("1")
    one = identify(f"engine:{sys.executable} {file}:100", TICTACTOE)
    file.write_text("2")
    other = identify(f"engine:{sys.executable} {file}:100", TICTACTOE)
    assert one.text != other.text
    assert one.label == other.label == f"engine:{Path(sys.executable).name} player.py:100"
    assert one.name == f"engine:{sys.executable} {file}:100"


# --- games ------------------------------------------------------------------------------------------------------------


def test_the_example_plays_games_in_turn_and_at_once_without_knowing_rules():
    name = f"engine:{sys.executable} {ROOT / 'examples' / 'engine.py'}"
    games = ("tictactoe", "tictactoe", "roshambo")
    results = [ludus.play_match(game, [name, "random"], 2, seed=3, parallel=1).games for game in games]
    assert not any(record.reason for records in results for record in records)
    assert [record.moves for record in results[0]] == [record.moves for record in results[1]]  # the seed reaches it


def test_the_example_is_short_and_imports_nothing_of_ludus():
    text = (ROOT / "examples" / "engine.py").read_text()
    assert len(text.splitlines()) < 60
    assert "import ludus" not in text


FAILURES = {
    "crash": "crashed: the program ended with exit code 7",
    "shout": "crashed: the program sent a line of more than 65,536 bytes",
    "mute": "crashed: the program closed its output",
    "illegal": "illegal move: z9: ",
}


@pytest.mark.parametrize(("mode", "reason"), FAILURES.items(), ids=FAILURES)
def test_a_program_that_fails_loses_the_game_and_the_match_goes_on(workers, mode, reason):
    records = played(workers, odd(mode), "random")
    assert len(records) == 2
    for record in records:
        mine = record.seats.index(0)
        assert record.values[mine] == -1.0
        assert record.reason.startswith(reason)
        first = record.thoughts[mine][0]
        assert (first.value, first.seconds > 0) == (0.25, True)
        wait_until_ended(first.simulations)  # the number of its process


def test_a_line_that_comes_too_late_is_no_answer_to_the_next_question(workers):
    assert [record.reason for record in played(workers, odd("twice"), "random")] == ["", ""]


@pytest.mark.parametrize("mode", ["hang", "chatter"])
def test_a_program_that_does_not_answer_loses_on_time(mode):
    result = ludus.play_match(TICTACTOE, ["random", odd(mode)], 2, parallel=1, move_limit=0.5)
    assert result.tally(0) == (2, 0, 0)
    assert [record.reason for record in result.games] == ["hung: no answer in 0.5 s"] * 2


@pytest.mark.parametrize("mode", ["hang", "chatter"])
def test_a_program_that_does_not_answer_is_given_up_outside_a_match(monkeypatch, mode):
    monkeypatch.setattr(program, "MOVE_SECONDS", 0.3)
    agent = make_agent(odd(mode), TICTACTOE)
    position = TICTACTOE.start()
    position = position.play(agent.choose(position).action).play("c3")
    with pytest.raises(AgentFault, match=r"hung: no move in 0\.3 s"):
        agent.choose(position)
    assert program.move_limit(Budget.of("2s")) == 20
    assert program.move_limit(Budget.of("1000")) == 0.3


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("parallel", [1, 2])
def test_programs_end_with_the_match_and_with_all_that_they_started(tmp_path, parallel):
    pids = tmp_path / "pids"
    ludus.play_match(TICTACTOE, [odd("parent", pids), "random"], 2, parallel=parallel)
    wait_until_ended(*map(int, pids.read_text().split()))


def test_programs_of_a_process_that_is_killed_end_with_it(tmp_path):
    pids = tmp_path / "pids"
    agent = RemoteAgent(odd("parent", pids), TICTACTOE)
    agent.new_game(1)
    agent._child.process.kill()
    with pytest.raises(AgentFailed, match="SIGKILL"):
        agent.choose(TICTACTOE.start())
    wait_until_ended(*map(int, pids.read_text().split()))


def test_programs_of_a_process_that_ends_by_itself_end_with_it(tmp_path):
    pids = tmp_path / "pids"
    agent = RemoteAgent(odd("parent", pids), TICTACTOE)
    agent.new_game(1)
    agent._child.process.stdin.close()  # what it sees first if the process that started it is killed
    wait_until_ended(*map(int, pids.read_text().split()))
    agent.close()


def test_a_program_is_told_to_stop_and_answers_at_once():
    agent = make_agent(odd("wait"), TICTACTOE)
    agent.new_game(0)
    position = TICTACTOE.start()
    position = position.play(agent.choose(position).action).play("c3")
    asked = []
    choice = agent.choose(position, progress=lambda fraction: bool(asked.append(fraction)) or len(asked) < 3)
    assert choice.action in position.actions
    assert len(asked) == 3


def test_a_session_plays_against_a_program_and_a_failure_leaves_the_game_as_it_was():
    session = ludus.Session("tictactoe", [odd("crash"), "human"])
    session.think()
    session.play(session.moves()[0])
    with pytest.raises(AgentFailed, match="exit code 7"):
        session.think()
    assert session.ply == 2


def test_questions_about_positions_are_answered():
    roshambo = ludus.make("roshambo").start()
    assert position_json(roshambo)["to_move"] == [0, 1]
    assert position_json(roshambo)["legal"] == [["rock", "paper", "scissors"]] * 2
    start = TICTACTOE.start()
    assert answer_to(start, '["b2"]')["legal"][0] == []
    assert len(answer_to(start, '["b2"]')["legal"][1]) == 8
    over = answer_to(start, '["a1", "b1", "a2", "b2", "a3"]')
    assert (over["over"], over["values"], over["to_move"], over["legal"]) == (True, [1.0, -1.0], [], [[], []])
    for wrong in ('["z9"]', '["b2", "b2"]', "b2", "[1]", "{}", "[" * 100_000):
        assert set(answer_to(start, wrong)) == {"error"}


# --- Ludus as the engine ----------------------------------------------------------------------------------------------

LUDUS = f"engine:{sys.executable} -c 'import sys; from ludus.cli import main; sys.exit(main())' engine"


def test_ludus_plays_another_ludus():
    result = ludus.play_match("laststone", [f"{LUDUS} random", "random", "random"], 3, parallel=1)
    assert not any(record.reason for record in result.games)


def test_an_engine_of_ludus_speaks_the_protocol():
    commands = [
        'ludus {"protocol": 1}',
        'go {"simulations": 5}',
        "game " + json.dumps(external.game_json(TICTACTOE)),
        'new {"seed": 5}',
        'position {"start": "3/3/3 x", "moves": ["b2"], "player": 1}',
        "position []",
        "what is this",
        "quit",
        "go",
    ]
    commands[4] = "position " + json.dumps({"start": TICTACTOE.start().text, "moves": ["b2"], "player": 1})
    commands.insert(5, "go")
    done = subprocess.run(
        [*shlex.split(LUDUS.removeprefix("engine:")), "random"],
        input="\n".join(commands) + "\n",
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    lines = done.stdout.splitlines()
    assert lines[0].startswith('engine {"name": "Ludus random"')
    assert lines[1] == "refuse there is no position; send the command position first"
    assert lines[2:4] == ["ready", "ready"]
    assert lines[4] == 'info {"simulations": 0, "line": []}'
    assert lines[5].removeprefix("move ") in TICTACTOE.start().play("b2").moves
    assert lines[6].startswith("refuse position: TypeError")
    assert (len(lines), done.returncode) == (7, 0)


# --- trust ------------------------------------------------------------------------------------------------------------


def test_a_record_of_a_game_starts_no_program_without_the_users_word(tmp_path):
    started = tmp_path / "pids"
    session = ludus.Session("tictactoe", ["human", "random"])
    record = session.record() | {"seats": [odd("parent", started), "human"]}
    opened = ludus.Session.from_record(record)
    with pytest.raises(Untrusted, match="which is a program; if you trust it"):
        opened.think()
    assert not started.exists()
    ludus.Session.from_record(record, trust=True).think()
    assert started.exists()


def test_the_settings_of_a_run_start_no_program_without_the_users_word(tmp_path):
    from ludus.arena.roster import read_plan

    (tmp_path / "arena.toml").write_text(f"agents = [{json.dumps(odd())}]")
    with pytest.raises(Untrusted, match=r"arena\.toml names the agent 'engine:"):
        read_plan(tmp_path)
    assert read_plan(tmp_path, trust=True).agents == (odd(),)


def test_a_player_of_one_game_at_a_time_has_one(monkeypatch):
    monkeypatch.setattr("ludus.arena.workers.ONE_GAME", ("engine",))
    with pytest.raises(BadOption, match="can be in one game at a time: parallel 1"):
        ludus.play_match(TICTACTOE, [odd(), "random"], 2, parallel=2)
    with pytest.raises(BadOption, match="can be in one game at a time: parallel 1"):
        ludus.rate([odd()], TICTACTOE, parallel=2)
    assert ludus.play_match(TICTACTOE, [odd(), "random"], 2).played == 2


def test_the_command_line_takes_a_quoted_command(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert main(["arena", odd(), "--game", "tictactoe", "--games", "4", "--parallel", "1"]) == 0
    assert "odd_engine.py good" in capfd.readouterr().out
    assert main(["match", "tictactoe", "engine:no-such-program", "random"]) == 2
    error = capfd.readouterr().err
    assert "the program no-such-program does not exist" in error
    assert len(error.splitlines()) == 1


def test_the_browser_offers_the_programs_that_its_server_was_started_with(tmp_path):
    pytest.importorskip("fastapi")
    from ludus.web.catalogue import Catalogue
    from ludus.web.settings import WebSettings

    catalogue = Catalogue(WebSettings(games=tmp_path, runs=tmp_path, agents=(odd(),)))
    assert odd() in [agent["name"] for agent in catalogue.json()["agents"]]
    agent = catalogue.make_agent(odd(), TICTACTOE, 0)
    assert agent.choose(TICTACTOE.start()).move == "a1"
    agent.close()
    for other in (odd("crash"), odd() + ":2s"):
        with pytest.raises(BadAgent, match="the server offers those that it was started with, by --agent"):
            catalogue.make_agent(other, TICTACTOE, 0)


def test_the_page_of_the_protocol_names_every_command():
    page = (ROOT / "docs" / "engine-protocol.md").read_text()
    words = {
        *Engine("random", print).commands,
        "answer",
        "stop",
        "quit",
        "engine",
        "ready",
        "refuse",
        "move",
        "info",
        "ask",
    }
    assert all(f"`{word}" in page for word in words)
    keys = {*external.game_json(TICTACTOE), *position_json(TICTACTOE.start()), "protocol", "seconds", "simulations"}
    assert all(f"`{key}`" in page or f'"{key}"' in page for key in keys)
