"""The statistics of the arena on simulated tournaments: the figures of docs/arena.md. Takes some minutes.

python -m benchmarks.ratings
"""

import math
import time
from collections.abc import Callable

import numpy as np

from benchmarks.measuring import Table
from ludus.arena.pairing import next_pairing
from ludus.arena.ratings import Ratings, Tally, fit, pair_weight
from ludus.arena.seed_ratings import fit_seed
from ludus.arena.sequential import Sequential, p_value
from tests.arena.simulated import everyone_meets, placements, play, spread
from tests.arena.test_sequential import pair_points

LADDER = spread(500, 700, 900, 1000, 1200, 1250, 1400, 1700, 1900, 2000)


def speed(report: Table) -> None:
    random = np.random.default_rng(1)
    truth = spread(*np.linspace(500, 2500, 200))
    names, games = list(truth), []
    for _ in range(100_000):
        one = int(random.integers(200))
        games.append(play(random, truth, names[one], names[(one + int(random.integers(1, 20))) % 200], 1, 60, 0.5))
    times = []
    for _ in range(5):
        began = time.perf_counter()
        ratings = fit(games)
        times.append(time.perf_counter() - began)
    report("Ratings of 200 agents from 100,000 single games", f"{1000 * np.median(times):.0f} ms", goal="2 s")
    times = []
    for _ in range(5):
        began = time.perf_counter()
        next_pairing(names, games[:1], ratings, cost=lambda *pair: 1.0)
        times.append(time.perf_counter() - began)
    report("The next pairing of 200 agents", f"{1000 * np.median(times):.0f} ms", goal="50 ms")


def coverage(report: Table) -> None:
    """How often the intervals contain the true rating, over 1,000 tournaments; mean, worst and best agent."""
    for truth, games, draws in (
        (spread(500, 600, 700, 850, 1000, 1100), 2, 0.5),
        (spread(500, 600, 700, 850, 1000, 1100), 5, 0.5),
        (spread(500, 600, 700, 850, 1000, 1100), 20, 0.5),
        (spread(500, 600, 700, 850, 1000, 1100), 5, 0.0),
        (spread(500, 600, 700, 850, 1000, 1100), 5, 2.0),
        (spread(500, 900, 1300, 1700, 2100), 10, 0.5),
        (spread(500, 700), 5, 0.5),
        (spread(500, 700), 20, 0.5),
    ):
        random = np.random.default_rng(2)
        hits = np.array([hit(truth, fit(everyone_meets(random, truth, games, 60, draws))) for _ in range(1000)])
        share = f"{100 * hits.mean():.1f} % ({100 * hits.mean(0).min():.1f} to {100 * hits.mean(0).max():.1f})"
        apart = max(truth.values()) - 500
        what = f"Coverage: {len(truth)} agents up to {apart:.0f} apart, 2 x {games} games a pair, nu = {draws:g}"
        report(what, share, goal="93 to 97 %")


def more_players(report: Table) -> None:
    """Coverage with more than two players, where a pair has less weight than a game; and with full weight."""
    truth = spread(500, 600, 750, 900, 1000, 1100)
    for players in (3, 4):
        shares = []
        for weight in (pair_weight(players), 1.0):
            random = np.random.default_rng(7)
            hits = [hit(truth, fit(placements(random, truth, 60, players, weight))) for _ in range(1000)]
            shares.append(f"{100 * np.mean(hits):.1f} %")
        report(f"Coverage: 60 games of {players} players, 6 agents", shares[0], f"pairs counted in full: {shares[1]}")


def older(report: Table) -> None:
    """Errors of both estimators, without draws: with draws, the older ratings have another scale."""
    for games in (5, 20, 100):
        random = np.random.default_rng(6)
        errors: dict[Callable[[list[Tally]], Ratings], list[float]] = {fit: [], fit_seed: []}
        for _ in range(300):
            tallies = everyone_meets(random, LADDER, games, 60)
            for method, found in errors.items():
                found.append(np.mean([(row.rating - LADDER[row.name]) ** 2 for row in method(tallies).rows]))
        ours, theirs = (math.sqrt(np.mean(found)) for found in errors.values())
        what = f"Error of a rating, 10 agents up to 1500 apart, 2 x {games} games a pair"
        report(what, f"{ours:.0f} points", f"older estimator: {theirs:.0f}")


def hit(truth: dict[str, float], ratings: Ratings) -> list[bool]:
    return [ratings[name].low <= rating <= ratings[name].high for name, rating in truth.items() if name != "random"]


