"""Confidence intervals for means."""

from __future__ import annotations

import math

Z95 = 1.959963984540054
"""A normal variable lies within this number of standard deviations of its mean in 95 % of cases."""


def wilson_interval(mean: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a mean of `count` results in [0, 1] (Wilson, 1927).

    The interval is sound for few results and for means of 0 and 1. Draws make it too wide, never too narrow: results
    between 0 and 1 vary less than wins and losses with the same mean.
    """
    if count == 0:
        return 0.0, 1.0
    square = Z95 * Z95
    centre = (mean + square / (2 * count)) / (1 + square / count)
    reach = Z95 / (1 + square / count) * math.sqrt(mean * (1 - mean) / count + square / (4 * count * count))
    return max(0.0, min(mean, centre - reach)), min(1.0, max(mean, centre + reach))
