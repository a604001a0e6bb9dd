"""The Universal Hive Protocol: what goes in, what comes out."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

import ludus
from ludus.cli import main
from ludus.errors import BadAgent
from ludus.protocols.uhp import Engine, run

PAGE = Path(__file__).parents[2] / "docs" / "games" / "hive.md"


@pytest.fixture
def engine(tmp_path):
    return Engine("greedy", failures=tmp_path)


def transcript(engine, text):
    """Lines after > go in; all others must come out."""
    for block in text.strip().removeprefix("> ").split("\n> "):
        typed, *expected = block.splitlines()
        assert engine.answer(typed) == expected, typed


def test_info(engine):
    transcript(engine, f"> info\nid Ludus {ludus.__version__}\nMosquito;Ladybug;Pillbug\nok")


NEWGAME = """
> newgame
Base;NotStarted;White[1]
ok
> newgame Base+MLP
Base+MLP;NotStarted;White[1]
ok
> NewGame base+pl
Base+LP;NotStarted;White[1]
ok
> newgame Base;InProgress;White[2];wS1;bS1 wS1-
Base;InProgress;White[2];wS1;bS1 wS1-
ok
> newgame Base;InProgress;White[3];wS1;bS1 wS1-
Base;InProgress;White[2];wS1;bS1 wS1-
ok
> newgame Base;WhiteWins;nonsense;wS1;bS1 wS1-;
Base;InProgress;White[2];wS1;bS1 wS1-
ok
> newgame Base+M;NotStarted
Base+M;NotStarted;White[1]
ok
> newgame Base;InProgress;White[2];wS1;bQ wS1-
err position text, character 30: 'bQ wS1-': the queen cannot be the first piece
ok
> newgame Chess
err position text, character 1: 'Chess' is not a game type: Base, or Base+ and letters of M, L and P
ok
> newgame	Base;InProgress;White[2];wS1;bS1	wS1-
Base;InProgress;White[2];wS1;bS1 wS1-
ok
> play	wQ	 -wS1
Base;InProgress;Black[2];wS1;bS1 wS1-;wQ -wS1
ok
"""

PLAY = r"""
> play wS1
err there is no game; begin one with newgame
ok
> newgame
Base;NotStarted;White[1]
ok
> play wS1
Base;InProgress;Black[1];wS1
ok
> play
err play needs a move, such as play wA1 bQ-
ok
> play bQ wS1-
invalidmove the queen cannot be the first piece
ok
> play nonsense
invalidmove 'nonsense' is not a move; moves are a piece and where it goes, such as wA1 bQ- or wB1 wS2, or pass
ok
> play bA1 WS1-
Base;InProgress;White[2];wS1;bA1 wS1-
ok
> play wS1 bA1-
invalidmove no piece may be moved before wQ is placed
ok
> play wQ -wS1
Base;InProgress;Black[2];wS1;bA1 wS1-;wQ -wS1
ok
> play bQ bA1-
Base;InProgress;White[3];wS1;bA1 wS1-;wQ -wS1;bQ bA1-
ok
> play wS1 bQ-
invalidmove moving wS1 would break the hive
ok
> validmoves and more
err 'and more' is too much: this command takes no more words
ok
"""

PASS = r"""
> pass
err there is no game; begin one with newgame
ok
> newgame
Base;NotStarted;White[1]
ok
> pass
invalidmove white may pass only when nothing else is legal
ok
> play pass
invalidmove white may pass only when nothing else is legal
ok
> pass now
err 'now' is too much: this command takes no more words
ok
"""

VALIDMOVES = r"""
> validmoves
err there is no game; begin one with newgame
ok
> newgame
Base;NotStarted;White[1]
ok
> validmoves
wS1;wB1;wG1;wA1
ok
"""

UNDO = r"""
> undo
err there is no game; begin one with newgame
ok
> newgame
Base;NotStarted;White[1]
ok
> undo
err there is nothing to undo
ok
> newgame Base;InProgress;White[2];wS1;bS1 wS1-
Base;InProgress;White[2];wS1;bS1 wS1-
ok
> play wQ -wS1
Base;InProgress;Black[2];wS1;bS1 wS1-;wQ -wS1
ok
> undo
Base;InProgress;White[2];wS1;bS1 wS1-
ok
> undo 3
err undo takes a whole number from 1 to 2, not '3'
ok
> undo x
err undo takes a whole number from 1 to 2, not 'x'
ok
> undo 2
Base;NotStarted;White[1]
ok
"""

OPTIONS = """
> options
Agent;enum;greedy;greedy;greedy;uct;random
Seed;int;0;0;0;2147483647
Horizon;int;8;8;0;1000
Repetition;bool;False;False
Checks;bool;True;True
ReportIntermediateBestMoves;bool;False;False
ok
> options get Seed
Seed;int;0;0;0;2147483647
ok
> options 	 set	seed 7
Seed;int;7;0;0;2147483647
ok
> options get seed
Seed;int;7;0;0;2147483647
ok
> options set Agent RANDOM
Agent;enum;random;greedy;greedy;uct;random
ok
> options set Repetition true
Repetition;bool;True;False
ok
> options set Seed -1
err Seed must be a whole number from 0 to 2147483647, not '-1'
ok
> options set Seed
err Seed must be a whole number from 0 to 2147483647, not ''
ok
> options set Agent chess
err Agent must be one of greedy uct random, not 'chess'
ok
> options set Checks perhaps
err Checks must be one of True False, not 'perhaps'
ok
> options get Speed
err there is no option 'Speed'; there are Agent Seed Horizon Repetition Checks ReportIntermediateBestMoves
ok
> options get
err it is options, options get NAME or options set NAME VALUE
ok
> options list
err it is options, options get NAME or options set NAME VALUE
ok
> options get Seed now
err 'now' is too much: this command takes no more words
ok
"""

BESTMOVE = r"""
> bestmove time 00:00:01
err there is no game; begin one with newgame
ok
> newgame Base;InProgress;White[4];wS1;bS1 wS1-;wS2 -wS1;bS2 bS1-;wB1 -wS2;bB1 bS2-
Base;InProgress;White[4];wS1;bS1 wS1-;wS2 -wS1;bS2 bS1-;wB1 -wS2;bB1 bS2-
ok
> bestmove time
err a time is written as hh:mm:ss, such as 00:00:05, not ''
ok
> bestmove time 5
err a time is written as hh:mm:ss, such as 00:00:05, not '5'
ok
> bestmove depth
err bestmove depth takes a whole number from 1 to 20, not ''
ok
> bestmove depth 99
err bestmove depth takes a whole number from 1 to 20, not '99'
ok
> bestmove speed 1
err it is bestmove, bestmove time hh:mm:ss or bestmove depth N
ok
"""

OVER = r"""
> newgame
Base;NotStarted;White[1]
ok
> play wS1
Base;Draw;Black[1];wS1
ok
> play bS1 wS1-
err the game is over; begin another with newgame, or go back with undo
ok
> validmoves
err the game is over; begin another with newgame, or go back with undo
ok
> bestmove depth 1
err the game is over; begin another with newgame, or go back with undo
ok
> undo
Base;NotStarted;White[1]
ok
"""

PERFT = r"""
> perft
err there is no game; begin one with newgame
ok
> newgame
Base;NotStarted;White[1]
ok
> perft 3
perft(0) = 1
perft(1) = 4
perft(2) = 96
perft(3) = 1440
ok
> perft 0
err perft takes a whole number from 1 to 12, not '0'
ok
"""

OTHERS = r"""
> fly
err there is no command 'fly'; help lists them
ok
> exit now
err 'now' is too much: this command takes no more words
ok
> exit
ok
"""


@pytest.mark.parametrize("text", [NEWGAME, PLAY, PASS, VALIDMOVES, UNDO, OPTIONS, BESTMOVE, OTHERS])
def test_every_command_answers_exactly(engine, text):
    transcript(engine, text)


def test_perft():
    transcript(Engine("random", limit=300), PERFT)


def test_a_finished_game_takes_no_moves_but_can_be_undone(tmp_path):
    transcript(Engine("greedy", limit=1, failures=tmp_path), OVER)


def test_help_names_every_command(engine):
    *lines, end = engine.answer("help")
    assert end == "ok"
    assert [re.match(r"\w+", line)[0] for line in lines] == list(engine.commands)


@pytest.mark.parametrize("agent", ["greedy", "random"])
@pytest.mark.parametrize("budget", ["time 00:00:01", "depth 3", "TIME\t0:00:00.5", ""])
def test_the_best_move_is_a_valid_one(agent, budget):
    engine = Engine(agent)
    engine.answer("newgame Base+MLP;InProgress;White[2];wS1;bS1 wS1-")
    move, end = engine.answer(f"bestmove {budget}")
    assert end == "ok"
    assert move in engine.answer("validmoves")[0].split(";")
    assert len(engine.answer(f"play {move}")) == 2


def test_uct_finds_the_move_that_surrounds_the_queen():
    """A game of two players who build a wall around black's queen; the last gap is beside it."""
    engine = Engine("uct", limit=300)
    moves = [
        "wS1",
        "bS1 wS1-",
        "wQ -wS1",
        "bQ bS1-",
        "wA1 -wQ",
        "bG1 bQ-",
        "wA1 bS1/",
        "bG2 bQ\\",
        "wA2 -wQ",
        "bG3 bG1-",
    ]
    moves += ["wA2 bQ/", "bS2 bG3-", "wA3 -wQ", "bB1 bS2-"]
    engine.answer("newgame")
    for move in moves:
        assert engine.answer(f"play {move}")[-1] == "ok"
        assert not engine.answer("validmoves")[0].startswith("err"), move
    (before, _), (move, _) = engine.answer("validmoves"), engine.answer("bestmove depth 1")
    wins = [each for each in before.split(";") if engine.position.play(each).is_over]
    assert wins
    assert move in wins
    for horizon in (0, 3):
        assert engine.answer(f"options set Horizon {horizon}") == [f"Horizon;int;{horizon};8;0;300", "ok"]
        assert engine.answer("bestmove time 00:00:01")[0] in wins


