"""A child process that exchanges messages over its standard input and output.

The format of a message is a pair of functions: arena/channel.py has JSON of a stated length, agents/external/program.py
has lines of text. The parent reads from each child on one thread and writes to it on another, since not all systems can
wait for several pipes at once: a child that sends too much, or reads nothing, does not block its parent.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, NoReturn

MAX_WAITING = 64
"""Largest number of messages that are read ahead; beyond it, the sender waits."""
END_LIMIT = 1.0
"""Seconds to wait for the threads of a process that was killed."""
POLL = 0.01
"""Seconds between two checks whether a process has ended."""

grouped = False
"""True if this process leads a process group that is killed as a whole. Programs that it starts belong to the group."""


class BadMessage(ValueError):
    """The other process sent bytes that are not a valid message."""


class Child:
    """A child process. `news` is set whenever a message has arrived or no more will come."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        news: threading.Event,
        read: Callable[[IO[bytes]], Any],
        encode: Callable[[Any], bytes],
        *,
        alone: bool = False,
        lifeline: bool = False,
    ):
        """Start `command`; OSError if it cannot be started.

        `read` takes the next message from a stream, or raises EOFError or BadMessage. `encode` gives the bytes of a
        message. A process that is `alone` leads a process group of its own. With `lifeline`, the command gets a further
        argument on Unix: the descriptor of a pipe that closes with this process.
        """
        self.alone = alone and os.name == "posix"
        self._read_one, self._encode = read, encode
        self.lifeline: int | None = None
        ends: tuple[int, ...] = ()
        if lifeline and os.name == "posix":
            child_end, self.lifeline = os.pipe()
            ends, command = (child_end,), [*command, str(child_end)]
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment,
                pass_fds=ends,
                start_new_session=self.alone,
            )
        except OSError:
            self._close_lifeline()
            raise
        finally:
            for end in ends:
                os.close(end)
        self.news = news
        self.inbox: queue.Queue[Any] = queue.Queue(MAX_WAITING)
        """Messages, and at the end an exception: EOFError or BadMessage."""
        self.outbox: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        """Encoded messages to be sent, and at the end None."""
        self.ending = False
        """True once no more messages are wanted."""
        self.reader = threading.Thread(target=self._read, daemon=True, name="ludus messages from a process")
        self.writer = threading.Thread(target=self._write, daemon=True, name="ludus messages to a process")
        self.reader.start()
        self.writer.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        last: Exception | None = None
        while last is None and not self.ending:
            try:
                message = self._read_one(self.process.stdout)
            except (EOFError, OSError, ValueError) as error:  # ValueError: BadMessage, or the stream was closed
                message = last = error
            self.inbox.put(message)
            self.news.set()

    def _write(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):  # the process has ended, which `receive` tells
            while (content := self.outbox.get()) is not None:
                self.process.stdin.write(content)
                self.process.stdin.flush()

    def send(self, message: Any) -> None:
        """Send a message without waiting. If the process has ended, it is lost and `receive` raises EOFError."""
        self.outbox.put(self._encode(message))

    def receive(self) -> Any:
        """The next message; raises queue.Empty if none has arrived, EOFError or BadMessage if no more will come."""
        message = self.inbox.get_nowait()
        if isinstance(message, Exception):
            self.inbox.put(message)  # for the next call
            raise message if isinstance(message, BadMessage) else EOFError
        return message

    def is_alive(self) -> bool:
        """True if the process has not ended. The group of a process that is alone ends with it."""
        if self.alone and self.process.returncode is None and _has_ended(self.process.pid):
            self._kill_group()  # before its number is free for another process
        return self.process.poll() is None

    def exit_code(self, seconds: float) -> int | None:
        """The exit code of a process that is about to end; None if it has not ended after `seconds`."""
        until = time.monotonic() + seconds
        while self.is_alive():
            if time.monotonic() >= until:
                return None
            time.sleep(POLL)
        return self.process.returncode

    def end(self) -> None:
        """Kill the process, if it has not ended. The group of a process that is alone is killed with it."""
        if self.alone and self.is_alive():
            self._kill_group()
        self.ending = True
        self.process.kill()
        self.process.wait()
        self._close_lifeline()
        self.outbox.put(None)
        # Each thread ends now. The reader may wait because the inbox is full. A process that left the group can keep
        # the pipes open: then the threads go on waiting, and the streams are left to them.
        until = time.monotonic() + END_LIMIT
        for thread, stream in ((self.reader, self.process.stdout), (self.writer, self.process.stdin)):
            while thread.is_alive() and time.monotonic() < until:
                with contextlib.suppress(queue.Empty):
                    self.inbox.get_nowait()
                thread.join(POLL)
            if stream is not None and not thread.is_alive():
                with contextlib.suppress(OSError):
                    stream.close()

    def _kill_group(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def _close_lifeline(self) -> None:
        if self.lifeline is not None:
            os.close(self.lifeline)
            self.lifeline = None


def end_with_parent(lifeline: int) -> None:
    """End this process when its parent has ended, which closes the other end of a pipe. Does nothing on Windows.

    The kernel then sends SIGIO, so that this works also while foreign code does not let other threads run. The signal
    goes to the process group as well if this process leads one: programs that an agent has started end with it.
    """
    try:
        import fcntl
    except ImportError:
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    pid = os.getpid()
    with contextlib.suppress(OSError):  # not every system has it for pipes
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -pid if os.getpgrp() == pid else pid)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)


def exit_with_group() -> NoReturn:
    """End this process at once. If it leads a process group, the programs that it has started end with it."""
    if os.name == "posix" and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _has_ended(pid: int) -> bool:
    """True if a child process has ended and its exit code was not fetched; False also where the system cannot tell."""
    if not hasattr(os, "waitid"):
        return False
    with contextlib.suppress(ChildProcessError):
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    return False


def how_it_ended(code: int | None) -> str:
    """The exit code of a process, as the end of a sentence."""
    if code is None or code >= 0:
        return f" with exit code {code}"
    names = {each.value: f" ({each.name})" for each in signal.Signals}
    return f" by signal {-code}{names.get(-code, '')}"
