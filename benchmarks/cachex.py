"""Cachex in figures: python -m benchmarks.cachex (about two minutes; OpenSpiel must be installed)."""

import time

import pyspiel

import ludus
from benchmarks.measuring import Table, first_compile, in_turn
from ludus.agents import make_agent
from ludus.search.forest import Forest
from ludus.search.solver import value_of
from ludus.search.ucb1 import Ucb1


def against_hex(report: Table, n: int, simulations: int) -> None:
    """UCT with one random playout a simulation, one thread, c = 1.4, from the empty board; OpenSpiel plays Hex."""
    game = ludus.make("cachex", n=n)
    forest = Forest(game, Ucb1(1.4), nodes=simulations + 1)
    theirs = pyspiel.load_game(f"hex(board_size={n})")
    state = theirs.new_initial_state()

    def run_ours() -> int:
        forest.plant(game.start())
        return forest.search(simulations=simulations)

    def run_theirs() -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        pyspiel.MCTSBot(theirs, evaluator, 1.4, simulations, 1000, False, 1, False).mcts_search(state)
        return simulations

    run_ours()
    mine, other, ratio = in_turn(run_ours, run_theirs)
    report(
        f"UCT, cachex n={n}, {simulations:,} simulations",
        f"{mine:,.0f} simulations/s",
        f"{ratio:.1f} times OpenSpiel's C++ at hex {n} x {n} ({other:,.0f}/s)",
        "1 time" if n == 8 else "",
    )


def solving(report: Table) -> None:
    """Solve small boards with a limit of turns. A win within the limit is also a win in the game without a limit."""
    value_of(ludus.make("cachex", n=3).start())
    for steal, turns, expected in ((False, 14, 0), (False, 15, 1), (True, 21, 0), (True, 22, -1)):
        start = ludus.make("cachex", n=4, steal=steal, turns=turns).start()
        began = time.perf_counter()
        value = value_of(start)
        spent = time.perf_counter() - began
        assert value == expected
        said = {0: "no one wins", 1: "red wins", -1: "blue wins"}[expected]
        rules = "with stealing" if steal else "without stealing"
        report(f"Solve cachex n=4 {rules}, {turns} turns", f"{spent:.1f} s", f"{said} within {turns} turns", "solved")


def matches(report: Table, games: int = 20) -> None:
    game = ludus.make("cachex").compile()
    for one, other in (
        ("greedy", "random"),
        ("adversarial:2", "greedy"),
        ("adversarial:3", "adversarial:2"),
        ("uct:1000", "greedy"),
        ("uct:10000", "adversarial:2"),
        ("uct:10000", "adversarial:3"),
    ):
        result = ludus.play_match(game, [make_agent(one, game), make_agent(other, game)], games, seed=0)
        report(f"Match of {games} games, cachex n=8, {one} against {other}", str(result.score(0)))


def run(report: Table) -> None:
    against_hex(report, 8, 10_000)
    against_hex(report, 15, 2_000)
    solving(report)
    matches(report)
    first_compile(report, "cachex")
    first_compile(report, "cachex", n=15)


if __name__ == "__main__":
    table = Table()
    run(table)
    table.finish("python -m benchmarks.cachex")
