"""The older estimator, checked by hand."""

import math

import numpy as np
import pytest

from ludus.arena.ratings import Tally, fit
from ludus.arena.seed_ratings import fit_seed
from tests.arena.simulated import everyone_meets, spread


def points_for(won, lost):
    """The Elo of so many points, each with half a game more."""
    return 400 * math.log10((won + 0.5) / (lost + 0.5))


def test_a_chain_by_hand():
    tallies = [Tally("a", "random", 6, 2, 2), Tally("b", "a", 3, 0, 1), Tally("a", "b", 0, 0, 4)]
    ratings = fit_seed(tallies)
    assert ratings["a"].rating == pytest.approx(500 + points_for(7, 3))
    assert ratings["b"].rating == pytest.approx(ratings["a"].rating + points_for(7, 1))
    assert [row.name for row in ratings.rows] == ["b", "a", "random"]
    assert ratings["random"][1:4] == (500, 500, 500)
    assert ratings["b"][4:] == (8, 7 / 8, True)
    spread_of_a = 1 / 7.5 + 1 / 3.5
    reach = 1.959964 * 400 / math.log(10) * math.sqrt(spread_of_a + 1 / 7.5 + 1 / 1.5)
    assert ratings["b"].high == pytest.approx(ratings["b"].rating + reach)


def test_two_opponents_are_weighed_by_games():
    tallies = [Tally("a", "random", 5, 0, 5), Tally("b", "random", 3, 0, 0), Tally("b", "a", 3, 0, 6)]
    ratings = fit_seed(tallies)
    by_random, by_a = 500 + points_for(3, 0), ratings["a"].rating + points_for(3, 6)
    # a has ten games with random and b three: so a comes first, and its games with b do not touch it.
    assert ratings["a"].rating == 500
    assert ratings["b"].rating == pytest.approx((3 * by_random + 9 * by_a) / 12)


def test_it_agrees_with_the_likelihood_on_many_games():
    random = np.random.default_rng(1)
    tallies = everyone_meets(random, spread(500, 650, 700, 800), 2000)
    likely = fit(tallies)
    for row in fit_seed(tallies).rows:
        assert row.rating == pytest.approx(likely[row.name].rating, abs=15)


def test_its_intervals_are_wider_than_the_likelihoods():
    """It leaves out what games say about agents further up the chain."""
    random = np.random.default_rng(2)
    tallies = everyone_meets(random, spread(500, 900, 1300, 1700), 50)
    assert fit_seed(tallies)["agent3"].low < fit(tallies)["agent3"].low


def test_groups_that_never_met_are_flagged():
    ratings = fit_seed([Tally("a", "random", 1, 0, 1), Tally("c", "d", 1, 0, 0), Tally("c", "e", 2, 0, 2)])
    flags = {row.name: row.connected for row in ratings.rows}
    assert flags == {"a": True, "random": True, "c": False, "d": False, "e": False}
    assert ratings["c"].rating == 500
    assert ratings["e"].rating == 500
    assert ratings["d"].rating == pytest.approx(500 - points_for(1, 0))


def test_without_its_anchor_it_starts_with_who_played_most():
    ratings = fit_seed([Tally("a", "b", 1, 0, 1), Tally("b", "c", 1, 0, 1)], anchor_rating=1000)
    assert ratings.anchor is None
    assert ratings["b"].rating == 1000
    assert fit_seed([]).rows == []
