"""Positions and games as JSON for the page. Nothing here decides: it shows what Session and Position know."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ludus.board import board_json
from ludus.errors import LudusError, describe_error

if TYPE_CHECKING:
    from ludus.agents.agent import Choice
    from ludus.agents.snapshot import Snapshot
    from ludus.api.moves import Ply
    from ludus.api.session import Session
    from ludus.game import Position

SHOWN_OF_LINE = 6
"""Number of moves of the best line that an agent in a seat shows."""
VIEWS_KEPT = 512
"""Number of views that stay in memory."""


class _Views:
    """The latest views, by the identity of their position: a position never changes, and drawing it takes a while."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[int, tuple[Position, dict[str, Any]]] = OrderedDict()

    def of(self, position: Position) -> dict[str, Any]:
        with self._lock:
            if id(position) in self._kept:
                self._kept.move_to_end(id(position))
                return self._kept[id(position)][1]
        view = _draw(position)
        with self._lock:
            self._kept[id(position)] = position, view
            if len(self._kept) > VIEWS_KEPT:
                self._kept.popitem(last=False)
        return view


_views = _Views()


def view_of(position: Position, ply: int | None = None) -> dict[str, Any]:
    """A position for people: its text, drawing, board and last move. `problem` says why there is no board."""
    return {"ply": len(position.history) - 1 if ply is None else ply, **_views.of(position)}


def _draw(position: Position) -> dict[str, Any]:
    board, problem = None, ""
    try:
        board = board_json(position)
    except Exception as error:  # code of a user's game, which must not end the game
        problem = str(error) if isinstance(error, LudusError) else describe_error(error)
    before, action = position.parent, position.action
    last = None if before is None or action is None else {"move": before.notation(action), "action": action}
    return {
        "to_move": None if position.is_over else position.to_move,
        "text": position.text,
        "drawing": str(position),
        "board": board,
        "problem": problem,
        "last": last,
    }


def moves_of(position: Position, view: dict[str, Any]) -> list[dict[str, Any]]:
    """The legal moves of all players, with what they touch if there is a board."""
    if view["board"] is not None:
        return view["board"]["moves"]
    game = position.game
    return [
        {"player": player, "action": action, "move": game.write_move(position.state, player, action), "touches": []}
        for player in range(game.players)
        for action in position.actions_of(player)
    ]


def history_of(plies: list[Ply]) -> list[dict[str, Any]]:
    """The moves of a game, with who made them and what agents expected."""
    return [
        {
            "ply": number,
            "move": ply.move,
            "players": [choice.player for choice in ply.choices],
            "by": list(ply.by),
            "values": {str(choice.player): choice.value for choice in ply.choices if choice.value is not None},
            "simulations": sum(choice.simulations for choice in ply.choices),
            "seconds": sum(choice.seconds for choice in ply.choices),
        }
        for number, ply in enumerate(plies, 1)
    ]


def choice_json(choice: Choice) -> dict[str, Any]:
    """An agent's answer."""
    shown = ("player", "action", "move", "value", "line", "simulations", "seconds", "solved")
    return {name: getattr(choice, name) for name in shown}


def thought_of(snapshot: Snapshot) -> dict[str, Any]:
    """What an agent in a seat knows while it thinks, without the figures of every move: it is sent often."""
    short = replace(snapshot, principal=snapshot.principal[:SHOWN_OF_LINE])
    shown = ("player", "value", "best", "line", "simulations", "seconds", "fraction", "solved", "final")
    return {name: getattr(short, name) for name in shown}


def state_of(session: Session) -> dict[str, Any]:
    """The part of the message `state` that all browsers share, with the legal moves of all players."""
    position, plies, waiting = session.position, session.plies, session.waiting_for
    thinking, left, running, people = session.thinking, session.left, session.running, session.people
    result, view = session.result, view_of(position, session.ply)
    return {
        "type": "state",
        "title": session.game.title,
        "seed": session.seed,
        "simultaneous": session.game.simultaneous,
        "zero_sum": session.game.zero_sum,
        "players": [
            {
                "player": player,
                "name": session.players[player],
                "seat": seat,
                "person": player in people,
                "thinking": player in thinking,
                "left": left[player],
                "running": player in running,
            }
            for player, seat in enumerate(session.seats)
        ],
        "waiting_for": waiting,
        "to_move": None if result is not None else position.to_move,
        "hidden": session.hidden,
        "ply": session.ply,
        "plies": len(plies),
        "history": history_of(plies),
        "view": view,
        "moves": [move for move in moves_of(position, view) if move["player"] in waiting],
        "result": None if result is None else vars(result),
        "can_undo": session.ply > 0 or (result is not None and result.reason != "rules"),
        "can_redo": session.ply < len(plies),
        "can_take_back": any(
            session.position_at(ply).actions_of(player) for ply in range(session.ply) for player in people
        ),
        "draw_offers": session.draw_offers,
    }


def finite(value: Any) -> Any:
    """The same data with None in place of numbers that JSON does not have: infinities and NaN."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return value
