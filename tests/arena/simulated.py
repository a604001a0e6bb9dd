"""Tournaments between agents of known strength: what the statistics are tested against."""

import itertools
import math

import numpy as np

from ludus.arena.ratings import ELO, Tally, outcome_odds


def probabilities(apart, advantage=0.0, draws=0.0):
    """Win, draw and loss of the agent that moves first and is so many points above the other."""
    odds = outcome_odds(np.array((apart + advantage) / ELO), math.log(draws) if draws else -math.inf)
    return np.array(odds)


def play(random, truth, first, second, games, advantage=0.0, draws=0.0):
    """A tally of games in which `first` moves first; `truth` has the rating of every agent."""
    chances = probabilities(truth[first] - truth[second], advantage, draws)
    return Tally(first, second, *map(float, random.multinomial(games, chances)))


def everyone_meets(random, truth, games, advantage=0.0, draws=0.0):
    """Every agent moves first in so many games against every other."""
    pairs = [(one, other) for one in truth for other in truth if one != other]
    return [play(random, truth, *pair, games, advantage, draws) for pair in pairs]


def placements(random, truth, games, players, weight):
    """Games of so many agents each, placed by Plackett and Luce's model; each pair of a game counts `weight`.

    Every pair by itself then follows Bradley and Terry's model.
    """
    names, tallies = list(truth), []
    for _ in range(games):
        seats = [names[place] for place in random.choice(len(names), players, replace=False)]
        placed = sorted(seats, key=lambda name: truth[name] / ELO + random.gumbel(), reverse=True)
        tallies += [Tally(*pair, weight, 0.0, 0.0, seated=False) for pair in itertools.combinations(placed, 2)]
    return tallies


def spread(*ratings):
    """So many agents, the first of them the anchor."""
    return {"random" if number == 0 else f"agent{number}": float(rating) for number, rating in enumerate(ratings)}
