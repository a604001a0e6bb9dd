"""Long kernels run in a thread of their own, with progress reports, and can be stopped."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ludus.stopping import Stop, is_stopped

Reporter = Callable[[int], object]
"""Called several times a second with the number of positions counted so far. Returning False ends the work."""


def run_watched(
    kernel: Callable[[], Any],
    control: np.ndarray,
    progress: Reporter | None = None,
    limit: float | None = None,
    stop: Stop | None = None,
) -> Any:
    """Run a kernel that counts in control[0] and stops when control[1] is not 0; returns the kernel's result.

    The kernel is stopped after `limit` seconds, when `stop` is set, or when `progress` returns False. Then control[1]
    is 1, and the result is meaningless. `stop` is read every 20 ms, `progress` is called every 50 ms.
    """
    began = time.perf_counter()
    deadline = None if limit is None else began + limit
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
        wait, report_at = 0.001, began
        while thread.is_alive():
            thread.join(wait)
            wait = min(0.02, 2 * wait)
            now = time.perf_counter()
            if progress is not None and now >= report_at:
                report_at = now + 0.05
                if progress(int(control[0])) is False:
                    control[1] = 1
            if (deadline is not None and now > deadline) or is_stopped(stop):
                control[1] = 1
    except BaseException:
        control[1] = 1
        thread.join()
        raise
    if failure:
        raise failure[0]
    return result[0]
