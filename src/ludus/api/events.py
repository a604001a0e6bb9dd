"""What a Session tells its listener, as it happens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.agents.snapshot import Snapshot
    from ludus.api.result import Result
    from ludus.game import Action, Position


@dataclass(frozen=True)
class MovePlayed:
    """A move led to a new position; where everyone moves at once, the moves of all players."""

    ply: int
    """The number of moves played, this one included."""
    action: Action
    move: str
    position: Position


@dataclass(frozen=True)
class MoveHidden:
    """A player has chosen a move where everyone moves at once. It stays hidden until all have."""

    player: int


@dataclass(frozen=True)
class AgentThinks:
    """What an agent in a seat knows so far, several times a second while it thinks."""

    player: int
    snapshot: Snapshot


@dataclass(frozen=True)
class ClockTicked:
    """The clocks were read."""

    left: tuple[float | None, ...]
    """Seconds for each player; None for a player without a clock."""
    running: tuple[int, ...]
    """The players whose clock runs."""


@dataclass(frozen=True)
class PlyChanged:
    """The game went back or forth to another of its positions: undo, redo or jump."""

    ply: int


@dataclass(frozen=True)
class SeatChanged:
    """Another agent, or a person, took a seat."""

    player: int
    name: str


@dataclass(frozen=True)
class GameOver:
    """The game has ended."""

    result: Result


Event = MovePlayed | MoveHidden | AgentThinks | ClockTicked | PlyChanged | SeatChanged | GameOver
