"""Resignation in self-play, with a check of how often it is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from ludus.training.state import State

PLAYED_ON = 0.1
"""The fraction of games that are played to their end although a player would have resigned."""
MAX_ERROR = 0.05
"""Nobody resigns any more if more than this fraction of the games played on was not lost."""
CHECKED = 20
"""Games that must have been played on before the error counts."""


class Resigning:
    """Ends games whose loss the search is sure of; for two-player zero-sum games.

    Some games are exempt and played to their end. They show how often a resignation would have been wrong.
    """

    def __init__(self, threshold: float, games: int):
        self.threshold = threshold
        """A player resigns below an expected value of minus this number; 0 disables resignation."""
        self.exempt = np.zeros(games, np.bool_)
        self.loser = np.full(games, -1, np.int8)
        """The player who would have resigned in a game that is exempt, or -1."""
        self.counts = np.zeros(2, np.int64)
        """The number of exempt games in which a player would have resigned, and of those that were not lost."""

    @property
    def error(self) -> float:
        """The fraction of resignations that would have been wrong."""
        return float(self.counts[1] / max(1, self.counts[0]))

    def check(self, players: Any, expected: Any, full: Any, over: Any, results: Any) -> None:
        """End the games in which a player resigns: sets over bool [B] and results float32 [B, 2].

        players int8 [B], expected float32 [B]: the player to move and the value that the search found; full bool [B]:
        True if the position was searched in full.
        """
        if not self.threshold or (self.counts[0] >= CHECKED and self.error > MAX_ERROR):
            return
        hopeless = (expected < -self.threshold) & full & ~over & (players >= 0)
        noted = hopeless & self.exempt & (self.loser < 0)
        self.loser[noted] = players[noted]
        for tree in np.flatnonzero(hopeless & ~self.exempt):
            over[tree] = True
            results[tree, players[tree]], results[tree, 1 - players[tree]] = -1.0, 1.0

    def begin(self, over: Any, results: Any, rng: np.random.Generator) -> None:
        """Check the exempt games among those that are over, and draw which of the new games are exempt."""
        if not self.threshold:
            return
        checked = np.flatnonzero(over & (self.loser >= 0))
        self.counts += len(checked), int((results[checked, self.loser[checked]] > -1.0).sum())
        self.loser[over] = -1
        self.exempt[over] = rng.random(int(over.sum())) < PLAYED_ON

    def state(self) -> State:
        return State(arrays={"exempt": self.exempt, "loser": self.loser, "resigned": self.counts})

    def restore(self, state: State) -> None:
        self.exempt[...] = state.arrays["exempt"]
        self.loser[...] = state.arrays["loser"]
        self.counts[...] = state.arrays["resigned"]
