"""How often an agent throws away the outcome at Connect-4: python -m benchmarks.grading RUN [RUN@CHECKPOINT ...]

For every class of positions (see connect4_positions.py) the part of moves after which the best outcome, win or draw,
can no longer be reached: by the raw policy, and after searches of 100 and 600 simulations.
"""

import sys

import numpy as np

import ludus
from benchmarks.connect4_positions import CLASSES, FILE
from ludus.game import Game
from ludus.nets.evaluator import make_evaluator
from ludus.search.forest import Evaluator, Forest
from ludus.search.puct import Puct
from ludus.train.run import open_run


def read_positions(game: Game) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """For each class: states [n], and for every column [n, 7] the outcome after it: 1, 0, -1, or -2 if it is full."""
    found: dict[str, tuple[list, list]] = {name: ([], []) for name in CLASSES}
    for line in FILE.read_text().splitlines():
        name, columns, scores = line.split()
        position = game.start()
        for column in columns:
            position = position.play(int(column))
        found[name][0].append(position.states)
        found[name][1].append([-2 if score == "-" else int(np.sign(int(score))) for score in scores.split(",")])
    return {name: (np.concatenate(states), np.array(outcomes)) for name, (states, outcomes) in found.items()}


def mistakes(game: Game, evaluator: Evaluator, states: np.ndarray, outcomes: np.ndarray, simulations: int) -> float:
    """The part of positions in which the move played is worse in outcome than the best."""
    forest = Forest(game, Puct(), trees=len(states), nodes=simulations + 1)
    forest.plant(states)
    forest.search(evaluator, simulations=simulations)
    wrong = 0
    for index in range(len(states)):
        root = forest.roots(index)[0]
        action = root.best if simulations > 1 else int(root.actions[np.argmax(root.priors)])
        wrong += outcomes[index, action] < outcomes[index].max()
    return wrong / len(states)


def grade(game: Game, evaluator: Evaluator, budgets: tuple[int, ...] = (1, 100, 600), most: int = 500) -> None:
    positions = read_positions(game)
    print(f"{'mistakes':>18} " + " ".join(f"{name:>14}" for name in CLASSES), flush=True)
    for simulations in budgets:
        rates = []
        for name in CLASSES:
            states, outcomes = positions[name]
            rates.append(mistakes(game, evaluator, states[:most], outcomes[:most], simulations))
        label = "raw policy" if simulations == 1 else f"{simulations} simulations"
        print(f"{label:>18} " + " ".join(f"{100 * rate:>12.1f} %" for rate in rates), flush=True)


def main(names: list[str]) -> None:
    game = ludus.make("connect4").compile()
    for name in names:
        run, checkpoint = open_run(name, game)
        network, facts = run.load_player(checkpoint)
        print(f"{name}: {facts}")
        grade(game, make_evaluator(game, network))


if __name__ == "__main__":
    main(sys.argv[1:])
