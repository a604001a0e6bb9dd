"""Games that repeat others count once, and the ratings stay honest."""

import numpy as np
import pytest

from ludus.arena.ratings import Tally, fit
from ludus.arena.tallies import GameCounts, Result
from tests.arena.simulated import probabilities

POINTS = {1.0: (1.0, -1.0), 0.5: (0.0, 0.0), 0.0: (-1.0, 1.0)}
"""The results of both seats, by the points of the first."""


def counted(*games):
    """Counts of games given as (agents, opening, actions, values)."""
    counts = GameCounts()
    counts.add(Result(number, *game) for number, game in enumerate(games, 1))
    return counts


def test_a_game_that_is_repeated_counts_once():
    counts = counted(*[(("a", "b"), 0, "[1,2]", (1.0, -1.0))] * 7)
    assert counts.tallies() == [Tally("a", "b", 1, 0, 0)]
    assert counts.tallies(repeats=True) == [Tally("a", "b", 7, 0, 0)]
    assert (counts.games, counts.repeated, counts.last) == (7, 6, 7)


@pytest.mark.parametrize(
    "other",
    [
        (("a", "b"), 0, "[1,3]", (1.0, -1.0)),
        (("b", "a"), 0, "[1,2]", (1.0, -1.0)),
        (("a", "c"), 0, "[1,2]", (1.0, -1.0)),
        (("a", "b"), 1, "[1,2]", (1.0, -1.0)),
        (("a", "b"), 0, "[1,2]", (-1.0, 1.0)),
    ],
)
def test_other_moves_seats_agents_openings_or_results_are_other_games(other):
    counts = counted((("a", "b"), 0, "[1,2]", (1.0, -1.0)), other)
    assert counts.repeated == 0
    assert sum(sum(tally[2:5]) for tally in counts.tallies()) == 2


def test_repeated_games_keep_the_score():
    """Three wins by one game and a loss by another are two games with a score of 75 %."""
    won, lost = (("a", "b"), 0, "[1]", (1.0, -1.0)), (("a", "b"), 0, "[2]", (-1.0, 1.0))
    assert counted(won, won, won, lost).tallies() == [Tally("a", "b", 1.5, 0, 0.5)]


def test_openings_are_weighed_apart():
    """A thousand repeats without an opening do not drown ten games with one."""
    same = [(("a", "b"), 0, "[1]", (1.0, -1.0))] * 1000
    others = [(("a", "b"), 2, f"[{number}]", (-1.0, 1.0)) for number in range(10)]
    assert counted(*same, *others).tallies() == [Tally("a", "b", 1, 0, 10)]


def test_games_of_three_players_and_of_an_agent_against_itself():
    game = (("a", "b", "b"), 0, "[1]", (1.0, -1.0, 0.0))
    assert counted(game, game).tallies() == [Tally("a", "b", pytest.approx(4 / 3), 0, 0, seated=False)]
    assert counted((("a", "a"), 0, "[1]", (1.0, -1.0))).tallies() == []


def test_counts_can_be_added_to():
    counts = counted((("a", "b"), 0, "[1]", (1.0, -1.0)))
    counts.add(
        [Result(2, ("a", "b"), 0, "[1]", (1.0, -1.0)), Result(3, ("b", "a"), 0, "[1]", (0.0, 0.0), failed=False)]
    )
    assert (counts.games, counts.repeated, counts.last) == (3, 1, 3)
    assert counts.agents == {"a", "b"}
    assert counts.novelty(0) == {frozenset("ab"): 3 / 4}
    assert counts.novelty(2) == {}


def test_failures_are_counted_by_who_failed():
    counts = GameCounts()
    counts.add(Result(number, ("a", "b"), 0, f"[{number}]", (1.0, -1.0), failed=True) for number in (1, 2))
    assert counts.failures == {"b": 2}


# --- simulated --------------------------------------------------------------------------------------------------------


def rating_of(tallies):
    return fit(tallies, "random", 0.0)["agent"]


def deterministic_match(random, rating, openings, games):
    """Two agents that always answer alike, so that each opening and seat has one game; openings are drawn at random."""
    played = []
    for seats, apart in ((("agent", "random"), rating), (("random", "agent"), -rating)):
        outcomes = random.choice([1.0, 0.5, 0.0], openings, p=probabilities(apart, 60, 0.5)).tolist()
        for opening in random.integers(openings, size=games // 2).tolist():
            played.append((seats, 4, f"[{opening}]", POINTS[outcomes[opening]]))
    return counted(*played)


def test_intervals_hold_the_strength_of_agents_that_always_answer_alike():
    """Counted in full, 600 games from 30 openings pass for 600 results, though they are 60."""
    random = np.random.default_rng(1)
    once, in_full = [], []
    for _ in range(300):
        counts = deterministic_match(random, 150, 30, 600)
        assert counts.games - counts.repeated <= 60
        for held, tallies in ((once, counts.tallies()), (in_full, counts.tallies(repeats=True))):
            row = rating_of(tallies)
            held.append(row.low <= 150 <= row.high)
    assert np.mean(once) > 0.92
    assert np.mean(in_full) < 0.6


def random_match(random, lines, games):
    """Agents that play at random: each game is drawn from a few possible ones, some of them likely."""
    played = []
    for seats, (likely, results) in lines.items():
        for line in random.choice(len(likely), games // 2, p=likely).tolist():
            played.append((seats, 0, f"[{line}]", POINTS[results[line]]))
    return counted(*played)


def expected(lines):
    """The rating at which the scores are those of the lines by their likelihoods, without the noise of few games."""
    tallies = []
    for (first, second), (likely, results) in lines.items():
        shares = [sum(share for share, got in zip(likely, results, strict=True) if got == points) for points in POINTS]
        tallies.append(Tally(first, second, *(1e6 * share for share in shares)))
    return rating_of(tallies).rating


def test_ratings_of_agents_that_play_at_random_stay_where_they_were():
    """Short games are won and likely, long ones lost and rare: one game of each kind would lose most of the wins."""
    random = np.random.default_rng(2)
    likely = np.array([0.3, 0.2, 0.15, *[0.35 / 40] * 40])
    results = [1.0, 1.0, 0.5, *([0.0] * 25), *([1.0] * 15)]
    lines = {("agent", "random"): (likely, results), ("random", "agent"): (likely, [1 - got for got in results])}
    truth = expected(lines)
    found, held, one_of_each = [], [], []
    for _ in range(200):
        counts = random_match(random, lines, 400)
        row = rating_of(counts.tallies())
        found.append(row.rating)
        held.append(row.low <= truth <= row.high)
        kept = [
            Tally(*agents, *(float(sum(POINTS[points] == values for values in kinds)) for points in POINTS))
            for (agents, _), kinds in distinct(counts, lines).items()
        ]
        one_of_each.append(rating_of(kept).rating)
    assert np.mean(found) == pytest.approx(truth, abs=5)
    assert np.mean(held) > 0.97
    assert np.mean(one_of_each) < truth - 50


def distinct(counts, lines):
    """The results of the different games of each group, once each."""
    kinds = {}
    for (agents, opening), group in counts.groups.items():
        results = lines[agents][1]
        seen = [line for line in range(len(results)) if hash((f"[{line}]", POINTS[results[line]])) in group.lines]
        kinds[agents, opening] = [POINTS[results[line]] for line in seen]
    return kinds
