"""JSON messages between this process and its children.

A message is its length in 4 bytes, then JSON in UTF-8. Nothing is pickled, because foreign code in the child can send
any bytes.
"""

from __future__ import annotations

import json
import struct
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any

from ludus import child
from ludus.child import BadMessage

MAX_BYTES = 1 << 24
"""Largest message."""
LENGTH = struct.Struct(">I")


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


class Child(child.Child):
    """A child process that exchanges JSON messages, and ends when this process does."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        news: threading.Event,
        alone: bool = False,
        max_bytes: int = MAX_BYTES,
    ):
        """Start `command`. `max_bytes` limits the messages that are read; see `ludus.child` for the rest."""
        super().__init__(
            command,
            environment,
            news,
            lambda stream: read_message(stream, max_bytes),
            encoded,
            alone=alone,
            lifeline=True,
        )
