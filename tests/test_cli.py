"""The command line: what it shows, and the one line and exit code 2 that every mistake gets."""

import io
import os
import signal
import subprocess
import sys

import pytest

from ludus.agents import KINDS
from ludus.agents.random import RandomAgent
from ludus.cli import main

OWN_GAME = '''
"""Countdown: take one or two; who takes the last one wins."""

from typing import NamedTuple

import numpy as np

from ludus import Game
from ludus.errors import BadPosition


class Countdown(NamedTuple):
    heap: int = 5


STATE = np.dtype([("heap", np.int16), ("turn", np.int8)])


def reset(rules, state, random):
    state.heap = rules.heap
    state.turn = 0


def to_move(rules, state):
    return state.turn


def legal(rules, state, player, actions):
    count = min(2, state.heap)
    for action in range(count):
        actions[action] = action
    return count


def play(rules, state, action):
    state.heap -= action + 1
    state.turn = 1 - state.turn


def outcome(rules, state, values):
    if state.heap > 0:
        return False
    values[1 - state.turn] = 1.0
    values[state.turn] = -1.0
    return True


class CountdownGame(Game):
    Rules = Countdown
    name, title = "countdown", "Countdown"
    state = STATE
    actions = most_legal = 2

    def setup(self):
        self.longest = self.rules.heap

    def write(self, state):
        return f"{state.heap} {'ab'[state.turn]}"

    def read(self, text, state):
        heap, _, turn = text.partition(" ")
        if not heap.isdigit() or turn not in ("a", "b") or int(heap) > self.rules.heap:
            raise BadPosition("write it like 5 a", 0)
        state.heap, state.turn = int(heap), "ab".index(turn)

    def write_move(self, state, player, action):
        return f"take{action + 1}"
'''


