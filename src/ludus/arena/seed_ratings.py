"""The estimator of earlier systems, for comparison: a mean of Elo differences along the chain of opponents.

The agents are ordered: the anchor, then the agents that played it, then the agents that played those, and so on. Within
a layer, more games against earlier agents come first, then the name decides. The rating of an agent is the mean over
its earlier opponents, weighted by games, of

    rating of the opponent + 400 * log10(score / (1 - score))

The score is the one against that opponent, with half a game added on either side so that 0 and 1 have a logarithm.

The estimator is simple and quick, and it was enough to watch a player learn. It is not the default for these reasons:
games against later agents do not count, an early error passes on to all later agents, lopsided games weigh as much as
even ones, and seats are ignored. Its intervals only follow the errors of the scores along the chain.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ludus.arena.ratings import ELO, Games, Rating, Ratings, Tally
from ludus.intervals import Z95


def fit_seed(tallies: Iterable[Tally], anchor: str | None = "random", anchor_rating: float = 500.0) -> Ratings:
    """The ratings as described above. An agent without a connection to the anchor starts a chain at its rating.

    Without the anchor, the agent with most games takes its place, and `anchor` of the result is None.
    """
    games = Games.of(tallies)
    count = len(games.names)
    if not count:
        return Ratings([], (0.0, 0.0, 0.0), 0.0, np.zeros((0, 0)), None)
    met, points = _against(games)
    played = met.sum(axis=1)
    known = anchor in games.names
    start = games.names.index(anchor) if anchor is not None and known else int(played.argmax())
    order, connected = _order(met, start)

    ratings, covariance = np.full(count, anchor_rating), np.zeros((count, count))
    for place, agent in enumerate(order):
        before = np.array(order[:place], np.int64)
        before = before[met[agent, before] > 0]
        if not len(before):
            continue  # the start of a chain
        weights = met[agent, before] / met[agent, before].sum()
        won, lost = points[agent, before] + 0.5, points[before, agent] + 0.5
        ratings[agent] = weights @ (ratings[before] + ELO * np.log(won / lost))
        shared = weights @ covariance[before]
        covariance[agent] = covariance[:, agent] = shared
        covariance[agent, agent] = shared[before] @ weights + ELO**2 * (weights**2 @ (1 / won + 1 / lost))
    best = np.lexsort((-ratings, ~connected))
    reach = Z95 * np.sqrt(covariance.diagonal())
    score = points.sum(axis=1) / played
    columns = [
        column[best].tolist() for column in (ratings, ratings - reach, ratings + reach, played, score, connected)
    ]
    rows = [Rating(games.names[i], *numbers) for i, *numbers in zip(best, *columns, strict=True)]
    return Ratings(rows, (0.0, 0.0, 0.0), 0.0, covariance[np.ix_(best, best)], anchor if known else None)


def _against(games: Games) -> tuple[np.ndarray, np.ndarray]:
    """Number of games and points of every agent against every other, both [A, A]."""
    count = len(games.names)
    met, points = np.zeros((count, count)), np.zeros((count, count))
    made = games.wins + games.draws / 2
    np.add.at(met, (games.first, games.second), games.total)
    np.add.at(points, (games.first, games.second), made)
    np.add.at(points, (games.second, games.first), games.total - made)
    return met + met.T, points


def _order(met: np.ndarray, start: int) -> tuple[list[int], np.ndarray]:
    """The agents in the order in which they are rated, and whether each is connected to the first, bool [A]."""
    count = len(met)
    order, layer, left = [start], [start], set(range(count)) - {start}
    connected = np.zeros(count, bool)
    connected[start] = True
    main = True
    while left:
        layer = sorted(
            (agent for agent in left if met[agent, layer].any()), key=lambda agent: (-met[agent, order].sum(), agent)
        )
        if not layer:  # another group: it begins with the agent that played most
            main = False
            layer = [max(sorted(left), key=lambda agent: met[agent].sum())]
        connected[layer] = main
        order += layer
        left -= set(layer)
    return order, connected
