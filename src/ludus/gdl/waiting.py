"""Says that a description takes long to load: one line on standard error, so that nobody takes it for a hang."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ludus.gdl.limits import LIMITS

PATIENCE = 1.5
"""What loads in fewer seconds is not announced."""

Listener = Callable[[str], None]


def write_line(name: str) -> None:
    """Write one line to standard error."""
    if sys.stderr is not None:
        most = f"{LIMITS.grounding_seconds:g} s"
        print(f"Loading {name} (to ground its rules may take up to {most}) ...", file=sys.stderr, flush=True)


_listener: Listener | None = write_line


def on_slow(listener: Listener | None) -> Listener | None:
    """Let `listener` hear of descriptions that take long from now on, in a thread of its own; None for silence. Returns
    the one before."""
    global _listener
    before, _listener = _listener, listener
    return before


@contextmanager
def told_if_slow(name: str) -> Iterator[None]:
    """Tell the listener if this block takes longer than PATIENCE."""

    def tell() -> None:
        if _listener is not None:
            _listener(name)

    timer = threading.Timer(PATIENCE, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
