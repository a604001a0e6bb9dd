"""Hive in figures: python -m benchmarks.hive (about four minutes; OpenSpiel must be installed)."""

import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pyspiel

import ludus
from benchmarks.measuring import Table, first_compile, in_turn
from ludus.games._hive_text import parse_move
from ludus.rng import generator
from ludus.search.perft import perft
from ludus.search.random_play import count_plies

LEAVES = {
    "": 12219480,
    "M": 34233432,
    "L": 34233672,
    "P": 34395984,
    "ML": 85201200,
    "MP": 85492248,
    "LP": 85457136,
    "MLP": 192353904,
}
"""Perft to depth 6."""
SPIEL = "hive(uses_mosquito={0},uses_ladybug={0},uses_pillbug={0})"
PLIES = 500
"""The limit of plies of OpenSpiel's games, used for both sides."""


def perft_against_openspiel(report: Table) -> None:
    """Base, depth 5, from the initial position: both walk the same tree and count the last ply without playing it.

    OpenSpiel's legal actions name a move several times, once for each neighbour and each number in hand. Its time does
    not include removing these duplicates: one action for each move is chosen beforehand.
    """
    start = ludus.make("hive").start()
    theirs = pyspiel.load_game(SPIEL.format("False"))
    root = theirs.new_initial_state()
    lines = distinct_actions(start, root, 4)

    def run_ours() -> int:
        return sum(perft(start, 5) for _ in range(10))

    def run_theirs() -> int:
        walk(root, lines)
        return leaves

    leaves = perft(start, 5)
    mine, other, ratio = in_turn(run_ours, run_theirs)
    report(
        "Perft, Base, depth 5",
        f"{mine:,.0f} leaves/s",
        f"{ratio:.0f} times OpenSpiel's C++ driven from Python ({other:,.0f}/s)",
        "10 times",
    )


def distinct_actions(position: Any, state: Any, plies: int) -> dict[int, Any]:
    """The tree of OpenSpiel's actions, one for each move of Ludus, `plies` deep."""
    if plies == 0:
        return {}
    ours, found = position.state, {}
    for action in state.legal_actions():
        piece, cell = parse_move(0, ours, state.action_to_string(action))
        found.setdefault((piece, cell), action)
    moves = {parse_move(0, ours, move): move for move in position.moves}
    return {
        found[place]: distinct_actions(position.play(move), state.child(found[place]), plies - 1)
        for place, move in moves.items()
    }


def walk(state: Any, lines: dict[int, Any]) -> None:
    if not lines:
        state.legal_actions()
    for action, further in lines.items():
        walk(state.child(action), further)


def perft_to_depth_6(report: Table) -> None:
    for expansions, leaves in LEAVES.items():
        start = ludus.make("hive", expansions=expansions).start()
        perft(start, 1)
        began = time.perf_counter()
        found = perft(start, 6)
        took = time.perf_counter() - began
        assert found == leaves, f"perft 6 of {expansions or 'Base'}: {found}, not {leaves}"
        name = f"Base+{expansions}" if expansions else "Base"
        report(
            f"Perft, {name}, depth 6", f"{leaves / took:,.0f} leaves/s", f"{found:,}, as the reference has it", "equal"
        )


def plies_of_a_game(play: Callable[[Random], int], games: int = 60) -> float:
    """The mean length of random games."""
    return statistics.mean(play(Random(seed)) for seed in range(games))


def playouts_against_openspiel(report: Table, full: bool) -> None:
    """Whole random games from the initial position, one thread; OpenSpiel plays them as the playouts of its MCTSBot.

    Both choose uniformly among their legal actions, and both stop after 500 plies. Plies in OpenSpiel's
    tree are included.
    """
    game = ludus.make("hive", expansions="MLP" if full else "", limit=PLIES).compile()
    theirs = pyspiel.load_game(SPIEL.format(full))
    states, actions = game.new_states(1), np.zeros(game.most_legal, np.int32)
    joint, values, rng = np.zeros(2, np.int32), np.zeros(2, np.float32), generator(0)

    def random_game_of_theirs(random: Random) -> int:
        state = theirs.new_initial_state()
        while not state.is_terminal():
            state.apply_action(random.choice(state.legal_actions()))
        return state.move_number()

    length_of_theirs = plies_of_a_game(random_game_of_theirs, 40)

    def run_ours() -> int:
        return count_plies(game.rules, states, rng, actions, joint, values, 2000)

    def run_theirs() -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        bot = pyspiel.MCTSBot(theirs, evaluator, 1.4, 100, 1000, False, 1, False)
        bot.mcts_search(theirs.new_initial_state())
        return round(100 * length_of_theirs)

    length = run_ours() / 2000
    mine, other, ratio = in_turn(run_ours, run_theirs)
    report(
        f"Random games, {'Base+MLP' if full else 'Base'}, {length:.0f} plies each",
        f"{mine:,.0f} plies/s",
        f"{ratio:.0f} times playouts of OpenSpiel's C++ MCTSBot ({other:,.0f}/s, {length_of_theirs:.0f} plies each)",
        "10 times",
    )


def run(report: Table) -> None:
    perft_against_openspiel(report)
    perft_to_depth_6(report)
    playouts_against_openspiel(report, full=False)
    playouts_against_openspiel(report, full=True)
    first_compile(report, "hive")


if __name__ == "__main__":
    table = Table()
    run(table)
    table.finish("python -m benchmarks.hive")
