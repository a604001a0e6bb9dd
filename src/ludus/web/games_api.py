"""HTTP and WebSocket of games: the catalogue, games under way, positions, records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request, Response, WebSocket
from pydantic import BaseModel, ConfigDict, Field

from ludus.board import board_of
from ludus.errors import BadPosition
from ludus.web.analysing import played
from ludus.web.live import Conversation, Outbox, serve_socket
from ludus.web.rooms import NotThere
from ludus.web.settings import GAMES_LIMIT, MESSAGE_LIMIT, RULES_LIMIT, SOCKETS_LIMIT, UPLOAD_LIMIT
from ludus.web.views import moves_of, view_of

if TYPE_CHECKING:
    from ludus.game import Position
    from ludus.web.app import Server

Options = dict[str, int | float | bool | str | None]
MOST_PILED = 1000
"""Number of pieces on one cell, or in one row of a table, of a position that is set up by hand."""


class Body(BaseModel):
    """A request; fields that are not listed are refused."""

    model_config = ConfigDict(extra="forbid")


class PositionRequest(Body):
    """A position: a game with options, a text or the initial position, and moves from there."""

    game: str = Field(max_length=200, description="The key of a game of the catalogue.")
    options: Options = Field(default={}, max_length=32)
    position: str | None = Field(None, max_length=100_000, description="The position as text; else the initial one.")
    moves: list[str] = Field(default=[], max_length=4000, description="Moves in notation, played from there.")
    seed: int = Field(0, ge=0, lt=2**62, description="Seed of a random set-up, and of the agents.")


class GameRequest(Body):
    """A game with options."""

    game: str = Field(max_length=200, description="The key of a game of the catalogue.")
    options: Options = Field(default={}, max_length=32)


class NewGame(Body):
    """A new game, or the continuation of a record."""

    game: str | None = Field(None, max_length=200, description="The key of a game of the catalogue.")
    options: Options = Field(default={}, max_length=32)
    seats: list[str] | None = Field(None, max_length=16, description='"human", "open" or an agent for each player.')
    clocks: str | list[str | None] | None = Field(None, description="A time control such as 5min+2s.")
    seed: int = Field(0, ge=0, lt=2**62)
    position: str | None = Field(None, max_length=100_000)
    moves: list[str] = Field(default=[], max_length=4000)
    record: dict[str, Any] | None = Field(None, description="A record that was downloaded before.")


class Arrangement(Body):
    """Pieces that a person has put on a board."""

    game: str = Field(max_length=200, description="The key of a game of the catalogue.")
    options: Options = Field(default={}, max_length=32)
    placed: dict[str, int | list[int]] = Field(
        max_length=1000,
        description="For each cell with a piece, the number of the piece in the stock of the board. Where pieces may "
        "lie on others, a list of numbers from the bottom up; for a row of a table that holds pieces, a list.",
    )
    player: int = Field(0, ge=0, description="The player to move.")


class Rules(Body):
    """A rule sheet in GDL."""

    name: str = Field(max_length=80)
    text: str = Field(max_length=RULES_LIMIT)


def router(server: Server) -> APIRouter:
    """The routes of games."""
    routes = APIRouter(prefix="/api", tags=["games"])

    @routes.get("/catalogue")
    async def catalogue() -> dict[str, Any]:
        """The games, agents and runs that the server offers."""
        limits = {"upload": UPLOAD_LIMIT, "message": MESSAGE_LIMIT, "games": GAMES_LIMIT}
        return {**await server.in_thread(server.catalogue.json), "limits": limits}

    @routes.get("/status")
    async def status() -> dict[str, Any]:
        """What the server does meanwhile: the game that it compiles, as a line for people."""
        return {"text": server.compiling.line}

    @routes.post("/games")
    async def create(body: NewGame, request: Request) -> dict[str, Any]:
        """Make a game. This browser gets all human seats but those given as "open"."""
        room = await server.in_maker(
            server.rooms.create,
            request.scope["browser"],
            body.game,
            body.options,
            body.seats,
            body.clocks,
            body.seed,
            body.position,
            body.moves,
            body.record,
        )
        return {"id": room.id}

    @routes.get("/games")
    async def games(request: Request) -> dict[str, Any]:
        """The games in which this browser has a seat, the latest first."""
        return {"games": await server.in_thread(server.rooms.of_browser, request.scope["browser"])}

    @routes.get("/games/{id}")
    async def state(id: str, request: Request) -> dict[str, Any]:
        """The message `state` of a game."""
        room = await server.in_maker(server.rooms.get, id)
        return await server.in_thread(room.state, request.scope["browser"])

    @routes.delete("/games/{id}")
    async def delete(id: str, request: Request) -> dict[str, Any]:
        """Remove a game of this browser."""
        await server.in_maker(server.rooms.delete, id, request.scope["browser"])
        return {}

    @routes.get("/games/{id}/record")
    async def record(id: str) -> Response:
        """The record of a game, as a file."""
        room = await server.in_maker(server.rooms.get, id)
        text = json.dumps(await server.in_thread(room.session.record), indent=1)
        name = f"{room.session.game.name.replace(':', '-')}-{id[:6]}.json"
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(text, media_type="application/json", headers=headers)

    @routes.get("/games/{id}/plies/{ply}")
    async def view(id: str, ply: int) -> dict[str, Any]:
        """The view after some moves; the game stays where it is."""
        room = await server.in_maker(server.rooms.get, id)
        return await server.in_thread(room.view, ply)

    @routes.post("/trained")
    async def trained(body: GameRequest) -> dict[str, Any]:
        """Whether a trained player for a game with these options comes with Ludus: the agent `zero`."""
        return {"trained": await server.in_maker(server.catalogue.has_player, body.game, body.options)}

    @routes.post("/positions")
    async def position(body: PositionRequest) -> dict[str, Any]:
        """The view of a position, with the legal moves; an error says why a text cannot be read."""
        return await server.in_maker(_described, server, body)

    @routes.post("/arrange")
    async def arrange(body: Arrangement) -> dict[str, Any]:
        """A position that is set up by hand: its cells, and its view or what is wrong with it."""
        return await server.in_maker(_arranged, server, body)

    @routes.post("/rules")
    async def rules(body: Rules) -> dict[str, Any]:
        """Add a rule sheet in GDL to the catalogue."""
        return {"key": await server.in_maker(server.catalogue.add_rules, body.name, body.text)}

    @routes.websocket("/games/{id}/live")
    async def live(socket: WebSocket, id: str) -> None:
        if server.sockets >= SOCKETS_LIMIT:
            await socket.close(1013, "too many sockets are open")
            return
        try:
            room = await server.in_maker(server.rooms.get, id)
        except NotThere as error:
            await socket.accept()
            await socket.close(4404, str(error))
            return
        await socket.accept()
        server.sockets += 1
        outbox = Outbox(socket.scope["browser"])
        conversation = Conversation(room, outbox, server.catalogue.make_agent)
        try:
            await server.in_thread(room.join, outbox)
            await serve_socket(socket, outbox, conversation.handle, server.clicks)
        finally:
            server.sockets -= 1
            server.clicks.submit(conversation.close)

    return routes


def position_of(server: Server, body: PositionRequest) -> Position:
    """The position that a request describes."""
    game = server.catalogue.game(body.game, body.options)
    return played(game.start(body.seed) if body.position is None else game.parse(body.position), body.moves)


def _arranged(server: Server, body: Arrangement) -> dict[str, Any]:
    game = server.catalogue.game(body.game, body.options)
    start = board_of(game.start())
    rows = [name for name, _ in start.table.rows] if start.table is not None and start.table.holds else []
    for id, found in body.placed.items():
        is_pile = id in rows or start.stacks
        if is_pile != isinstance(found, list):
            raise BadPosition(f"{id[:40]!r} must have {'a list of pieces' if is_pile else 'one piece'}")
        pile = found if isinstance(found, list) else [found]
        if len(pile) > MOST_PILED or any(not 0 <= number < len(start.stock) for number in pile):
            raise BadPosition(f"a piece must be one of the {len(start.stock)} in the stock of the board")
    if body.player >= game.players:
        raise BadPosition(f"there is no player {body.player}")
    cells = game.cells_to_set_up([id for id in body.placed if id not in rows])
    view, problem = None, ""
    try:
        position = game.parse(game.arrange(body.placed, body.player))
        view = {**view_of(position), "over": position.is_over}
    except BadPosition as error:
        problem = error.reason
    return {
        "cells": [vars(cell) for cell in (start.cells if cells is None else cells)],
        "view": view,
        "problem": problem,
    }


def _described(server: Server, body: PositionRequest) -> dict[str, Any]:
    position = position_of(server, body)
    view = view_of(position)
    facts = {"moves": moves_of(position, view), "over": position.is_over, "values": list(position.values)}
    return {**view, **facts}
