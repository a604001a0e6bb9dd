"""Stopping a long operation from another thread."""

from __future__ import annotations

from typing import Protocol


class Stop(Protocol):
    """A signal to stop, such as a `threading.Event`: the operation ends soon after `is_set()` returns True."""

    def is_set(self) -> bool: ...


def is_stopped(stop: Stop | None) -> bool:
    """True if there is a stop signal and it is set."""
    return stop is not None and stop.is_set()
