"""Events of matches and arenas, for the callbacks of `ludus.play_match` and `ludus.rate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.cluster.events import ClusterEvent

if TYPE_CHECKING:
    from ludus.arena.match import MatchResult
    from ludus.arena.record import GameRecord
    from ludus.arena.report import Standings
    from ludus.game import Game

# --- a match ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MatchStarted:
    """The agents are ready, and the first game begins."""

    result: MatchResult
    """The result without any games. Later events carry the same object, with the games that have ended."""
    parallel: int
    """The number of games played at once."""


@dataclass(frozen=True)
class MovePlayed:
    """A move was played. With several games at once, this event comes several times a second instead."""

    result: MatchResult
    plies: int
    """Plies of the game under way; of several, the one that has gone furthest."""


@dataclass(frozen=True)
class GameEnded:
    """A game ended and was added to the result."""

    record: GameRecord
    result: MatchResult


@dataclass(frozen=True)
class VerdictReached:
    """The sequential test is decided, which ends the match."""

    verdict: str
    """"better" or "not better"."""
    result: MatchResult


@dataclass(frozen=True)
class MatchFinished:
    """The match is over. `result.ending` says why."""

    result: MatchResult


MatchEvent = MatchStarted | MovePlayed | GameEnded | VerdictReached | MatchFinished | ClusterEvent

# --- an arena ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArenaStarted:
    """The agents and the file of results are known; compiling and playing begin."""

    game: Game
    agents: tuple[str, ...]
    """The labels of the agents. The anchor is the first."""
    file: Path
    games: int
    """Number of games of earlier sittings in the file."""
    other_rules: int
    """Number of games in the file that do not count, because the rules of the game were different then."""
    parallel: int
    """Number of games played at once."""
    opening: int
    """Number of random plies at the start of every game."""


@dataclass(frozen=True)
class ArenaProgress:
    """The state of the arena, a few times a second."""

    standings: Standings
    games: int
    """Number of games recorded in this sitting."""
    games_per_minute: float
    pairs: tuple[tuple[str, str], ...]
    """The labels of the pairs that are playing."""


@dataclass(frozen=True)
class EntrantLeftOut:
    """An agent cannot be made, so it does not take part."""

    name: str
    reason: str


@dataclass(frozen=True)
class GameLost:
    """An agent lost a game by a crash, an illegal move or a timeout."""

    label: str
    reason: str


@dataclass(frozen=True)
class ArenaFinished:
    """The arena has stopped, and everything it played is recorded."""

    standings: Standings
    games: int
    """Number of games recorded in this sitting."""
    stopped: bool
    """True if the stop signal ended it, False if the budget of games or minutes was spent."""


ArenaEvent = ArenaStarted | ArenaProgress | EntrantLeftOut | GameLost | ArenaFinished | ClusterEvent
