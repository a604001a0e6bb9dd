"""Positions with the exact value of every move, and the file that holds them.

The file is plain text, to be read, shared and used again: four lines that describe it, a line of headings, then one
line for each position.

    Ludus positions, format 1
    game: tictactoe()v1
    about: {"seed": 0, "solved_by": "ludus 0.1.0", ...}
    content: 150 positions, 51b0c1fd8e2a0f37
    phase   plies   value of each action     position
    begin   2       1:0 2:-1 3:0 ...         .../.o./x..

Values are those for the player to move, from -1 (a loss) to 1 (a win). The digest finds damage. It does not prove who
wrote the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.bounded import read_text
from ludus.errors import LudusError
from ludus.runs.files import write_bytes, write_whole
from ludus.spec import same_rules

if TYPE_CHECKING:
    from ludus.game import Game, Position

PHASES = ("begin", "middle", "end")
FORMAT = "Ludus positions, format "
VERSION = "1"
HEADINGS = "phase\tplies\tvalue of each action\tposition"
BEFORE = 5
"""Number of lines before the first position."""
LARGEST_FILE = 256 << 20
"""Upper limit for the size of a file, in bytes."""
ABOUT = {"seed": int, "wanted": int, "solved_by": str, "limit": float, "left_out": dict, "phases": str}
"""Facts about the making of a set, with their types."""


class BadPositions(LudusError):
    """A file of positions is missing, damaged, or of another game."""


@dataclass(frozen=True)
class Known:
    """A position with the exact values of its moves."""

    position: Position
    phase: str
    plies: int
    """Number of plies before the position."""
    values: dict[int, float]
    """The value of each legal action to the player to move, under perfect play of both sides from there on."""

    @property
    def value(self) -> float:
        """The value of the position to the player to move."""
        return max(self.values.values())

    @property
    def matters(self) -> bool:
        """True if some move is better than another."""
        return min(self.values.values()) < self.value


@dataclass(frozen=True)
class Positions:
    """A set of positions to grade agents with."""

    game: Game
    known: tuple[Known, ...]
    about: dict[str, Any] = field(default_factory=dict)
    """How the set was made: seed, wanted, solved_by, limit, left_out and phases."""


def at_most(known: Sequence[Known], count: int) -> list[Known]:
    """At most `count` positions, spread evenly over all, so that each phase keeps its share."""
    count = min(count, len(known))
    return [known[index * len(known) // count] for index in range(count)]


# --- the file ---------------------------------------------------------------------------------------------------------


def write_positions(path: Path, positions: Positions) -> None:
    """Write a set of positions; the file appears whole or not at all."""
    top = [FORMAT + VERSION, f"game: {positions.game.identity}", f"about: {json.dumps(positions.about)}"]
    lines = [_line(each) for each in positions.known]
    content = f"content: {len(lines)} positions, {_digest(top, lines)}"
    text = "\n".join([*top, content, HEADINGS, *lines]) + "\n"
    write_whole(path, lambda draft: write_bytes(draft, text))


def _line(known: Known) -> str:
    values = " ".join(f"{action}:{_written(value)}" for action, value in known.values.items())
    return f"{known.phase}\t{known.plies}\t{values}\t{known.position.text}"


def _written(value: float) -> str:
    """A value in few characters without rounding: equal values stay equal and different ones different."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def _digest(top: list[str], lines: list[str]) -> str:
    return hashlib.sha256("\n".join([*top, *lines]).encode()).hexdigest()[:16]


def read_positions(path: Path, game: Game) -> Positions:
    """The positions of a file; BadPositions says what is wrong with it."""
    try:
        lines = read_text(path, LARGEST_FILE).rstrip("\n").split("\n")
    except FileNotFoundError:
        raise BadPositions(
            f"there is no file of positions {path}; ludus grade AGENT {game.name} --positions {path} makes it"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadPositions(f"{path} is not a file of positions that can be read: {error}") from None
    if not lines[0].startswith(FORMAT):
        raise BadPositions(f"{path} is not a file of positions: it does not begin with {FORMAT + VERSION!r}")
    if lines[0] != FORMAT + VERSION:
        raise BadPositions(f"{path} is of another version of Ludus: {lines[0]!r}, not {FORMAT + VERSION!r}")
    top, body = lines[:3], lines[BEFORE:]
    of = lines[1].removeprefix("game: ") if len(lines) > 1 else ""
    if not same_rules(of, game.identity):
        raise BadPositions(f"{path} holds positions of {of or 'nothing'}, not of {game.identity}")
    known = []
    for number, line in enumerate(body, BEFORE + 1):
        try:
            known.append(_read_line(line, game))
        except ValueError as error:
            raise BadPositions(_damaged(path, f"line {number}: {error}")) from None
    if not known or lines[3] != f"content: {len(known)} positions, {_digest(top, body)}":
        raise BadPositions(_damaged(path, f"its fourth line says otherwise than its {len(known)} positions"))
    try:
        about = _read_about(lines[2].removeprefix("about: "))
    except (ValueError, RecursionError) as error:
        raise BadPositions(_damaged(path, f"line 3: {error}")) from None
    return Positions(game, tuple(known), about)


def _read_about(text: str) -> dict[str, Any]:
    about = json.loads(text)
    if not isinstance(about, dict):
        raise ValueError("it is not a JSON object")
    for key, kind in ABOUT.items():
        value = about.get(key, kind())
        if isinstance(value, bool) or not isinstance(value, (int, float) if kind is float else kind):
            raise ValueError(f"{key} is not of type {kind.__name__}")
    if not all(isinstance(count, int) for count in about.get("left_out", {}).values()):
        raise ValueError("left_out is not a table of counts")
    return about


def _read_line(line: str, game: Game) -> Known:
    phase, plies, values, text = line.split("\t")
    if phase not in PHASES:
        raise ValueError(f"the phase is none of {', '.join(PHASES)}")
    position = game.parse(text)
    found = {}
    for each in values.split(" "):
        action, value = each.split(":")
        found[int(action)] = float(value)
        if not -1.0 <= float(value) <= 1.0:
            raise ValueError(f"{value} is no value from -1 to 1")
    if list(found) != list(position.actions):
        raise ValueError(f"the legal actions are {position.actions}, not {list(found)}")
    return Known(position, phase, int(plies), found)


def _damaged(path: Path, why: str) -> str:
    return f"{path} is damaged ({' '.join(why.split())}): get it again, or remove it and let ludus grade make another"
