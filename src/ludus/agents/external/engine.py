"""A program that speaks Ludus's engine protocol: one command a line, in any language, for any game.

engine:./my-program              the program decides how long it thinks
engine:python3 player.py:2s      2 seconds a move; 1000 would be simulations

docs/engine-protocol.md describes the commands; `ludus engine AGENT` is an engine, and examples/engine.py a small one.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ludus.agents.agent import AgentFault, Choice, player_asked
from ludus.agents.budget import Budget
from ludus.agents.external.program import (
    READY_SECONDS,
    START_SECONDS,
    Program,
    choice_of,
    command_of,
    digests_of,
    move_limit,
    shown,
)
from ludus.errors import BadAgent
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.naming import Spec
    from ludus.game import Game
    from ludus.position import Position

PROTOCOL = 1
BUDGET: Budget | None = None
"""By default the program decides how long it thinks."""
OPTIONS: dict[str, Callable[[str], Any]] = {}
MAX_INFO_MOVES = 1000


class EngineAgent:
    """Starts the program when it is made, so that one that cannot play the game is refused at once."""

    def __init__(self, game: Game, name: str, command: list[str], budget: Budget | None = None, seed: int = 0):
        self.game, self.name, self.budget, self.seed = game, name, budget, seed
        self._command = command
        self._program = self._start()

    # --- the methods of an agent --------------------------------------------------------------------------------------

    def new_game(self, seed: int) -> None:
        self.seed = seed
        if self._program.is_closed:
            self._program = self._start()
        self._program.forget()
        self._send("new", {"seed": seed})
        self._wait_for("ready")

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        player = player_asked(position, player)
        if self._program.is_closed:
            self.new_game(self.seed)
        allowed = self.budget if budget is None else Budget.of(budget)
        began = time.monotonic()
        self._program.forget()
        self._send("position", {"start": position.history[0].text, "moves": position.played, "player": player})
        self._send("go", go_json(allowed))
        stopped, limit = False, move_limit(allowed)

        def check_time() -> None:
            if time.monotonic() > began + limit:
                raise self._program.fault(f"hung: no move in {limit:g} s")

        def while_waiting() -> None:
            nonlocal stopped
            check_time()
            if progress is not None and not stopped and progress(_fraction(allowed, began)) is False:
                stopped = True
                self._program.say("stop")

        known: dict[str, Any] = {}
        while True:
            word, rest = self._hear(on_wait=while_waiting)
            if word == "info":
                known = read_info(rest)
            elif word == "ask":
                self._send("answer", answer_to(position, rest))
            elif word == "move":
                try:
                    return choice_of(position, player, rest, seconds=time.monotonic() - began, **known)
                except AgentFault as fault:
                    raise self._program.fault(str(fault)) from None
            check_time()

    # --- the program --------------------------------------------------------------------------------------------------

    def _start(self) -> Program:
        """A program that has agreed to play the game."""
        from ludus import __version__

        self._program = Program(self.name, self._command)
        self._send("ludus", {"protocol": PROTOCOL, "version": __version__})
        self._wait_for("engine", START_SECONDS)
        self._send("game", game_json(self.game))
        self._wait_for("ready")
        return self._program

    def _send(self, command: str, content: Any) -> None:
        self._program.say(f"{command} {json.dumps(content)}")

    def _hear(self, until: float = math.inf, on_wait: Callable[[], object] | None = None) -> tuple[str, str]:
        word, _, rest = self._program.hear(until, on_wait).strip().partition(" ")
        if word == "refuse":
            raise self._program.fault(f"refused: {shown(rest, 200)}")
        return word, rest.strip()

    def _wait_for(self, wanted: str, seconds: float = READY_SECONDS) -> None:
        """Wait until the program sends this word; other lines are ignored."""
        until = time.monotonic() + seconds
        while self._hear(until)[0] != wanted:
            if time.monotonic() > until:
                raise self._program.fault(f"hung: no line {wanted!r} in {seconds:g} s")


# --- the contents of commands -----------------------------------------------------------------------------------------


def game_json(game: Game) -> dict[str, Any]:
    """The content of the command `game`."""
    return {
        "game": game.spec.json(),
        "identity": game.identity,
        "name": game.name,
        "title": game.title,
        "players": [game.player_name(player) for player in range(game.players)],
        "simultaneous": game.simultaneous,
        "longest": game.longest,
    }


def go_json(budget: Budget | None) -> dict[str, Any]:
    """The content of the command `go`; `budget_of_go` reads it."""
    if budget is None or budget.infinite:
        return {}
    limits = {"simulations": budget.simulations, "seconds": budget.seconds}
    return {key: value for key, value in limits.items() if value is not None}


def answer_to(position: Position, question: str) -> dict[str, Any]:
    """The content of the command `answer`: the position after the moves, a JSON list, that a program asks about."""
    try:
        moves = json.loads(question or "[]")
        if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
            raise ValueError("a question is a list of moves in notation")
        for move in moves[: position.game.longest + 1]:
            position = position.play(move)
    except (ValueError, RecursionError) as error:  # IllegalMove is a ValueError
        return {"error": shown(str(error), 200)}
    return position_json(position)


def position_json(position: Position) -> dict[str, Any]:
    """A position as programs see it that do not know the rules."""
    game, state = position.game, position.state
    movers = range(game.players) if position.to_move == EVERYONE else [position.to_move]
    return {
        "text": position.text,
        "over": position.is_over,
        "values": list(position.values) if position.is_over else None,
        "to_move": [] if position.is_over else [player for player in movers if position.actions_of(player)],
        "legal": [
            [game.write_move(state, player, action) for action in position.actions_of(player)]
            if player in movers and not position.is_over
            else []
            for player in range(game.players)
        ],
    }


def read_info(text: str) -> dict[str, Any]:
    """The parts of an `info` line that a choice can hold; parts that make no sense are left out."""
    try:
        given = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(given, dict):
        return {}
    known: dict[str, Any] = {}
    value: Any = given.get("value")
    simulations, line = given.get("simulations"), given.get("line")
    if type(value) in (int, float) and -1 <= value <= 1:
        known["value"] = float(value)
    if type(simulations) is int and 0 <= simulations < 1 << 62:
        known["simulations"] = simulations
    if isinstance(line, list) and all(isinstance(move, str) for move in line):
        known["line"] = line[:MAX_INFO_MOVES]
    return known


def _fraction(budget: Budget | None, began: float) -> float:
    if budget is None or budget.seconds is None:
        return 0.0
    return min(1.0, (time.monotonic() - began) / budget.seconds)


def facts_of(spec: Spec) -> dict[str, str]:
    """The part of an agent's identity that its name does not tell: the contents of the program's files."""
    return {"files": digests_of(command_of(spec))}


def make(spec: Spec, game: Game, seed: int) -> EngineAgent:
    spec.read_options(OPTIONS)
    command = command_of(spec)
    try:
        return EngineAgent(game, spec.text, command, spec.budget, seed)
    except AgentFault as fault:
        raise BadAgent(f"{spec.text} cannot be used: {fault}") from None
