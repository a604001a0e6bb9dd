"""Who plays next: the pair whose games are expected to tell most about the ratings, for what they cost.

A pair of games with swapped seats adds information to the likelihood: twice the variance of the score that the ratings
foretell, in the direction of the two agents' difference. From the covariance of the ratings follows by how much the
variances of all differences between them would shrink (Sherman and Morrison), for every pair at once. So agents of
similar strength and with few games meet; a foregone conclusion is not played. Designs of experiments call this
A-optimality. Differences between all, not those to the anchor alone: otherwise most games would go into the foot of the
ladder, where they help every agent a little and the comparison of two good ones not at all.

Before that everybody must be connected to the anchor by games, as otherwise nothing can be compared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Sequence

import numpy as np

from ludus.arena.ratings import ELO, Ratings, Tally, fit, outcome_odds
from ludus.errors import BadOption

Cost = Callable[[str, str], float]
"""What a game of these two costs, in any unit, such as seconds, whoever moves first."""


def next_pairing(
    agents: Sequence[str],
    tallies: Iterable[Tally],
    ratings: Ratings | None = None,
    focus: Collection[str] = (),
    cost: Cost | None = None,
    pending: Iterable[tuple[str, str]] = (),
) -> tuple[str, str]:
    """Two agents that should play a pair of games with swapped seats, the first of them to move first in the first.

    `ratings` are those of the tallies; they are made where not given, or where somebody who has played lacks one.
    `focus` names the agents whose ratings matter: all, if empty. `pending` are pairs that are being played already:
    they count as played, so that several games can be under way at once.
    """
    agents = list(dict.fromkeys(agents))
    if len(agents) < 2:
        raise BadOption(f"the arena needs two different agents at least, not {len(agents)}")
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
    """Of those connected, the one in the middle: a newcomer may be anywhere, and half of them are on either side."""
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
    """What a pair of games with swapped seats tells about a difference of ratings, in natural units; its shape."""
    log_draws = math.log(draws) if draws else -math.inf
    told = np.zeros_like(apart)
    for seat in (advantage, -advantage):
        win, _, loss = outcome_odds(apart + seat, log_draws)
        told += (win + loss - (win - loss) ** 2) / 4
    return told


def expected_gain(covariance: np.ndarray, told: np.ndarray, matter: np.ndarray) -> np.ndarray:
    """By how much the variance of the ratings that matter shrinks in sum, each less the mean of all: [A, A], by pair.

    `covariance` and `told`, the information of each pair, are [A, A], `matter` [A].
    """
    covariance = covariance - covariance.mean(axis=0)
    covariance = covariance - covariance.mean(axis=1, keepdims=True)
    # einsum, as a product of matrices would start threads: see ratings.py.
    shrinks = _variances(np.einsum("ik,kj->ij", covariance, matter[:, None] * covariance))
    return told * shrinks / (1 + told * _variances(covariance))


def _variances(covariance: np.ndarray) -> np.ndarray:
    """Of the difference of every two ratings, [A, A]."""
    own = covariance.diagonal()
    return own[:, None] + own[None, :] - 2 * covariance
