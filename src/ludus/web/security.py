"""Which requests are answered: by host, origin, token and size. And the headers of every answer.

- Host: a page of another site cannot reach the server by a name of its own that resolves to this machine.
- Origin and Sec-Fetch-Site: a page of another site cannot post here or open a socket.
- Token: demanded from everyone if the server can be reached from other machines, or if one was given.
- Browser: a secret cookie tells browsers apart; each controls its own seats.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import secrets
import socket
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode

from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse

from ludus.web.settings import PICTURE_LIMIT, UPLOAD_LIMIT, WebSettings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
YEAR = 365 * 24 * 3600
SAFE = ("GET", "HEAD", "OPTIONS")
INTERNAL = "the server has failed to answer; its console shows why"


class Guard:
    """ASGI middleware around the whole application. It puts `browser`, the name of the browser, into the scope."""

    def __init__(self, app: ASGIApp, settings: WebSettings):
        self.app, self.settings = app, settings
        self.browser_cookie = f"ludus_browser_{settings.port}"
        self.token_cookie = f"ludus_token_{settings.port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        problem = self._problem(scope, headers)
        cookies = _cookies(headers.get("cookie", ""))
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if not problem and self.settings.token:
            authorised = headers.get("authorization", "").removeprefix("Bearer ")
            shown = [authorised, cookies.get(self.token_cookie, ""), given]
            if not any(_equal(token, self.settings.token) for token in shown):
                problem = 403, "open the address with ?token=... that the server has printed"
        if problem:
            await _refuse(scope, receive, send, *problem)
            return
        secret = cookies.get(self.browser_cookie, "")
        is_new = len(secret) < 20
        secret = secrets.token_urlsafe(24) if is_new else secret
        scope["browser"] = browser_name(secret)
        marks = [self._cookie(self.browser_cookie, secret)] if is_new else []
        if given and scope["type"] == "http" and scope["method"] in SAFE and not scope["path"].startswith("/api/"):
            rest = {
                key: value for key, value in parse_qs(scope["query_string"].decode("latin-1")).items() if key != "token"
            }
            where = scope["path"] + (f"?{urlencode(rest, doseq=True)}" if rest else "")
            answer = RedirectResponse(where if where.startswith("/") and not where.startswith("//") else "/", 303)
            marks.append(self._cookie(self.token_cookie, given))
            await answer(scope, receive, _Answer(send, marks))
        elif scope["type"] == "http":
            await self._pass_on(scope, receive, _Answer(send, marks))
        else:
            await self.app(scope, receive, _Handshake(scope, send, marks))

    async def _pass_on(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        """Let the application answer. An error of the server is answered here, with the headers of every answer."""
        limit = PICTURE_LIMIT if scope["path"].startswith("/api/pictures/") else UPLOAD_LIMIT
        try:
            await self.app(scope, _bounded(receive, limit), answer)
        except asyncio.CancelledError:  # the server ends, and this request takes longer than it waits
            if not answer.has_begun:
                await JSONResponse({"error": "the server ends"}, 503)(scope, receive, answer)
        except Exception:
            if not answer.has_begun:
                await JSONResponse({"error": INTERNAL}, 500)(scope, receive, answer)
            raise  # uvicorn writes it to the console

    def _problem(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """The status and the message of a refusal; None if the request may pass."""
        host = headers.get("host", "")
        if not self._is_own(host):
            return 403, "this server is not known by that name: open the address that it has printed"
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE
        origin = headers.get("origin")
        if changes and origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return 403, "requests from pages of another site are refused"
        if changes and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, "requests from pages of another site are refused"
        if scope["type"] == "http" and scope["method"] not in SAFE:
            length = headers.get("content-length", "0")
            limit = PICTURE_LIMIT if scope["path"].startswith("/api/pictures/") else UPLOAD_LIMIT
            if length.isdecimal() and int(length) > limit:
                return 413, f"a request may have {limit >> 10} KB at most"
        return None

    def _is_own(self, host: str) -> bool:
        name = host.rpartition(":")[0] if host.rpartition(":")[2].isdecimal() else host
        name = name.removeprefix("[").removesuffix("]").lower().rstrip(".")
        if name == "localhost" or name == self.settings.host.lower():
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            machine = socket.gethostname().lower()
            return bool(self.settings.token) and name in (machine, f"{machine}.local")
        return address.is_loopback or bool(self.settings.token)

    def _cookie(self, name: str, value: str) -> bytes:
        return f"{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age={YEAR}".encode("latin-1")


def browser_name(secret: str) -> str:
    """The public name of a browser, from which its secret cannot be found."""
    return hashlib.sha256(secret.encode()).hexdigest()[:24]


def _equal(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode(), wanted.encode())


def _cookies(header: str) -> dict[str, str]:
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(header).items()}
    except CookieError:
        return {}


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, message: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await _Handshake(scope, send, [])({"type": "websocket.close", "code": 1008, "reason": message[:120]})
    else:
        await JSONResponse({"error": message}, status)(scope, receive, _Answer(send, []))


class _Answer:
    """Sends an HTTP answer with the headers of every answer, and with cookies."""

    def __init__(self, send: Send, cookies: list[bytes]):
        self._send, self._cookies = send, cookies
        self.has_begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.has_begun = True
            message = {**message, "headers": [*message.get("headers", []), *_own(), *_set(self._cookies)]}
        await self._send(message)


class _Handshake:
    """Accepts a WebSocket with cookies, or refuses it with the headers of every answer."""

    def __init__(self, scope: Scope, send: Send, cookies: list[bytes]):
        self._send, self._cookies = send, cookies
        self._can_answer = "websocket.http.response" in scope.get("extensions", {})
        self._is_open = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "websocket.accept":
            self._is_open = True
            message = {**message, "headers": [*message.get("headers", []), *_set(self._cookies)]}
        if message["type"] == "websocket.close" and not self._is_open and self._can_answer:
            text = message.get("reason") or "there is nothing here"
            await self._send({"type": "websocket.http.response.start", "status": 403, "headers": _own()})
            message = {"type": "websocket.http.response.body", "body": text.encode()}
        await self._send(message)


def _own() -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in HEADERS.items()]


def _set(cookies: list[bytes]) -> list[tuple[bytes, bytes]]:
    return [(b"set-cookie", cookie) for cookie in cookies]


def _bounded(receive: Receive, limit: int) -> Receive:
    """Receive a body of at most `limit` bytes, whatever its headers say."""
    got = 0

    async def receive_some() -> Any:
        nonlocal got
        message = await receive()
        got += len(message.get("body", b""))
        if got > limit:
            raise HTTPException(413, f"a request may have {limit >> 10} KB at most")
        return message

    return receive_some
