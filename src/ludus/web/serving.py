"""`ludus web`: run the server, say where it is, and open the browser."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Iterator

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from ludus.errors import BadOption
from ludus.web.app import make_app
from ludus.web.security import HEADERS
from ludus.web.settings import MESSAGE_LIMIT, WebSettings


def serve(settings: WebSettings, open_browser: bool, tell: Callable[[str], object]) -> None:
    """Run the server until it is interrupted. `tell` is given the lines for the user."""
    listener = bind(settings)
    port = listener.getsockname()[1]
    settings = WebSettings(**{**vars(settings), "port": port})
    address = address_of(settings)
    server = QuietServer(server_config(make_app(settings)))
    tell(f"Ludus is at {address}  (Ctrl-C ends it)")
    if open_browser:
        opening = threading.Timer(0.5, webbrowser.open, [address])
        opening.daemon = True
        opening.start()
    server.run(sockets=[listener])


class QuietServer(uvicorn.Server):
    """Ends at Ctrl-C without an exception; a second Ctrl-C does not wait for connections."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        caught = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, self.handle_exit) for number in caught}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def server_config(app: FastAPI) -> uvicorn.Config:
    """How uvicorn runs the application: without a log, with bounded messages."""
    return uvicorn.Config(
        app,
        log_level="warning",
        ws="websockets-sansio",
        ws_max_size=4 * MESSAGE_LIMIT,
        ws_ping_interval=20,
        ws_ping_timeout=20,
        http=Protocol,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=1,
    )


class Protocol(H11Protocol):
    """HTTP whose answer to garbage has the headers of every answer: uvicorn answers it without the application."""

    def send_400_response(self, msg: str) -> None:
        headers = {"content-type": "text/plain; charset=utf-8", "connection": "close", **HEADERS}
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        self.transport.write(f"HTTP/1.1 400 Bad Request\r\n{head}\r\n{msg}".encode("ascii"))
        self.transport.close()


def bind(settings: WebSettings) -> socket.socket:
    """A socket that listens at the host and port, before anything else is done."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen()  # a browser that is quicker than the server waits
    except OSError as error:
        listener.close()
        reason = error.strerror or error
        raise BadOption(f"cannot listen at {settings.host}, port {settings.port}: {reason}; try --port 0") from None
    return listener


def address_of(settings: WebSettings) -> str:
    """The address to open, with the token if there is one."""
    host = settings.host
    if host in ("0.0.0.0", "::"):
        host = own_address()
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{settings.port}/" + (f"?token={settings.token}" if settings.token else "")


def own_address() -> str:
    """An address of this machine that others can reach, as the system would choose it; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return probe.getsockname()[0]
