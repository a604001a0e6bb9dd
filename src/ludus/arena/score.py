"""The score of an agent, with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass

from ludus.intervals import wilson_interval


@dataclass(frozen=True)
class Score:
    """Points per game in [0, 1], with the 95 % interval."""

    mean: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


def score_of(points: float, games: int) -> Score:
    """The score of an agent with `points` in `games` games; 0.5 without games."""
    mean = points / games if games else 0.5
    return Score(mean, *wilson_interval(mean, games), games)
