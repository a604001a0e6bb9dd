"""Events of a training, for the callback of `ludus.train`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.cluster.events import ClusterEvent

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config
    from ludus.runs.run import Run
    from ludus.training.preflight import Measured
    from ludus.training.trainer import Report


@dataclass(frozen=True)
class BudgetAssumed:
    """No budget was given, so this one is used."""

    minutes: float


@dataclass(frozen=True)
class Measuring:
    """The preflight measures what this machine does. That takes some seconds, and longer if it has to compile."""

    what: str
    """What is measured now."""
    fraction: float
    """The progress of the preflight, from 0 to 1."""


@dataclass(frozen=True)
class Planned:
    """The preflight is done, and the settings of the run are complete."""

    game: Game
    config: Config
    measured: Measured
    folder: Path
    """The folder of the run, which does not exist yet."""


@dataclass(frozen=True)
class RunOpened:
    """The folder of the run exists; training begins."""

    run: Run


@dataclass(frozen=True)
class StageBegun:
    """Self-play plays this version of the game from now on (see Game.curriculum)."""

    game: Game


@dataclass(frozen=True)
class Resumed:
    """The run continues from a checkpoint."""

    run: Run
    iteration: int
    rows: int
    """Rows since the run began."""
    seconds: float
    """Seconds of training since the run began."""


@dataclass(frozen=True)
class IterationDone:
    """An iteration is done."""

    report: Report
    seconds_left: float
    """Seconds until the budget is spent, if the run continues at this speed."""


@dataclass(frozen=True)
class Evaluated:
    """The network alone was evaluated on positions of known value."""

    iteration: int
    outcomes_kept: float
    """The fraction of positions in which its favourite move keeps the outcome."""


@dataclass(frozen=True)
class CheckpointSaved:
    """A checkpoint was saved. With `concurrent_learning` it is written while the run continues."""

    run: Run
    iteration: int


@dataclass(frozen=True)
class TrainingStopped:
    """The caller stopped the training. The run can be resumed."""

    run: Run
    iteration: int
    """Iterations done since the run began."""


@dataclass(frozen=True)
class TrainingFinished:
    """The budget is spent."""

    run: Run
    iteration: int
    """Iterations done since the run began."""


TrainingEvent = (
    BudgetAssumed
    | Measuring
    | Planned
    | RunOpened
    | Resumed
    | StageBegun
    | IterationDone
    | Evaluated
    | CheckpointSaved
    | TrainingStopped
    | TrainingFinished
    | ClusterEvent
)
Listener = Callable[[TrainingEvent], None]
