"""Stopping a long operation: never, at a time, or from another thread."""

from __future__ import annotations

import time
from typing import Protocol

from ludus.errors import LudusError


class Stop(Protocol):
    """A signal to stop, such as a `threading.Event`: the operation ends soon after `is_set()` returns True."""

    def is_set(self) -> bool: ...


class Stopped(LudusError):
    """The caller stopped an operation before it had a result."""


class _Never:
    def is_set(self) -> bool:
        return False


NEVER: Stop = _Never()
"""A signal that is never set."""


class Deadline:
    """A signal that is set when `seconds` have passed since it was made, or when `stop` is set."""

    def __init__(self, seconds: float, stop: Stop = NEVER):
        self.at, self.stop = time.perf_counter() + seconds, stop

    def is_set(self) -> bool:
        return time.perf_counter() > self.at or self.stop.is_set()


def is_stopped(stop: Stop | None) -> bool:
    """True if there is a stop signal and it is set."""
    return stop is not None and stop.is_set()
