"""The speed of Sevn: python -m benchmarks.sevn (about two minutes)."""

import statistics

import numpy as np

import ludus
from benchmarks.measuring import Table, first_compile, rate
from ludus.graphs import build_kernel
from ludus.search.forest import Forest
from ludus.search.ucb1 import Ucb1


def searches(report: Table, base: int, goal: str) -> None:
    """UCT with one random playout a simulation, one thread, c = 1.4, from full boards."""
    game = ludus.make("sevn", base=base)
    simulations = 20_000
    forest = Forest(game, Ucb1(1.4), nodes=simulations + 1)
    starts = iter([game.start(seed) for seed in range(6)])

    def run() -> int:
        forest.plant(next(starts))
        return forest.search(simulations=simulations)

    run()
    rates = [rate(run) for _ in range(5)]
    figure = f"{statistics.median(rates):,.0f} simulations/s"
    report(f"UCT, sevn base={base}, full boards, {simulations:,} simulations, one thread", figure, "", goal)


def graphs(report: Table, base: int, goal: str) -> None:
    """Graphs of full boards, in one thread."""
    game = ludus.make("sevn", base=base).compile()
    shape, kernel, count = game.graph, build_kernel(), 1000
    assert shape is not None
    positions = [game.start(seed) for seed in range(count)]
    states = np.concatenate([position.states for position in positions])
    counts = np.array([len(position.actions) for position in positions], np.int32)
    actions = np.zeros((count, game.most_legal), np.int32)
    for row, position in enumerate(positions):
        actions[row, : counts[row]] = position.actions
    one = positions[0].graph()
    features = np.zeros((2 * count * len(one.features) + shape.nodes, shape.features), np.float32)
    arrows = np.zeros((2 * count * len(one.edges) + shape.edges, 3), np.int32)
    starts = np.zeros((count + 1, 2), np.int32)
    most = np.array([shape.nodes, shape.edges])
    players = np.zeros(count, np.int8)

    def run() -> int:
        return kernel(game.rules, states, players, actions, counts, most, features, arrows, starts)

    assert run() == count
    figure = f"{statistics.median(rate(run) for _ in range(5)):,.0f} graphs/s"
    what = f"{starts[-1, 0] / count:.0f} nodes, {starts[-1, 1] / count:.0f} edges"
    report(f"Graphs of full boards, sevn base={base}, one thread", figure, what, goal)


def greedy(report: Table) -> None:
    """Matches of greedy, which plays by the heuristic one move ahead."""
    game = ludus.make("sevn").compile()
    for other, games, goal in (("random", 100, "worth beating"), ("uct:100", 200, ""), ("uct:1000", 200, "")):
        result = ludus.play_match(game, ["greedy", other], games, seed=1, parallel=1)
        wins, _, losses = result.tally(0)
        report(f"greedy against {other}, sevn base=7, {games} games", f"{wins} : {losses}", str(result.score(0)), goal)


def run(report: Table) -> None:
    searches(report, 7, "100,000")
    searches(report, 9, "")
    searches(report, 11, "")
    graphs(report, 7, "20,000")
    graphs(report, 11, "")
    greedy(report)
    first_compile(report, "sevn")


if __name__ == "__main__":
    table = Table()
    run(table)
    table.finish("python -m benchmarks.sevn")
