"""The next pair to play: the one whose games are expected to give most information on the ratings for their cost.

A pair of games with swapped seats adds information to the likelihood: twice the variance of the score that the ratings
predict, in the direction of the difference of the two agents. The covariance of the ratings then gives, for every pair
at once, by how much the variances of all differences between ratings would shrink (Sherman and Morrison). So agents of
similar strength and with few games meet, and games with a certain result are not played. The design of experiments
calls this A-optimality. The differences between all agents count, not only the differences to the anchor: otherwise
most games would go to the weakest agents, and say nothing about the difference between two strong ones.

Agents without a chain of games to the anchor are paired first, because they cannot be compared at all.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from ludus.arena.ratings import ELO, Ratings, Tally, fit, outcome_odds
from ludus.errors import BadOption

Cost = Callable[[str, str], float]
"""The cost of a game between two agents, in any unit such as seconds. The order of the two does not matter."""


def next_pairing(
    agents: Sequence[str],
    tallies: Iterable[Tally],
    ratings: Ratings | None = None,
    focus: Collection[str] = (),
    cost: Cost | None = None,
    pending: Iterable[tuple[str, str]] = (),
) -> tuple[str, str]:
    """Two agents that should play a pair of games with swapped seats. The first moves first in the first game.

    `ratings` is a fit of the tallies; it is computed if not given, or if an agent that has played has no rating.
    `focus` names the agents whose ratings matter; empty means all. `pending` are pairs that are being played: they
    count as played, so that several games can be under way at once.
    """
    agents = list(dict.fromkeys(agents))
    if len(agents) < 2:
        raise BadOption(f"the arena needs at least two different agents, not {len(agents)}")
    tallies, pending = list(tallies), list(pending)
    played = {name for tally in tallies for name in (tally.first, tally.second) if tally.first != tally.second}
    if ratings is None or not played.intersection(agents) <= ratings.places.keys():
        ratings = fit(tallies, ratings.anchor if ratings else "random")
    connected = [name for name in agents if name in ratings.places and ratings[name].connected]
    busy = {name for pair in pending for name in pair}
    waiting = [name for name in agents if name not in connected and name not in busy]
    if waiting:
        newcomer = next((name for name in waiting if name in focus), waiting[0])
        return newcomer, _first_opponent(newcomer, agents, connected, ratings, cost)
    if len(connected) < 2:  # the games under way will connect the others
        return agents[0], agents[1]
    return _most_telling(connected, ratings, focus, cost, pending)


def _first_opponent(
    newcomer: str, agents: Sequence[str], connected: Sequence[str], ratings: Ratings, cost: Cost | None
) -> str:
    """The best connected agent for the first game of a newcomer, whose rating is taken to be the median."""
    if not connected:
        anchor = ratings.anchor or "random"
        return next((name for name in agents if name == anchor != newcomer), agents[agents[0] == newcomer])
    middle = float(np.median([ratings[name].rating for name in connected]))
    price = {name: cost(newcomer, name) if cost else 1.0 for name in connected}

    def worth(name: str) -> float:
        return float(_information(np.array((ratings[name].rating - middle) / ELO), 0.0, 0.0)) / price[name]

    return max(connected, key=worth)


def _most_telling(
    agents: Sequence[str], ratings: Ratings, focus: Collection[str], cost: Cost | None, pending: list[tuple[str, str]]
) -> tuple[str, str]:
    places = np.array([ratings.places[name] for name in agents])
    numbers = {name: number for number, name in enumerate(agents)}
    covariance = ratings.covariance[np.ix_(places, places)] / ELO**2
    rated = np.array([ratings[name].rating for name in agents]) / ELO
    matter = np.array([not focus or name in focus for name in agents], float)
    told = _information(rated[:, None] - rated[None, :], ratings.advantage[0] / ELO, ratings.draws)
    for one, other in pending:
        if one in numbers and other in numbers:
            i, j = numbers[one], numbers[other]
            change = covariance[:, i] - covariance[:, j]
            covariance = covariance - np.outer(change, change) * told[i, j] / (1 + told[i, j] * (change[i] - change[j]))
    gain = expected_gain(covariance, told, matter if matter.any() else np.ones(len(agents)))
    first, second = np.triu_indices(len(agents), 1)
    worth = gain[first, second]
    if cost is not None:
        worth = worth / np.array([cost(*pair) for pair in itertools.combinations(agents, 2)])
    best = int(worth.argmax())
    return agents[first[best]], agents[second[best]]


def _information(apart: np.ndarray, advantage: float, draws: float) -> np.ndarray:
    """The information of a pair of games with swapped seats about the differences `apart`, in natural units."""
    log_draws = math.log(draws) if draws else -math.inf
    told = np.zeros_like(apart)
    for seat in (advantage, -advantage):
        win, _, loss = outcome_odds(apart + seat, log_draws)
        told += (win + loss - (win - loss) ** 2) / 4
    return told


def expected_gain(covariance: np.ndarray, told: np.ndarray, matter: np.ndarray) -> np.ndarray:
    """The reduction of the summed variance of the ratings that matter, for each pair: [A, A].

    Ratings are taken relative to the mean of all. `covariance` is [A, A], `told` is the information of each pair,
    [A, A], and `matter` is 1 or 0 for each agent, [A].
    """
    covariance = covariance - covariance.mean(axis=0)
    covariance = covariance - covariance.mean(axis=1, keepdims=True)
    # einsum, because a matrix product would start threads: see ratings.py.
    shrinks = _variances(np.einsum("ik,kj->ij", covariance, matter[:, None] * covariance))
    return told * shrinks / (1 + told * _variances(covariance))


def _variances(covariance: np.ndarray) -> np.ndarray:
    """The variance of the difference of every two ratings, [A, A]."""
    own = covariance.diagonal()
    return own[:, None] + own[None, :] - 2 * covariance