def test_an_agent_that_does_not_exist_is_refused():
    with pytest.raises(BadAgent, match="no agent is called 'mzinga'"):
        Engine("mzinga")
    with pytest.raises(BadAgent, match="a person cannot be the engine"):
        Engine("human")


def test_a_broken_rule_is_told_and_saved_and_the_game_goes_on(engine, tmp_path, monkeypatch):
    engine.answer("newgame Base;InProgress;White[3];wS1;bS1 wS1-;wQ -wS1;bQ bS1-")
    monkeypatch.setattr("ludus.games.hive.lift", lambda state, piece: None)
    answer, end = engine.answer("play wQ \\wS1")
    assert answer.startswith("err the top of a stack is wrong; saved to")
    assert end == "ok"
    assert len(list(tmp_path.glob("*.json"))) == 1
    monkeypatch.undo()
    assert engine.answer("play wQ \\wS1")[0].startswith("Base;InProgress;Black[3]")


def test_no_line_ends_the_engine(engine):
    """Random lines, and commands with something missing, doubled or changed."""
    random = Random(1)
    commands = [
        line[1:].strip() for text in (NEWGAME, PLAY, UNDO, OPTIONS) for line in text.splitlines() if ">" in line
    ]
    letters = "wbQSBGAMLP123-/\\ ;[]+\t\x00\u00e4\u2603" + "playnewgameundo"
    for _ in range(400):
        line = random.choice(commands)
        at, to = sorted(random.randrange(len(line) + 1) for _ in range(2))
        noise = "".join(random.choice(letters) for _ in range(random.randrange(6)))
        line = random.choice((line[:at] + line[to:], line[:at] + noise + line[to:], noise, line + line[at:to]))
        answer = engine.answer(line)
        assert answer[-1] == "ok" if line.strip() else answer == []
        assert all("\n" not in each and "Traceback" not in each for each in answer)


