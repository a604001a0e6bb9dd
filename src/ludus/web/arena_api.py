"""HTTP of the arena: ratings, the matrix of scores and recorded games of a file of results; starting an arena."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from pydantic import Field

from ludus.arena.results import Results
from ludus.arena.store import FILE
from ludus.errors import BadOption
from ludus.web.games_api import Body, Options
from ludus.web.views import finite

if TYPE_CHECKING:
    from ludus.arena.store import StoredGame
    from ludus.web.app import Server

MAIN = "main"
"""The name of the file of results that the command line gives. The file of a run has the name of the run."""
LISTED = 100
"""Number of recorded games that a list shows."""
JOB = "arena"


class NewArena(Body):
    """Agents that play each other, and are rated."""

    game: str = Field(max_length=200, description="The key of a game of the catalogue.")
    options: Options = Field(default={}, max_length=32)
    agents: list[str] = Field(min_length=1, max_length=50, description="Names of agents.")
    minutes: float = Field(10, gt=0, le=60 * 24 * 30)


class MoreAgents(Body):
    """Agents that join a running arena."""

    agents: list[str] = Field(min_length=1, max_length=50)


class Arena:
    """The arena that the page has started: its process, and what it plays."""

    def __init__(self, server: Server):
        self.server = server
        self._lock = threading.Lock()
        self._plan: NewArena | None = None

    def start(self, plan: NewArena) -> None:
        """Start an arena, or go on with its file."""
        catalogue = self.server.catalogue
        game = catalogue.game(plan.game, plan.options)
        for agent in plan.agents:
            catalogue.agent_path(agent)
        with self._lock:
            self._launch(plan, game.spec.source)

    def _launch(self, plan: NewArena, source: str) -> None:
        agents = [self.server.catalogue.agent_path(agent) for agent in plan.agents]
        arguments = ["arena", *agents, "--game", source, "--minutes", str(plan.minutes)]
        arguments += [f"--option={name}={value}" for name, value in plan.options.items() if value is not None]
        arguments += ["--results", str(self.server.settings.results)]
        self.server.jobs.start(JOB, arguments)
        self._plan = plan

    def add(self, agents: list[str]) -> None:
        """Let more agents join: the process stops, with all its games recorded, and goes on with all of them."""
        with self._lock:
            job, plan = self.server.jobs.get(JOB), self._plan
            if job is None or plan is None or not job.is_running:
                raise BadOption("no arena is running: start one with these agents")
            for agent in agents:
                self.server.catalogue.agent_path(agent)
            joined = list(dict.fromkeys([*plan.agents, *agents]))
            game = self.server.catalogue.game(plan.game, plan.options)
            job.end()
            self._launch(plan.model_copy(update={"agents": joined}), game.spec.source)

    def stop(self) -> None:
        job = self.server.jobs.get(JOB)
        if job is None or not job.is_running:
            raise BadOption("no arena is running")
        job.stop()

    def json(self) -> dict[str, Any]:
        job, plan = self.server.jobs.get(JOB), self._plan
        if job is None or plan is None:
            return {"running": False, "agents": [], "game": None, "failure": "", "lines": []}
        return {**job.json(), "agents": plan.agents, "game": plan.game}


def router(server: Server) -> APIRouter:
    """The routes of the arena."""
    routes = APIRouter(prefix="/api/arena", tags=["arena"])
    arena = Arena(server)

    @routes.get("")
    async def status() -> dict[str, Any]:
        """The arena that was started here, and the files of results."""
        return {"arena": await server.in_thread(arena.json), "files": await server.in_thread(_files, server)}

    @routes.get("/ratings")
    async def ratings(file: str = MAIN, game: str | None = None) -> dict[str, Any]:
        """The table of ratings of one game in a file of results, and the matrix of scores."""
        return await server.in_thread(_ratings, server, file, game)

    @routes.get("/games")
    async def games(file: str = MAIN, before: int | None = None) -> dict[str, Any]:
        """The latest recorded games, or those before a number, the latest first."""
        return await server.in_thread(_games, server, file, before)

    @routes.post("/games/{number}/open")
    async def replay(number: int, request: Request, file: str = MAIN) -> dict[str, Any]:
        """Open a recorded game as a game of this browser, at its start."""
        return {"id": await server.in_maker(_replay, server, file, number, request.scope["browser"])}

    @routes.post("/start")
    async def start(body: NewArena) -> dict[str, Any]:
        """Let agents play each other; their games join those in the file of results."""
        await server.in_maker(arena.start, body)
        return {}

    @routes.post("/agents")
    async def add(body: MoreAgents) -> dict[str, Any]:
        """Let more agents join the running arena."""
        await server.in_thread(arena.add, body.agents)
        return {}

    @routes.post("/stop")
    async def stop() -> dict[str, Any]:
        """Stop the arena; all its games are recorded."""
        await server.in_thread(arena.stop)
        return {}

    return routes


def _path(server: Server, file: str) -> Path:
    """The path of a file of results: the one of the command line, or the one in the folder of a run."""
    return server.settings.results if file == MAIN else server.catalogue.run_folder(file) / FILE


def _files(server: Server) -> list[str]:
    named = [MAIN, *(run["name"] for run in server.catalogue.runs())]
    return [name for name in named if _path(server, name).is_file()]


def _ratings(server: Server, file: str, game: str | None) -> dict[str, Any]:
    with Results.open(_path(server, file)) as results:
        played = [{"identity": each.identity, "games": each.games} for each in results.played()]
        standings = results.ratings(game)
        games, scores = results.matrix(standings)
        return {
            "game": standings.game,
            "played": played,
            "games": standings.games,
            "repeated": standings.repeated,
            "failures": standings.failures,
            "anchored": standings.is_anchored,
            "rows": [finite(row._asdict()) for row in standings.rows],
            "matrix": {"games": games.tolist(), "scores": finite(scores.tolist())},
        }


def _games(server: Server, file: str, before: int | None) -> dict[str, Any]:
    with Results.open(_path(server, file)) as results:
        return {"games": [_game_json(game) for game in results.latest(LISTED, before)]}


def _game_json(game: StoredGame) -> dict[str, Any]:
    return {
        "number": game.number,
        "game": game.rules,
        "agents": list(game.agents),
        "results": list(game.record.values),
        "plies": len(game.record.moves),
        "reason": game.record.reason,
        "seconds": game.record.seconds,
        "ended": game.ended,
    }


def _replay(server: Server, file: str, number: int, browser: str) -> str:
    with Results.open(_path(server, file)) as results:
        stored = results.game(number)
        rules = results.rules_of(stored)
    key = server.catalogue.key_of(rules.spec)
    if key is None:
        raise BadOption(f"this server has no game for {stored.rules}: start it with --game FILE")
    known = server.catalogue.entry(key).defaults
    options = {name: value for name, value in rules.spec.options.items() if name in known}
    game = server.catalogue.game(key, options)
    rules.check(game)
    played = " against ".join(f"{agent} ({game.player_name(i)})" for i, agent in enumerate(stored.agents))
    room = server.rooms.create(
        browser,
        key,
        options,
        seed=stored.record.seed,
        moves=stored.record.moves,
        caption=f"Game {number} of the arena: {played}",
    )
    room.session.jump(0)
    return room.id
