"""Ratings: one maximum-likelihood fit to all games at once. The order of the games does not matter.

The model is Bradley and Terry's, with draws after Davidson (1970) and a first-move advantage after Davidson and Beaver
(1977). Let x be the difference of two ratings plus the advantage of the player who moved first, in natural units. Then

    win : draw : loss  =  exp(x / 2) : nu : exp(-x / 2)

Davidson's draws have three advantages over Rao and Kupper's. The likelihood is concave in all parameters together, so
Newton's method finds its only maximum. A rating follows from the points alone, with a draw as half a point. Two draws
say about as much as a win and a loss.

The prior makes the rating of an undefeated agent finite. Every agent gets `prior` virtual games, half won and half
lost, spread over the opponents that it met. One virtual game also stands for equal seats, and half of one for draws.
If no agent between the anchor and an undefeated agent ever took a point from it, the games set no upper bound, and the
upper end of its interval is infinite.

Matrix products are avoided. The libraries that compute them start threads, which wait for each other when games use the
cores: a fit of 200 agents then took 3.4 s instead of 0.1 s.

Intervals are for the difference to the anchor, from the curvature of the likelihood (Wald). docs/arena.md gives their
measured coverage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csc_array
from scipy.sparse.csgraph import breadth_first_order, connected_components
from scipy.sparse.linalg import SuperLU, splu
from scipy.special import expit

from ludus.errors import BadOption
from ludus.intervals import Z95

ELO = 400 / math.log(10)
"""Rating points in one natural unit: 400 points are odds of ten to one."""

MOST_AGENTS = 3000
"""Upper limit for the agents of a fit, whose covariance is a dense matrix."""
MOST_STEPS = 100
"""Upper limit for the steps of Newton's method; about eight are needed."""


class Tally(NamedTuple):
    """Games between two agents, from the view of the agent that moved first. Counts may be fractions."""

    first: str
    second: str
    wins: float
    draws: float
    losses: float
    seated: bool = True
    """False if no player moved first: the first-move advantage does not apply."""


class Rating(NamedTuple):
    """The rating of one agent, with its 95 % interval."""

    name: str
    rating: float
    low: float
    """Minus infinity where the games set no bound."""
    high: float
    """Infinity where the games set no bound."""
    games: float
    score: float
    """Points per game, from 0 to 1."""
    connected: bool
    """False if no chain of games leads to the anchor: the rating is then relative to the mean of its own group."""


@dataclass
class Ratings:
    """The result of a fit, in Elo points."""

    rows: list[Rating]
    """Best first. Agents that are not connected to the anchor come last."""
    advantage: tuple[float, float, float]
    """The value of moving first, with its 95 % interval: estimate, low, high."""
    draws: float
    """The weight nu of a draw between equals, where a win and a loss weigh 1: with 2, half of such games are drawn."""
    covariance: np.ndarray
    """Covariance of the ratings, [A, A], in the order of the rows; 0 for the anchor."""
    anchor: str | None
    """The agent whose rating is fixed; None if the mean of the largest group is fixed instead."""
    places: dict[str, int] = field(init=False, repr=False)
    """The index of each agent in `rows`, by name."""

    def __post_init__(self) -> None:
        self.places = {row.name: place for place, row in enumerate(self.rows)}

    def __getitem__(self, name: str) -> Rating:
        return self.rows[self.places[name]]

    def probability(self, first: str, second: str) -> tuple[float, float, float]:
        """The probabilities of win, draw and loss for `first`, who moves first."""
        x = (self[first].rating - self[second].rating + self.advantage[0]) / ELO
        win, draw, loss = outcome_odds(np.array(x), math.log(self.draws) if self.draws else -math.inf)
        return float(win), float(draw), float(loss)


def pair_weight(players: int) -> float:
    """The weight of one game for every two of its players: 1 with two players, less with more.

    A game of k players makes k (k - 1) / 2 pairs, each won by the better placed player. The pairs of a game depend on
    each other. With full weight, intervals would be too narrow; with 2 / k, they are a little too wide.
    """
    return 2 / players


