"""Turns of computing for the searches of all agents: as many run at once as there are cores, the others wait.

Without turns, fifty searches on two cores would compete with each other and with the event loop for the cores and for
Python's global lock, and a click would wait for all of them. A search gives its turn up after a slice of time, between
two rounds, and queues for the next one. A turn whose search has ended expires by itself.
"""

from __future__ import annotations

import threading
import time
from collections import deque

SLICE = 0.02
"""Seconds of a turn."""
EXPIRY = 0.1
"""Seconds after which a turn that was not given up is taken: its search has ended, or waits for a long batch."""


class Turns:
    """At most `count` searches run at once, each for a slice of time, in the order in which they came."""

    def __init__(self, count: int):
        self._count = count
        self._lock = threading.Lock()
        self._running: dict[int, float] = {}
        """For each thread that has a turn, when it began."""
        self._queue: deque[tuple[int, threading.Event]] = deque()

    def pace(self) -> None:
        """Called by a search between two rounds: waits for a turn if its own is over."""
        me, now = threading.get_ident(), time.perf_counter()
        began = self._running.get(me)
        if began is not None and now - began < SLICE:
            return
        mine = threading.Event()
        with self._lock:
            self._running.pop(me, None)
            self._queue.append((me, mine))
            self._admit(now)
        while not mine.wait(EXPIRY):
            with self._lock:
                self._admit(time.perf_counter())

    def _admit(self, now: float) -> None:
        """Give free and expired turns to those who wait."""
        for thread, began in list(self._running.items()):
            if now - began > EXPIRY:
                del self._running[thread]
        while self._queue and len(self._running) < self._count:
            thread, turn = self._queue.popleft()
            self._running[thread] = now
            turn.set()
