"""Trainings and arenas that the page has started: each is a `ludus` command in a process of its own.

They use all cores for hours, so they must not share a process with the server. They write the same files as the same
commands in a terminal do, and the page reads those. SIGINT, which is Ctrl-C, stops one, and its results are kept. Their
output goes to a file and not to a pipe: a training survives a server that was killed, and the next server can stop it
by a request in the folder of the run (ludus.runs.lock).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ludus.errors import BadOption

MOST_JOBS = 4
"""Number of processes that run at once."""
LINES_SHOWN = 20
"""Number of lines of output that the page gets."""
BYTES_READ = 16 << 10
"""Number of bytes at the end of the output that are read."""
END_LIMIT = 20.0
"""Seconds that a process has to stop, before it is killed."""
CLOSE_LIMIT = 0.5
"""Seconds that all processes have to stop when the server ends; later they end by themselves."""


class Job:
    """A command under way, or its end."""

    def __init__(self, arguments: Sequence[str]):
        self.arguments = list(arguments)
        self._was_stopped = False
        self._last: list[str] = []
        self._folder = tempfile.TemporaryDirectory(prefix="ludus-job-", ignore_cleanup_errors=True)
        self._output = Path(self._folder.name) / "output"
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "ludus.cli", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C in the terminal of the server is for the server, which stops its jobs
            )

    @property
    def lines(self) -> list[str]:
        """The last lines of the output."""
        try:
            with self._output.open("rb") as output:
                size = output.seek(0, os.SEEK_END)
                output.seek(max(0, size - BYTES_READ))
                text = output.read().decode(errors="replace")
        except FileNotFoundError:  # after `leave`
            return self._last
        return [line[:500] for line in text.splitlines()[-LINES_SHOWN:]]

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def failure(self) -> str:
        """The last line of a command that has failed; empty if it runs, has ended well or was stopped."""
        code = self._process.poll()
        if code in (None, 0) or self._was_stopped:
            return ""
        lines = self.lines
        return lines[-1] if lines else f"the command ended with code {code}"

    def stop(self) -> None:
        """Ask the process to stop, as Ctrl-C does. A further request changes nothing."""
        if self.is_running and not self._was_stopped:
            self._was_stopped = True
            self._process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)

    def end(self) -> None:
        """Stop the process and wait for it; kill it if it takes too long."""
        self.stop()
        try:
            self._process.wait(END_LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self.leave()

    def wait(self, seconds: float) -> None:
        """Wait for the end of the process, but no longer than some seconds."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return

    def leave(self) -> None:
        """Forget the process, which may run on; its output until now can still be read."""
        self._last = self.lines
        self._folder.cleanup()

    def json(self) -> dict[str, Any]:
        running = self.is_running
        stopping = running and self._was_stopped
        return {"running": running, "stopping": stopping, "failure": self.failure, "lines": self.lines}


class Jobs:
    """The jobs of a server, by name."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def start(self, name: str, arguments: Sequence[str]) -> Job:
        """Start a command. There is one of a name at a time, and a few in all."""
        with self._lock:
            if name in self._jobs and self._jobs[name].is_running:
                raise BadOption("this is running already")
            if sum(job.is_running for job in self._jobs.values()) >= MOST_JOBS:
                raise BadOption(f"{MOST_JOBS} trainings and arenas run at once at most: stop one first")
            before = self._jobs.get(name)
            if before is not None:
                before.leave()
            job = self._jobs[name] = Job(arguments)
            return job

    def get(self, name: str) -> Job | None:
        with self._lock:
            return self._jobs.get(name)

    def names(self, prefix: str) -> set[str]:
        """The names of all jobs that begin with a prefix, without it."""
        with self._lock:
            return {name.removeprefix(prefix) for name in self._jobs if name.startswith(prefix)}

    def close(self) -> None:
        """Stop all jobs. A training that writes its last checkpoint does so after the server has ended."""
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.stop()
        until = time.monotonic() + CLOSE_LIMIT
        for job in jobs:
            job.wait(max(0.0, until - time.monotonic()))
            job.leave()
