"""The interval covers the truth as often as it says, also at the ends."""

import numpy as np
import pytest

from ludus.arena.score import score_of
from ludus.intervals import wilson_interval


def coverage(results, truth):
    """How often the interval of a row of results [repetitions, games] contains the truth."""
    means, games = results.mean(axis=1), results.shape[1]
    intervals = {mean: wilson_interval(mean, games) for mean in np.unique(means).tolist()}
    return np.mean([intervals[mean][0] <= truth <= intervals[mean][1] for mean in means.tolist()])


@pytest.mark.parametrize("games", [20, 100, 400])
def test_coverage_of_wins_and_losses(games):
    random = np.random.default_rng(games)
    covered = []
    for truth in np.linspace(0.05, 0.95, 19):
        covered.append(coverage((random.random((4000, games)) < truth).astype(float), truth))
    # Counts are whole numbers, so the coverage of a single truth goes up and down around 95 %.
    assert 0.94 < np.mean(covered) < 0.97
    assert min(covered) > 0.90


def test_coverage_with_draws_is_cautious():
    random = np.random.default_rng(0)
    results = random.choice([0.0, 0.5, 1.0], p=[0.2, 0.4, 0.4], size=(4000, 60))
    assert coverage(results, 0.6) > 0.95


def test_the_ends():
    assert wilson_interval(1.0, 10) == (pytest.approx(0.7225, abs=1e-4), 1.0)
    assert wilson_interval(0.0, 10) == (0.0, pytest.approx(0.2775, abs=1e-4))
    assert wilson_interval(0.5, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("mean", "games"), [(0.3, 50), (0.5, 10), (0.97, 200)])
def test_the_ends_solve_the_equation_that_defines_them(mean, games):
    """At both ends the mean is 1.96 standard deviations, those of that end, from it."""
    for end in wilson_interval(mean, games):
        assert abs(mean - end) / (end * (1 - end) / games) ** 0.5 == pytest.approx(1.959964, abs=1e-5)


def test_a_score_in_words():
    assert str(score_of(2.5, 4)) == "62.5 % (21.9 to 90.8)"
