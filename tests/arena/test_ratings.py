"""Ratings are those of greatest likelihood, and their intervals cover the truth as often as they say."""

import math
import time

import numpy as np
import pytest

from ludus.arena.ratings import ELO, Games, Tally, fit, outcome_odds, pair_weight
from ludus.errors import BadOption
from tests.arena.simulated import everyone_meets, placements, play, probabilities, spread


@pytest.mark.parametrize(
    ("truth", "games", "draws"),
    [
        (spread(500, 600, 700, 850, 1000, 1100), 5, 0.5),
        (spread(500, 600, 700, 850, 1000, 1100), 5, 0.0),
        (spread(500, 900, 1300, 1700), 20, 2.0),
    ],
)
def test_the_intervals_cover_the_truth(truth, games, draws):
    random = np.random.default_rng(7)
    rounds, advantage = 1000, 60.0
    covered, seat, errors = dict.fromkeys(truth, 0), 0, []
    for _ in range(rounds):
        ratings = fit(everyone_meets(random, truth, games, advantage, draws))
        for row in ratings.rows:
            covered[row.name] += row.low <= truth[row.name] <= row.high
            errors.append(row.rating - truth[row.name])
        seat += ratings.advantage[1] <= advantage <= ratings.advantage[2]
    assert covered.pop("random") == rounds  # it is fixed
    for count in [*covered.values(), seat]:
        assert 0.93 <= count / rounds <= 0.97
    assert 0.94 <= np.mean(list(covered.values())) / rounds <= 0.96
    assert abs(np.mean(errors)) < np.std(errors) / 6  # and they hardly lean to a side


def test_the_likelihood_is_at_its_top():
    """By brute force: no parameter can be moved either way without loss, and the gradient is the slope."""
    random = np.random.default_rng(1)
    games = Games.of(everyone_meets(random, spread(500, 700, 800), 6, 60, 0.5))
    theta, covariance = games.maximise(prior=1.0)
    virtual = games.virtual(1.0)
    best, _, information = games.likelihood(theta, virtual, 1.0)
    for index in range(len(theta)):
        step = np.zeros(len(theta))
        step[index] = 1e-3
        up, down = (games.likelihood(theta + sign * step, virtual, 1.0) for sign in (1, -1))
        assert up[0] < best > down[0]
        assert (down[1] - up[1]) / 2e-3 == pytest.approx(information[index], abs=1e-4)
        assert up[1][index] == pytest.approx((up[0] - best) / 1e-3, abs=2e-2)
    free = np.ix_([1, 2, 3, 4], [1, 2, 3, 4])
    assert covariance[free] @ information[free] == pytest.approx(np.eye(4), abs=1e-9)


def test_two_agents_by_hand():
    """Without draws or seats, the rating is the logarithm of the odds, half a game added on each side."""
    ratings = fit([Tally("random", "a", 3, 0, 9, seated=False)])
    assert ratings["a"].rating == pytest.approx(500 + 400 * math.log10(9.5 / 3.5))
    reach = 1.959964 * ELO * math.sqrt(1 / 9.5 + 1 / 3.5)
    assert (ratings["a"].low, ratings["a"].high) == pytest.approx(
        (ratings["a"].rating - reach, ratings["a"].rating + reach)
    )
    assert ratings["a"][4:] == (12, 0.75, True)
    assert ratings["random"][1:6] == (500, 500, 500, 12, 0.25)
    assert ratings.rows[0].name == "a"
    assert ratings.advantage == (0, 0, 0)
    assert ratings.draws == 0


def test_expected_points_are_those_made():
    """What Davidson's draws give: with little prior, everybody's points are what the ratings foretell."""
    random = np.random.default_rng(2)
    tallies = everyone_meets(random, spread(500, 700, 900, 1000), 20, 60, 1.0)
    ratings = fit(tallies, prior=1e-9)
    points = dict.fromkeys((row.name for row in ratings.rows), 0.0)
    for tally in tallies:
        win, draw, _ = ratings.probability(tally.first, tally.second)
        points[tally.first] += 20 * (win + draw / 2)
        points[tally.second] += 20 * (1 - win - draw / 2)
    assert [points[row.name] for row in ratings.rows] == pytest.approx([row.score * row.games for row in ratings.rows])
    drawn = sum(20 * ratings.probability(tally.first, tally.second)[1] for tally in tallies)
    assert drawn == pytest.approx(sum(tally.draws for tally in tallies))