def test_empty_lines_are_ignored(engine):
    for line in ("", "\n", " \t \r\n"):
        assert engine.answer(line) == []


LOST = (  # black's queen is lost, but bS1 wS2/ holds out
    "Base;InProgress;Black[24];wA1;bA1 /wA1;wA2 \\wA1;bA2 -bA1;wG1 -wA2;bA3 bA1\\;wQ wA2/;bQ bA3\\;wA3 wA1-;bA2 wQ/;"
    "wA3 bQ\\;bB1 -bA1;wB1 wA1-;bB2 bB1\\;wB2 -wG1;bA2 \\wB2;wG2 /wB2;bS1 -bQ;wG2 wB2/;bA3 \\wQ;wB2 /bA2;bA3 /wB1;"
    "wB1 bA3-;bG1 /bS1;wG3 wG2/;bG2 \\bA2;wG3 wB2-;bS2 bG2/;wS1 wB2\\;bG3 /bB1;wS1 -bG3;bS2 \\wB2;wB2 /bS2;bG2 \\bB1;"
    "wA1 bQ-;bG1 \\bQ;wS2 wB1-;bS1 wA3\\;wA1 bS1/;bB2 bG3;wS2 bQ-;bB2 bB1\\;wS1 -bQ;bG1 bB1/;wG1 \\bQ;bG3 wQ/;wA1 /bQ"
)


