"""A line on a terminal while libraries and a game load: before a command shows anything, it has to import them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from typing import Any, TextIO

HEAVY = frozenset(
    {"clingo", "gymnasium", "matplotlib", "numba", "numpy", "pyspiel", "ray", "scipy", "starlette", "torch", "uvicorn"}
)
"""Libraries that take a part of a second to import, or several."""
TEXT = "Loading ..."


@contextmanager
def loading() -> Iterator[None]:
    """Within this block, the first import of a heavy library shows a line on the terminal, if nothing is shown yet.

    The first output of the block, its first look at the input, or its end erases the line. Nothing is shown if neither
    standard error nor standard output is a terminal.
    """
    shown_on = next((each for each in (sys.stderr, sys.stdout) if each is not None and each.isatty()), None)
    if shown_on is None:
        yield
        return
    line = LoadingLine(shown_on)
    line.wait()
    try:
        yield
    finally:
        line.end()


class LoadingLine(MetaPathFinder):
    """Hears of imports until a heavy one, and of output and input until the first. It finds no module itself."""

    def __init__(self, shown_on: TextIO):
        self.shown_on = shown_on
        self.shown = self.ended = False
        self.streams: dict[str, tuple[Any, Any]] = {}
        """By name, the standard streams that are listened to: what stands for each of them, and the stream itself."""

    def wait(self) -> None:
        """Listen from now on."""
        for name, kind in (("stdin", Input), ("stdout", Output), ("stderr", Output)):
            if (stream := getattr(sys, name)) is not None:
                self.streams[name] = kind(stream, self), stream
                setattr(sys, name, self.streams[name][0])
        sys.meta_path.insert(0, self)

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> None:
        """Show the line if the module is a heavy one; None leaves the search to the other finders."""
        if fullname in HEAVY and not self.shown and not self.ended:
            self.shown = True
            self.shown_on.write(TEXT)
            self.shown_on.flush()

    def end(self) -> None:
        """Erase the line and listen no more."""
        if self.ended:
            return
        self.ended = True
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name, (standing_for, stream) in self.streams.items():
            if getattr(sys, name) is standing_for:  # a display may have put something of its own there meanwhile
                setattr(sys, name, stream)
        if self.shown:
            self.shown_on.write(f"\r{' ' * len(TEXT)}\r")  # every terminal understands this
            self.shown_on.flush()


class Output:
    """A stream whose first output ends a LoadingLine. Whoever keeps it can write to it for good."""

    def __init__(self, stream: TextIO, line: LoadingLine):
        self._stream, self._line = stream, line

    def write(self, text: str) -> int:
        """Write to the stream, after the line is erased."""
        if text:
            self._line.end()
        return self._stream.write(text)

    def writelines(self, lines: Sequence[str]) -> None:
        """Write to the stream, after the line is erased."""
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Input:
    """A stream that ends a LoadingLine before it is read. Whoever keeps it can read from it for good."""

    HARMLESS = frozenset({"closed", "encoding", "errors", "isatty"})
    """What can be asked without reading."""

    def __init__(self, stream: TextIO, line: LoadingLine):
        self._stream, self._line = stream, line

    def __iter__(self) -> Iterator[str]:
        self._line.end()
        return iter(self._stream)

    def __getattr__(self, name: str) -> Any:
        if name not in self.HARMLESS:
            self._line.end()
        return getattr(self._stream, name)
