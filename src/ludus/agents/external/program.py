"""A program that plays by lines of text: how it is started, read with limits, and ended.

The program has the rights of the user. Its lines are bounded in length, and only a few are read ahead. When it fails,
the reason is an AgentFault, and the agent starts the program anew for the next game.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import queue
import shlex
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ludus import child
from ludus.agents.agent import AgentFault, Choice
from ludus.child import BadMessage, Child, how_it_ended
from ludus.errors import BadAgent, IllegalMove

if TYPE_CHECKING:
    from ludus.agents.budget import Budget
    from ludus.agents.naming import Spec
    from ludus.position import Position

MAX_LINE = 1 << 16
"""Largest line of a program in bytes."""
START_SECONDS = 60.0
"""Seconds from the start of a program to its first answer."""
READY_SECONDS = 300.0
"""Seconds for its later answers that are no moves: it may load or compile something for a game."""
MOVE_SECONDS = 60.0
"""Seconds for a move without a time budget, outside a match."""
MAX_UNASKED = 100_000
"""Largest number of lines that are dropped before a question."""
POLL = 0.02
"""Seconds between two checks while a program thinks."""
PAUSE = 0.001
"""Seconds in which lines that a program has sent already are read before the next question."""
END_SECONDS = 0.3
"""Seconds that a program has to end after it was told to."""
SHOWN = 80
"""Characters of a program's text in a message."""


def read_line(stream: IO[bytes]) -> str:
    """The next line without its end; EOFError at the end, BadMessage for a line that is too long."""
    line = stream.readline(MAX_LINE + 1)
    if not line:
        raise EOFError
    if len(line) > MAX_LINE:
        raise BadMessage(f"a line of more than {MAX_LINE:,} bytes")
    return line.decode("utf-8", "replace").rstrip("\r\n")


class Program:
    """A running program. It ends with `close`, when this object is collected, and when this process ends."""

    def __init__(self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None):
        """Start a command. `name` is the name of its agent, for messages; BadAgent if there is no such program."""
        # Where Ludus started this process, Python would not find modules beside a script: they are the program's own.
        given = {key: value for key, value in os.environ.items() if key != "PYTHONSAFEPATH"} | dict(environment or {})
        self.name = name
        self._news = threading.Event()
        try:
            self._child = Child(command, given, self._news, read_line, _encode, alone=not child.grouped)
        except (OSError, ValueError) as error:
            raise BadAgent(f"{name} cannot be started: {command[0]}: {error}") from None
        self._ending = weakref.finalize(self, self._child.end)

    def say(self, line: str) -> None:
        """Send a line, without waiting."""
        self._child.send(line)

    def forget(self) -> None:
        """Drop the lines that have arrived: they answer no question that is still to be asked."""
        time.sleep(PAUSE)  # the thread that reads may hold a further line of the last answer
        with contextlib.suppress(
            queue.Empty, EOFError, BadMessage
        ):  # the next question finds out why there are no more
            for _ in range(MAX_UNASKED):
                self._child.receive()

    def hear(self, until: float = math.inf, on_wait: Callable[[], object] | None = None) -> str:
        """The next line; AgentFault if the program ends, sends too much, or is silent until this time.

        The time is one of time.monotonic. `on_wait` is called again and again while there is nothing to read.
        """
        began = time.monotonic()
        while True:
            self._news.clear()
            alive = self._child.is_alive()  # noticed first: the last lines of a program come before its end
            try:
                return self._child.receive()
            except queue.Empty:
                pass
            except EOFError:
                code = self._child.exit_code(END_SECONDS)
                did = "closed its output" if code is None else f"ended{how_it_ended(code)}"
                raise self.fault(f"crashed: the program {did}") from None
            except BadMessage as error:
                raise self.fault(f"crashed: the program sent {error}") from None
            if not alive and not self._news.wait(END_SECONDS):  # another process may keep the pipe open
                raise self.fault(f"crashed: the program ended{how_it_ended(self._child.exit_code(0))}")
            if time.monotonic() >= until:
                raise self.fault(f"hung: no answer in {until - began:.3g} s")
            if on_wait is not None:
                on_wait()
            self._news.wait(POLL)

    def fault(self, reason: str) -> AgentFault:
        """End the program; returns the exception that says why."""
        self.close()
        return AgentFault(reason)

    @property
    def is_closed(self) -> bool:
        return not self._ending.alive

    def close(self, farewell: str = "") -> None:
        """End the program. With a `farewell`, which is sent to it, it gets a moment to end by itself."""
        if farewell and self._ending.alive:
            self._child.send(farewell)
            self._child.exit_code(END_SECONDS)
        self._ending()


def _encode(line: str) -> bytes:
    return line.encode() + b"\n"


def move_limit(budget: Budget | None) -> float:
    """The seconds that a program may take for a move: as in a match, where the referee keeps the time instead."""
    if child.grouped or (budget is not None and budget.infinite):
        return math.inf
    return MOVE_SECONDS if budget is None or budget.seconds is None else 5 * budget.seconds + 10


# --- names of agents --------------------------------------------------------------------------------------------------


def command_of(spec: Spec) -> list[str]:
    """The words of the command in an agent's name, read as a shell does; BadAgent if there is no such program."""
    text = spec.words[0] if spec.words else ""
    try:
        words = [word.strip('"') for word in shlex.split(text, posix=os.name == "posix")]  # Windows keeps the quotes
    except ValueError as error:
        raise BadAgent(f"{spec.text}: the command cannot be read: {error}") from None
    if not words:
        raise BadAgent(f"{spec.text}: name the program, as in {spec.kind}:path/to/program")
    program = str(Path(words[0]).expanduser())
    found = shutil.which(program)
    if found is None:
        why = "cannot be executed" if Path(program).exists() else "does not exist"
        raise BadAgent(f"{spec.text}: the program {program} {why}; give its path, and quote paths with spaces")
    return [found, *words[1:]]


def digests_of(files: Sequence[str | Path]) -> str:
    """Digests of those of these paths that are files. Programs with other contents may differ in strength."""
    found = []
    for file in files:
        with contextlib.suppress(OSError, ValueError):
            if Path(file).is_file():
                with open(file, "rb") as content:
                    found.append(hashlib.file_digest(content, "sha256").hexdigest()[:12])
    return " ".join(found)


def choice_of(position: Position, player: int, move: str, **known: Any) -> Choice:
    """The choice that a program's move in notation stands for; AgentFault if the move is not legal."""
    try:
        action = position.game.read_move(position.state, player, move)
        if action not in position.actions_of(player):
            raise IllegalMove("it is not a legal move here")
    except IllegalMove as error:
        raise AgentFault(f"illegal move: {shown(move)}: {shown(str(error), 200)}") from None
    return Choice(player, action, position.game.write_move(position.state, player, action), **known)


def shown(text: str, length: int = SHOWN) -> str:
    """A program's text for a message: one line of limited length."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= length else line[: length - 3] + "..."
