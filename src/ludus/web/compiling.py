"""The game that is compiled now, as a line for the people who wait for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ludus.compile_events import CompileEnded, CompileEvent
from ludus.gdl import rules as gdl_rules
from ludus.gdl.described import DescribedGame
from ludus.python_games import PythonGame
from ludus.python_games import rules as python_rules

if TYPE_CHECKING:
    from ludus.game import Game

PAUSE = 1.0
"""Seconds between two functions of a game that are compiled one after the other, at most."""


class CompileStatus:
    """Hears of compiling, which comes in pieces, and counts the seconds since the first one. Threads may share it."""

    def __init__(self) -> None:
        self.what = ""
        """The title of the game."""
        self._text = ""
        self._began = 0.0
        self._ended: float | None = 0.0
        """When the last piece ended; None while one is compiled."""

    def hear(self, event: CompileEvent) -> None:
        """A listener of ludus.compile_events."""
        if isinstance(event, CompileEnded):
            self._ended = time.monotonic()
        else:
            if not self.line or event.what != self.what:
                self._began = time.monotonic() - event.seconds
            self.what, self._text, self._ended = event.what, event.text, None

    @property
    def line(self) -> str:
        """The line for people; empty if nothing is compiled."""
        now = time.monotonic()
        if self._ended is not None and now - self._ended > PAUSE:
            return ""
        return f"{self._text} ({now - self._began:.0f} s) ..."


def titles_of(game: Game) -> list[str]:
    """The titles by which events name a game: those in GDL share their code, and those in ordinary Python do."""
    titles = [game.title]
    titles += [gdl_rules.TITLE] * isinstance(game, DescribedGame)
    titles += [python_rules.TITLE] * isinstance(game, PythonGame)
    return titles
