"""A lock on the folder of a run: one process trains it at a time. Any other process can ask it to stop."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ludus.runs.files import BadRun
from ludus.stopping import Stop

FILE = "training.lock"
REQUEST = "training.stop"
"""The file that asks the process that trains a run to stop."""
EVERY = 0.5
"""Seconds between two checks for a request to stop."""


@contextlib.contextmanager
def training_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a run; BadRun if another process holds it, or if the folder cannot be written.

    The system releases the lock when the process ends, however it ends. The file stays. Requests to stop that were made
    before are forgotten.
    """
    path = folder / FILE
    try:
        file = path.open("a+")
    except OSError as error:
        raise BadRun(f"{folder} cannot be written: {error.strerror or error}") from None
    with file:
        if not _lock(file):
            file.seek(0)
            owner = file.read(20).strip()
            by = f" by process {owner}" if owner.isdecimal() else ""
            raise BadRun(f"{folder} is being trained{by}: wait until it ends, or stop it")
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        _forget_request(folder)
        try:
            yield
        finally:
            _forget_request(folder)


def is_training(folder: Path) -> bool:
    """True if a process trains the run in this folder."""
    try:
        with (folder / FILE).open("r+") as file:
            return not _lock(file)  # closing the file releases the lock
    except OSError:
        return False


def request_stop(folder: Path) -> None:
    """Ask the process that trains the run in this folder to stop; BadRun if none trains it."""
    if not is_training(folder):
        raise BadRun(f"{folder.name} is not being trained")
    try:
        (folder / REQUEST).touch()
    except OSError as error:
        raise BadRun(f"{folder} cannot be written: {error.strerror or error}") from None


def is_stop_requested(folder: Path) -> bool:
    """True if the process that trains the run was asked to stop."""
    return (folder / REQUEST).exists()


class StopRequests:
    """A stop signal: set if `stop` is set, or if another process has asked the training in `folder` to stop."""

    def __init__(self, folder: Path, stop: Stop):
        self.folder, self.stop = folder, stop
        self._requested, self._looked = False, -EVERY

    def is_set(self) -> bool:
        now = time.monotonic()
        if not self._requested and now - self._looked >= EVERY:
            self._looked = now
            self._requested = is_stop_requested(self.folder)
        return self._requested or self.stop.is_set()


def _forget_request(folder: Path) -> None:
    with contextlib.suppress(OSError):  # a folder that has gone
        (folder / REQUEST).unlink(missing_ok=True)


def _lock(file: IO[str]) -> bool:
    """Lock an open file without waiting; False if another process has it."""
    try:
        import fcntl
    except ImportError:
        return _lock_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _lock_on_windows(file: IO[str]) -> bool:
    import msvcrt

    try:
        file.seek(1 << 20)  # beyond the text, which others may read
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError:
        return False
    return True
