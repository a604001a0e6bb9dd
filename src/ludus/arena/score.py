"""A score from games, and how far it can be trusted."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z95 = 1.959963984540054
"""A normal variable is within so many standard deviations in 95 % of cases."""


@dataclass(frozen=True)
class Score:
    """A mean in [0, 1] with its 95 % interval."""

    mean: float
    low: float
    high: float
    games: int

    def __str__(self) -> str:
        return f"{100 * self.mean:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f})"


def score_of(points: list[float]) -> Score:
    """The score from the points of each game, in [0, 1]."""
    mean = sum(points) / len(points) if points else 0.5
    return Score(mean, *wilson_interval(mean, len(points)), len(points))


def wilson_interval(mean: float, games: int) -> tuple[float, float]:
    """Where the true score is, with 95 % confidence (Wilson, 1927): sound for few games, and at 0 and 100 %.

    `mean` is that of results in [0, 1]. With draws it is cautious, since such results vary less than wins and losses.
    """
    if games == 0:
        return 0.0, 1.0
    square = Z95 * Z95
    centre = (mean + square / (2 * games)) / (1 + square / games)
    reach = Z95 / (1 + square / games) * math.sqrt(mean * (1 - mean) / games + square / (4 * games * games))
    return max(0.0, min(mean, centre - reach)), min(1.0, max(mean, centre + reach))
