"""Positions and games as JSON for the page. Nothing here decides: it shows what Session and Position know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents.agent import Choice
    from ludus.api.moves import Ply
    from ludus.api.session import Session
    from ludus.game import Position

MOST_MOVES = 4000
"""Number of legal moves that a message lists; a game with more is played by notation."""


def view_of(position: Position, ply: int | None = None) -> dict[str, Any]:
    """A position for people: its text, drawing, board and last move."""
    return {
        "ply": len(position.history) - 1 if ply is None else ply,
        "to_move": None if position.is_over else position.to_move,
        "text": position.text,
        "drawing": str(position),
        "board": position.game.describe(position.state) or None,
        "last": _last(position),
    }


def _last(position: Position) -> dict[str, Any] | None:
    before, action = position.parent, position.action
    if before is None or action is None:
        return None
    return {"move": before.notation(action), "action": action, "touches": []}


def moves_of(position: Position, player: int) -> list[dict[str, Any]]:
    """The legal moves of one player."""
    game = position.game
    return [
        {"player": player, "action": action, "move": game.write_move(position.state, player, action), "touches": []}
        for action in position.actions_of(player)[:MOST_MOVES]
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


def state_of(session: Session) -> dict[str, Any]:
    """The part of the message `state` that all browsers share, and under `moves` the legal moves by player."""
    position, plies, waiting = session.position, session.plies, session.waiting_for
    thinking, left, running, people = session.thinking, session.left, session.running, session.people
    result = session.result
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
        "everyone": EVERYONE,
        "hidden": session.hidden,
        "ply": session.ply,
        "plies": len(plies),
        "history": history_of(plies),
        "view": view_of(position, session.ply),
        "moves": {player: moves_of(position, player) for player in waiting if player in people},
        "result": None if result is None else vars(result),
        "can_undo": session.ply > 0 or (result is not None and result.reason != "rules"),
        "can_redo": session.ply < len(plies),
        "can_take_back": any(
            session.position_at(ply).actions_of(player) for ply in range(session.ply) for player in people
        ),
        "draw_offers": session.draw_offers,
    }