def outcome_odds(x: np.ndarray, log_draws: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The probabilities of win, draw and loss, each with the shape of `x`, which is in natural units."""
    logits = np.stack([x / 2, np.full_like(x, log_draws), -x / 2])
    weights = np.exp(logits - logits.max(axis=0))
    win, draw, loss = weights / weights.sum(axis=0)
    return win, draw, loss


def check_anchor_rating(rating: float) -> float:
    """A rating of the anchor that a user gave; BadOption if it is not a finite number."""
    if not math.isfinite(rating):
        raise BadOption(f"anchor_rating must be a finite number, not {rating:g}")
    return rating


def fit(
    tallies: Iterable[Tally],
    anchor: str | None = "random",
    anchor_rating: float = 500.0,
    prior: float = 1.0,
) -> Ratings:
    """The ratings under which these games are most likely, with the anchor at its rating.

    If the anchor did not play, `anchor_rating` is the mean of the largest group of agents that met each other, and
    `anchor` of the result is None.
    """
    if not prior > 0:
        raise BadOption(
            f"the prior must be above 0 games, not {prior:g}: without one an undefeated agent has no rating"
        )
    games = Games.of(tallies)
    if not games.names:
        return Ratings([], (0.0, 0.0, 0.0), 0.0, np.zeros((0, 0)), None)
    anchored = games.names.index(anchor) if anchor in games.names else None
    theta, covariance = games.maximise(prior)
    groups = games.groups(anchored)
    count = len(games.names)
    ratings = anchor_rating + ELO * relative(theta[:count], groups, anchored)
    spread = ELO**2 * relative(relative(covariance[:count, :count], groups, anchored).T, groups, anchored)
    lacks_low, lacks_high = games.unbounded(anchored, groups)
    reach = Z95 * np.sqrt(np.maximum(spread.diagonal(), 0))
    low = np.where(lacks_low, -np.inf, ratings - reach)
    high = np.where(lacks_high, np.inf, ratings + reach)
    played, points = games.played()
    best = np.lexsort((-ratings, groups != 0))
    columns = [column[best].tolist() for column in (ratings, low, high, played, points / played, groups == 0)]
    rows = [Rating(games.names[i], *numbers) for i, *numbers in zip(best, *columns, strict=True)]
    seat, reach_of_seat = ELO * theta[count], Z95 * ELO * math.sqrt(max(covariance[count, count], 0))
    return Ratings(
        rows,
        (float(seat), float(seat - reach_of_seat), float(seat + reach_of_seat)),
        float(np.exp(theta[count + 1])) if games.draws.any() else 0.0,
        spread[np.ix_(best, best)],
        None if anchored is None else anchor,
    )


@dataclass
class Games:
    """All games, with one entry for each ordered pair of agents. Every array has the shape [P]."""

    names: list[str]
    """The agents, sorted: the order of the games must not matter."""
    first: np.ndarray
    second: np.ndarray
    wins: np.ndarray
    draws: np.ndarray
    losses: np.ndarray
    seated: np.ndarray
    """1.0 or 0.0."""

    @staticmethod
    def of(tallies: Iterable[Tally]) -> Games:
        """Add up the tallies of equal pairs, so that a fit has one term for each pair and not for each game."""
        sums: dict[tuple[str, str, bool], list[float]] = {}
        for tally in tallies:
            one, other, wins, draws, losses, seated = tally
            if not (wins >= 0 and draws >= 0 and losses >= 0):
                raise BadOption(f"a tally counts games from 0 on, not {tuple(tally)}")
            if one == other or wins + draws + losses == 0:
                continue  # an agent against itself says nothing about its strength
            into = sums.setdefault((one, other, seated), [0.0, 0.0, 0.0])
            into[0] += wins
            into[1] += draws
            into[2] += losses
        names = sorted({name for one, other, _ in sums for name in (one, other)})
        if len(names) > MOST_AGENTS:
            raise BadOption(f"{len(names):,} agents are too many to be rated together: {MOST_AGENTS:,} at most")
        number = {name: index for index, name in enumerate(names)}
        pairs = sorted(sums)
        counts = np.array([sums[pair] for pair in pairs]).reshape(-1, 3)
        return Games(
            names,
            np.array([number[one] for one, _, _ in pairs], np.int64),
            np.array([number[other] for _, other, _ in pairs], np.int64),
            counts[:, 0],
            counts[:, 1],
            counts[:, 2],
            np.array([float(seated) for _, _, seated in pairs]),
        )

    @property
    def total(self) -> np.ndarray:
        """Number of games of each pair, [P]."""
        return self.wins + self.draws + self.losses

    def played(self) -> tuple[np.ndarray, np.ndarray]:
        """Number of games and points of each agent, both [A]."""
        total, points = self.total, self.wins + self.draws / 2
        count = len(self.names)
        return (
            np.bincount(self.first, total, count) + np.bincount(self.second, total, count),
            np.bincount(self.first, points, count) + np.bincount(self.second, total - points, count),
        )

    def groups(self, anchored: int | None = None) -> np.ndarray:
        """The group of each agent, [A]. Games connect the agents of a group; 0 is the anchor's group or the largest."""
        count = len(self.names)
        graph = coo_array((np.ones(len(self.first)), (self.first, self.second)), shape=(count, count))
        groups = connected_components(graph, directed=False)[1]
        main = groups[anchored] if anchored is not None else np.bincount(groups).argmax()
        return np.where(groups == main, 0, groups + 1)

    def virtual(self, prior: float) -> np.ndarray:
        """Number of virtual games of each pair, [P]: `prior` games for an agent on average."""
        played, total = self.played()[0], self.total
        return prior * total * (1 / played[self.first] + 1 / played[self.second]) / 2

    def maximise(self, prior: float) -> tuple[np.ndarray, np.ndarray]:
        """The parameters of greatest likelihood and their covariance, in natural units: [A + 2] and [A + 2, A + 2].

        The parameters are the ratings, the advantage and the logarithm of nu. One agent of each group is fixed at 0.
        Without draws nu is fixed at 0, and without a first mover the advantage is fixed at 0.
        """
        count = len(self.names)
        free = np.ones(count + 2, bool)
        free[np.unique(self.groups(), return_index=True)[1]] = False
        free[count], free[count + 1] = self.seated.any(), self.draws.any()
        theta = np.zeros(count + 2)
        theta[count + 1] = 0.0 if free[count + 1] else -np.inf
        virtual = self.virtual(prior)
        value, gradient, information = self.likelihood(theta, virtual, prior)
        for _ in range(MOST_STEPS):
            step = np.zeros_like(theta)
            step[free] = _factors(information, free).solve(gradient[free])
            gain = _sum(gradient, step)
            if gain < 1e-12:
                break
            length = min(1.0, 4 / float(np.abs(step).max()))  # the first steps from 0 may be far too long
            while True:
                tried = theta + length * step
                new = self.likelihood(tried, virtual, prior)
                # Near the maximum a full step is right, and its gain is below the rounding error.
                if new[0] >= value + 1e-4 * length * gain or gain < 1e-6 or length < 1e-6:
                    break
                length /= 2
            theta, (value, gradient, information) = tried, new
        covariance = np.zeros_like(information)
        covariance[np.ix_(free, free)] = _factors(information, free).solve(np.eye(int(free.sum())))
        return theta, covariance

    def likelihood(self, theta: np.ndarray, virtual: np.ndarray, prior: float) -> tuple[float, np.ndarray, np.ndarray]:
        """The log-likelihood with its prior, its gradient [A + 2] and its negative Hessian [A + 2, A + 2]."""
        count = len(self.names)
        seat, log_draws = theta[count], theta[count + 1]
        apart = theta[self.first] - theta[self.second]
        x = apart + seat * self.seated
        win, draw, loss = outcome_odds(x, log_draws)
        total = self.total
        tiny = np.finfo(float).tiny
        value = sum(
            _sum(count, np.log(np.maximum(probability, tiny)))
            for count, probability in ((self.wins, win), (self.draws, draw), (self.losses, loss))
        )
        slope = (self.wins - self.losses - total * (win - loss)) / 2
        bend = total * (win + loss - (win - loss) ** 2) / 4
        cross = -total * draw * (win - loss) / 2

        # The prior: games half won and half lost, without a first mover and without draws.
        even = expit(apart)
        prior_slope = virtual * (0.5 - even)
        prior_bend = virtual * even * (1 - even)
        value -= _sum(virtual, np.logaddexp(0, apart) + np.logaddexp(0, -apart)) / 2

        gradient = np.zeros(count + 2)
        slopes = slope + prior_slope
        gradient[:count] = np.bincount(self.first, slopes, count) - np.bincount(self.second, slopes, count)
        information = np.zeros((count + 2, count + 2))
        bends = bend + prior_bend
        np.add.at(information, (self.first, self.second), -bends)
        information += information.T
        information[np.arange(count), np.arange(count)] = -information[:count, :count].sum(axis=1)

        for place, bent in ((count, bend * self.seated), (count + 1, cross)):
            column = np.bincount(self.first, bent, count) - np.bincount(self.second, bent, count)
            information[:count, place] = information[place, :count] = column
        information[count, count + 1] = information[count + 1, count] = _sum(cross, self.seated)

        even_seat = expit(seat)
        gradient[count] = _sum(slope, self.seated) + prior * (0.5 - even_seat)
        information[count, count] = _sum(bend, self.seated) + prior * even_seat * (1 - even_seat)
        value -= prior * float(np.logaddexp(0, seat) + np.logaddexp(0, -seat)) / 2

        if np.isfinite(log_draws):
            drawn = expit(log_draws - math.log(2))  # the share of draws between equals
            gradient[count + 1] = _sum(self.draws, 1.0) - _sum(total, draw) + prior * (0.5 - drawn)
            information[count + 1, count + 1] = _sum(total, draw * (1 - draw)) + prior * drawn * (1 - drawn)
            value -= prior * float(np.logaddexp(0, log_draws - math.log(2)) - (log_draws - math.log(2)) / 2)
        return value, gradient, information

    def unbounded(self, anchored: int | None, groups: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The agents whose ratings have no lower bound and those without an upper bound, both bool [A].

        In a chain of agents in which each took a point from the next, the first bounds the rating of the last from
        above. So an agent needs one such chain from the anchor and one to it; without an anchor, from and to all.
        """
        count = len(self.names)
        took = coo_array(
            (
                np.concatenate([self.wins + self.draws, self.losses + self.draws]),
                (np.concatenate([self.first, self.second]), np.concatenate([self.second, self.first])),
            ),
            shape=(count, count),
        ).tocsr()
        took.eliminate_zeros()
        lacks_low, lacks_high = np.ones(count, bool), np.ones(count, bool)
        if anchored is not None:
            lacks_high[_reached(took, anchored)] = False
            lacks_low[_reached(took.T.tocsr(), anchored)] = False
        strong = connected_components(took, connection="strong")[1]
        for group in range(int(groups.max()) + 1):
            members = groups == group
            if (group > 0 or anchored is None) and len(np.unique(strong[members])) == 1:
                lacks_low[members] = lacks_high[members] = False
        return lacks_low, lacks_high


def relative(values: np.ndarray, groups: np.ndarray, anchored: int | None) -> np.ndarray:
    """Rows [A, ...] minus the row of the anchor; in a group without the anchor, minus the mean of the group."""
    taken = np.empty_like(values)
    for group in np.unique(groups):
        members = groups == group
        has_anchor = anchored is not None and members[anchored]
        taken[members] = values[anchored] if has_anchor else values[members].mean(axis=0)
    return values - taken


def _factors(information: np.ndarray, free: np.ndarray) -> SuperLU:
    """A sparse factorisation of the rows and columns that vary: most agents never met, so most entries are 0."""
    return splu(csc_array(information[np.ix_(free, free)]), "MMD_AT_PLUS_A", options={"SymmetricMode": True})


def _sum(one: np.ndarray, other: np.ndarray | float) -> float:
    return float((one * other).sum())


def _reached(graph: coo_array, start: int) -> Sequence[int]:
    return breadth_first_order(graph, start, return_predecessors=False)
