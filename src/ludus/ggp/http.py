"""The bounded HTTP of general game playing: one message for each connection, which closes after the answer.

Both sides are bounded in bytes and in time, whatever the other side sends: the time limits hold for a whole request or
answer, so a peer that sends one byte a second is cut off as well.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from ludus.errors import BadOption, LudusError

PORT = 9147
"""The customary port of players."""
MOST_HEAD = 1 << 16
"""Bytes of a request's or answer's head, at most."""
MOST_BODY = 8 << 20
"""Bytes of a message, at most: the largest published descriptions have a tenth of that."""
MOST_ANSWER = 1 << 20
"""Bytes of an answer that a client reads, at most."""
READ_SECONDS, WRITE_SECONDS = 10.0, 5.0
"""Seconds in which a request must arrive as a whole, and an answer must be taken."""
MISSING_SECONDS = 1.0
"""Seconds in which the end of a message must arrive whose length was too small."""
MOST_CONNECTIONS = 64
"""Connections that are served at once; further ones are closed."""
CONTINUATION = bytes(range(0x80, 0xC0))
"""The bytes of UTF-8 that continue a character."""
END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
"""The empty line after a head. Some peers end lines with LF alone, or not all of them in the same way."""
WAITING = 64
"""Connections that the operating system holds until they are accepted."""

Answer = Callable[[bytes, float], bytes]
"""Answers a message; the second argument is the time (time.monotonic) at which its connection was accepted."""


class BadRequest(LudusError):
    """A request that is not answered with a message; `status` is the HTTP status line."""

    def __init__(self, status: str, message: str):
        super().__init__(message)
        self.status = status


class NoAnswer(LudusError):
    """A player did not answer, or not in time; `kind` is "unreachable", "late" or "garbled"."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


