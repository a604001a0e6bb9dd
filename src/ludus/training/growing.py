"""A larger network and a deeper search for a run that has the time for them.

A small network learns the most from little time. With more time its strength levels off, and a larger one gets ahead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ludus.runs.config import Config
    from ludus.training.planning import Budget
    from ludus.training.preflight import Measured

SHORTEST = 15.0
"""Minutes from which on a run grows: each larger size takes some seconds to measure."""
ENOUGH_ROWS = 1_000_000
"""Rows that a run with a larger size must make."""
COST = 2.5
"""A larger size is measured if it may cost this factor."""
GROWING = frozenset({"network", "blocks", "width", "simulations", "simulations_end"})
"""If one of these settings is given, nothing grows."""


class Size(NamedTuple):
    """The size of a network, and how many times as many simulations a run makes per move at its end as at its start."""

    blocks: int
    width: int
    simulations: int


LARGER = (Size(5, 48, 2), Size(6, 64, 2), Size(8, 96, 4), Size(10, 128, 4))
"""The sizes that are tried, one after the other, after the default."""


def may_grow(budget: Budget, suited: dict[str, Any], given: set[str]) -> bool:
    """True for a run with enough time whose network and search nobody chose.

    `suited` are the settings that suit the game. If they name the blocks, the game is so small that more do not help.
    """
    long = budget.minutes is not None and budget.minutes >= SHORTEST and budget.games is None and budget.steps is None
    return long and suited["network"] in ("residual", "groups") and "blocks" not in suited and not GROWING & given


def grow(
    config: Config, measured: Measured, minutes: float, measure: Callable[[Config], Measured]
) -> tuple[Config, Measured]:
    """The largest size with which a run of so many minutes still makes enough rows, and what was measured with it."""
    seconds = 60 * minutes
    for size in LARGER:
        if seconds / measured.seconds_per_row(config) < COST * ENOUGH_ROWS:
            break
        end = size.simulations * config.simulations
        larger = dataclasses.replace(config, blocks=size.blocks, width=size.width, simulations_end=end)
        found = measure(larger)
        if seconds / found.seconds_per_row(larger) < ENOUGH_ROWS:
            break
        config, measured = larger, found
    return config, measured
