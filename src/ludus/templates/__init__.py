"""Games to start from: `new_game` writes one of the files beside this one under a name of your own.

Each file is a complete game called My Game, which `ludus check` passes; the tests check and train all of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from ludus.errors import BadOption
from ludus.sources import may_be_helper

KINDS = {
    "grid": "stones on a grid, in turn",
    "simultaneous": "everyone moves at once",
    "python": "any Python objects and libraries; searched more slowly",
}
"""The kinds of games that `new_game` writes, and what each is for."""

GUIDES = {"grid": "ludus.rules", "simultaneous": "ludus.rules", "python": "ludus.python_games"}
"""The module whose documentation lists all that a game of each kind may define."""


def new_game(file: str | Path, kind: str = "grid") -> Path:
    """Write a working game to start from into a new file; BadOption says why that is not possible."""
    path = Path(file)
    stem = path.stem
    if kind not in KINDS:
        raise BadOption(f"there is no kind {kind!r} of game to start from; kinds are {', '.join(KINDS)}")
    if path.suffix != ".py" or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", stem):
        raise BadOption(f"a game is a file such as mygame.py, of letters, digits and _, not {path.name!r}")
    if not may_be_helper(stem):
        raise BadOption(f"{path.name} has the name of a Python module: choose another one")
    words = [word for word in stem.split("_") if word]
    text = Path(__file__).with_name(f"{kind}.py").read_text(encoding="utf-8")
    text = text.replace("MyGame", "".join(word[:1].upper() + word[1:] for word in words))
    text = text.replace("My Game", " ".join([words[0][:1].upper() + words[0][1:], *words[1:]]))
    text = text.replace("mygame", stem.lower())
    try:
        with path.open("x", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
    except FileExistsError:
        raise BadOption(f"{path} exists already: choose another name, or remove it first") from None
    return path