def pairing(report: Table) -> None:
    """Ten agents over 1,500 points, pairs of games chosen one after the other."""
    names = list(LADDER)
    centred = np.eye(len(names)) - 1 / len(names)
    for pairs in (60, 150):
        shown = []
        for by_information in (True, False):
            variance, errors, hits = [], [], []
            for seed in range(200):
                random = np.random.default_rng(seed)
                tallies: list[Tally] = []
                for _ in range(pairs):
                    one, other = next_pairing(names, tallies) if by_information else random.choice(names, 2, False)
                    for seats in ((one, other), (other, one)):
                        tallies.append(play(random, LADDER, *seats, 1, 40, 0.5))
                ratings = fit(tallies)
                if len(ratings.rows) < len(names):
                    continue  # an agent has not played at all
                variance.append((centred @ ratings.covariance @ centred).trace() / (len(names) - 1))
                errors.append(np.var([row.rating - LADDER[row.name] for row in ratings.rows], ddof=1))
                hits.append(hit(LADDER, ratings))
            shown.append(
                f"{math.sqrt(np.mean(variance)):.0f} stated, {math.sqrt(np.mean(errors)):.0f} true, "
                f"{100 * np.mean(hits):.1f} % covered"
            )
        report(f"Standard error of a rating after {2 * pairs} games", shown[0], f"random pairs: {shown[1]}")


def sequential(report: Table) -> None:
    """Error rates and games of the test at 5 % and 50 points, beside the usual test of chess engines."""
    for drawn in (0.0, 0.5):
        for rating in (-100, 0, 25, 50, 100, 200, 400):
            if abs(rating) >= 200 and drawn:
                continue  # this share of draws is impossible with this score
            random = np.random.default_rng(3)
            wrong, games, their_wrong, their_games = 0, 0, 0, 0
            rounds = 1000
            for _ in range(rounds):
                points = pair_points(random, rating, 3000, drawn)
                test = Sequential()
                for each in points:
                    if test.add(each):
                        break
                games += 2 * test.pairs
                wrong += test.verdict == {True: "better", False: "not better"}[rating <= 0]
                verdict, pairs = likelihood_ratio(points, 50)
                their_games += 2 * pairs
                their_wrong += verdict == (rating <= 0)
            between = 0 < rating < 50
            told = [
                f"{100 * count / rounds:.1f} % {'not better' if between else 'wrong'}, {total / rounds:.0f} games"
                for count, total in ((wrong, games), (their_wrong, their_games))
            ]
            what = f"Sequential test, true difference {rating}, {100 * drawn:.0f} % draws"
            report(what, told[0], f"likelihood ratio: {told[1]}", "" if between else "5 % wrong")


def likelihood_ratio(points: np.ndarray, by: float) -> tuple[bool, int]:
    """The generalised sequential likelihood-ratio test on pair scores: (is the verdict "better", number of pairs)."""
    high = 1 / (1 + 10 ** (-by / 400))
    number, scores = np.arange(1, len(points) + 1), points / 2
    mean = np.cumsum(scores) / number
    variance = np.maximum(np.cumsum(scores**2) / number - mean**2, 0.005)
    variance[:3] = 0.25
    ratio = number * (high - 0.5) * (2 * mean - 0.5 - high) / (2 * variance)
    crossed = np.nonzero(np.abs(ratio) >= math.log(0.95 / 0.05))[0]
    end = int(crossed[0]) if len(crossed) else len(points) - 1
    return bool(ratio[end] > 0), end + 1


def p_values(report: Table) -> None:
    for games in (10, 20, 100, 400):
        shares = []
        for drawn, advantage in ((0.0, 0.0), (0.5, 0.0), (0.1, 0.4)):
            random = np.random.default_rng(4)
            small = [p_value(pair_points(random, 0, games // 2, drawn, advantage)) <= 0.05 for _ in range(4000)]
            shares.append(f"{100 * np.mean(small):.1f} %")
        random = np.random.default_rng(5)
        skewed = [p_value(random.choice([1.5, 0.0], games // 2, p=[2 / 3, 1 / 3])) <= 0.05 for _ in range(4000)]
        what = f"p <= 5 % between equals, {games} games: no draws, half draws, strong first move"
        report(what, ", ".join(shares), f"equal scores, very skewed: {100 * np.mean(skewed):.1f} %", "5 %")


def run(report: Table) -> None:
    speed(report)
    coverage(report)
    more_players(report)
    older(report)
    sequential(report)
    p_values(report)
    pairing(report)


if __name__ == "__main__":
    table = Table()
    run(table)
    table.finish("python -m benchmarks.ratings")
