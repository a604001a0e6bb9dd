"""Levels of the players that come with Ludus, and their ratings, as the arena measured them.

`python -m benchmarks.levels` writes `players/levels.json`, with an entry for each file of a player. An entry holds the
levels, and the ratings of the levels and of other agents in one arena, for the weights with the digest that is given.
Ratings of other weights are not shown. `c` is the weight of the policy with which matches showed the player to be
stronger than with the usual one.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("players") / "levels.json"
COUNT = 8
"""The number of levels; the last one is the full strength."""


class Level(NamedTuple):
    """How strongly a player plays."""

    simulations: int
    temperature: float
    """The move is drawn in proportion to (visits and prior) ** (1 / temperature); 0 plays the best move."""


class Rating(NamedTuple):
    """A rating with its 95 % interval; `random` has 500. The file has null for an infinite bound."""

    rating: float
    low: float
    high: float


FULL = Level(400, 0.0)
USUAL = (
    Level(4, 30.0),
    Level(4, 10.0),
    Level(6, 6.0),
    Level(8, 4.0),
    Level(16, 2.5),
    Level(32, 1.2),
    Level(64, 0.6),
    FULL,
)
"""The levels of a player for which none were measured."""


USUAL_C = 1.5
"""The weight of the policy in the search of a player for which no other one was found better."""


def policy_weight_of(file: Path) -> float:
    """The weight of the policy in a player's search, by the file of its weights."""
    entry = _entry(file)
    return USUAL_C if entry is None else entry.get("c", USUAL_C)


def levels_of(file: Path) -> tuple[Level, ...]:
    """The levels of a player by the file of its weights, from a beginner to full strength."""
    entry = _entry(file)
    return USUAL if entry is None else tuple(Level(*each) for each in entry["levels"])


def ratings_of(file: Path) -> dict[str, Rating]:
    """The measured ratings of a player's levels and of other agents, by name; empty if these weights were not rated."""
    entry = _entry(file)
    if entry is None or entry["weights"] != digest_of(file):
        return {}
    return {
        name: Rating(rating, -math.inf if low is None else low, math.inf if high is None else high)
        for name, (rating, low, high) in entry["ratings"].items()
    }


def _entry(file: Path) -> dict[str, Any] | None:
    return _measured().get(file.name) if file.parent == FILE.parent else None


@functools.cache
def _measured() -> dict[str, Any]:
    return json.loads(FILE.read_text()) if FILE.is_file() else {}


def digest_of(file: Path) -> str:
    """A digest of the weights."""
    return hashlib.sha256(file.read_bytes()).hexdigest()[:12]
