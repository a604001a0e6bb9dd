"""A game under way as JSON: written whole, and read with every part checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ludus import __version__
from ludus.agents.agent import Choice
from ludus.api.clock import Clocks, TimeControl
from ludus.api.moves import MoveList, Ply
from ludus.api.result import AGREEMENT, RESIGNATION, TIME, Result, result_by_agreement, result_by_loss
from ludus.errors import LudusError, describe_error
from ludus.registry import described_game
from ludus.spec import shortened

if TYPE_CHECKING:
    from ludus.game import Game, Position

FORMAT = "ludus game 1"
MOST = 2**63
"""All numbers of a record are nearer to 0."""


class BadRecord(LudusError):
    """A record of a game cannot be read."""


@dataclass
class Recorded:
    """The parts of a record, checked."""

    last: Position
    """The last position, with the history of the game."""
    plies: list[Ply]
    ply: int
    seats: list[str]
    seed: int
    clocks: list[TimeControl | None]
    left: list[float | None]
    end: Result | None


# --- writing ----------------------------------------------------------------------------------------------------------


def write_record(moves: MoveList, seats: list[str], seed: int, clocks: Clocks) -> dict[str, Any]:
    game, result, end = moves.game, moves.result, moves.end
    return {
        "format": FORMAT,
        "ludus": __version__,
        "game": game.spec.json(),
        "name": game.name,
        "version": game.version,
        "start": moves.positions[0].text,
        "players": [game.player_name(player) for player in range(game.players)],
        "seats": seats,
        "seed": seed,
        "moves": [_write_ply(ply) for ply in moves.plies],
        "ply": moves.ply,
        "clocks": [None if control is None else vars(control) for control in clocks.controls],
        "left": list(clocks.left),
        "end": None if end is None else {"reason": end.reason, "player": end.player},
        "result": None if result is None else {"values": list(result.values), "text": result.text},
    }


def _write_ply(ply: Ply) -> dict[str, Any]:
    choices = [
        {
            "player": choice.player,
            "by": by,
            "value": choice.value,
            "solved": choice.solved,
            "simulations": choice.simulations,
            "seconds": choice.seconds,
            "line": choice.line,
        }
        for choice, by in zip(ply.choices, ply.by, strict=True)
    ]
    return {"move": ply.move, "choices": choices, "left": None if ply.left is None else list(ply.left)}


# --- reading ----------------------------------------------------------------------------------------------------------


def read_record(data: dict[str, Any] | str, game: Game | None = None, trust: bool = False) -> Recorded:
    """The parts of a record, as a dictionary or as JSON text; BadRecord names the part that is wrong.

    `game`, if given, reads it. Otherwise the game is made as the record says: a Python file that it names is run only
    with `trust`.
    """
    try:
        found = json.loads(data) if isinstance(data, str) else data
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise BadRecord(f"this is not a record of a game: its format is not {FORMAT!r}")
        return _read(found, described_game(found, game, trust))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        if isinstance(error, LudusError):
            raise
        raise BadRecord(f"this record of a game cannot be read: {describe_error(error)}") from None


def _read(data: dict[str, Any], game: Game) -> Recorded:
    position = game.parse(_text(data["start"], "start"))
    plies = []
    for number, entry in enumerate(_need(data["moves"], list, "moves"), 1):
        where = f"moves, number {number}"
        move = _text(entry["move"], where)
        try:
            after = position.play(move)
        except LudusError as error:
            raise BadRecord(f"{where}: {error}") from None
        assert after.action is not None
        written = position.notation(after.action)
        choices = [_read_choice(each, position, after, where) for each in _need(entry["choices"], list, where)]
        left = None if entry["left"] is None else tuple(_times(entry["left"], game, where))
        by = tuple(_text(each["by"], where) for each in entry["choices"])
        plies.append(Ply(after.action, written, tuple(choices), by, left))
        position = after
    seats = [_text(seat, "seats") for seat in _need(data["seats"], list, "seats")]
    controls = _need(data["clocks"], list, "clocks")
    if len(seats) != game.players or len(controls) != game.players:
        raise BadRecord(f"{game.name} has {game.players} players: the record needs as many seats and clocks")
    return Recorded(
        position,
        plies,
        int(_number(data["ply"], "ply", lambda ply: 0 <= ply <= len(plies) and ply == int(ply))),
        seats,
        int(_number(data["seed"], "seed", lambda seed: seed == int(seed))),
        [_read_control(control) for control in controls],
        _times(data["left"], game, "left"),
        _read_end(data["end"], game),
    )


def _read_choice(entry: Any, position: Position, after: Position, where: str) -> Choice:
    game = position.game
    player = _number(entry["player"], where, lambda player: player in range(game.players))
    action = after.action[int(player)] if isinstance(after.action, tuple) else after.action
    if action is None or action not in position.actions_of(int(player)):
        raise BadRecord(f"{where}: {game.player_name(int(player))} did not move here")
    value = entry["value"]
    return Choice(
        int(player),
        action,
        game.write_move(position.state, int(player), action),
        value=None if value is None else _number(value, where, lambda value: -1 <= value <= 1),
        line=[_text(move, where) for move in _need(entry["line"], list, where)],
        simulations=int(_number(entry["simulations"], where, lambda count: count >= 0)),
        seconds=_number(entry["seconds"], where, lambda seconds: seconds >= 0),
        solved=_need(entry["solved"], bool, where),
    )


def _read_control(entry: Any) -> TimeControl | None:
    if entry is None:
        return None
    return TimeControl(*(float(_number(entry[key], "clocks", lambda seconds: True)) for key in ("base", "increment")))


def _read_end(entry: Any, game: Game) -> Result | None:
    if entry is None:
        return None
    reason = _text(entry["reason"], "end")
    if reason == AGREEMENT:
        return result_by_agreement(game)
    if reason not in (RESIGNATION, TIME):
        raise BadRecord(f"end: {reason!r} is no reason for the end of a game")
    loser = int(_number(entry["player"], "end", lambda player: player in range(game.players)))
    return result_by_loss(game, loser, reason)


def _times(entry: Any, game: Game, where: str) -> list[float | None]:
    times = _need(entry, list, where)
    if len(times) != game.players:
        raise BadRecord(f"{where}: {len(times)} times for {game.players} players")
    return [None if time is None else _number(time, where, lambda time: time >= 0) for time in times]


def _need(value: Any, kind: type, where: str) -> Any:
    if not isinstance(value, kind):
        raise BadRecord(f"{where}: {kind.__name__} expected, not {type(value).__name__}")
    return value


def _text(value: Any, where: str) -> str:
    return _need(value, str, where)


def _number(value: Any, where: str, fits: Callable[[float], bool]) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < MOST or not fits(value):
        raise BadRecord(f"{where}: {shortened(value)} is not a number that fits")
    return value
