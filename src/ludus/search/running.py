"""Long kernels, watched: they run in a thread of their own, while progress is reported and Ctrl-C is heard."""

import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ludus.errors import LudusError

Reporter = Callable[[int], None]
"""Called several times a second with the number of positions seen so far."""


class StopFlag(Protocol):
    """What can tell a long operation to stop, such as a threading.Event."""

    def is_set(self) -> bool: ...


class Stopped(LudusError):
    """The work was stopped before its end by the caller's wish."""


def run_watched(
    kernel: Callable[[], Any], control: np.ndarray, progress: Reporter | None = None, limit: float | None = None
) -> Any:
    """Run a kernel that counts in control[0] and stops when control[1] is not 0; returns what it returns.

    After `limit` seconds it is told to stop: then control[1] is 1.
    """
    deadline = None if limit is None else time.perf_counter() + limit
    result: list[Any] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            result.append(kernel())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        wait = 0.001
        while thread.is_alive():
            thread.join(wait)
            wait = min(0.1, 2 * wait)
            if progress is not None:
                progress(int(control[0]))
            if deadline is not None and time.perf_counter() > deadline:
                control[1] = 1
    except BaseException:
        control[1] = 1
        thread.join()
        raise
    if failure:
        raise failure[0]
    return result[0]
