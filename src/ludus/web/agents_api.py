"""HTTP for other programs: ask an agent for a move or an analysis of any position."""

from __future__ import annotations

import asyncio
import io
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, HTTPException, Request
from pydantic import Field

from ludus.agents.budget import Budget
from ludus.agents.search import think
from ludus.errors import BadAgent
from ludus.web.games_api import PositionRequest, position_of
from ludus.web.settings import MOST_PIXELS, MOST_QUESTIONS
from ludus.web.views import choice_json

if TYPE_CHECKING:
    from ludus.web.app import Server


class Question(PositionRequest):
    """A position, and the agent that is asked about it."""

    agent: str = Field("uct", max_length=200, description="The name of an agent, such as uct:1s.")
    budget: str | int | None = Field(None, description="Simulations or a time; by default the agent's own.")
    player: int | None = Field(None, ge=0, description="The player to think for, where all move at once.")


def router(server: Server) -> APIRouter:
    """The routes of questions to agents."""
    routes = APIRouter(prefix="/api", tags=["agents"])
    asked = 0

    async def answer(request: Request, work: Callable[[threading.Event], Any]) -> Any:
        """The result of `work` in a thread of its own, which is stopped when the client has gone."""
        nonlocal asked
        if asked >= MOST_QUESTIONS:
            raise HTTPException(429, f"{MOST_QUESTIONS} questions are answered at once: ask again later")
        stop = threading.Event()
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Any] = loop.create_future()

        def run() -> None:
            try:
                value, error = work(stop), None
            except Exception as failure:
                value, error = None, failure
            loop.call_soon_threadsafe(_settle, result, value, error)

        asked += 1
        threading.Thread(target=run, name="ludus question", daemon=True).start()
        try:
            while not result.done():
                await asyncio.wait([result], timeout=0.25)
                if not result.done() and await request.is_disconnected():
                    stop.set()
            return result.result()
        finally:
            stop.set()
            asked -= 1

    def think_about(body: Question, stop: threading.Event) -> Any:
        position = position_of(server, body)
        budget = None if body.budget is None else Budget.of(body.budget)
        if budget is not None and budget.infinite:
            raise BadAgent("an answer over HTTP needs a budget that ends; the WebSocket has endless analyses")
        agent = server.catalogue.make_agent(body.agent, position.game, body.seed)
        try:
            with server.memory.lease(agent, stop.is_set, budget):
                return think(agent, position, budget, body.player, is_stopped=stop.is_set)
        finally:
            server.memory.release(agent)

    @routes.post("/choose")
    async def choose(body: Question, request: Request) -> dict[str, Any]:
        """The move that an agent chooses in a position."""
        return choice_json((await answer(request, lambda stop: think_about(body, stop)))[0])

    @routes.post("/analyse")
    async def analyse(body: Question, request: Request) -> dict[str, Any]:
        """What an agent knows about a position when its budget is spent."""
        return (await answer(request, lambda stop: think_about(body, stop)))[1].json

    @routes.post("/pictures/sevn")
    async def sevn(request: Request) -> dict[str, Any]:
        """The Sevn position in a picture: a screenshot of the phone app, or one made by `ludus sevn-draw`."""
        content = await request.body()
        return {"position": await server.in_thread(_read_sevn, content)}

    return routes


def _settle(result: asyncio.Future[Any], value: Any, error: Exception | None) -> None:
    if result.done():
        return
    if error is None:
        result.set_result(value)
    else:
        result.set_exception(error)


def _read_sevn(content: bytes) -> str:
    """The position in a picture, whose header is read first: a small file can hold a huge picture."""
    from PIL import Image, UnidentifiedImageError

    from ludus.protocols.sevn_screen import BadPicture, read_picture

    try:
        picture = Image.open(io.BytesIO(content), formats=("PNG", "JPEG", "WEBP"))
        if picture.width * picture.height > MOST_PIXELS:
            raise BadPicture(f"a picture may have {MOST_PIXELS:,} pixels at most")
        picture.load()
    except (OSError, UnidentifiedImageError, SyntaxError, Image.DecompressionBombError):
        raise BadPicture("this is not a picture in the format PNG, JPEG or WebP") from None
    return read_picture(picture).text
