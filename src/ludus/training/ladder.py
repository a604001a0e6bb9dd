"""The running rating: each network plays an earlier one, its rival, that it does not yet beat at will."""

from __future__ import annotations

import copy
import math
from typing import Any

from ludus.intervals import wilson_interval
from ludus.training.playoff import Tally
from ludus.training.state import State, with_prefix

FADING = 0.7
"""The factor by which earlier results count less after each match."""
GAMES_PER_RUNG = 20
"""Games, by their present weight, before a network can become the next rival."""
SCORE_PER_RUNG = 0.75
"""The score against the rival that makes a network the next rival."""


class Ladder:
    """A rating in Elo above the untrained network with the same search.

    Errors add up over the rivals, so this rating is for watching a run; an arena measures better.
    """

    def __init__(self, rival: Any):
        """The first rival is a copy of the network `rival`."""
        self.rival = copy.deepcopy(rival)
        self.base = 0.0
        """The rival's rating."""
        self.points = 0.0
        """Points against the rival, earlier ones with less weight."""
        self.games = 0.0
        """Games against the rival, earlier ones with less weight."""

    @property
    def rating(self) -> float | None:
        """The rating by the score against the rival; None before the first game.

        Half a win and half a loss are added to the score, so that the rating stays finite. It is 0 as long as the
        untrained network is the rival and wins: a few games lost to it would say -600.
        """
        if not self.games and not self.base:
            return None
        return self._above(_elo((self.points + 0.5) / (self.games + 1.0)))

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the rating by the games against the rival, whose own rating is taken as exact.

        None before the first game. Its ends are finite: half a win and half a loss are added to the score.
        """
        if not self.games:
            return None
        low, high = wilson_interval((self.points + 0.5) / (self.games + 1.0), round(self.games + 1.0))
        return self._above(_elo(low)), self._above(_elo(high))

    def _above(self, difference: float) -> float:
        """The rating of a network that is better than the rival by `difference`."""
        return self.base + difference if self.base else max(0.0, difference)

    def add(self, network: Any, tally: Tally) -> None:
        """Add the results of a network against the rival."""
        self.points = FADING * self.points + tally.wins + tally.draws / 2
        self.games = FADING * self.games + tally.games
        if self.games >= GAMES_PER_RUNG and self.points >= SCORE_PER_RUNG * self.games:
            self.base = self.rating or 0.0
            self.rival.load_state_dict(network.state_dict())
            self.points = self.games = 0.0

    def state(self) -> State:
        facts = {"ladder": [self.base, self.points, self.games]}
        return State(tensors=with_prefix("rival.", self.rival.state_dict()), facts=facts)

    def restore(self, state: State) -> None:
        self.rival.load_state_dict(state.tensors_of("rival."))
        self.base, self.points, self.games = state.facts["ladder"]


def _elo(score: float) -> float:
    """The difference in Elo points that gives this score, which is between 0 and 1."""
    return 400.0 * math.log10(score / (1.0 - score))
