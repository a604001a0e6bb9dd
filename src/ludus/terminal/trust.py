"""Python code that comes with a run, a recipe or a file of results: it is run only if the user says so."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

from ludus.errors import Untrusted
from ludus.terminal.show import one_line

Result = TypeVar("Result")


def at_a_terminal() -> bool:
    """True if a user can be asked: standard input and output are a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def with_trust(trust: bool, act: Callable[[bool], Result]) -> Result:
    """The result of `act(trust)`. If it raises Untrusted, a user at a terminal is asked, and it is tried once more."""
    try:
        return act(trust)
    except Untrusted as error:
        if not at_a_terminal():
            raise
        print(f"{one_line(error.what)}; run it? [y/N] ", end="", flush=True)
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise
        return act(True)
