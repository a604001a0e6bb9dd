"""The WebSocket of a game under way: messages in, states and snapshots out."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from ludus.errors import LudusError, describe_error
from ludus.web.analysing import Analyst, played, texts, whole
from ludus.web.settings import MESSAGE_LIMIT
from ludus.web.views import view_of

if TYPE_CHECKING:
    from ludus.agents.agent import Agent
    from ludus.web.room import Room

NEWEST = ("state", "clock", "status")
"""Types of messages of which only the newest is sent, if the client reads slowly."""
MOST_WAITING = 256
"""Messages that wait for a slow client; then its socket is closed."""


class Outbox:
    """The messages that wait to be sent to one socket. Any thread may put one in; none waits for the network."""

    def __init__(self, browser: str):
        self.browser = browser
        self._loop = asyncio.get_running_loop()
        self._waiting: dict[Any, str] = {}
        self._count = 0
        self._news = asyncio.Event()
        self.is_full = False

    def send(self, message: dict[str, Any]) -> None:
        """Send a message, as JSON. Of a type of which only the newest counts, an older one that waits is dropped."""
        text = json.dumps(message, allow_nan=False, default=_plain)
        kind = message["type"]
        with contextlib.suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(
                self._put, (kind, message.get("player")) if kind == "thinking" else kind, text
            )

    def _put(self, kind: Any, text: str) -> None:
        self._count += 1
        single = kind in NEWEST or isinstance(kind, tuple) or kind == "snapshot"
        key = kind if single else (kind, self._count)
        self._waiting.pop(key, None)  # the newest comes last
        self._waiting[key] = text
        if len(self._waiting) > MOST_WAITING:
            self.is_full = True
        self._news.set()

    async def take(self) -> str:
        """The next message."""
        while not self._waiting:
            self._news.clear()
            await self._news.wait()
        return self._waiting.pop(next(iter(self._waiting)))


def _plain(value: Any) -> Any:
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


class BadMessage(Exception):
    """A client sent what is no message; `code` closes its socket."""

    def __init__(self, code: int, reason: str):
        super().__init__(reason)
        self.code = code


async def receive_message(socket: WebSocket) -> dict[str, Any]:
    """The next message: a JSON object with a type."""
    got = await socket.receive()
    if got["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(got.get("code", 1000))
    text = got.get("text")
    if text is None:
        raise BadMessage(1003, "messages are text, not bytes")
    if len(text) > MESSAGE_LIMIT:
        raise BadMessage(1009, f"a message may have {MESSAGE_LIMIT >> 10} KB at most")
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessage(1007, "messages are JSON") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise BadMessage(1007, "a message is an object with a type")
    return message


async def serve_socket(
    socket: WebSocket, outbox: Outbox, handle: Callable[[dict[str, Any]], object], threads: Executor
) -> None:
    """Send what is in the outbox, and let `handle` treat messages, in order, in a thread; until the socket closes.

    A mistake of the client is answered by a message `error`. Anything that is no message closes this socket only.
    """
    loop = asyncio.get_running_loop()

    async def send_all() -> None:
        while not outbox.is_full:
            await socket.send_text(await outbox.take())
        await socket.close(1008, "the client reads too slowly")

    sending = asyncio.create_task(send_all())
    try:
        while not sending.done():
            message = await receive_message(socket)
            if message["type"] == "ping":
                outbox.send({"type": "pong", "ref": message.get("ref")})
                continue
            try:
                await loop.run_in_executor(threads, handle, message)
            except LudusError as error:
                outbox.send({"type": "error", "message": str(error), "ref": message.get("ref"), "of": message["type"]})
            except Exception as error:
                outbox.send({"type": "error", "message": describe_error(error), "ref": message.get("ref")})
    except WebSocketDisconnect:
        pass
    except BadMessage as error:
        await _close(socket, error.code, str(error))
    finally:
        sending.cancel()


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    try:
        await socket.close(code, reason)
    except RuntimeError:  # it is closed already
        return


class Conversation:
    """Handles the messages of one socket on a room."""

    def __init__(self, room: Room, outbox: Outbox, make_agent: Callable[..., Agent]):
        self.room, self.outbox = room, outbox
        self.analyst = Analyst(room, make_agent, outbox.send)

    def handle(self, message: dict[str, Any]) -> None:
        """Do what a message asks for; raises LudusError in one line."""
        room, ref = self.room, message.get("ref")
        match message["type"]:
            case "view":
                ply, moves = whole(message.get("ply"), "ply"), texts(message, "moves")
                view = view_of(played(room.session.position_at(ply), moves), ply + len(moves))
                self.outbox.send({"type": "view", "ply": ply, "moves": moves, "view": view, "ref": ref})
            case "why":
                reason = room.why_not(self.outbox.browser, message)
                self.outbox.send({"type": "why", "message": reason, "ref": ref})
            case "analyse":
                self.analyst.analyse(message)
            case "stop_analysis":
                self.analyst.end("analyse")
            case "stop_review":
                self.analyst.end("review")
            case "tree":
                self.analyst.tree(message)
            case "hint":
                self.analyst.hint(message, room.own_player(self.outbox.browser, message))
            case "review":
                self.analyst.review(message)
            case _:
                room.act(self.outbox.browser, message)

    def close(self) -> None:
        """The socket was closed."""
        self.room.leave(self.outbox)
        self.analyst.close()
