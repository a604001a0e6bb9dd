"""Is A better than B: a test that stops as soon as it knows, and the p-value of a match that was played to its end.

Both look at pairs of games with the same start and swapped seats, not at single games: the two games of a pair are
alike, and a pair is fair to both sides whatever the start and the first move are worth.

The sequential test bets (Waudby-Smith and Ramdas, 2024). A gambler who holds that A scores more than it may under the
hypothesis stakes a share of its wealth on every pair, at odds that are fair or worse if the hypothesis is true. Then
its wealth grows twentyfold, ever, with a probability of at most 1 in 20 (Ville's inequality): the error stated is exact
for any number of pairs, with any share of draws, and however often one looks. A plain form of the usual test of
chess engines (a generalised likelihood ratio on the pair scores) needs a quarter to two fifths fewer games, but errs
more often than it says: docs/arena.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from scipy.stats import binom

from ludus.errors import BadOption

BETS = 8
"""Gamblers with stakes from small to great share the wealth: which one is right depends on draws and on strength."""


class Sequential:
    """A test of "A is better than B by more than `better` points of Elo", fed pair by pair.

    "better" is a wrong verdict with probability of at most `error` if A's true score is that of `better` points or
    less; "not better" with the same if it is that of `better + by` points or more. In between either is right, and so
    the test comes to an end. Points of Elo are those of the score, a draw counting half: 64 % are 100 points.
    """

    def __init__(self, better: float = 0.0, by: float = 50.0, error: float = 0.05):
        if not by > 0:
            raise BadOption(f"the difference to find must be above 0 points, not {by:g}")
        if not 0 < error < 0.5:
            raise BadOption(f"the error must be above 0 and below 0.5, not {error:g}")
        self.better, self.by, self.error = better, by, error
        self.pairs = 0
        self.points = 0.0
        """Of A, in all pairs."""
        self.verdict: str | None = None
        """None until it is decided, and then for good "better" or "not better"."""
        low, high = expected_score(better), expected_score(better + by)
        self._for = _Gamblers(low, high - low)
        self._against = _Gamblers(1 - high, high - low)

    def add(self, points: float) -> str | None:
        """Count a pair of games in which A made so many points, from 0 to 2; the verdict, if there is one."""
        if not 0 <= points <= 2:
            raise BadOption(f"a pair of games has from 0 to 2 points, not {points:g}")
        self.pairs += 1
        self.points += points
        self._for.bet(points / 2)
        self._against.bet(1 - points / 2)
        if self.verdict is None:
            need = math.log(1 / self.error)
            if self._for.log_wealth >= need:
                self.verdict = "better"
            elif self._against.log_wealth >= need:
                self.verdict = "not better"
        return self.verdict

    @property
    def progress(self) -> tuple[float, float]:
        """How far the evidence for "better" and for "not better" has come, 1 being enough."""
        need = math.log(1 / self.error)
        return self._for.log_wealth / need, self._against.log_wealth / need


class _Gamblers:
    """Bet that scores in [0, 1] are above `fair` on average; each with a fixed stake, all with the same start."""

    def __init__(self, fair: float, least: float):
        # With a mean of `least` above fair, the best stake is `least` over the variance, which is 1/4 at most. Beyond
        # 1 / fair a single zero would be ruin.
        greatest = 0.95 / fair
        self.fair, self.stakes = fair, np.geomspace(min(4 * least, greatest / 2), greatest, BETS)
        self.logs = np.full(BETS, -math.log(BETS))
        self.log_wealth = 0.0

    def bet(self, score: float) -> None:
        self.logs += np.log1p(self.stakes * (score - self.fair))
        self.log_wealth = float(np.logaddexp.reduce(self.logs))


def expected_score(points: float) -> float:
    """The score at so many points of Elo above the opponent."""
    return 1 / (1 + 10 ** (-points / 400))


def p_value(pairs: Iterable[float]) -> float:
    """The probability of a result at least as good for A as this, if A is not better than B.

    `pairs` are A's points in pairs of games with swapped seats: 0, 0.5, 1, 1.5 or 2. If both are equally strong, a pair
    is as likely to end with so many points more than 1 for A as for B: so every sign of what was above or below 1 is a
    toss of a coin, and the sum has the distribution of two sums of coins, exactly, for any number of pairs and draws.
    """
    counts = dict.fromkeys((-2, -1, 0, 1, 2), 0)
    for points in pairs:
        half_points = 2 * (points - 1)
        if half_points not in counts:
            raise BadOption(f"a pair of games has 0, 0.5, 1, 1.5 or 2 points, not {points:g}")
        counts[int(half_points)] += 1
    singles, doubles = counts[1] + counts[-1], counts[2] + counts[-2]
    # With i of the singles and j of the doubles for A, its sum is 2 i - singles + 2 (2 j - doubles).
    made = counts[1] + 2 * counts[2]
    heads = np.arange(doubles + 1)
    tails = binom.sf(made - 2 * heads - 1, singles, 0.5)
    return min(1.0, float(binom.pmf(heads, doubles, 0.5) @ tails))
