"""`ludus demo`: train a player of Connect-4 from nothing in about five minutes, and show its strength."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path

from ludus.registry import make
from ludus.runs.run import Run
from ludus.terminal.curve import draw_curve
from ludus.terminal.match import run_match
from ludus.terminal.show import command
from ludus.terminal.training import run_training

SIMULATIONS = 200
"""Simulations per move of the trained player: it takes less time than uct:1000."""
SETTINGS: dict[str, object] = {}
"""Settings of the run that differ from the defaults of the game."""
MATCHES = (("random", 20), ("uct:1000", 40))


def run_demo(minutes: float, folder: str | None) -> None:
    """Train a player, play two matches, show the curve of its rating, and say how to play against it."""
    game = make("connect4")
    where = folder or f"runs/demo-{time.strftime('%Y%m%d-%H%M%S')}"
    length = f"{minutes:g} minute{'s' * (minutes != 1)}"
    print(f"Connect-4 from nothing: {length} of playing against itself. Ctrl-C ends them sooner.\n")
    run = run_training(game, minutes=minutes, run=where, settings=SETTINGS)
    if not run.checkpoints():
        print("It was stopped before its first checkpoint: nothing to show yet.")
        return
    player = f"zero:{where}:{SIMULATIONS}"
    for other, games in MATCHES:
        print(f"\n{player} against {other}:")
        run_match(game, (player, other), games, seed=1, openings=2)
    show_learning(run)
    print(f"\nPlay against it: {command('ludus', 'play', 'connect4', '--against', f'zero:{where}')}")


def show_learning(run: Run) -> Path | None:
    """Show the curve of a run's rating in the terminal, and save it as a picture in the run's folder."""
    from ludus.arena.plots import LearningPoint, plot_learning

    lines = [line for line in run.log() if line.get("rating") is not None]
    if len(lines) < 2:
        return None
    minutes, ratings = [line["seconds"] / 60 for line in lines], [line["rating"] for line in lines]
    print("\nThe rating during training, in Elo above the untrained network with the same search:\n")
    print(draw_curve(minutes, ratings, x_label="minutes", y_label="rating"))
    if importlib.util.find_spec("matplotlib") is None:
        return None
    picture = run.folder / "learning.png"
    points = [LearningPoint("", line["iteration"], line["rating"], line["rating"], line["rating"]) for line in lines]
    plot_learning(points, picture, f"{run.game.title}: rating while learning")
    print(f"\nThe same as a picture: {picture}")
    return picture
