"""The number of random plies at the start of a game."""

from __future__ import annotations

import statistics
from random import Random
from typing import TYPE_CHECKING

from ludus.arena.record import random_action
from ludus.errors import BadOption

if TYPE_CHECKING:
    from ludus.game import Game

MOST = 1000
"""Upper limit for the number of random plies that a user may ask for."""
USUAL = 4
"""Default number of random plies in a game that is long enough."""
SHARE = 5
"""A default opening takes at most one ply in this number of plies of a typical game."""
PLAYOUTS = 15
"""Number of random games that measure the length of a game."""


def default_opening(game: Game) -> int:
    """The default number of random plies: 4, or a fifth of a typical random game if that is less.

    Random openings keep two deterministic agents from playing the same game again and again. In a game of few plies a
    long opening would decide the result. The number is the same every time: the playouts have fixed seeds.
    """
    return min(USUAL, int(statistics.median(_length(game, seed) for seed in range(PLAYOUTS))) // SHARE)


def _length(game: Game, seed: int) -> int:
    """Plies of a random game, counted up to the length that allows the longest default opening."""
    random = Random(seed)
    position = game.start(seed)
    for plies in range(USUAL * SHARE):
        if position.is_over:
            return plies
        position = position.play(random_action(position, random))
    return USUAL * SHARE


def check_opening(plies: int) -> int:
    """A number of random plies that a user gave; BadOption if it is out of range."""
    if not 0 <= plies <= MOST:
        raise BadOption(f"openings must be 0 to {MOST:,} random plies, not {plies}")
    return plies