def loses_at_once(position):
    return any(after.is_over and after.values[0] > 0 for after in map(position.play, position.actions))


def test_a_lost_position_is_defended_as_long_as_possible():
    engine = Engine("uct")
    engine.answer(f"newgame {LOST}")
    (defence,) = [move for move in engine.position.moves if not loses_at_once(engine.position.play(move))]
    for seed in range(3):
        engine.answer(f"options set Seed {seed}")
        assert engine.answer("bestmove depth 6") == [defence, "ok"]
    assert engine.answer("bestmove time 00:00:01") == [defence, "ok"]


def test_intermediate_best_moves_are_an_option():
    said = []
    engine = Engine("uct", say=said.extend)
    engine.answer(f"newgame {LOST}")
    engine.answer("bestmove depth 1")
    assert said == []
    engine.answer("options set ReportIntermediateBestMoves true")
    engine.answer("bestmove depth 1")
    assert said
    for line in said:
        move, depth, score = line.split(";")
        assert move in engine.position.moves
        assert int(depth) >= 1
        assert re.fullmatch(r"-?[01]\.[0-9]{2}", score)


def test_a_cancelled_search_answers_with_its_best_move_and_keeps_the_game():
    engine = Engine("uct")
    engine.answer("newgame Base;InProgress;White[2];wS1;bS1 wS1-")
    engine.reporter = lambda: lambda search: engine.cancelled.set()  # as soon as the search has begun
    engine.answer("options set ReportIntermediateBestMoves true")
    began = time.perf_counter()
    move, end = engine.answer("bestmove time 01:00:00")
    assert time.perf_counter() - began < 60
    assert end == "ok"
    assert engine.answer(f"play {move}")[0].startswith("Base;InProgress;Black[2]")


def test_a_cancelled_perft_is_told():
    engine = Engine("random")
    engine.answer("newgame")
    engine.cancelled.clear = engine.cancelled.set
    assert engine.answer("perft 9")[0].startswith("err stopped after")


def test_a_long_game_string_is_read_in_time():
    engine = Engine("random", limit=1000)
    moves = ["wS1", "bS1 wS1-", "wQ -wS1", "bQ bS1-"]
    there_and_back = ["wQ \\wS1", "bQ bS1\\", "wQ -wS1", "bQ bS1-"]
    engine.answer("newgame")
    text = ";".join(["Base", "InProgress", "White[1]", *moves, *there_and_back * 5000])
    for command in (f"newgame {text}", f"play {text}", f"newgame Base;InProgress;White[1]{';' * 20_000}"):
        began = time.process_time()
        assert engine.answer(command)[-1] == "ok"
        assert time.process_time() - began < 10
    with pytest.raises(ludus.LudusError):
        ludus.make("hive").parse(text)
    assert time.process_time() - began < 20


def test_an_error_does_not_repeat_all_that_was_sent():
    engine = Engine("random")
    for command in (f"newgame Base;x;y;{'wS1' * 100_000}", f"info {'x' * 100_000}", "y" * 100_000):
        assert len(engine.answer(command)[0]) < 1100


