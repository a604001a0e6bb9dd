"""What a match and a grading show while they run, and what Ctrl-C does to them."""

import io
import os
import signal

import pytest
from rich.console import Console

import ludus
from ludus.agents import KINDS
from ludus.agents.random import RandomAgent
from ludus.cli import main
from ludus.terminal import bar as bar_module
from ludus.terminal.bar import Bar
from ludus.terminal.interrupt import ctrl_c_stops

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as on Unix")


class PressesCtrlC(RandomAgent):
    """Presses Ctrl-C in its fourth game, the one that only gets it ready included."""

    games = 0

    def new_game(self, seed):
        super().new_game(seed)
        PressesCtrlC.games += 1
        if PressesCtrlC.games == 4:
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def presses(monkeypatch):
    monkeypatch.setattr(PressesCtrlC, "games", 0)
    monkeypatch.setitem(KINDS, "presses", lambda spec, game, seed: PressesCtrlC("presses"))


@pytest.mark.usefixtures("presses")
def test_ctrl_c_stops_a_match_and_shows_the_games_that_ended(capsys):
    before = signal.getsignal(signal.SIGINT)
    assert main(["match", "tictactoe", "presses", "random", "--games", "10"]) == 130
    shown = capsys.readouterr()
    assert "2 of 10 games" in shown.out
    assert shown.err.splitlines()[-1] == "ludus: interrupted"
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("presses")
def test_ctrl_c_stops_a_grading_and_shows_the_answers_so_far(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("ludus.grading.report.identify", lambda name, game: type("Named", (), {"label": name}))
    file = tmp_path / "positions.txt"
    ludus.grade("random", "tictactoe", positions=file, count=9, limit=20.0)
    assert main(["grade", "presses", "tictactoe", "--positions", str(file)]) == 130
    assert "presses on 3 positions" in capsys.readouterr().out


def test_a_second_ctrl_c_interrupts_at_once():
    with ctrl_c_stops() as stop:
        os.kill(os.getpid(), signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), ctrl_c_stops(active=False):
        os.kill(os.getpid(), signal.SIGINT)


def test_without_a_terminal_there_is_a_line_now_and_then(capsys, monkeypatch):
    monkeypatch.setattr(bar_module, "EVERY", 0.0)
    with Bar("game") as bar:
        bar.update(1, 4, "a 1 : 0 b")
        bar.update(2, 4, "a\x1b[2J 1 : 1 b")
    assert capsys.readouterr().err == "game 1 of 4, a 1 : 0 b\ngame 2 of 4, a\\x1b[2J 1 : 1 b\n"
    with Bar("game", hidden=True) as bar:
        bar.update(1, 4, "a 1 : 0 b")
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_is_a_bar(monkeypatch):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(bar_module, "terminal", lambda: console)
    with Bar("game") as bar:
        bar.update(4, 4, "a 3 : 1 b")
    assert "4/4" in screen.getvalue()
    assert "a 3 : 1 b" in screen.getvalue()
