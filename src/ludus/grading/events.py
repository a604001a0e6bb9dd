"""Events of grading, for the callback of `ludus.grade`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PositionSolved:
    """A game was played for the set of positions, and its position was solved or left out."""

    found: int
    """Number of solved positions so far."""
    wanted: int
    left_out: int
    """Number of positions that were not solved in time."""


@dataclass(frozen=True)
class PositionAnswered:
    """The agent chose its move in a position."""

    answered: int
    """Number of positions answered so far."""
    positions: int
    """Number of positions in all."""


GradingEvent = PositionSolved | PositionAnswered
