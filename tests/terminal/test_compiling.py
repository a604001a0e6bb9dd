"""Compiling is reported to a listener, and the command line shows it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus import compile_events, native
from ludus.compile_events import CompileEnded, CompileProgress, CompileStarted, on_compile, write_line
from ludus.games import laststone
from ludus.native import announcing
from ludus.rules import to_move
from ludus.search.puct import Puct
from ludus.terminal.compiling import CompileStatus


def first(rules, states):
    return to_move(rules, states[0])


def next_of(numbers):
    return first_of(numbers) + 1


@native.compiled
def first_of(numbers):
    return numbers[0]


@pytest.fixture
def heard(monkeypatch, tmp_path):
    """The events of everything that is compiled from now on, however quickly."""
    monkeypatch.setattr(announcing, "PATIENCE", 0.0)
    monkeypatch.setenv("LUDUS_CACHE", str(tmp_path))
    events = []
    before = on_compile(events.append)
    yield events
    on_compile(before)


def test_a_listener_hears_what_is_compiled_and_how_far_it_is(heard, tmp_path):
    own = tmp_path / "own.py"  # a class that no other test has compiled
    own.write_text(Path(laststone.__file__).read_text())
    game = ludus.make(own).compile()
    native.kernel(first)(game.rules, game.start().states)
    assert [type(event) for event in heard[:1] + heard[-1:]] == [CompileStarted, CompileEnded]
    assert {type(event) for event in heard[1:-1]} <= {CompileProgress}
    assert {event.what for event in heard} == {game.title}
    begun = heard[0].functions  # more than two if this process has compiled a game of the same title before
    assert begun >= 2
    assert [event.functions for event in heard[:-1]] == list(range(begun, begun + len(heard) - 1))
    assert heard[-1].functions == heard[-2].functions
    assert 0 < heard[0].seconds <= heard[-1].seconds < 600


def test_a_kernel_without_a_game_counts_for_the_latest_game(heard, monkeypatch):
    games = [ludus.make(name) for name in ("laststone", "tictactoe")]
    classes = [*(type(game.rules) for game in games), Puct]
    monkeypatch.setattr(announcing, "enabled_classes", lambda: classes)
    native.kernel(next_of)(np.arange(3))
    assert {event.what for event in heard} == {games[1].title}
    classes.clear()
    native.kernel(next_of)(np.arange(3.0))
    assert heard[-1].what == "the search"


def test_the_twin_of_rules_with_bounds_checks_has_the_title_of_its_game():
    twin = native.bounds_checked(ludus.make("tictactoe").rules)
    assert announcing._title_of(type(twin)) == ludus.make("tictactoe").title


def test_what_is_compiled_in_a_moment_is_not_reported(heard, monkeypatch):
    monkeypatch.setattr(announcing, "PATIENCE", 60.0)
    native.kernel(next_of)(np.arange(4, dtype=np.int8))
    assert heard == []


def test_a_listener_hears_the_end_also_of_a_failure(heard):
    def wrong(numbers):
        return first_of(numbers) + "text"

    with pytest.raises(Exception, match="No implementation of function"):
        native.kernel(wrong)(np.arange(3, dtype=np.int16))
    assert type(heard[-1]) is CompileEnded


@pytest.fixture
def nothing_written(monkeypatch):
    monkeypatch.setattr(compile_events, "_written", set())


def test_without_a_front_end_there_is_one_line_for_each_game(nothing_written, capsys):
    for what in ("Go", "Go", "Chess"):
        for event in (CompileStarted, CompileProgress, CompileEnded):
            write_line(event(what, 3, 1.0))
    lines = [f"Compiling {each} for this use, once on this machine ..." for each in ("Go", "Chess")]
    assert capsys.readouterr() == ("", "\n".join(lines) + "\n")


def test_without_standard_error_nothing_is_written(nothing_written, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stderr", None)
    write_line(CompileStarted("Go", 3, 1.0))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_shows_a_status_and_a_file_gets_a_line(nothing_written, monkeypatch, capsys, terminal):
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if terminal:
        monkeypatch.setenv("FORCE_COLOR", "1")
    show = CompileStatus()
    for _ in range(2):
        show(CompileStarted("Go", 3, 1.0))
        show(CompileProgress("Go", 4, 2.0))
        show(CompileEnded("Go", 4, 3.0))
    shown = capsys.readouterr().err
    assert shown.count("Compiling Go for this use, once on this machine ...") == (not terminal)
    assert ("Compiling Go for this use, once on this machine: 4 functions, 2 s" in shown) == terminal


def test_a_command_says_once_that_it_compiles(tmp_path):
    # Patience 0: a fast machine compiles the few functions of this game before the ordinary patience ends.
    code = "from ludus.cli import main; from ludus.native import announcing; announcing.PATIENCE = 0.0; main()"
    command = [sys.executable, "-c", code, "perft", "laststone", "--depth", "3"]
    environment = {**os.environ, "LUDUS_CACHE": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == f"Compiling {ludus.make('laststone').title} for this use, once on this machine ...\n"
