"""When to stop: never, at a time, or when a caller says so."""

from __future__ import annotations

import time

from ludus.search.running import StopFlag, Stopped

__all__ = ["NEVER", "Deadline", "StopFlag", "Stopped"]


class _Never:
    def is_set(self) -> bool:
        return False


NEVER: StopFlag = _Never()


class Deadline:
    """Set when `seconds` have passed since it was made, or when `stop` is set."""

    def __init__(self, seconds: float, stop: StopFlag = NEVER):
        self.at, self.stop = time.perf_counter() + seconds, stop

    def is_set(self) -> bool:
        return time.perf_counter() > self.at or self.stop.is_set()
