"""A real server on loopback for tests, and clients of it. The browser is Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import uvicorn
from websockets.sync.client import connect

from ludus.web.app import make_app
from ludus.web.serving import bind, server_config
from ludus.web.settings import WebSettings

CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(path).exists()), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="Chromium is not installed: `make browser` installs it (as root), or apt install chromium"
)
QUICK = {"blocks": 1, "width": 8, "simulations": 4, "iteration_rows": 64, "parallel_games": 16, "rating_games": 2}
"""Settings of a training whose iterations take a moment."""
PATIENCE = 120.0
"""Seconds after which a test gives up waiting; compiling may take some of them."""


class Running:
    """A server that runs in a thread of this process."""

    def __init__(self, settings: WebSettings):
        listener = bind(settings)
        self.port = listener.getsockname()[1]
        self.settings = WebSettings(**{**vars(settings), "port": self.port})
        self.app = make_app(self.settings)
        self.url = f"http://127.0.0.1:{self.port}"
        self._server = uvicorn.Server(server_config(self.app))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        wait_for(lambda: self._server.started)

    @property
    def rooms(self):
        return self.app.state.server.rooms

    @property
    def memory(self):
        return self.app.state.server.memory

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(10)

    def client(self) -> Client:
        return Client(self)


@contextlib.contextmanager
def running(folder: Path, **settings) -> Iterator[Running]:
    """A server whose games are kept in `folder`, on a free port."""
    given = {"port": 0, "games": folder / "games", "runs": folder / "runs", "results": folder / "results.sqlite"}
    server = Running(WebSettings(**{**given, **settings}))
    try:
        yield server
    finally:
        server.stop()


def wait_for(condition, seconds: float = PATIENCE):
    """Wait until a condition holds, and return what it returned."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.01)
    return found


class Client:
    """A program, or a browser without pages: it has cookies of its own."""

    def __init__(self, server: Running):
        self.server = server
        self.http = httpx.Client(base_url=server.url, timeout=PATIENCE)
        self.http.get("/api/catalogue", headers=self._token)

    @property
    def _token(self) -> dict[str, str]:
        token = self.server.settings.token
        return {"authorization": f"Bearer {token}"} if token else {}

    def get(self, path, **options):
        return self.http.get(path, headers=self._token, **options)

    def post(self, path, body=None, **options):
        return self.http.post(path, json=body, headers=self._token, **options)

    def new_game(self, **request) -> str:
        answer = self.post("/api/games", request)
        assert answer.status_code == 200, answer.text
        return answer.json()["id"]

    def open(self, id: str, **headers: str) -> Socket:
        cookies = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        given = {"Cookie": cookies, **{name.title(): value for name, value in self._token.items()}, **headers}
        address = f"ws://127.0.0.1:{self.server.port}/api/games/{id}/live"
        return Socket(address, given)


class Socket:
    """The socket of a game."""

    def __init__(self, address, headers):
        self._connecting = connect(address, additional_headers=headers, max_size=1 << 24)

    def __enter__(self):
        self.socket = self._connecting.__enter__()
        return self

    def __exit__(self, *failure):
        self._connecting.__exit__(*failure)

    def send(self, **message):
        self.socket.send(json.dumps(message))

    def next(self, kind: str, accept=lambda message: True, seconds: float = PATIENCE):
        """The next message of a kind that is accepted; others are skipped."""
        deadline = time.monotonic() + seconds
        while True:
            message = json.loads(self.socket.recv(timeout=max(0.0, deadline - time.monotonic())))
            if message["type"] == kind and accept(message):
                return message

    def state(self, accept=lambda state: True, seconds: float = PATIENCE):
        return self.next("state", accept, seconds)

    def play(self, move: str, player: int | None = None):
        """Play a move and return a state after it; a quick agent may have answered already."""
        self.send(type="play", move=move, player=player)
        return self.state(lambda state: move in [entry["move"] for entry in state["history"][-2:]])
