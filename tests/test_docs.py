"""The code in the documentation runs."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import ludus
from ludus.testing import check_game
from ludus.testing.lockstep import Lockstep

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"<!-- (file: (?P<file>\S+)|run|shell) -->\n```\w+\n(?P<code>.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def guide(tmp_path_factory):
    """The blocks of the guide, and a folder that holds its files."""
    folder = tmp_path_factory.mktemp("guide")
    blocks = list(BLOCK.finditer((DOCS / "writing-a-game.md").read_text()))
    files: dict[str, list[str]] = {}
    for block in blocks:
        if block["file"]:
            files.setdefault(block["file"], []).append(block["code"])
    for name, parts in files.items():
        (folder / name).write_text("\n\n".join(parts))
    return folder, blocks


def test_the_guide_has_a_game(guide):
    folder, blocks = guide
    assert (folder / "chomp.py").exists()
    assert sum("run" in block[1] for block in blocks) == 9
    game = ludus.make(str(folder / "chomp.py"), rows=2, columns=2)
    assert str(game.start()) == " 2 # #\n 1 # #\n   a b"
    with pytest.raises(ludus.LudusError, match="character 3"):
        game.parse("1/2 1")


@pytest.mark.parametrize("name", ["chomp", "bids", "words"])
def test_its_games_keep_their_promises_in_plain_python(guide, name, monkeypatch):
    monkeypatch.setattr(Lockstep, "compile", lambda self: None)
    report = check_game(guide[0] / f"{name}.py", games=3)
    assert report.warnings == ()


def test_its_python_runs(guide):
    folder, blocks = guide
    code = "\n".join(block["code"] for block in blocks if block[1] == "run")
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "\n1.0\n" in done.stdout  # the first player wins


def test_its_commands_run(guide):
    folder, blocks = guide
    commands = [line for block in blocks if block[1] == "shell" for line in block["code"].splitlines() if line]
    assert len(commands) >= 4
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "ludus"
        code = "import sys; from ludus.cli import main; sys.argv = sys.argv[1:]; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=folder,
            input="quit\n",
            capture_output=True,
            text=True,
            env={**os.environ, "COLUMNS": "120"},
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


def test_the_python_of_the_page_about_python_runs(tmp_path):
    blocks = list(BLOCK.finditer((DOCS / "python.md").read_text()))
    assert len(blocks) >= 8
    code = "\n".join(block["code"] for block in blocks)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_python_of_the_page_about_environments_runs(tmp_path):
    blocks = list(BLOCK.finditer((DOCS / "environments.md").read_text()))
    assert len(blocks) == 3
    code = "\n".join(block["code"] for block in blocks)
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_python_of_the_readme_runs():
    text = (DOCS.parent / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert " . . o x . . .\n a b c d e f g" in done.stdout


def test_the_python_of_the_arena_page_runs(tmp_path):
    blocks = [block["code"] for block in BLOCK.finditer((DOCS / "arena.md").read_text()) if block[1] == "run"]
    assert len(blocks) == 2
    shown = ""
    for code in blocks:
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        shown += done.stdout
    assert "1 uct:200 " in shown
    assert (tmp_path / "matrix.svg").is_file()
