"""Two tests of "A is better than B": one that stops as soon as it is decided, and the p-value of a finished match.

Both use pairs of games with the same start and swapped seats, not single games. The two games of a pair resemble each
other, and a pair is fair to both sides whatever the start and the first move are worth.

The sequential test bets (Waudby-Smith and Ramdas, 2024). A gambler who believes that A scores more than the hypothesis
allows stakes a share of its wealth on every pair, at odds that are fair or worse if the hypothesis is true. The wealth
then grows twentyfold with a probability of at most 1 in 20 (Ville's inequality). So the stated error is exact for any
number of pairs and any share of draws, even if the test is read after every pair. A simple form of the usual test of
chess engines (a generalised likelihood ratio on the pair scores) needs a quarter to two fifths fewer games, but errs
more often than it states: docs/arena.md has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ludus.errors import BadOption

BETS = 8
"""Number of gamblers who share the wealth, with small to large stakes: the best stake depends on draws and strength."""
MOST_POINTS = 4000.0
"""Largest difference to find, in Elo points. Expected scores beyond it round to 1."""


class Sequential:
    """A test of "A is better than B by more than `better` Elo points", fed with pairs of games.

    If A is `better` Elo points stronger or less, the verdict "better" has a probability of at most `error`. If A is
    `better + by` points stronger or more, the verdict "not better" has a probability of at most `error`. Between the
    two, either verdict is right. Elo points follow from the expected score, with a draw as half a point: a score of
    64 % is 100 points.
    """

    def __init__(self, better: float = 0.0, by: float = 50.0, error: float = 0.05):
        if not 0 < by <= MOST_POINTS:
            raise BadOption(f"the difference to find must be above 0 and at most {MOST_POINTS:g} points, not {by:g}")
        if not abs(better) + by <= MOST_POINTS:
            raise BadOption(f"better must be within {MOST_POINTS - by:g} points of 0, not {better:g}")
        if not 0 < error < 0.5:
            raise BadOption(f"the error must be above 0 and below 0.5, not {error:g}")
        self.better, self.by, self.error = better, by, error
        self.pairs = 0
        """Number of pairs so far."""
        self.points = 0.0
        """Points of A in all pairs."""
        self.verdict: str | None = None
        """None until the test is decided, then "better" or "not better" for good."""
        low, high = expected_score(better), expected_score(better + by)
        self._for = _Gamblers(low, high - low)
        self._against = _Gamblers(1 - high, high - low)

    def add(self, points: float) -> str | None:
        """Add a pair of games in which A made `points`, from 0 to 2. Returns the verdict, if there is one."""
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

    def fresh(self) -> Sequential:
        """The same test without any pairs."""
        return Sequential(self.better, self.by, self.error)

    @property
    def progress(self) -> tuple[float, float]:
        """The evidence for "better" and for "not better", as fractions of the evidence that a verdict needs."""
        need = math.log(1 / self.error)
        return self._for.log_wealth / need, self._against.log_wealth / need


class _Gamblers:
    """Bets that scores in [0, 1] have a mean above `fair`. Each gambler has a fixed stake and an equal start."""

    def __init__(self, fair: float, least: float):
        # With a mean of `least` above fair, the best stake is `least` over the variance, which is 1/4 at most. A stake
        # beyond 1 / fair would be ruined by a single zero.
        greatest = 0.95 / fair
        self.fair, self.stakes = fair, np.geomspace(min(4 * least, greatest / 2), greatest, BETS)
        self.logs = np.full(BETS, -math.log(BETS))
        self.log_wealth = 0.0

    def bet(self, score: float) -> None:
        self.logs += np.log1p(self.stakes * (score - self.fair))
        self.log_wealth = float(np.logaddexp.reduce(self.logs))


def expected_score(points: float) -> float:
    """The expected score of a player who is `points` Elo points above the opponent."""
    return 1 / (1 + 10 ** (-points / 400))


def p_value(pairs: Iterable[float]) -> float:
    """The probability of a result at least as good for A as this one, if A is not better than B.

    `pairs` are the points of A in pairs of games with swapped seats: 0, 0.5, 1, 1.5 or 2. Between equals, a pair is as
    likely to end above 1 point for A as below by the same amount. So each sign is the toss of a coin, and the sum has
    the distribution of two sums of coins: exactly, for any number of pairs and draws.
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
    needed = np.clip(made - 2 * np.arange(doubles + 1), 0, singles + 1)
    at_least = np.append(np.cumsum(_coins(singles)[::-1])[::-1], 0.0)
    return min(1.0, float(_coins(doubles) @ at_least[needed]))


def _coins(tosses: int) -> np.ndarray:
    """The probability of each number of heads, from 0 to `tosses` [tosses + 1]."""
    # scipy.special has the same, and takes half a second to import
    logs = np.array([math.lgamma(heads + 1) for heads in range(tosses + 1)])
    return np.exp(logs[-1] - logs - logs[::-1] - tosses * math.log(2.0))
