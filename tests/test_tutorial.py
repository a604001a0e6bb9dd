"""The tutorial: its edits fit the template, and its commands can be run as they are written."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import ludus
from ludus.cli import app, main
from ludus.templates import new_game

TEXT = (Path(__file__).parent.parent / "docs" / "tutorial.md").read_text(encoding="utf-8")
COMMANDS = [
    shlex.split(line) for block in re.findall(r"<!-- command -->\n```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
]  # fmt: skip
EDITS = re.findall(r"<!-- edit -->\n```python\n(.*?)```.*?<!-- to -->\n```python\n(.*?)```", TEXT, re.DOTALL)
SMALLER = {"--minutes": "0.02", "--games": "2", "--count": "6"}
"""Budgets for the test, in place of those of the page."""


def write_game(folder):
    """The game of the page."""
    path = new_game(folder / "avoid.py")
    text = path.read_text()
    for before, after in EDITS:
        assert text.count(before) == 1
        text = text.replace(before, after)
    path.write_text(text)
    return path


def test_its_edits_make_the_game_that_it_describes(tmp_path):
    assert len(EDITS) == 3
    game = ludus.make(write_game(tmp_path))
    position = game.start()
    assert str(position) == "3 . . . .\n2 . . . .\n1 . . . .\n  a b c d"
    for move in ("a1", "d3", "b1", "d1", "c1"):
        position = position.play(move)
    assert position.is_over
    assert position.values == (-1.0, 1.0)  # three in a line lose


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_its_commands_are_understood(words):
    name, *arguments = words[1:]
    command = typer.main.get_command(app).commands[name]
    assert command.make_context(name, arguments)


def test_its_commands_run_with_small_budgets(tmp_path):
    write_game(tmp_path)
    for words in COMMANDS[1:]:
        short = [SMALLER.get(before, word) for before, word in zip(["", *words], words, strict=False)]
        done = subprocess.run(
            [sys.executable, "-m", *short],
            cwd=tmp_path,
            input="quit\n",
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "120"},
            timeout=600,
        )
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"


def test_its_first_command_writes_the_file_that_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(COMMANDS[0][1:]) == 0
    assert (tmp_path / "avoid.py").is_file()
