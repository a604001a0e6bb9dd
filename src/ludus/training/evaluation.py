"""An exam every few iterations: how often the network alone, without any search, keeps the outcome of solved positions.

One batch of the network for some hundred positions costs next to nothing, and the figure means the same in every run of
a game, while a rating against earlier networks does not. It draws no random numbers: a run with exams learns the same
weights as one without.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.grading.grades import ALL, favourites, grade_moves
from ludus.grading.positions import Known, at_most, read_positions
from ludus.nets.evaluator import make_evaluator
from ludus.runs.files import write_bytes, write_whole

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config
    from ludus.runs.run import Run

FILE = "positions.txt"
"""In the folder of the run: a copy, so that all its exams are the same, wherever it goes on."""
MOST = 500
"""Positions of an exam."""


class Evaluation:
    """The questions, and who is asked."""

    def __init__(self, game: Game, config: Config, known: Sequence[Known]):
        self.game, self.config, self.known = game, config, at_most(known, MOST)

    def grade(self, network: Any, iteration: int) -> float | None:
        """The part of the outcomes that the network's favourite moves keep; None where no exam is due."""
        if iteration % self.config.evaluate_every:
            return None
        moves = favourites(make_evaluator(self.game, network, self.config.engine), self.known)
        return grade_moves(self.known, moves)[ALL].kept.mean


def open_evaluation(run: Run) -> Evaluation | None:
    """The exam of a run, if its settings want one; a file that is missing or of another game is refused."""
    if not run.config.evaluate_every:
        return None
    own = run.folder / FILE
    if not own.is_file():
        given = Path(run.config.evaluation_positions)
        read_positions(given, run.game)  # or refuse it
        write_whole(own, lambda path: write_bytes(path, given.read_bytes()))
    return Evaluation(run.game, run.config, read_positions(own, run.game).known)
