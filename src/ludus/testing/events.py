"""Events of `check_game`, for the callback `on_event`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.game import Game


@dataclass(frozen=True)
class Checking:
    """A part of the check goes on."""

    what: str
    """The part, such as "games in machine code"."""
    done: int
    total: int


@dataclass(frozen=True)
class FirstVerdict:
    """The game keeps its promises in plain Python; the machine code is checked next."""

    game: str
    positions: int
    seconds: float
    """Seconds since the check began."""


@dataclass(frozen=True)
class CodeChecked:
    """A first game in machine code was the same as in plain Python: the check compiles nothing further."""

    game: Game


CheckEvent = Checking | FirstVerdict | CodeChecked
Listener = Callable[[CheckEvent], None]
