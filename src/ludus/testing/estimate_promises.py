"""The promises of `heuristic` and `cut_off`, which estimate the result of a game that is not over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ludus.testing.lockstep import CLOSE, guarded

if TYPE_CHECKING:
    from ludus.testing.lockstep import Lockstep, Way

LATE = 1_000_000
"""So many random moves into a playout, `cut_off` is sure to be asked for an estimate, if it ever gives one."""


def heuristics_of(run: Lockstep, way: Way) -> list[float]:
    """The heuristic value of every player."""
    guesses = []
    for player in range(run.game.players if run.game.has("heuristic") else 0):
        with run.asking("heuristic", way.states, way):
            guess = float(way.call("heuristic", way.states, player))
        if not abs(guess) <= 1 + CLOSE:  # nor NaN
            raise run.broken(f"heuristic must be from -1 to 1; it is {guess}")
        guesses.append(guess)
    return guesses


def estimate_of(run: Lockstep, way: Way, over: bool) -> list[float]:
    """The values that `cut_off` writes late in a playout; NaN where it does not end the playout, or is not asked."""
    players = run.game.players
    if over or not run.game.has("cut_off"):
        return [np.nan] * players
    values = guarded((players,), np.float32, np.nan)
    with run.asking("cut_off", way.states, way):
        ends = way.call("cut_off", way.states, LATE, values.array)
    run.check_margins(way, "cut_off", values)
    listed = [float(value) for value in values.array]
    if not ends:
        return [np.nan] * players
    if not (np.abs(values.array) <= 1 + CLOSE).all():  # nor NaN
        raise run.broken(f"cut_off must write the value of every player, from -1 to 1; they are {listed}")
    if run.game.zero_sum and abs(values.array.sum()) > CLOSE * players:
        raise run.broken(f"the values of cut_off must add up to 0, or zero_sum be False; they are {listed}")
    return listed
