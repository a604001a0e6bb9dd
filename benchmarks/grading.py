"""Mistakes of a network at Connect-4: python -m benchmarks.grading RUN [RUN@CHECKPOINT ...]

For every class of positions (see connect4_positions.py), prints the fraction of moves that lose the best outcome, win
or draw: moves of the raw policy, and of searches with 100 and 600 simulations, all positions in one forest.
"""

import sys

import ludus
from benchmarks.connect4_positions import CLASSES, FILE
from ludus.game import Game
from ludus.grading.grades import ALL, favourites, grade_moves, sign
from ludus.grading.positions import Known
from ludus.nets.evaluator import make_evaluator
from ludus.runs.run import open_checkpoint
from ludus.search.forest import Evaluator, Forest
from ludus.search.puct import Puct


def read_positions(game: Game) -> dict[str, list[Known]]:
    """The positions of each class; values are outcomes."""
    found: dict[str, list[Known]] = {name: [] for name in CLASSES}
    for line in FILE.read_text().splitlines():
        name, columns, scores = line.split()
        position = game.start()
        for column in columns:
            position = position.play(int(column))
        values = {column: float(sign(int(score))) for column, score in enumerate(scores.split(",")) if score != "-"}
        found[name].append(Known(position, name, len(columns), values))
    return found


def searched(game: Game, evaluator: Evaluator, known: list[Known], simulations: int) -> list[int]:
    """The move found for each position, by a forest with one tree for each."""
    forest = Forest(game, Puct(), trees=len(known), nodes=simulations + 1)
    forest.plant([each.position for each in known])
    forest.search(evaluator, simulations=simulations)
    edges, _ = forest.conclude()
    return forest.trees.edges["action"][edges[:, 0]].tolist()


def mistakes(game: Game, evaluator: Evaluator, known: list[Known], simulations: int) -> float:
    """The fraction of positions in which the chosen move has a worse outcome than the best; 1 simulation: no search."""
    moves = searched(game, evaluator, known, simulations) if simulations > 1 else favourites(evaluator, known)
    return 1.0 - grade_moves(known, moves)[ALL].kept.mean


def grade(game: Game, evaluator: Evaluator, budgets: tuple[int, ...] = (1, 100, 600), most: int = 500) -> None:
    positions = read_positions(game)
    print(f"{'mistakes':>18} " + " ".join(f"{name:>14}" for name in CLASSES), flush=True)
    for simulations in budgets:
        rates = [mistakes(game, evaluator, positions[name][:most], simulations) for name in CLASSES]
        label = "raw policy" if simulations == 1 else f"{simulations} simulations"
        print(f"{label:>18} " + " ".join(f"{100 * rate:>12.1f} %" for rate in rates), flush=True)


def main(names: list[str]) -> None:
    game = ludus.make("connect4").compile()
    for name in names:
        run, checkpoint = open_checkpoint(name, game)
        network, facts = run.load_player(checkpoint)
        print(f"{name}: {facts}")
        grade(game, make_evaluator(game, network))


if __name__ == "__main__":
    main(sys.argv[1:])
