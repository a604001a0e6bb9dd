"""Evaluation during training: how often the network alone, without search, keeps the outcome of solved positions.

One batch of the network for some hundred positions costs little. Unlike a rating against earlier networks, the figure
means the same in every run of a game. An evaluation draws no random numbers: the run learns the same weights as one
without.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.errors import DamagedRun
from ludus.grading.grades import ALL, favourites, grade_moves
from ludus.grading.positions import BadPositions, Known, at_most, read_positions
from ludus.nets.evaluator import make_evaluator
from ludus.runs.files import write_bytes, write_whole

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config
    from ludus.runs.run import Run

FILE = "positions.txt"
"""A copy of the positions in the folder of the run, so that all its evaluations are comparable."""
MOST = 500
"""Positions of an evaluation."""


class Evaluation:
    """Grades a network on positions of known value, every few iterations."""

    def __init__(self, game: Game, config: Config, known: Sequence[Known]):
        self.game, self.config, self.known = game, config, at_most(known, MOST)

    def grade(self, network: Any, iteration: int) -> float | None:
        """The fraction of outcomes that the network's favourite moves keep; None if no evaluation is due."""
        if iteration % self.config.evaluate_every:
            return None
        moves = favourites(make_evaluator(self.game, network, self.config.engine), self.known)
        return grade_moves(self.known, moves)[ALL].kept.mean


def open_evaluation(run: Run) -> Evaluation | None:
    """The evaluation of a run, if its settings ask for one.

    The copy of the positions in the run is made again if it is missing or damaged. If that is not possible any more,
    DamagedRun warns, and the run goes on without evaluations.
    """
    if not run.config.evaluate_every:
        return None
    own, given = run.folder / FILE, Path(run.config.evaluation_positions)
    try:
        return Evaluation(run.game, run.config, read_positions(own, run.game).known)
    except BadPositions as error:
        damage = error if own.exists() else None
    try:
        known = read_positions(given, run.game).known
    except BadPositions:
        if damage is None:
            raise
        warnings.warn(f"{damage}; the run goes on without evaluations", DamagedRun, stacklevel=3)
        return None
    write_whole(own, lambda path: write_bytes(path, given.read_bytes()))
    return Evaluation(run.game, run.config, known)