def test_the_order_of_games_does_not_matter():
    random = np.random.default_rng(3)
    tallies = everyone_meets(random, spread(500, 700, 800, 1200), 10, 60, 0.5)
    singles = []
    for tally in tallies:
        for place, count in enumerate(tally[2:5]):
            singles += [Tally(*tally[:2], *np.eye(3)[place].tolist())] * int(count)
    random.shuffle(singles)
    assert fit(map(Tally._make, singles)).rows == fit(tallies).rows


def test_an_undefeated_agent_is_rated_and_not_bounded():
    ratings = fit([Tally("a", "random", 10, 0, 0), Tally("random", "a", 0, 0, 10), Tally("random", "b", 4, 2, 4)])
    assert 900 < ratings["a"].rating < 1500
    assert ratings["a"].low > 500
    assert ratings["a"].high == math.inf
    assert ratings["b"].high < math.inf
    more = fit([Tally("a", "random", 100, 0, 0), Tally("random", "a", 0, 0, 100)])
    assert more["a"].rating == pytest.approx(500 + 400 * math.log10(200.5 / 0.5))
    winless = fit([Tally("a", "random", 0, 0, 10), Tally("random", "a", 10, 0, 0)])
    assert winless["a"].low == -math.inf < winless["a"].rating < winless["a"].high < 500


def test_a_chain_bounds_what_it_reaches():
    """Random never beats b, but took a point from a, who took one from b."""
    ratings = fit([Tally("random", "b", 0, 0, 20), Tally("a", "random", 9, 1, 0), Tally("b", "a", 9, 0, 1)])
    assert math.isfinite(ratings["b"].high)
    assert math.isfinite(ratings["a"].high)


def test_the_prior_hardly_moves_what_is_well_measured():
    random = np.random.default_rng(4)
    truth = spread(500, 700, 900, 1100)
    tallies = everyone_meets(random, truth, 200, 60, 0.5)
    with_prior, almost_without = fit(tallies), fit(tallies, prior=1e-9)
    for row in with_prior.rows:
        moved = abs(row.rating - almost_without[row.name].rating)
        assert moved <= (row.high - row.low) / 2 / 20  # of what the interval reaches to each side
    assert max(abs(with_prior[name].rating - rating) for name, rating in truth.items()) < 60


def test_moving_first_is_told_apart_from_strength():
    """Whoever moved first most would otherwise look stronger."""
    random = np.random.default_rng(5)
    truth = spread(500, 500)
    tallies = [play(random, truth, "agent1", "random", 900, 200), play(random, truth, "random", "agent1", 100, 200)]
    ratings = fit(tallies)
    assert ratings["agent1"].score > 0.65
    assert ratings["agent1"].low < 500 < ratings["agent1"].high
    assert ratings.advantage[1] < 200 < ratings.advantage[2]
    assert ratings.advantage[1] > 50
    unseated = fit([tally._replace(seated=False) for tally in tallies])
    assert unseated["agent1"].low > 550


def test_probabilities_come_back():
    random = np.random.default_rng(6)
    tallies = everyone_meets(random, spread(500, 800), 20000, 100, 0.7)
    expected = probabilities(300, 100, 0.7)
    assert fit(tallies).probability("agent1", "random") == pytest.approx(expected, abs=0.01)
    assert sum(outcome_odds(np.array(3.0), -math.inf)) == pytest.approx(1)
    assert outcome_odds(np.array(2000.0), 0.0) == (1, 0, 0)  # no overflow


