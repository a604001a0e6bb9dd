"""Progress of a long operation: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ludus.terminal.compiling import compiling_into
from ludus.terminal.show import plain, terminal

EVERY = 10.0
"""Seconds between two lines if there is no terminal."""
REFRESH = 0.1
"""Seconds between two updates of a bar."""


class Bar:
    """A progress bar; use it in a `with` statement. A hidden bar shows nothing."""

    def __init__(self, what: str, hidden: bool = False):
        console = terminal()
        self.what = plain(what)
        columns = (
            TextColumn("{task.description}"),
            MofNCompleteColumn(),
            BarColumn(30),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns, console=console, transient=True) if console.is_terminal and not hidden else None
        self.lines = not console.is_terminal and not hidden
        self.task = None if self.bar is None else self.bar.add_task(self.what, total=None, note="")
        self.opened = ExitStack()
        self.last: float | None = None
        """The time of the last update that was shown; the first update only starts the clock."""

    def __enter__(self) -> Bar:
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def start(self) -> None:
        """Show the bar on the terminal."""
        if self.bar is not None:
            self.bar.start()
            self.opened.enter_context(compiling_into(self._describe))

    def stop(self) -> None:
        """Remove the bar from the terminal."""
        self.opened.close()
        if self.bar is not None:
            self.bar.stop()

    def _describe(self, text: str | None) -> None:
        """Show in the bar what is compiled; None shows again what the bar is about."""
        if self.bar is not None and self.task is not None:
            self.bar.update(self.task, description=text or self.what)

    def update(self, done: int, total: int, note: str = "") -> None:
        """Show that `done` of `total` are done. Updates in quick succession are left out."""
        if self.last is None:
            self.last = time.monotonic()
        since = time.monotonic() - self.last
        if self.bar is not None and self.task is not None and (since > REFRESH or done == total):
            self.last = time.monotonic()
            self.bar.update(self.task, completed=done, total=total, note=plain(note))
        elif self.lines and since > EVERY:
            self.last = time.monotonic()
            print(f"{self.what} {done} of {total}{f', {plain(note)}' if note else ''}", file=sys.stderr, flush=True)
