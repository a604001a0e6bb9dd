"""The first compile says so."""

import time
from collections.abc import Callable
from typing import Any

from numba.core import event


class Announcer(event.Listener):
    """Tells on standard error that something is being compiled, if it takes more than a moment."""

    def __init__(self, name_of: Callable[[Any], str]) -> None:
        """`name_of` makes what people call it from the types of a kernel's arguments."""
        self.name_of = name_of
        self.depth = self.functions = 0
        self.began = 0.0
        self.status: Any = None
        self.said: set[str] = set()

    def on_start(self, started: Any) -> None:
        self.depth += 1
        self.functions += 1
        if self.depth == 1:
            self.began, self.functions = time.perf_counter(), 1
            self.what = self.name_of(started.data["args"])
        elif self.status is None and time.perf_counter() - self.began > 0.4:
            from rich.console import Console

            console = Console(stderr=True)
            if console.is_terminal:
                self.status = console.status(self.text())
                self.status.start()
            else:
                self.status = False
                if self.what not in self.said:
                    self.said.add(self.what)
                    console.print(f"Compiling {self.what} for this machine, once ...", highlight=False)
        elif self.status:
            self.status.update(self.text())

    def text(self) -> str:
        spent = time.perf_counter() - self.began
        return f"Compiling {self.what} for this machine, once: {self.functions} functions, {spent:.0f} s"

    def on_end(self, ended: Any) -> None:
        self.depth -= 1
        if self.depth == 0 and self.status is not None:
            if self.status:
                self.status.stop()
            self.status = None
