"""The process of a Cachex player, with limits on CPU time and memory. The referee and the agent `cachex` use it.

cachex_seat.py is the program of the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ludus import child
from ludus.agents.external.program import read_line
from ludus.child import BadMessage, Child
from ludus.errors import BadOption

PROGRAM = Path(__file__).with_name("cachex_seat.py")
COLOURS = ("red", "blue")
TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
LOADING = 300.0
"""Seconds that loading a player may take: a first compilation needs a minute."""


class Lost(Exception):
    """A player has lost by an illegal action, an error or a limit."""


@dataclass(frozen=True)
class Limits:
    seconds: float | None = None
    """CPU time for the whole game."""
    megabytes: float | None = None
    """Limit of the peak growth of resident memory since the module was loaded."""
    patience: float = 10.0
    """A call may take this number of seconds plus four times the CPU time that is left."""


class Seat:
    """A player's process."""

    def __init__(self, colour: str, where: str, n: int, limits: Limits, additions: Mapping[str, str] | None = None):
        """Start the process of the player `where`: a module, file or folder, with `additions` to its environment."""
        self.colour, self.limits = colour, limits
        environment = {**os.environ, **(additions or {}), "LUDUS_CACHEX_N": str(n), "PYTHONUNBUFFERED": "1"}
        environment.pop("PYTHONSAFEPATH", None)  # the player finds its modules as under the course's referee
        if limits.seconds is not None:
            environment["LUDUS_SECONDS"] = f"{limits.seconds:g}"
        environment.setdefault("OMP_NUM_THREADS", "1")  # idle threads that spin would use up the player's time
        self._news = threading.Event()
        command = [sys.executable, str(PROGRAM), where]
        self._child = Child(command, environment, self._news, read_line, _encode, alone=not child.grouped)
        self.close = weakref.finalize(self, self._child.end)
        """Ends the process and its child processes."""
        self.loaded = 0.0
        """CPU time that was used before the game."""
        self.reported = 0.0
        self.before = 0.0
        """Memory after loading, in megabytes."""
        self.most = 0.0

    def wait_until_loaded(self) -> None:
        """Wait until the player's class is loaded; raises BadOption if it cannot be."""
        try:
            reply = self._reply(LOADING, limited=False)
        except Lost as error:
            raise BadOption(f"{self.colour} cannot be loaded: {error}") from None
        if "error" in reply:
            raise BadOption(f"{self.colour} cannot be loaded: {reply['error']}")
        self.loaded = self._cpu_time()
        self.before = self._memory("VmRSS")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The reply to a request; raises Lost."""
        self._child.send(request)
        left = None if self.limits.seconds is None else max(0.0, self.limits.seconds - self.used)
        reply = self._reply(None if left is None else self.limits.patience + 4 * left, limited=True)
        if "error" in reply:
            raise Lost(f"{self.colour} failed with {' '.join(reply['error'].split())[:300]}")
        if "illegal" in reply:
            raise Lost(f"{self.colour} made an illegal action: {reply['illegal']}")
        return reply

    def _reply(self, patience: float | None, limited: bool) -> dict[str, Any]:
        """Wait for a line of the process, and check the limits while waiting."""
        began = time.monotonic()
        while True:
            self._news.clear()
            line, ended = None, False
            try:
                line = self._child.receive()
            except queue.Empty:
                pass
            except EOFError:
                ended = True
            except BadMessage as error:
                raise Lost(f"{self.colour} wrote into the replies of its process: {error}") from None
            if line is not None:
                reply = self._read(line)
            if limited:
                self._check()
            if line is not None:
                return reply
            if ended:
                raise Lost(f"{self.colour}'s process ended with exit code {self._child.exit_code(5)}")
            if patience is not None and time.monotonic() - began > patience:
                raise Lost(f"{self.colour} did not answer within {patience:.0f} s")
            self._news.wait(0.02)

    def _read(self, line: str) -> dict[str, Any]:
        """A reply of the process. The player's own code can write to the same pipe."""
        try:
            reply = json.loads(line)
            self.reported = float(reply["cpu"])
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise Lost(f"{self.colour} wrote into the replies of its process: {line[:80]!r}") from None
        return reply

    def _check(self) -> None:
        seconds, megabytes = self.limits.seconds, self.limits.megabytes
        if seconds is not None and self.used > seconds:
            raise Lost(f"{self.colour} used more than its {seconds:g} s of CPU time")
        self.most = max(self.most, self._memory("VmHWM") - self.before)
        if megabytes is not None and self.most > megabytes:
            raise Lost(f"{self.colour} used more than its {megabytes:g} MB of memory")

    @property
    def used(self) -> float:
        """CPU time used in the game, in seconds."""
        return self._cpu_time() - self.loaded

    def _cpu_time(self) -> float:
        """CPU time from the operating system; if it does not tell, from the latest reply of the process."""
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{self._child.process.pid}/stat").read_text().rpartition(")")[2].split()
            return max(self.reported, (int(fields[11]) + int(fields[12])) / TICKS)
        return self.reported

    def _memory(self, kind: str) -> float:
        """Megabytes: VmRSS is the current memory, VmHWM the peak; 0 if the system does not tell."""
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self._child.process.pid}/status").read_text().splitlines():
                if line.startswith(kind):
                    return int(line.split()[1]) / 1024
        return 0.0


def _encode(request: Any) -> bytes:
    return json.dumps(request).encode() + b"\n"
