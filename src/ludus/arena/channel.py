"""A child process that exchanges JSON messages over its standard input and output.

A message is its length in 4 bytes, then JSON in UTF-8. Nothing is pickled, because foreign code in the child can send
any bytes. The parent reads from each child on one thread and writes to it on another, since not all systems can wait
for several pipes at once: a child that sends too much, or reads nothing, does not block its parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import struct
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from typing import IO, Any

MAX_BYTES = 1 << 24
"""Largest message."""
MAX_WAITING = 64
"""Largest number of messages that are read ahead; beyond it, the sender waits."""
END_LIMIT = 1.0
"""Seconds to wait for the threads of a process that was killed."""
LENGTH = struct.Struct(">I")


class BadMessage(ValueError):
    """The other process sent bytes that are not a valid message."""


def write_message(stream: IO[bytes], message: Any) -> None:
    """Send a message; OSError if the other process is gone."""
    stream.write(encoded(message))
    stream.flush()


def encoded(message: Any) -> bytes:
    """The bytes of a message; BadMessage if it is too large."""
    content = json.dumps(message).encode()
    if len(content) > MAX_BYTES:
        raise BadMessage(f"a message of {len(content):,} bytes is too large")
    return LENGTH.pack(len(content)) + content


def read_message(stream: IO[bytes], max_bytes: int = MAX_BYTES) -> Any:
    """The next message; raises EOFError at the end of the stream, BadMessage for an invalid message."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    if length > max_bytes:
        raise BadMessage(f"a message of {length:,} bytes is too large")
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    try:
        return json.loads(content, parse_constant=lambda _: None)  # NaN and infinities are unknown values
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"a message is not JSON: {error}") from None


class Child:
    """A child process. `news` is set whenever a message has arrived or no more will come."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        news: threading.Event,
        alone: bool = False,
        max_bytes: int = MAX_BYTES,
    ):
        """Start `command`. On Unix it gets a further argument: the descriptor of a pipe that closes with this process.

        A process that is `alone` leads a process group of its own. `max_bytes` limits the messages that are read.
        """
        self.alone = alone and os.name == "posix"
        self.max_bytes = max_bytes
        self.lifeline: int | None = None
        ends: tuple[int, ...] = ()
        if os.name == "posix":
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
                message = read_message(self.process.stdout, self.max_bytes)
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
        self.outbox.put(encoded(message))

    def receive(self) -> Any:
        """The next message; raises queue.Empty if none has arrived, EOFError or BadMessage if no more will come."""
        message = self.inbox.get_nowait()
        if isinstance(message, Exception):
            self.inbox.put(message)  # for the next call
            raise message if isinstance(message, BadMessage) else EOFError
        return message

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def exit_code(self, seconds: float) -> int | None:
        """The exit code of a process that is about to end; None if it has not ended after `seconds`."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.process.wait(seconds)
        return None

    def end(self) -> None:
        """Kill the process, if it has not ended. The group of a process that is alone is killed with it."""
        if self.alone and self.is_alive():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.ending = True
        self.process.kill()
        self.process.wait()
        if self.lifeline is not None:
            os.close(self.lifeline)
            self.lifeline = None
        self.outbox.put(None)
        # Each thread ends now. The reader may wait because the inbox is full. A process that left the group can keep
        # the pipes open: then the threads go on waiting, and the streams are left to them.
        until = time.monotonic() + END_LIMIT
        for thread, stream in ((self.reader, self.process.stdout), (self.writer, self.process.stdin)):
            while thread.is_alive() and time.monotonic() < until:
                with contextlib.suppress(queue.Empty):
                    self.inbox.get_nowait()
                thread.join(0.01)
            if stream is not None and not thread.is_alive():
                with contextlib.suppress(OSError):
                    stream.close()