@pytest.fixture
def own_game(tmp_path):
    path = tmp_path / "countdown.py"
    path.write_text(OWN_GAME)
    return str(path)


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: (exit code, standard output, standard error without lines of progress)."""
    monkeypatch.setattr("ludus.terminal.bar.EVERY", 3600.0)

    def run(*arguments, typed=""):
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
        code = main(arguments)
        shown = capsys.readouterr()
        # What is compiled for the first time on a machine is announced; that is no concern of these tests.
        errors = [line for line in shown.err.splitlines() if not line.startswith("Compiling ")]
        return code, shown.out, "\n".join(errors)

    return run


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["play", "connct4"], "no game is called 'connct4'; did you mean connect4?"),
        (["play", "nowhere/game.py"], "there is no game file"),
        (
            ["play", "connect4", "--option", "row=5"],
            "connect4 has no option 'row'; its options are rows, columns, line",
        ),
        (["play", "connect4", "-o", "rows=many"], "option rows must be a whole number, not 'many'"),
        (["play", "connect4", "-o", "rows=0"], "rows and columns must be from 1"),
        (["play", "connect4", "-o", "rows"], "--option takes name=value, not 'rows'"),
        (["play", "connect4", "--seat", "third"], "there is no seat 'third'"),
        (["play", "connect4", "--moves", "d d d d d d d"], "move 7: column d is full"),
        (["solve", "tictactoe", "--moves", "z9"], "move 1: "),
        (["solve", "tictactoe", "--position", "3/1q1/3"], "position text, character 4: 'q'"),
        (["perft", "connect4", "--depth", "1", "--position", "7/7/7/7/7/8"], "position text, character 11"),
        (["perft", "connect4"], "give one depth, as in ludus perft connect4 8"),
        (["perft", "connect4", "3", "--depth", "4"], "give one depth"),
        (["perft", "connect4", "--depth", "0"], "the depth must be at least 1"),
        (["perft", "connect4", "--depth", "deep"], "invalid value for '--depth'"),
        (["match", "connect4", "uct:0", "random"], "uct:0: a budget must be from 1"),
        (["match", "connect4", "uct:-1s", "random"], "a budget must be more than 0 seconds"),
        (["match", "connect4", "utc:100", "random"], "no agent is called 'utc'; did you mean uct?"),
        (["match", "connect4", "random"], "connect4 has 2 players: a match needs as many agents, not 1"),
        (["match", "connect4", "random", "random", "random"], "as many agents, not 3"),
        (["match", "connect4", "random", "random", "--games", "7"], "a multiple of 2 games"),
        (["match", "laststone", "solver", "random", "random"], "laststone cannot be played by solver"),
        (
            ["match", "laststone", "greedy", "random", "random"],
            "greedy cannot play laststone: the game has no heuristic",
        ),
        (["match", "connect4"], "missing argument 'AGENT'"),
        (["play"], "missing argument 'GAME'; see ludus play --help"),
        (["solve", "roshambo"], "roshambo"),
        (["solve", "tictactoe", "--limit", "0s"], "--limit must be a time above 0"),
        (["solve", "tictactoe", "--limit", "100"], "--limit must be a time above 0"),
        (["solve", "tictactoe", "--memory", "lots"], "--memory must be a size such as 256MB"),
        (["bench", "--option", "rows=5"], "--option needs a GAME"),
        (["bench", "connect4", "--seconds", "0"], "--seconds must be above 0"),
        (["check", "connect4", "--games", "0"], "--games must be at least 1"),
        (["plya"], "no such command 'plya'"),
        (["play", "connect4", "--agianst", "random"], "--against"),  # versions of click word it differently
        (["--nonsense"], "no such option"),
    ],
)
def test_a_mistake_gets_one_line_and_exit_code_2(run, arguments, says):
    code, shown, error = run(*arguments)
    assert code == 2
    assert error.startswith("ludus: ")
    assert says in error
    assert "\n" not in error
    assert "Traceback" not in shown


def test_a_broken_game_file_gets_one_line(run, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text(OWN_GAME.replace("heap: int = 5", "heap: int = five"))
    code, _, error = run("play", str(path))
    assert code == 2
    assert "broken.py cannot be loaded: NameError" in error
    assert "\n" not in error


def test_an_exception_in_a_game_gets_one_line(run, tmp_path):
    path = tmp_path / "broken.py"
    path.write_text(OWN_GAME.replace("count = min(2, state.heap)", "count = min(2, state.stones)"))
    code, _, error = run("play", str(path), "--against", "random")
    assert code == 2
    assert "stones" in error
    assert "LUDUS_TRACEBACK=1 shows where" in error
    assert "\n" not in error


def test_deprecations_in_libraries_do_not_concern_the_user(run, tmp_path):
    path = tmp_path / "old.py"
    path.write_text(f"{OWN_GAME}\nimport warnings\nwarnings.warn('old', DeprecationWarning)\n")
    assert run("perft", str(path), "--depth", "1")[::2] == (0, "")


# --- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help(run, arguments):
    code, shown, error = run(*arguments)
    assert (code, error) == (0, "")
    for command in ("games", "play", "match", "arena", "ratings", "replay", "perft", "solve", "bench", "check"):
        assert f"\n  {command} " in shown


@pytest.mark.parametrize("command", ["play", "match", "arena", "ratings", "replay", "perft", "solve", "bench", "check"])
def test_every_command_has_examples(run, command):
    code, shown, _ = run(command, "--help")
    assert code == 0
    assert "Example" in shown
    assert f"ludus {command} " in shown


def test_version(run):
    assert run("--version")[1].startswith("ludus ")


def test_help_and_import_load_nothing_heavy():
    script = "import sys, ludus.cli; ludus.cli.main(['--help']); print(*sys.modules)"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    loaded = set(shown.splitlines()[-1].split())
    assert not loaded & {"numpy", "numba", "torch", "scipy", "pydantic"}


# --- commands ---------------------------------------------------------------------------------------------------------


def test_docs(run):
    code, listed, _ = run("docs")
    assert code == 0
    assert "games/hive             Hive\n" in listed
    assert run("docs", "games/hive")[1].startswith("# Hive\n")
    assert run("docs", "docs/GDL.md")[1].startswith("# Games in GDL\n")
    assert run("docs", "../README")[0] == 2


def test_games(run):
    code, shown, error = run("games")
    assert (code, error) == (0, "")
    assert "rows=6 columns=7 line=4" in shown
    assert "path/to/mygame.py" in shown
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_match(run):
    code, shown, error = run("match", "tictactoe", "uct:100", "random", "--games", "20", "--seed", "1")
    assert (code, error) == (0, "")
    assert "20 games" in shown
    assert "as x" in shown
    assert "95 % interval" in shown
    agents = [line.split()[0] for line in shown.splitlines() if line.startswith(("uct", "random"))]
    assert agents == ["uct:100", "random"]


def test_match_of_a_file_of_ones_own(run, own_game):
    code, shown, _ = run("match", own_game, "solver", "random", "--games", "4", "-o", "heap=7")
    assert code == 0
    assert "Countdown (heap=7): 4 games" in shown


def test_a_match_that_is_left_shows_what_there_is(run):
    code, shown, _ = run("match", "tictactoe", "human", "random", "--games", "4", typed="quit\n")
    assert code == 0
    assert "The match was stopped in game 1 of 4" in shown


def test_a_match_that_is_stopped_shows_what_there_is(run, monkeypatch):
    class Stops(RandomAgent):
        games = 0

        def new_game(self, seed):
            self.games += 1
            if self.games == 4:  # the first call only gets it ready
                raise KeyboardInterrupt

    monkeypatch.setitem(KINDS, "stops", lambda spec, game, seed: Stops("stops"))
    code, shown, error = run("match", "tictactoe", "stops", "random", "--games", "10")
    assert (code, error) == (130, "ludus: interrupted")
    assert "2 of 10 games" in shown


def test_perft(run):
    code, shown, _ = run("perft", "tictactoe", "3")
    assert code == 0
    assert [line.split()[:2] for line in shown.splitlines()[-3:]] == [["1", "9"], ["2", "72"], ["3", "504"]]


def test_perft_ends_with_the_game(run):
    code, shown, _ = run("perft", "tictactoe", "--depth", "1000000000")
    assert code == 0
    *_, last_count, last = shown.splitlines()
    assert last_count.split()[:2] == ["9", "127,872"]
    assert last == "Every game ends within 9 plies from here."


def test_solve(run):
    code, shown, _ = run("solve", "tictactoe")
    assert code == 0
    assert "x to move: a draw with perfect play" in shown
    code, shown, _ = run("solve", "tictactoe", "--moves", "a1 b2 a2 b3")
    assert "x to move: a win with perfect play" in shown
    best = [line.split()[:2] for line in shown.splitlines() if ", best" in line]
    assert sorted(best) == [["a3", "+1"], ["b1", "+1"]]  # complete the row, or block and threaten twice


def test_solve_a_finished_game(run):
    code, shown, _ = run("solve", "tictactoe", "--position", "xxx/oo1/3")
    assert code == 0
    assert "The game is over. x wins." in shown


def test_check(run, own_game, tmp_path):
    code, shown, _ = run("check", own_game, "--games", "2")
    assert code == 0
    assert "keeps its promises" in shown
    path = tmp_path / "broken.py"
    path.write_text(OWN_GAME.replace("actions[action] = action\n", "actions[action] = 0\n"))
    code, shown, error = run("check", str(path), "--games", "2")
    assert (code, error) == (1, "")
    assert "Broken promise: " in shown


def test_after_a_check_other_commands_compile_nothing(tmp_path):
    own = tmp_path / "own.py"
    own.write_text(OWN_GAME)
    environment = {**os.environ, "LUDUS_CACHE": str(tmp_path / "cache")}

    def shown(*words):
        code = (
            "import sys; from ludus.cli import main; from ludus.native import announcing; announcing.PATIENCE = 0.0; "
            "sys.exit(main(sys.argv[1:]))"
        )
        command = [sys.executable, "-c", code, *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True)

    checked = shown("check", str(own), "--games", "1")
    assert "keeps its promises" in checked.stdout
    assert "for match and training, once ..." in checked.stderr
    assert shown("perft", str(own), "--depth", "2").stderr == ""
    assert shown("match", str(own), "uct:10", "random", "--games", "2").stderr == ""
    assert "for match and training" not in shown("check", str(own), "--games", "1").stderr


def test_a_process_that_fails_changes_no_verdict(run, own_game, monkeypatch):
    from ludus.api import ahead

    monkeypatch.setattr(ahead, "SERVICE", "ludus.no_such_module")
    monkeypatch.setattr(ahead, "JOBS", ("search",))
    monkeypatch.setattr(ahead.store, "read", lambda name: None)
    code, shown, error = run("check", own_game, "--games", "1")
    assert code == 0
    assert "keeps its promises" in shown
    assert "could not be compiled ahead for search" in error


def test_bench(run):
    code, shown, _ = run("bench", "tictactoe", "--seconds", "0.01")
    assert code == 0
    for figure in ("playouts/s", "simulations/s", "games/s"):
        assert figure in shown


# --- play -------------------------------------------------------------------------------------------------------------


def play_tictactoe(run, typed, *more):
    code, shown, error = run("play", "tictactoe", *more, typed=typed)
    assert code == 0
    return shown, error


def test_play_to_the_end(run):
    shown, _ = play_tictactoe(run, "a3\n", "--against", "random", "--moves", "a1 b1 a2 b2")
    assert "you play x, random plays o" in shown
    assert "You win: x wins." in shown
    assert "Moves: a1 b1 a2 b2 a3" in shown


def test_play_ends_with_the_input(run):
    shown, error = play_tictactoe(run, "b2\n", "--against", "random")
    assert "random (o) plays " in shown
    assert error == ""


def test_an_illegal_move_is_explained_and_asked_again(run):
    shown, error = play_tictactoe(run, "a1\nzz\nb2\nquit\n", "--against", "random", "--moves", "a1 b1")
    assert len(error.splitlines()) == 2
    assert "'zz'" in error
    assert shown.count("random (o) plays ") == 1


def test_moves_hint_undo_board_help(run):
    shown, error = play_tictactoe(run, "help\nmoves\nhint\nundo\nb2\nundo\nboard\nquit\n", "--against", "uct:200")
    assert "hint    what uct:200 would play" in shown
    assert "9 legal moves: " in shown
    assert "uct:200 would play " in shown
    assert "expects " in shown
    assert "simulations" in shown
    assert error == "there is no move of yours to take back"
    assert "\n3/3/3\n" in shown  # the empty board again, as text


def test_play_from_the_second_seat_against_perfect_play(run):
    shown, _ = play_tictactoe(run, "quit\n", "--against", "solver", "--seat", "second")
    assert "solver (x) plays " in shown
    assert "a proven draw" in shown


@pytest.mark.parametrize("seat", ["2", "second", "o", "O"])
def test_seats_have_several_names(run, seat):
    assert "you play o" in play_tictactoe(run, "quit\n", "--against", "random", "--seat", seat)[0]


def test_two_people(run):
    shown, _ = play_tictactoe(run, "a1\nb1\na2\nb2\na3\n", "--against", "human")
    assert "you play x and o" in shown
    assert "x wins." in shown


def test_play_where_everyone_moves(run):
    code, shown, _ = run("play", "roshambo", "--against", "random", "-o", "rounds=2", typed="rock\nundo\np\nr\n")
    assert code == 0
    assert "2 of 2 rounds played" in shown
    assert shown.count("random (second) plays ") == 3


def test_play_with_three(run):
    code, shown, _ = run("play", "laststone", "--against", "random", "--seat", "2", "-o", "stones=3", typed="1\n1\n1\n")
    assert code == 0
    assert "you play b, random plays a, random plays c" in shown


# --- as a program -----------------------------------------------------------------------------------------------------


def program(*arguments, stdin=subprocess.DEVNULL):
    command = [sys.executable, "-m", "ludus.cli", *arguments]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_program_fails_with_2():
    running = program("play", "connct4")
    shown, error = running.communicate()
    assert (running.returncode, shown) == (2, "")
    assert error.startswith("ludus: no game is called")
    assert error.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")
def test_ctrl_c_ends_with_130():
    running = program("play", "tictactoe", "--against", "random", stdin=subprocess.PIPE)
    assert running.stdout is not None
    assert running.stdout.readline().startswith("Tic-tac-toe")  # it has begun, and will wait for a move
    running.send_signal(signal.SIGINT)
    _, error = running.communicate()
    assert (running.returncode, error) == (130, "ludus: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="pipes as on Unix")
def test_a_closed_pipe_is_no_error():
    running = program("games")
    assert running.stdout is not None
    running.stdout.close()
    _, error = running.communicate()
    assert error == ""


def test_a_program_that_has_read_from_standard_input_can_run_commands():
    code = "import sys; sys.stdin.readline(); from ludus.cli import main; sys.exit(main(['games']))"
    done = subprocess.run([sys.executable, "-c", code], input="x\ny\n", capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_match_loads_no_statistics_library_before_it_shows_anything():
    script = "import sys, ludus.terminal.match, ludus.terminal.grading; sys.exit('scipy.stats' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], timeout=120).returncode == 0
