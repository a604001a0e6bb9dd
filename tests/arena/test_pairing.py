"""The next pair is the one that tells most, and so fewer games are needed than by chance."""

import time

import numpy as np
import pytest

from ludus.arena.pairing import expected_gain, next_pairing
from ludus.arena.ratings import Tally, fit
from ludus.errors import BadOption
from tests.arena.simulated import everyone_meets, play, spread


def both_seats(random, truth, one, other):
    return [play(random, truth, *pair, 1, 40, 0.5) for pair in ((one, other), (other, one))]


def tournament(truth, pairs, choose, seed):
    """So many pairs of games, each chosen from what was played before."""
    random = np.random.default_rng(seed)
    tallies = []
    for _ in range(pairs):
        tallies += both_seats(random, truth, *choose(random, tallies))
    return fit(tallies)


def summed_variance(ratings):
    """Of the ratings, each less the mean of all."""
    centred = np.eye(len(ratings.rows)) - 1 / len(ratings.rows)
    return (centred @ ratings.covariance @ centred).trace()


def test_it_beats_chance():
    """For the same number of games, the variance of the differences between ratings is smaller, and their error."""
    truth = spread(500, 700, 900, 1000, 1200, 1250, 1400, 1700, 1900, 2000)
    names = list(truth)

    def by_chance(random, tallies):
        return [names[place] for place in random.choice(len(names), 2, replace=False)]

    def by_information(random, tallies):
        return next_pairing(names, tallies)

    variance, error = {}, {}
    for choose in (by_chance, by_information):
        fits = [tournament(truth, 120, choose, seed) for seed in range(12)]
        variance[choose] = np.mean([summed_variance(ratings) for ratings in fits])
        error[choose] = np.mean([np.var([row.rating - truth[row.name] for row in each.rows]) for each in fits])
    assert variance[by_information] < 0.8 * variance[by_chance]
    assert error[by_information] < error[by_chance]


def test_the_gain_is_what_one_more_pair_of_games_brings():
    """By brute force: two more games, half a point each, and the fit made anew."""
    random = np.random.default_rng(1)
    tallies = everyone_meets(random, spread(500, 520, 480, 500), 200)
    ratings = fit(tallies)
    names = [row.name for row in ratings.rows]
    gain = expected_gain(ratings.covariance, np.full((4, 4), 2 / 4 / 173.7178**2), np.ones(4))
    for i, j in [(0, 1), (0, 3), (2, 1)]:
        more = fit([*tallies, *(Tally(*pair, 0.5, 0, 0.5) for pair in ((names[i], names[j]), (names[j], names[i])))])
        assert summed_variance(ratings) - summed_variance(more) == pytest.approx(gain[i, j], rel=0.05)


def test_newcomers_are_connected_first():
    games = [Tally("a", "random", 9, 0, 1), Tally("b", "random", 60, 0, 40), Tally("b", "a", 5, 0, 5)]
    tallies = [tally._replace(seated=False) for tally in games]
    assert next_pairing(["random", "a", "b", "new"], tallies) == ("new", "b")  # b is in the middle
    assert next_pairing(["x", "random", "y"], []) == ("x", "random")
    assert next_pairing(["x", "y"], []) == ("x", "y")
    assert next_pairing(["random", "a", "b", "new", "newer"], tallies, focus=["newer"])[0] == "newer"
    apart = [*tallies, Tally("c", "d", 3, 0, 3)]  # both have games, and no link to the others
    assert next_pairing(["random", "a", "b", "c", "d"], apart) == ("c", "b")


def test_everybody_is_soon_connected():
    random = np.random.default_rng(2)
    truth = spread(*range(500, 1700, 100))
    tallies = []
    for _ in range(len(truth) - 1):
        tallies += both_seats(random, truth, *next_pairing(list(truth), tallies))
    ratings = fit(tallies)
    assert len(ratings.rows) == len(truth)
    assert all(row.connected for row in ratings.rows)


def test_who_is_uncertain_plays_and_foregone_games_are_not_played():
    random = np.random.default_rng(3)
    truth = spread(500, 1500, 1550, 1600)
    tallies = [*everyone_meets(random, truth, 50), Tally("new", "agent2", 1, 0, 1), Tally("agent2", "new", 1, 0, 1)]
    pair = next_pairing([*truth, "new"], tallies)
    assert "new" in pair
    assert "random" not in pair


def test_focus_and_cost():
    random = np.random.default_rng(4)
    tallies = everyone_meets(random, spread(500, 500, 500, 500, 500), 30)
    names = ["random", "agent1", "agent2", "agent3", "agent4"]
    assert "agent3" in next_pairing(names, tallies, focus=["agent3"])
    cheap = {"agent1", "agent4"}
    assert set(next_pairing(names, tallies, cost=lambda *pair: 1.0 if set(pair) == cheap else 100.0)) == cheap


def test_what_is_under_way_counts_as_played():
    random = np.random.default_rng(5)
    tallies = everyone_meets(random, spread(500, 500, 500, 500), 10)
    names, pending = ["random", "agent1", "agent2", "agent3"], []
    for _ in range(3):
        pending.append(next_pairing(names, tallies, pending=pending))
    assert len({frozenset(pair) for pair in pending}) == 3
    assert next_pairing(["random", "x", "y"], [], pending=[("x", "random")]) == ("y", "random")
    assert set(next_pairing(["random", "x"], [], pending=[("x", "random")])) == {"x", "random"}


def test_old_ratings_are_made_anew_where_somebody_is_missing():
    old = [Tally("a", "random", 6, 0, 4)]
    new = [*old, Tally("b", "a", 1, 0, 1)]
    assert "b" in next_pairing(["random", "a", "b"], new, fit(old))
    assert next_pairing(["x", "y", "z"], [], fit([Tally("y", "w", 1, 0, 1)], anchor="y")) == ("x", "y")


def test_one_agent_is_not_enough():
    with pytest.raises(BadOption, match="two different agents"):
        next_pairing(["a", "a"], [])


def test_two_hundred_agents_are_quick():
    random = np.random.default_rng(6)
    truth = spread(*np.linspace(500, 2500, 200))
    names = list(truth)
    tallies = [play(random, truth, names[i], names[i - k], 5) for i in range(1, 200) for k in (1, 2, 5) if i >= k]
    ratings = fit(tallies)
    times = []
    for _ in range(5):
        began = time.perf_counter()
        one, other = next_pairing(names, tallies, ratings, cost=lambda *pair: 1.0)
        times.append(time.perf_counter() - began)
    assert min(times) < 0.05
    assert abs(truth[one] - truth[other]) < 1000
