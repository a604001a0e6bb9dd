"""A status line while something is compiled."""

from __future__ import annotations

from typing import Any

from ludus.compile_events import CompileEnded, CompileEvent, CompileStarted, on_compile, write_line


class CompileStatus:
    """Shows the progress of compiling: a status line on a terminal, elsewhere one line for each game."""

    def __init__(self) -> None:
        self._status: Any = None

    def __call__(self, event: CompileEvent) -> None:
        if isinstance(event, CompileStarted):
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
    return f"Compiling {event.what} for this machine, once: {event.functions} functions, {event.seconds:.0f} s"


def show_compiling() -> None:
    """Show the progress of compiling from now on."""
    on_compile(CompileStatus())
