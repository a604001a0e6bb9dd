"""Atomic files: each is written under another name in the same folder, then renamed."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from ludus.errors import LudusError


class BadRun(LudusError):
    """A run cannot be read, or does not fit the game or network that it is used with."""


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Let `write` make a file or a folder under another name, flush it to disk, and rename it to `path`.

    A device or a pipe, such as /dev/null, is never replaced.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise BadRun(f"{path} is not a regular file, and is left as it is: name another one")
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.part{path.suffix}")
    remove(draft)
    try:
        write(draft)
        for file in [draft, *draft.rglob("*")] if draft.is_dir() else [draft]:
            _to_disk(file)
        if draft.is_dir():
            remove(path)
        draft.replace(path)
        _to_disk(path.parent)
    except OSError as error:
        remove(draft)
        raise BadRun(f"{path} cannot be written: {error.strerror or error}; nothing was changed") from error
    except BaseException:
        remove(draft)
        raise


def check_writable(folder: Path) -> None:
    """Raise BadRun unless a folder, which need not exist, can be made and written to. Nothing is left there."""
    place = folder.absolute()
    while not os.path.lexists(place) and place != place.parent:  # a link to nowhere is there, and cannot be written
        place = place.parent
    try:
        with tempfile.TemporaryDirectory(prefix=".ludus-", dir=place):
            pass
    except OSError as error:
        raise BadRun(f"{folder} cannot be written: {error.strerror or error}") from None


class Writer:
    """Runs jobs in order: at once or, if `beside`, on a thread of its own while the run continues."""

    def __init__(self, beside: bool):
        self.thread = ThreadPoolExecutor(1) if beside else None
        self.latest: list[Future[None]] = []
        self.failed = False

    def write(self, job: Callable[[], None]) -> None:
        if self.thread is None:
            job()
            return
        if len(self.latest) > 2:  # a disk that is too slow must not fill the memory
            self.finish()
        self.latest.append(self.thread.submit(self._do, job))

    def _do(self, job: Callable[[], None]) -> None:
        """Run a job, unless an earlier one failed: a checkpoint without the rows before it cannot be resumed."""
        if self.failed:
            return
        try:
            job()
        except BaseException:
            self.failed = True
            raise

    def finish(self) -> None:
        """Wait until everything is written; the error of a job that failed is raised here."""
        latest, self.latest = self.latest, []
        wait(latest)
        for job in latest:
            job.result()


def write_bytes(path: Path, content: bytes | str) -> None:
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
