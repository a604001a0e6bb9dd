"""The application: pages, HTTP and WebSockets of one server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from ludus import __version__
from ludus.compile_events import on_compile
from ludus.errors import LudusError
from ludus.web import agents_api, arena_api, games_api, learning_api
from ludus.web.catalogue import Catalogue
from ludus.web.compiling import CompileStatus, titles_of
from ludus.web.jobs import Jobs
from ludus.web.memory import TreeMemory
from ludus.web.room import Refused
from ludus.web.rooms import NotThere, Rooms
from ludus.web.security import Guard
from ludus.web.settings import WebSettings

STATIC = Path(__file__).parent / "static"
CLICK_THREADS = 8
"""Threads in which requests of people are treated; agents think in others."""
MAKER_THREADS = 16
"""Threads for requests that may make a game: a description in GDL is grounded and compiled for up to a minute."""
TICK = 0.5
"""Seconds between two readings of the clocks."""

Result = TypeVar("Result")


class Server:
    """What all parts of the application share."""

    def __init__(self, settings: WebSettings):
        self.settings = settings
        self.catalogue = Catalogue(settings)
        self.memory = TreeMemory(settings.agent_memory)
        self.rooms = Rooms(self.catalogue, self.memory, settings.games)
        self.jobs = Jobs()
        self.clicks = ThreadPoolExecutor(CLICK_THREADS, "ludus click")
        self.makers = ThreadPoolExecutor(MAKER_THREADS, "ludus maker")
        self.compiling = CompileStatus()
        self._told = ""
        self.sockets = 0
        on_compile(self.compiling.hear)

    def _tell_of_compiling(self) -> None:
        """Tell the browsers that play a game that it is compiled, and when that has ended."""
        line, before, self._told = self.compiling.line, self._told, self.compiling.line
        if line or before:
            for room in self.rooms.all():
                if self.compiling.what in titles_of(room.session.game) and room.is_ready:
                    room.tell({"type": "status", "text": line})

    async def in_thread(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function beside the event loop."""
        return await asyncio.get_running_loop().run_in_executor(self.clicks, function, *arguments)

    async def in_maker(self, function: Callable[..., Result], *arguments: Any) -> Result:
        """Call a function that may make a game beside the event loop, and beside the clicks of people."""
        return await asyncio.get_running_loop().run_in_executor(self.makers, function, *arguments)

    async def tick(self) -> None:
        """Read the clocks of all games, and forget games without viewers."""
        while True:
            await asyncio.sleep(TICK)
            await self.in_thread(self.rooms.tick)
            self._tell_of_compiling()

    def close(self) -> None:
        self.jobs.close()
        self.rooms.close()
        for threads in (self.clicks, self.makers):
            threads.shutdown(wait=False, cancel_futures=True)


def make_app(settings: WebSettings) -> FastAPI:
    """The application for some settings. Files that the user named as games are run here."""
    server = Server(settings)

    @contextlib.asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        ticking = asyncio.create_task(server.tick())
        try:
            yield
        finally:
            ticking.cancel()
            server.close()

    app = FastAPI(title="Ludus", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.state.server = server
    _add_errors(app)
    for part in (games_api, agents_api, learning_api, arena_api):
        app.include_router(part.router(server))

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(STATIC / "index.html", headers={"cache-control": "no-cache"})

    @app.get("/api/docs", include_in_schema=False)
    async def description() -> FileResponse:
        return FileResponse(STATIC / "api.html", headers={"cache-control": "no-cache"})

    app.mount("/static", Unchanged(directory=STATIC))
    app.add_middleware(Guard, settings=settings)
    return app


class Unchanged(StaticFiles):
    """Static files that browsers ask for again: an update of Ludus shows at once."""

    def file_response(self, *arguments: Any, **options: Any) -> Any:
        response = super().file_response(*arguments, **options)
        response.headers["cache-control"] = "no-cache"
        return response


def _add_errors(app: FastAPI) -> None:
    """Answer every mistake with one line."""

    def answer(status: int, message: str) -> JSONResponse:
        return JSONResponse({"error": message}, status)

    @app.exception_handler(LudusError)
    async def mistake(request: Request, error: LudusError) -> JSONResponse:
        return answer(404 if isinstance(error, NotThere) else 403 if isinstance(error, Refused) else 400, str(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return answer(400, f"{where or 'the body'}: {first['msg'][:200]}")

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> JSONResponse:
        return answer(error.status_code, str(error.detail))
