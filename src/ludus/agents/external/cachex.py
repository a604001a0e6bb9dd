"""A player file for the Cachex referee of the University of Melbourne's course: a class Player in a module.

cachex:my_player.py              a file, a folder, or a module; module:Class names another class than Player
cachex:my_player.py:seconds=60   60 s of CPU time for a game; by default n * n, as in the course; 0: no limit

The player runs in a process of its own (cachex_seat.py). It loses by an illegal action, an error, and by exceeding its
CPU time, besides the limit for a move that holds for every agent.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.agents.agent import AgentFault, Choice, player_asked
from ludus.agents.external.cachex_process import COLOURS, Limits, Lost, Seat
from ludus.agents.external.program import choice_of, digests_of
from ludus.agents.naming import number_from_0
from ludus.errors import BadAgent, BadOption
from ludus.games.cachex import CachexGame

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.budget import Budget
    from ludus.agents.naming import Spec
    from ludus.game import Game
    from ludus.position import Position

OPTIONS = {"seconds": number_from_0}


class CachexAgent:
    """Makes a player for each game, and tells it every move that was played."""

    def __init__(self, game: CachexGame, name: str, where: str, seconds: float | None = None):
        self.game, self.name, self.where = game, name, where
        n = game.rules.n
        self.limits = Limits(n * n if seconds is None else seconds or None)
        self._told: list[Position] = []
        """The positions that the player knows; empty if there is no player."""
        self._player = -1
        self._seat = self._load()

    def new_game(self, seed: int) -> None:
        """Load the player: it begins when its colour is known, and its CPU time is counted from then on."""
        if self._told:
            self._seat.close()
        if not self._seat.close.alive:
            self._seat = self._load()

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        player = player_asked(position, player)
        began = time.monotonic()
        try:
            self._follow(position, player)
            action = self._seat.ask({"do": "action"}).get("action")
        except Lost as lost:
            raise self._fault(lost) from None
        try:
            return choice_of(position, player, _notation(action), seconds=time.monotonic() - began)
        except AgentFault:
            self._seat.close()
            raise

    def _follow(self, position: Position, player: int) -> None:
        """Bring the player to a position: by the moves since it last chose, or else from the beginning."""
        line = position.history
        if line[0] != self.game.start():
            raise BadAgent(f"{self.name} cannot play from this position: such players know games from their start only")
        known = len(self._told)
        if not known or player != self._player or line[:known] != self._told:
            self.new_game(0)
            self._player, known = player, 1
            self._seat.ask({"do": "new", "player": COLOURS[player], "n": self.game.rules.n})
        self._told = line
        for before, after in zip(line[known - 1 :], line[known:], strict=False):
            assert isinstance(after.action, int)
            move = before.notation(after.action)
            action = ["STEAL"] if move == "steal" else ["PLACE", *map(int, move.split(","))]
            self._seat.ask({"do": "turn", "player": COLOURS[before.to_move], "action": action})

    def _load(self) -> Seat:
        seat = Seat("the player", self.where, self.game.rules.n, self.limits)
        self._told = []
        try:
            seat.wait_until_loaded()
        except BadOption as error:
            seat.close()
            raise BadAgent(f"{self.name}: {error}") from None
        return seat

    def _fault(self, lost: Lost) -> AgentFault:
        self._seat.close()
        text = str(lost)
        hung, illegal = "did not answer" in text, "illegal action" in text
        return AgentFault(f"{'hung' if hung else 'illegal move' if illegal else 'crashed'}: {text}")


def _notation(action: Any) -> str:
    """An action as the process sends it, in the game's notation; it may be anything."""
    match action:
        case ["STEAL"]:
            return "steal"
        case ["PLACE", int(r), int(q)]:
            return f"{r},{q}"
    return str(action)[:80]


def facts_of(spec: Spec) -> dict[str, str]:
    """The part of an agent's identity that its name does not tell: the contents of the player's files."""
    if not spec.words:
        return {}
    where = Path(_place(spec.words[0]))
    return {"files": digests_of(sorted(where.rglob("*.py")) if where.is_dir() else [where])}


def _place(where: str) -> str:
    """The path in FILE or FILE:CLASS."""
    place, colon, name = where.rpartition(":")
    return place if colon and name.isidentifier() else where


def make(spec: Spec, game: Game, seed: int) -> CachexAgent:
    spec.refuse_budget()
    options = spec.read_options(OPTIONS)
    if not isinstance(game, CachexGame):
        raise BadAgent(f"{spec.text} cannot play {game.name}: such players are for cachex")
    if not game.rules.steal:
        raise BadAgent(f"{spec.text} cannot play without stealing: such players know the game with steal=yes only")
    where = spec.words[0] if spec.words else ""
    if not where or (_place(where).endswith(".py") and not Path(_place(where)).is_file()):
        raise BadAgent(f"{spec.text}: there is no file {where or 'named'}; write cachex:path/to/player.py")
    return CachexAgent(game, spec.text, where, **options)
