"""The sequential test errs as rarely as it states, and p-values are as small by chance as they say."""

import itertools

import numpy as np
import pytest

from ludus.arena.sequential import Sequential, expected_score, p_value
from ludus.errors import BadOption
from tests.arena.simulated import probabilities

DECIDED = [0, 2]
SOME_DRAWS = [0, 0.5, 1, 1.5, 2]


def pair_points(random, rating, pairs, drawn=0.0, advantage=0.0):
    """A's points in pairs of games, [pairs]: its score is that of the rating, from both seats taken together.

    `drawn` is the share of draws, `advantage` how much more often whoever moves first wins.
    """
    score = expected_score(rating)
    total = np.zeros(pairs)
    for seat in (advantage, -advantage):
        win = score - drawn / 2 + seat
        assert 0 <= win <= 1 - drawn
        thrown = random.random(pairs)
        total += np.where(thrown < win, 1.0, np.where(thrown < win + drawn, 0.5, 0.0))
    return total


def run(points, **options):
    """The verdict, and the pairs that it took."""
    test = Sequential(**options)
    for each in points:
        if test.add(each):
            break
    return test.verdict, test.pairs


def verdicts(rating, rounds=400, most=1500, drawn=0.0, advantage=0.0, **options):
    random = np.random.default_rng(1)
    done = [run(pair_points(random, rating, most, drawn, advantage), **options) for _ in range(rounds)]
    share = {verdict: sum(one == verdict for one, _ in done) / rounds for verdict in ("better", "not better", None)}
    return share, np.mean([pairs for _, pairs in done])


@pytest.mark.parametrize(("drawn", "advantage"), [(0.0, 0.0), (0.5, 0.0), (0.0, 0.3), (0.4, 0.15)])
def test_errors_are_as_rare_as_stated(drawn, advantage):
    equal, _ = verdicts(0, drawn=drawn, advantage=advantage, by=80)
    assert equal["better"] <= 0.05
    assert equal["not better"] >= 0.94
    apart, _ = verdicts(80, drawn=drawn, advantage=advantage, by=80)
    assert apart["not better"] <= 0.05
    assert apart["better"] >= 0.94


def test_it_is_not_absurdly_cautious():
    share, pairs = verdicts(0, rounds=1000, by=80, error=0.1)
    assert 0.03 < share["better"] < 0.1
    # Wald's test knows both distributions, and cannot be beaten: ours needs no more than half as much again.
    (lose, _, win), (lost, _, won) = probabilities(-80), probabilities(0)
    drift = won * np.log(won / win) + lost * np.log(lost / lose)
    assert pairs * 2 < 1.5 * 0.9 * np.log(9) / drift


def test_great_differences_are_found_soon():
    assert verdicts(200)[1] < 25
    assert verdicts(400)[1] < 12
    assert verdicts(-200)[1] < 25
    assert verdicts(30, most=1500)[0][None] < 0.05  # and in between it ends as well


def test_looking_often_costs_nothing():
    """The gambler's wealth in a fair game is 1 on average, whatever was played: so is the mean over all outcomes."""
    for scores in (DECIDED, SOME_DRAWS):
        wealth = []
        for line in itertools.product(scores, repeat=4):
            test = Sequential(by=40)
            for points in line:
                test.add(points)
            wealth.append(test.error ** -test.progress[0])
        assert np.mean(wealth) == pytest.approx(1)


def test_a_verdict_stays():
    test = Sequential()
    while test.add(2) is None:
        pass
    pairs = test.pairs
    assert test.verdict == "better"
    assert test.progress[0] >= 1
    for _ in range(100):
        test.add(0)
    assert test.verdict == "better"
    assert test.pairs == pairs + 100
    assert test.points == 2 * pairs


def test_better_by_a_margin():
    """At 100 points, A is better by more than 0, and not by more than 150."""
    assert verdicts(100, rounds=100)[0]["better"] > 0.95
    assert verdicts(100, rounds=100, better=150, by=50)[0]["not better"] > 0.95


@pytest.mark.parametrize("options", [{"by": 0}, {"by": -5}, {"by": 1e9}, {"error": 0}, {"error": 0.5}])
def test_what_makes_no_test_is_refused(options):
    with pytest.raises(BadOption, match="must be above 0"):
        Sequential(**options)


def test_the_largest_differences_are_computed():
    for better in (-3999, 0, 3999):
        test = Sequential(better=better, by=1)
        for points in (0, 1, 2):
            test.add(points)
        assert np.isfinite(test.progress).all()
    for better in (4000, float("nan"), float("-inf")):
        with pytest.raises(BadOption, match="better must be within"):
            Sequential(better=better, by=1)


def test_points_out_of_range_are_refused():
    with pytest.raises(BadOption, match="from 0 to 2 points, not 3"):
        Sequential().add(3)
    with pytest.raises(BadOption, match=r"0, 0\.5, 1, 1\.5 or 2 points, not 1\.2"):
        p_value([1.2])


def test_p_values_by_hand():
    assert p_value([]) == 1
    assert p_value([1, 1, 1]) == 1
    assert p_value([2] * 5) == pytest.approx(1 / 32)
    assert p_value([1.5] * 5 + [1] * 9) == pytest.approx(1 / 32)  # what was even says nothing
    assert p_value([2, 0]) == pytest.approx(3 / 4)
    assert p_value([0] * 5) == pytest.approx(1)


@pytest.mark.parametrize("pairs", [[2, 1.5, 0.5, 2, 1, 1.5, 2], [0.5, 0.5, 2, 2, 0], [1.5, 0, 0, 1.5]])
def test_p_values_by_counting_all_signs(pairs):
    parts = [points - 1 for points in pairs]
    sums = [np.dot(signs, np.abs(parts)) for signs in itertools.product((-1, 1), repeat=len(parts))]
    assert p_value(pairs) == pytest.approx(np.mean(np.array(sums) >= sum(parts) - 1e-9))


@pytest.mark.parametrize("games", [6, 20, 100])
@pytest.mark.parametrize(("drawn", "advantage"), [(0.0, 0.0), (0.5, 0.0), (0.1, 0.4)])
def test_p_values_of_equals(games, drawn, advantage):
    """A p-value of 5 % or less comes up in 5 % of matches between equals or less, and not far less."""
    random = np.random.default_rng(games)
    rounds = 3000
    values = np.array([p_value(pair_points(random, 0, games // 2, drawn, advantage)) for _ in range(rounds)])
    for level in (0.01, 0.05, 0.2):
        assert np.mean(values <= level) <= level + 3 * np.sqrt(level * (1 - level) / rounds)
    if games == 100:
        assert np.mean(values <= 0.05) > 0.025
    weaker = [p_value(pair_points(random, -50, games // 2, drawn)) for _ in range(300)]
    assert np.mean(np.array(weaker) <= 0.05) < 0.05


def test_p_values_find_who_is_better():
    random = np.random.default_rng(1)
    values = np.array([p_value(pair_points(random, 100, 100)) for _ in range(300)])
    assert np.mean(values <= 0.05) > 0.95
    assert p_value([2] * 500) == pytest.approx(2.0**-500)
    assert p_value([1.5] * 3000 + [0.5] * 3000) == pytest.approx(0.5, abs=0.01)
