"""Events of compiling, for front ends. This module needs no Numba, so that a front end can listen before it loads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class CompileEvent:
    """Something is being compiled for this machine."""

    what: str
    """The title of the game that is compiled."""
    functions: int
    """The number of functions so far, of all kernels for this game."""
    seconds: float
    """The time that they took so far."""

    @property
    def text(self) -> str:
        """What people read. Other commands may need other functions, which are compiled once as well."""
        return f"Compiling {self.what} for this use, once on this machine"


class CompileStarted(CompileEvent):
    """Compiling takes longer than a moment."""


class CompileProgress(CompileEvent):
    """Another function is compiled."""


class CompileEnded(CompileEvent):
    """Everything that was needed is compiled; follows each CompileStarted."""


Listener = Callable[[CompileEvent], None]


def write_line(event: CompileEvent) -> None:
    """Write one line to standard error, once for each game in this process."""
    if isinstance(event, CompileStarted) and event.what not in _written and sys.stderr is not None:
        _written.add(event.what)
        print(f"{event.text} ...", file=sys.stderr, flush=True)


_written: set[str] = set()
_listener: Listener | None = write_line


def on_compile(listener: Listener | None) -> Listener | None:
    """Let `listener` hear all further events, in the thread that compiles; None for silence. Returns the one before."""
    global _listener
    before, _listener = _listener, listener
    return before


def report(event: CompileEvent) -> None:
    """Tell the listener."""
    if _listener is not None:
        _listener(event)
