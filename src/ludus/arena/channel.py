"""A child process that exchanges JSON messages over its standard input and output.

A message is its length in 4 bytes, then JSON in UTF-8. Nothing is pickled, because foreign code in the child can send
any bytes. The parent reads each child on a thread, since not all systems can wait for several pipes at once.
"""

from __future__ import annotations

import contextlib
import json
import queue
import struct
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

MAX_BYTES = 1 << 24
"""Largest message."""
MAX_WAITING = 64
"""Largest number of messages that are read ahead; beyond it, the sender waits."""
LENGTH = struct.Struct(">I")


class BadMessage(ValueError):
    """The other process sent bytes that are not a valid message."""


def write_message(stream: IO[bytes], message: Any) -> None:
    """Send a message; OSError if the other process is gone."""
    content = json.dumps(message).encode()
    if len(content) > MAX_BYTES:
        raise BadMessage(f"a message of {len(content):,} bytes is too large")
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def read_message(stream: IO[bytes]) -> Any:
    """The next message; raises EOFError at the end of the stream, BadMessage for an invalid message."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    if length > MAX_BYTES:
        raise BadMessage(f"a message of {length:,} bytes is too large")
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    try:
        return json.loads(content, parse_constant=lambda _: None)  # NaN and infinities are unknown values
    except (ValueError, RecursionError) as error:
        raise BadMessage(f"a message is not JSON: {error}") from None


class Child:
    """A child process. `news` is set whenever a message has arrived or the process has ended."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], news: threading.Event):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
        self.news = news
        self.inbox: queue.Queue[Any] = queue.Queue(MAX_WAITING)
        """Messages, and at the end an exception: EOFError or BadMessage."""
        self.reader = threading.Thread(target=self._read, daemon=True, name="ludus worker's messages")
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        last: Exception | None = None
        while last is None:
            try:
                message = read_message(self.process.stdout)
            except (EOFError, OSError, ValueError) as error:  # ValueError: BadMessage, or the stream was closed
                message = last = error
            self.inbox.put(message)
            self.news.set()

    def send(self, message: Any) -> None:
        """Send a message. If the process has ended, the message is lost and `receive` raises EOFError."""
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            write_message(self.process.stdin, message)

    def receive(self) -> Any:
        """The next message; raises queue.Empty if none has arrived, EOFError or BadMessage if no more will come."""
        message = self.inbox.get_nowait()
        if isinstance(message, Exception):
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
        """Kill the process, if it has not ended."""
        self.process.kill()
        self.process.wait()
        while self.reader.is_alive():  # it may be waiting because the inbox is full
            with contextlib.suppress(queue.Empty):
                self.inbox.get_nowait()
            self.reader.join(0.01)
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
