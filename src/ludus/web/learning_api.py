"""HTTP of trainings: the runs, their logs, games of self-play; starting, stopping and resuming."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from pydantic import Field

from ludus.arena.figures import learning_points
from ludus.arena.results import Results
from ludus.arena.store import FILE
from ludus.errors import BadOption, LudusError
from ludus.runs.config import Config
from ludus.runs.description import read_description
from ludus.runs.lock import is_stop_requested, is_training, request_stop
from ludus.runs.log import Log
from ludus.runs.run import read_watched
from ludus.web.catalogue import NAME
from ludus.web.games_api import Body, Options
from ludus.web.views import finite

if TYPE_CHECKING:
    from ludus.web.app import Server

WITH_PATHS = ("initial_run", "evaluation_positions")
"""Settings that name files: a request cannot set them."""


class Training(Body):
    """A new training."""

    name: str = Field(max_length=80, description="The name of the new run: letters, digits, dots, dashes.")
    game: str = Field(max_length=200, description="The key of a game of the catalogue.")
    options: Options = Field(default={}, max_length=32)
    minutes: float = Field(10, gt=0, le=60 * 24 * 30)
    settings: dict[str, int | float | bool | str] = Field(default={}, max_length=60)


class More(Body):
    """A training that goes on."""

    minutes: float = Field(10, gt=0, le=60 * 24 * 30, description="Minutes more.")


def router(server: Server) -> APIRouter:
    """The routes of trainings."""
    routes = APIRouter(prefix="/api", tags=["training"])

    @routes.get("/settings")
    async def settings() -> dict[str, Any]:
        """The settings of a training with their defaults."""
        shown = [each for each in dataclasses.fields(Config) if each.name not in WITH_PATHS]
        return {
            "settings": [{"name": each.name, "default": each.default, "help": each.metadata["help"]} for each in shown]
        }

    @routes.get("/runs")
    async def runs() -> dict[str, Any]:
        """All runs, the latest first, each with its latest figures."""
        return {"runs": await server.in_thread(_runs, server)}

    @routes.get("/runs/{name}")
    async def run(name: str, after: int = 0) -> dict[str, Any]:
        """A run: its game, its settings, and the lines of its log after an iteration."""
        return await server.in_thread(_run, server, name, after)

    @routes.get("/runs/{name}/games")
    async def games(name: str) -> dict[str, Any]:
        """The latest games of self-play that were recorded, the latest first."""
        folder = server.catalogue.run_folder(name)
        return {"games": (await server.in_thread(read_watched, folder))[::-1]}

    @routes.post("/runs")
    async def start(body: Training) -> dict[str, Any]:
        """Start a training."""
        await server.in_maker(_start, server, body)
        return {"name": body.name}

    @routes.post("/runs/{name}/resume")
    async def resume(name: str, body: More) -> dict[str, Any]:
        """Go on with a training."""
        await server.in_maker(_resume, server, name, body.minutes)
        return {}

    @routes.post("/runs/{name}/stop")
    async def stop(name: str) -> dict[str, Any]:
        """Stop a training, also one that another process runs; it can be resumed."""
        await server.in_thread(_stop, server, name)
        return {}

    return routes


def _runs(server: Server) -> list[dict[str, Any]]:
    found = []
    known = server.catalogue.runs()
    begun = server.jobs.names("run ") - {run["name"] for run in known}
    for name in sorted(begun):  # the preflight runs before the folder exists
        found.append(
            {"name": name, "game": None, "title": None, "checkpoints": [], **_status(server, name), "last": None}
        )
    for run in known:
        lines = Log(server.catalogue.run_folder(run["name"]) / "log.jsonl").read()[0]
        found.append({**run, **_status(server, run["name"]), "last": finite(lines[-1]) if lines else None})
    return found


def _status(server: Server, name: str) -> dict[str, Any]:
    job = server.jobs.get(f"run {name}")
    folder = server.settings.runs / name
    told = None if job is None else job.json()
    own = told is not None and told["running"]
    training = own or is_training(folder)
    stopping = training and (is_stop_requested(folder) or (told is not None and told["stopping"]))
    return {"training": training, "stopping": stopping, "elsewhere": training and not own, "job": told}


def _run(server: Server, name: str, after: int) -> dict[str, Any]:
    job = server.jobs.get(f"run {name}")
    if job is not None and not (server.settings.runs / name / "config.toml").is_file():
        return {"name": name, "log": [], "settings": {}, "game": None, "ratings": [], **_status(server, name)}
    folder = server.catalogue.run_folder(name)
    described = read_description(folder)
    lines = Log(folder / "log.jsonl").read()[0]
    return {
        "name": name,
        "game": None if described.spec is None else server.catalogue.key_of(described.spec),
        "options": {} if described.spec is None else dict(described.spec.options),
        "settings": dataclasses.asdict(described.config),
        "log": [finite(line) for line in lines if line.get("iteration", 0) > after],
        "ratings": _ratings(folder),
        **_status(server, name),
    }


def _ratings(folder: Path) -> list[dict[str, Any]]:
    """The ratings of the checkpoints in the arena of the run, with intervals; empty if there are none."""
    if not (folder / FILE).is_file():
        return []
    try:
        with Results.open(folder / FILE) as results:
            points = learning_points(results.ratings())
    except LudusError:  # no games yet
        return []
    return [finite(point._asdict()) for point in points]


def _start(server: Server, body: Training) -> None:
    if not NAME.fullmatch(body.name):
        raise BadOption("the name of a run needs 1 to 80 letters, digits, dots, dashes or underscores")
    folder = server.settings.runs / body.name
    if folder.exists():
        raise BadOption(f"there is a run called {body.name}: resume it, or choose another name")
    for name in body.settings:
        if name in WITH_PATHS or not name.isidentifier():
            raise BadOption(f"the setting {name[:40]!r} cannot be set here")
    game = server.catalogue.game(body.game, body.options)
    arguments = ["train", game.spec.source, "--run", str(folder), "--minutes", str(body.minutes)]
    arguments += [f"--option={name}={value}" for name, value in body.options.items() if value is not None]
    arguments += [f"--set={name}={value}" for name, value in body.settings.items()]
    server.jobs.start(f"run {body.name}", arguments)


def _resume(server: Server, name: str, minutes: float) -> None:
    folder = server.catalogue.run_folder(name)
    if is_training(folder):
        raise BadOption(f"{name} is being trained already")
    described = read_description(folder)
    lines = Log(folder / "log.jsonl").read()[0]
    spent = lines[-1].get("seconds", 0.0) / 60 if lines else 0.0
    arguments = ["train", "--resume", str(folder), "--minutes", str(spent + minutes)]
    if described.spec is not None:
        key = server.catalogue.key_of(described.spec)
        if key is None:
            raise BadOption(f"this server has no game for {name}: start it with --game FILE")
        game = server.catalogue.game(key, dict(described.spec.options))
        arguments = ["train", game.spec.source, *arguments[1:]]
        arguments += [f"--option={name}={value}" for name, value in described.spec.options.items() if value is not None]
    server.jobs.start(f"run {name}", arguments)


def _stop(server: Server, name: str) -> None:
    job = server.jobs.get(f"run {name}")
    if job is not None and job.is_running:
        job.stop()
    else:  # a terminal, or a server that has ended, has started it
        request_stop(server.catalogue.run_folder(name))
