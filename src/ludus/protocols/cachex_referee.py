"""A referee for two Cachex players written for the course's interface, each in a process of its own.

A player is a module, a file or a folder with a class `Player` (see cachex_player), or agent:NAME for an agent of Ludus.
It loses by an illegal action, by an error, by exceeding its CPU time or memory, and by not answering for far longer
than its CPU time.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludus.agents.naming import parse
from ludus.errors import BadAgent, BadOption, IllegalMove, LudusError
from ludus.game import Position
from ludus.registry import make

SEAT = Path(__file__).with_name("cachex_seat.py")
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


@dataclass
class Result:
    winner: str | None
    """red or blue; None in a draw."""
    reason: str
    position: Position
    seconds: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{f'{self.winner} wins' if self.winner else 'draw'}: {self.reason}"


class Seat:
    """A player's process."""

    def __init__(self, colour: str, where: str, n: int, limits: Limits):
        self.colour, self.limits = colour, limits
        environment = {**os.environ, "LUDUS_CACHEX_N": str(n), "PYTHONUNBUFFERED": "1"}
        if limits.seconds is not None:
            environment["LUDUS_SECONDS"] = f"{limits.seconds:g}"
        environment.setdefault("OMP_NUM_THREADS", "1")  # idle threads that spin would use up the player's time
        if where.startswith("agent:"):
            environment["LUDUS_AGENT"] = where.removeprefix("agent:")
            where = "ludus.protocols.cachex_player"
        self.process = subprocess.Popen(
            [sys.executable, str(SEAT), where],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
            text=True,
            encoding="utf-8",
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        self.loaded = 0.0
        """CPU time that was used before the game."""
        self.reported = 0.0
        self.before = 0.0
        """Memory after loading, in megabytes."""
        self.most = 0.0

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

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
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the process has ended, which reading the reply reports
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
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
            try:
                line = self.lines.get(timeout=0.02)
            except queue.Empty:
                line = None
            if line:
                reply = self._read(line)
            if limited:
                self._check()
            if line == "":
                raise Lost(f"{self.colour}'s process ended with exit code {self.process.wait()}")
            if line:
                return reply
            if patience is not None and time.monotonic() - began > patience:
                raise Lost(f"{self.colour} did not answer within {patience:.0f} s")

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
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
            return max(self.reported, (int(fields[11]) + int(fields[12])) / TICKS)
        return self.reported

    def _memory(self, kind: str) -> float:
        """Megabytes: VmRSS is the current memory, VmHWM the peak; 0 if the system does not tell."""
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
                if line.startswith(kind):
                    return int(line.split()[1]) / 1024
        return 0.0

    def close(self) -> None:
        """End the process and its child processes."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()


def check_player(where: str) -> None:
    """Refuse a name that cannot be a player, before any process is started."""
    if where.startswith("agent:"):
        kind = parse(where.removeprefix("agent:")).kind
        if kind == "human":
            raise BadAgent(f"{where}: a person cannot play under the referee; use ludus play cachex")
    elif where.endswith(".py") and not Path(where).is_file():
        raise BadOption(f"there is no file {where}")


def referee(
    n: int, red: str, blue: str, limits: Limits | None = None, show: Callable[[Position], None] | None = None
) -> Result:
    """Let two players play a game; `show` is called with every position."""
    limits = limits or Limits(seconds=n * n)
    if limits.megabytes is not None and not Path("/proc/self/status").exists():
        raise BadOption("this system does not tell how much memory a process uses: omit the memory limit")
    position = make("cachex", n=n).start()
    for where in (red, blue):
        check_player(where)
    with contextlib.ExitStack() as stack:
        seats: list[Seat] = []
        for colour, where in zip(COLOURS, (red, blue), strict=True):
            seats.append(Seat(colour, where, n, limits))
            stack.callback(seats[-1].close)
        for seat in seats:
            seat.wait_until_loaded()
        winner: str | None = None
        asked = seats[0]
        try:
            for asked in seats:
                asked.ask({"do": "new", "player": asked.colour, "n": n})
            if show is not None:
                show(position)
            while not position.is_over:
                mover = asked = seats[position.to_move]
                action = asked.ask({"do": "action"})["action"]
                position = play(position, mover.colour, action)
                if show is not None:
                    show(position)
                for asked in seats:
                    # A failure after the end does not change the result.
                    with contextlib.suppress(*[Lost] if position.is_over else []):
                        asked.ask({"do": "turn", "player": mover.colour, "action": action})
            winner = COLOURS[position.values.index(1.0)] if any(position.values) else None
            reason = position.json["board"]["status"].removeprefix("draw: ")
        except Lost as error:
            winner, reason = COLOURS[1 - COLOURS.index(asked.colour)], str(error)
        return Result(
            winner,
            reason,
            position,
            {seat.colour: seat.used for seat in seats},
            {seat.colour: seat.most for seat in seats},
        )


def play(position: Position, colour: str, action: list[Any]) -> Position:
    """The position after a well-formed action; raises Lost if the action is not legal."""
    move = "steal" if action[0] == "STEAL" else f"{action[1]},{action[2]}"
    try:
        if action[0] == "PLACE" and min(action[1:]) < 0:
            raise IllegalMove(f"there is no cell {move}")
        return position.play(move)
    except LudusError as error:
        raise Lost(f"{colour} made an illegal action, {tuple(action)}: {error}") from None


def run(n: int, red: str, blue: str, limits: Limits, quiet: bool) -> None:
    """Play a game for the command line: print each position and the result."""

    def show(position: Position) -> None:
        moves = position.played[-1:]
        said = f"{COLOURS[len(position.history) % 2]} plays {moves[0]}\n" if moves else ""
        print(f"{said}{position}\n", flush=True)

    result = referee(n, red, blue, limits, None if quiet else show)
    print(result)
    for colour, where in zip(COLOURS, (red, blue), strict=True):
        of = "" if limits.seconds is None else f" of {limits.seconds:g}"
        memory = f", {result.megabytes[colour]:.0f} MB" if result.megabytes[colour] else ""
        print(f"  {colour}, {where}: {result.seconds[colour]:.2f}{of} s{memory}")
    print(f"game: {result.position.text}")
