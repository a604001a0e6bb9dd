"""Trainings and arenas that the page has started: each is a `ludus` command in a process of its own.

They use all cores for hours, so they must not share a process with the server. They write the same files as the same
commands in a terminal do, and the page reads those. SIGINT, which is Ctrl-C, stops one; what it has is kept.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

from ludus.errors import BadOption

MOST_JOBS = 4
"""Number of processes that run at once."""
LINES_KEPT = 200
"""Number of lines of output that are kept."""
END_LIMIT = 20.0
"""Seconds that a process has to stop, before it is killed."""


class Job:
    """A command under way, or its end."""

    def __init__(self, arguments: Sequence[str]):
        self.arguments = list(arguments)
        self._was_stopped = False
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        command = [sys.executable, "-m", "ludus.cli", *arguments]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # Ctrl-C in the terminal of the server is for the server, which stops its jobs
        )
        self._reader = threading.Thread(target=self._read, name="ludus job", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n")[:500])
        self._process.wait()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def failure(self) -> str:
        """The last line of a command that has failed; empty if it runs, has ended well or was stopped."""
        code = self._process.poll()
        if code in (None, 0) or self._was_stopped:
            return ""
        self._reader.join(1)
        return self.lines[-1] if self.lines else f"the command ended with code {code}"

    def stop(self) -> None:
        """Ask the process to stop, as Ctrl-C does."""
        if self.is_running:
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
        self._reader.join(1)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def json(self) -> dict[str, Any]:
        return {"running": self.is_running, "failure": self.failure, "lines": list(self.lines)[-20:]}


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
        """Stop all jobs and wait for them."""
        with self._lock:
            jobs = list(self._jobs.values())
        for job in jobs:
            job.stop()
        for job in jobs:
            job.end()
