"""A lock on the folder of a run: one process trains it at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ludus.runs.files import BadRun

FILE = "training.lock"


@contextlib.contextmanager
def training_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a run; BadRun if another process holds it, or if the folder cannot be written.

    The system releases the lock when the process ends, however it ends. The file stays.
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
        yield


def is_training(folder: Path) -> bool:
    """True if a process trains the run in this folder."""
    try:
        with (folder / FILE).open("r+") as file:
            return not _lock(file)  # closing the file releases the lock
    except OSError:
        return False


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
