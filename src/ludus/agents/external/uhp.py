"""A Hive engine that speaks the Universal Hive Protocol, such as Mzinga, nokamute or `ludus uhp`.

uhp:path/to/engine               5 seconds a move
uhp:path/to/engine:2s            2 seconds a move; the protocol counts whole seconds, so that less becomes one
uhp:path/to/engine:depth=4       a search of this depth instead
uhp:ludus uhp --agent greedy     a command with arguments

The engine plays the tournament game: the options `expansions` of the game must be among its capabilities, and a queen
is lost when six pieces surround it. The rules for a draw (`limit`, `repetition`) are the referee's.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

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
from ludus.agents.naming import whole_from_1
from ludus.errors import BadAgent
from ludus.games._hive_text import PUT, expansions_in, write_game_type
from ludus.games.hive import HiveGame

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.naming import Spec
    from ludus.game import Game
    from ludus.position import Position

BUDGET = Budget(seconds=5.0)
OPTIONS = {"depth": whole_from_1}
EXPANSIONS = {"M": "Mosquito", "L": "Ladybug", "P": "Pillbug"}
MAX_LINES = 1000
"""Largest number of lines of an answer."""


class UhpAgent:
    """Keeps the engine's game in step with the referee's by `play`, or by `newgame` with the whole game."""

    def __init__(
        self,
        game: HiveGame,
        name: str,
        command: list[str],
        budget: Budget | None = None,
        seed: int = 0,
        depth: int | None = None,
    ):
        self.game, self.name, self.budget, self.depth = game, name, budget, depth
        self._command = command
        self._told: list[str] | None = None
        """The moves of the engine's game; None if it has none."""
        self._program = self._start()

    def new_game(self, seed: int) -> None:
        if self._program.is_closed:
            self._program = self._start()
        self._told = None
        self._set_up(self.game.start())

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        player = player_asked(position, player)
        if self._program.is_closed:
            self.new_game(0)
        began = time.monotonic()
        self._set_up(position)
        allowed = self.budget if budget is None else Budget.of(budget)
        lines = self._ask(f"bestmove {self._limit(budget)}", until=time.monotonic() + move_limit(allowed))
        # Engines may report intermediate moves, as MOVE;DEPTH;SCORE; the last line is the answer.
        move = lines[-1].partition(";")[0] if lines else ""
        try:
            return choice_of(position, player, move, seconds=time.monotonic() - began)
        except AgentFault as fault:
            raise self._program.fault(str(fault)) from None

    def _limit(self, given: Budget | str | int | None) -> str:
        """The argument of bestmove."""
        budget = self.budget if given is None else Budget.of(given)
        if self.depth is not None and given is None:
            return f"depth {self.depth}"
        if budget is None or budget.seconds is None:
            budget = BUDGET
        assert budget.seconds is not None
        seconds = max(1, round(budget.seconds))
        return f"time {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"

    def _set_up(self, position: Position) -> None:
        """Bring the engine's game to a position."""
        kind, _, _, *moves = position.text.split(";")
        if moves and moves[0].startswith(PUT):
            raise BadAgent(f"{self.name} knows only games from their first move on, and this one was set up by hand")
        known = self._told
        if known is None or moves[: len(known)] != known:
            self._ask(f"newgame {position.text if moves else kind}")
        else:
            for move in moves[len(known) :]:
                self._ask(f"play {move}")
        self._told = moves

    # --- the program --------------------------------------------------------------------------------------------------

    def _start(self) -> Program:
        """A program that knows the expansions of the game. It sends the answer to `info` unasked."""
        self._program, self._told = Program(self.name, self._command), None
        lines = self._answer("info", time.monotonic() + START_SECONDS)
        able = {each.strip().lower() for each in (lines[1] if len(lines) > 1 else "").split(";")}
        for letter in expansions_in(self.game.rules.expansions):
            if EXPANSIONS[letter].lower() not in able:
                self._program.close()
                kind = write_game_type(self.game.rules.expansions)
                raise BadAgent(f"{self.name} does not know the {EXPANSIONS[letter]}, so it cannot play {kind}")
        return self._program

    def _ask(self, command: str, until: float | None = None) -> list[str]:
        self._program.forget()
        self._program.say(command)
        return self._answer(command, time.monotonic() + READY_SECONDS if until is None else until)

    def _answer(self, command: str, until: float) -> list[str]:
        """The lines of an answer before its `ok`; AgentFault if it is an error."""
        lines: list[str] = []
        while (line := self._program.hear(until).strip()).lower() != "ok":
            if line:
                lines.append(line)
            if len(lines) > MAX_LINES:
                raise self._program.fault(f"crashed: the answer to {shown(command)} has more than {MAX_LINES} lines")
        for line in lines:
            if line.split()[0].lower() in ("err", "invalidmove"):
                raise self._program.fault(f"crashed: the engine answers {shown(command)!r} with {shown(line, 120)!r}")
        return lines


def usual_budget(spec: Spec) -> Budget | None:
    """The budget of an agent whose name gives none."""
    return None if "depth" in spec.options else BUDGET


def facts_of(spec: Spec) -> dict[str, str]:
    """The part of an agent's identity that its name does not tell: the contents of the program's files."""
    return {"files": digests_of(command_of(spec))}


def make(spec: Spec, game: Game, seed: int) -> UhpAgent:
    options = spec.read_options(OPTIONS)
    if not isinstance(game, HiveGame):
        raise BadAgent(f"{spec.text} cannot play {game.name}: the Universal Hive Protocol is for hive")
    if game.rules.surround != 6:
        raise BadAgent(f"{spec.text} cannot play {game.identity}: engines play with surround=6")
    command = command_of(spec)
    try:
        return UhpAgent(game, spec.text, command, spec.budget, seed, **options)
    except AgentFault as fault:
        raise BadAgent(f"{spec.text} cannot be used: {fault}") from None