def test_groups_that_never_met_are_flagged():
    apart = [Tally("c", "d", 8, 0, 2, seated=False), Tally("random", "a", 3, 0, 7, seated=False)]
    ratings = fit(apart)
    assert [(row.name, row.connected) for row in ratings.rows] == [
        ("a", True),
        ("random", True),
        ("c", False),
        ("d", False),
    ]
    assert ratings["c"].rating + ratings["d"].rating == pytest.approx(1000)  # around their own mean
    assert ratings["a"][1:] == pytest.approx(fit(apart[1:])["a"][1:])  # and the others do not touch it
    assert ratings["c"].low > ratings["c"].rating - 300


def test_without_its_anchor_the_mean_is_fixed():
    tallies = [Tally("a", "b", 8, 0, 2), Tally("b", "c", 5, 5, 5), Tally("x", "y", 1, 0, 1)]
    ratings = fit(tallies, anchor_rating=1500)
    assert ratings.anchor is None
    assert sum(ratings[name].rating for name in "abc") == pytest.approx(4500)
    assert [ratings[name].connected for name in "abcxy"] == [True] * 3 + [False] * 2
    assert ratings["a"].low < ratings["a"].rating < ratings["a"].high < math.inf
    assert fit(tallies, anchor="b").anchor == "b"
    assert fit(tallies, anchor=None).anchor is None


@pytest.mark.parametrize("players", [3, 4])
def test_the_intervals_of_games_with_more_players_are_cautious(players):
    random = np.random.default_rng(9)
    truth, covered = spread(500, 600, 750, 900, 1000, 1100), []
    for _ in range(200):
        ratings = fit(placements(random, truth, 60, players, pair_weight(players)))
        covered += [row.low <= truth[row.name] <= row.high for row in ratings.rows if row.name != "random"]
    assert 0.95 <= np.mean(covered) <= 0.985


def test_huge_counts_and_hopeless_ones_are_fitted_in_few_steps(monkeypatch):
    """Where rounding is greater than what a step gains, and where hardly anything bounds a rating."""
    looks = []
    likelihood = Games.likelihood
    monkeypatch.setattr(Games, "likelihood", lambda *given: looks.append(1) or likelihood(*given))
    random = np.random.default_rng(10)
    for _ in range(200):
        looks.clear()
        tallies = []
        for _ in range(int(random.integers(1, 20))):
            one, other = random.choice(6, 2, replace=False)
            counts = (random.random(3) < 0.5) * random.integers(0, 10 ** random.integers(1, 7), 3)
            tallies.append(Tally(f"a{one}", f"a{other}", *map(float, counts)))
        assert all(math.isfinite(row.rating) for row in fit(tallies).rows)
        assert len(looks) < 100


def test_who_plays_itself_says_nothing():
    games = [Tally("a", "random", 7, 0, 3)]
    assert fit([*games, Tally("a", "a", 50, 0, 0), Tally("b", "a", 0, 0, 0)]).rows == fit(games).rows
    assert fit([]).rows == []


def test_only_draws_and_only_first_moves_won():
    drawn = fit([Tally("a", "random", 0, 30, 0)])
    assert drawn["a"].rating == pytest.approx(500)
    assert drawn.draws > 10
    first = fit([Tally("a", "random", 30, 0, 0), Tally("random", "a", 30, 0, 0)])
    assert first["a"].rating == pytest.approx(500)
    assert 300 < first.advantage[0] < 2000


def test_what_cannot_be_fitted_is_refused():
    with pytest.raises(BadOption, match="from 0 on"):
        fit([Tally("a", "b", -1, 0, 0)])
    with pytest.raises(BadOption, match="prior must be above 0"):
        fit([Tally("a", "b", 1, 0, 0)], prior=0)


def test_two_hundred_agents_are_quick():
    random = np.random.default_rng(8)
    truth = spread(500, *np.linspace(500, 2500, 199))
    names, singles = list(truth), []
    for _ in range(20_000):
        one, other = random.choice(200, 2, replace=False)
        singles.append(play(random, truth, names[one], names[other], 5, 60, 0.5))
    began = time.process_time()
    ratings = fit(singles)
    assert time.process_time() - began < 5
    inside = [row.low <= truth[row.name] <= row.high for row in ratings.rows]
    assert np.mean(inside) > 0.85