def test_a_pillbug_is_spoken_of_only_where_there_is_one():
    engine = Engine("random")
    engine.answer("newgame Base+MLP;InProgress;White[3];wS1;bS1 wS1-;wQ -wS1;bQ bS1-")
    assert engine.answer("play bS1 wQ-") == ["invalidmove bS1 belongs to black", "ok"]
    opening = "wS1;bS1 wS1-;wQ -wS1;bQ bS1-"
    engine.answer(f"newgame Base+MLP;InProgress;White[5];{opening};wP -wQ;bA1 bQ-;wA1 -wP;bA2 bQ/")
    assert engine.answer("play bA1 wP/") == [
        "invalidmove bA1 belongs to black, and no pillbug of white's can throw it",
        "ok",
    ]
    engine.answer(f"newgame Base+MLP;InProgress;White[5];{opening};wM -wQ;bP bQ-;wA1 -wM;bA1 bQ/")
    assert engine.answer("play bP wM/") == [
        "invalidmove bP belongs to black, and no mosquito of white's can throw it",
        "ok",
    ]


# --- The program ------------------------------------------------------------------------------------------------------


def test_the_program_greets_answers_and_leaves(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("newgame\nexit\nnewgame\n"))
    assert main(["uhp", "--agent", "random"]) == 0
    greeting = f"id Ludus {ludus.__version__}\nMosquito;Ladybug;Pillbug\nok\n"
    assert capsys.readouterr().out == greeting + "Base;NotStarted;White[1]\nok\nok\n"
    assert main(["uhp", "--agent", "chess"]) == 2


def test_the_end_of_the_input_ends_the_program_quietly():
    code = "import sys; from ludus.cli import main; sys.exit(main(['uhp', '--agent', 'random']))"
    done = subprocess.run([sys.executable, "-c", code], input=b"newgame\n\xff\xfe play\n", capture_output=True)
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.count(b"ok\n") == 3


ENGINE = "import sys; from ludus.cli import main; sys.exit(main(['uhp', '--agent', sys.argv[1]]))"


def test_output_is_utf_8_whatever_the_console():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict", "PYTHONUTF8": "0", "LC_ALL": "C"}
    typed = "fl\u00fcge\nexit\n".encode()
    done = subprocess.run(
        [sys.executable, "-c", ENGINE, "random"], input=typed, capture_output=True, env=environment, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "err there is no command 'fl\u00fcge'; help lists them\n" in done.stdout.decode("utf-8")


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_an_interrupt_cancels_the_search_and_not_the_engine():
    pipe = subprocess.PIPE
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE, "uct"], stdin=pipe, stdout=pipe, stderr=pipe, text=True, bufsize=1
    )

    def answer():
        lines = []
        while not lines or lines[-1] != "ok":
            lines.append(engine.stdout.readline().rstrip("\n"))
        return lines[:-1]

    def ask(line):
        engine.stdin.write(f"{line}\n")
        return answer()

    try:
        assert answer()[0].startswith("id Ludus")
        (text,) = ask("newgame Base;InProgress;White[2];wS1;bS1 wS1-")
        engine.send_signal(signal.SIGINT)  # between searches
        assert ask("options set ReportIntermediateBestMoves True")
        began = time.perf_counter()
        engine.stdin.write("bestmove time 01:00:00\n")
        assert ";" in engine.stdout.readline()  # the search is under way
        engine.send_signal(signal.SIGINT)
        *_, move = answer()
        assert time.perf_counter() - began < 30
        assert ask(f"play {move}")[0].startswith(text.replace("White[2]", "Black[2]"))
        ask("exit")
        engine.stdin.close()
        assert engine.wait(30) == 0
        assert engine.stderr.read() == ""
    finally:
        engine.kill()
        engine.wait()
        for stream in (engine.stdin, engine.stdout, engine.stderr):
            stream.close()


def test_the_session_on_the_page_goes_as_it_says(capsys):
    (session,) = re.findall(r"```uhp\n(.*?)```", PAGE.read_text(), re.DOTALL)
    lines = session.splitlines()
    run("greedy", 0, [line[2:] for line in lines if line.startswith("> ")])
    said = capsys.readouterr().out.splitlines()
    assert said == [line for line in lines if not line.startswith("> ")]
