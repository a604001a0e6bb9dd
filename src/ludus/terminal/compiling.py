"""Shows that something is being compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ludus.compile_events import CompileEnded, CompileEvent, CompileStarted, on_compile, write_line

Show = Callable[[str | None], None]
"""Called with a text while something is compiled, and with None afterwards."""

_hosts: list[Show] = []
"""Status lines of other displays that show what is compiled, the innermost last."""


@contextmanager
def compiling_into(show: Show) -> Iterator[None]:
    """Within this block, another display shows what is compiled: two status lines would overwrite each other."""
    _hosts.append(show)
    try:
        yield
    finally:
        _hosts.remove(show)


class CompileStatus:
    """Shows the progress of compiling: a status line on a terminal, elsewhere one line for each game."""

    def __init__(self) -> None:
        self._status: Any = None

    def __call__(self, event: CompileEvent) -> None:
        if _hosts:
            _hosts[-1](None if isinstance(event, CompileEnded) else _text(event))
        elif isinstance(event, CompileStarted):
            self._start(event)
        elif self._status is not None and isinstance(event, CompileEnded):
            self._status.stop()
            self._status = None
        elif self._status is not None:
            self._status.update(_text(event))

    def _start(self, event: CompileEvent) -> None:
        from rich.console import Console

        console = Console(stderr=True)
        if console.is_terminal:
            self._status = console.status(_text(event))
            self._status.start()
        else:
            write_line(event)


def _text(event: CompileEvent) -> str:
    return f"{event.text}: {event.functions} functions, {event.seconds:.0f} s"


def show_compiling() -> None:
    """Show the progress of compiling from now on."""
    on_compile(CompileStatus())