def read_address(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT, [IPV6]:PORT, HOST or PORT; the port is 9147 by default."""
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = ("127.0.0.1", text) if text.isdecimal() else (text, str(PORT))
    host = host.strip("[]")
    if not host or not port.isascii() or not port.isdecimal() or not 0 < int(port[:6]) < 65536:
        raise BadOption(f"{text[:60]!r} is no address of a player: give HOST:PORT, such as 127.0.0.1:{PORT}")
    return host, int(port)


# --- server -----------------------------------------------------------------------------------------------------------


class Server:
    """Answers messages on a port. `answer` is called in a thread of its own for each connection."""

    def __init__(self, answer: Answer, host: str = "127.0.0.1", port: int = PORT):
        """Bind the port; 0 takes a free one. BadOption if it cannot be had."""
        self.answer = answer
        self._open = threading.Semaphore(MOST_CONNECTIONS)
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            self.socket = socket.socket(family, kind, protocol)
        except (OSError, UnicodeError, OverflowError) as error:
            raise BadOption(f"{host} is no address of this machine: {error}") from None
        try:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.socket.bind(address)
            self.socket.listen(WAITING)
        except (OSError, OverflowError) as error:
            self.socket.close()
            raise BadOption(f"port {port} of {host} cannot be used: {error}; another --port may be free") from None
        self.host, self.port = host, self.socket.getsockname()[1]
        self._closed = False
        self._thread = threading.Thread(target=self._accept, daemon=True, name="ludus ggp server")

    def __enter__(self) -> Server:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes accept
        self.socket.close()
        self._thread.join(1.0)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                if self._closed:
                    return
                time.sleep(0.05)  # out of file descriptors, perhaps: others will close
                continue
            if not self._open.acquire(blocking=False):
                connection.close()
                continue
            try:
                threading.Thread(target=self._serve, args=(connection, time.monotonic()), daemon=True).start()
            except RuntimeError:  # no more threads
                self._open.release()
                connection.close()

    def _serve(self, connection: socket.socket, began: float) -> None:
        try:
            with connection, contextlib.suppress(OSError):  # the peer is gone, or takes too long
                try:
                    content = read_request(connection)
                    body, status = (b"" if content is None else self.answer(content, began)), "200 OK"
                except BadRequest as error:
                    body, status = str(error).encode(errors="replace"), error.status
                _send(connection, response(status, body), WRITE_SECONDS)
                connection.shutdown(socket.SHUT_WR)
        finally:
            self._open.release()


def response(status: str, body: bytes) -> bytes:
    """An HTTP answer. Managers in a browser need the header that allows every origin."""
    head = (
        f"HTTP/1.0 {status}\r\nContent-Type: text/acl\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
        "Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n"
        "Access-Control-Allow-Headers: Content-Type, Accept, Sender, Receiver\r\n\r\n"
    )
    return head.encode() + body


def read_request(connection: socket.socket) -> bytes | None:
    """The message of a request: the body of a POST, or the path of a GET; None for OPTIONS."""
    reader = _Reader(connection, READ_SECONDS)
    lines = reader.head().decode("latin-1").splitlines()
    method, _, rest = lines[0].partition(" ") if lines else ("", "", "")
    headers = _headers(lines[1:])
    if method == "OPTIONS":
        return None
    if method == "GET":
        return unquote_to_bytes(rest.rpartition(" ")[0].removeprefix("/"))
    if method != "POST":
        raise BadRequest("405 Method Not Allowed", "send a message by POST, or by GET in the path")
    length = headers.get("content-length", "")
    if not (length.isascii() and length.isdecimal()):
        raise BadRequest("411 Length Required", "a POST needs a Content-Length")
    if len(length) > 12 or int(length) > MOST_BODY:
        raise BadRequest("413 Content Too Large", f"a message has at most {MOST_BODY:,} bytes")
    if headers.get("expect", "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    return reader.body(int(length))


def _headers(lines: list[str]) -> dict[str, str]:
    """Headers by their names in small letters."""
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _send(connection: socket.socket, content: bytes, seconds: float) -> None:
    connection.settimeout(max(0.001, seconds))
    connection.sendall(content)  # the limit holds for the whole content


class _Reader:
    """Reads a head and a body from a connection within one time limit; TimeoutError where that is not enough."""

    def __init__(self, connection: socket.socket, seconds: float):
        self.connection, self.until = connection, time.monotonic() + seconds
        self.content = bytearray()

    def more(self) -> bool:
        """Read some bytes; False at the end of the stream."""
        self.connection.settimeout(max(0.0, self.until - time.monotonic()))  # 0: what has arrived, without waiting
        try:
            part = self.connection.recv(1 << 16)
        except BlockingIOError:
            raise TimeoutError("the time is up") from None
        self.content += part
        return bool(part)

    def head(self) -> bytes:
        """Everything before the first empty line, which goes with it; empty lines at the beginning are left out."""
        while True:
            self.content = self.content.lstrip(b"\r\n")
            if end := END_OF_HEAD.search(self.content):
                head = bytes(self.content[: end.start()])
                del self.content[: end.end()]
                return head
            if len(self.content) > MOST_HEAD:
                raise BadRequest("431 Request Header Fields Too Large", f"a head has at most {MOST_HEAD:,} bytes")
            if not self.more():
                raise BadRequest("400 Bad Request", "the message ends within its head")

    def body(self, length: int) -> bytes:
        while len(self.content) < length:
            if not self.more():
                raise BadRequest("400 Bad Request", "the message is shorter than its Content-Length")
        message = bytes(self.content[:length])
        if message.isascii() or message.count(b"(") <= message.count(b")"):
            return message
        # A manager that counted characters: in UTF-8 some have several bytes, so the end of the message is missing.
        self.until = min(self.until, time.monotonic() + MISSING_SECONDS)
        with contextlib.suppress(TimeoutError):
            while len(self.content.translate(None, CONTINUATION)) < length and self.more():
                pass
        return bytes(self.content)

    def rest(self, length: int | None) -> bytes:
        """`length` bytes, or all up to the end of the stream."""
        while length is None or len(self.content) < length:
            if len(self.content) > MOST_ANSWER:
                raise BadRequest("", f"an answer has at most {MOST_ANSWER:,} bytes")
            if not self.more():
                break
        return bytes(self.content if length is None else self.content[:length])


# --- client -----------------------------------------------------------------------------------------------------------


def post(host: str, port: int, body: bytes, seconds: float, receiver: str = "player") -> bytes:
    """Send a message to a player and return its answer; NoAnswer if there is none within `seconds`."""
    until = time.monotonic() + seconds
    head = (
        f"POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: {host}:{port}\r\nSender: LUDUS\r\n"
        f"Receiver: {receiver}\r\nContent-Type: text/acl\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    try:
        connection = socket.create_connection((host, port), timeout=max(0.001, seconds))
    except (OSError, UnicodeError) as error:
        raise NoAnswer("unreachable", f"{host}:{port} cannot be reached: {error}") from None
    with connection:
        try:
            _send(connection, head.encode("latin-1", "replace") + body, until - time.monotonic())
            reader = _Reader(connection, until - time.monotonic())
            lines = reader.head().decode("latin-1").splitlines()
            length = _headers(lines[1:]).get("content-length", "")
            known = int(length) if length.isascii() and length.isdecimal() and len(length) < 10 else None
            if known is not None and known > MOST_ANSWER:
                raise BadRequest("", f"an answer of {known:,} bytes")
            content = reader.rest(known)
        except TimeoutError:
            raise NoAnswer("late", f"{host}:{port} did not answer in time") from None
        except OSError as error:
            raise NoAnswer("unreachable", f"{host}:{port} closed the connection: {error}") from None
        except BadRequest as error:
            raise NoAnswer("garbled", f"{host}:{port} sent an answer that is no HTTP: {error}") from None
    if not lines or not lines[0].startswith("HTTP/") or lines[0].split(" ")[1:2] != ["200"]:
        raise NoAnswer("garbled", f"{host}:{port} refused the message: {(lines or ['no status'])[0][:80]}")
    return content
