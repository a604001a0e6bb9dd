"""Ctrl-C during a long operation."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def ctrl_c_stops(active: bool = True) -> Iterator[threading.Event]:
    """A stop signal that Ctrl-C sets. A second Ctrl-C interrupts at once.

    If not `active`, Ctrl-C interrupts as usual: a person at a prompt must not have to press it twice.
    """
    stop = threading.Event()
    if not active or threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)
