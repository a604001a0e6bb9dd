"""The figures of a training for other programs: TensorBoard, Weights & Biases, MLflow.

`track(NAME)` returns a listener of training events, to be passed as `on_event`. A tracker is a class with the methods
`open`, `log` and `close`, in the table TRACKERS; add one of your own by `TRACKERS["mine"] = MyTracker`.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ludus.errors import BadOption, FiguresLost
from ludus.runs.files import write_bytes
from ludus.training.events import IterationDone, RunOpened, TrainingFinished, TrainingStopped

if TYPE_CHECKING:
    from ludus.runs.run import Run
    from ludus.training.events import TrainingEvent

FOLDER = "tensorboard"
"""The folder of a run that holds the files of TensorBoard."""


class Tracker(Protocol):
    """Takes the figures of one run."""

    def open(self, run: Run) -> None:
        """The run begins or goes on."""

    def log(self, figures: Mapping[str, float], iteration: int) -> None:
        """The figures of an iteration."""

    def close(self) -> None:
        """No more figures will come."""


class TensorBoard:
    """Writes files into the folder `tensorboard` of the run."""

    def __init__(self) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise _missing("tensorboard", "'ludus[tensorboard]'") from None
        self._make: Any = SummaryWriter
        self._writer: Any = None

    def open(self, run: Run) -> None:
        self._writer = self._make(str(run.folder / FOLDER))

    def log(self, figures: Mapping[str, float], iteration: int) -> None:
        for name, value in figures.items():
            self._writer.add_scalar(name, value, iteration)
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


class WeightsAndBiases:
    """Logs to the project `ludus` of Weights & Biases, under the name of the run's folder."""

    def __init__(self) -> None:
        try:
            import wandb
        except ImportError:
            raise _missing("wandb", "wandb") from None
        self._library: Any = wandb
        self._run: Any = None

    def open(self, run: Run) -> None:
        known = known_id(run, "wandb")
        name, folder, settings = run.folder.name, str(run.folder), settings_of(run)
        self._run = self._library.init(
            project="ludus", name=name, dir=folder, config=settings, id=known, resume="allow" if known else None
        )
        keep_id(run, "wandb", self._run.id)

    def log(self, figures: Mapping[str, float], iteration: int) -> None:
        self._run.log(dict(figures), step=iteration)

    def close(self) -> None:
        self._run.finish()


class MLflow:
    """Logs to the experiment `ludus` of MLflow, under the name of the run's folder."""

    def __init__(self) -> None:
        try:
            import mlflow
        except ImportError:
            raise _missing("mlflow", "mlflow") from None
        self._library: Any = mlflow

    def open(self, run: Run) -> None:
        self._library.set_experiment("ludus")
        known = known_id(run, "mlflow")
        begun = self._library.start_run(run_id=known, run_name=None if known else run.folder.name)
        if not known:
            self._library.log_params(settings_of(run))
            keep_id(run, "mlflow", begun.info.run_id)

    def log(self, figures: Mapping[str, float], iteration: int) -> None:
        self._library.log_metrics(dict(figures), step=iteration)

    def close(self) -> None:
        self._library.end_run()


TRACKERS: dict[str, type[Any]] = {"tensorboard": TensorBoard, "wandb": WeightsAndBiases, "mlflow": MLflow}
"""The trackers by name."""


def known_id(run: Run, program: str) -> str | None:
    """The name that a program gave to this run before it was resumed."""
    try:
        return (run.folder / f"{program}.id").read_text().strip()[:200] or None
    except (OSError, ValueError):
        return None


def keep_id(run: Run, program: str, name: object) -> None:
    """Keep the name that a program gives to this run, under which a resumed run goes on."""
    write_bytes(run.folder / f"{program}.id", f"{name}\n")


def _missing(package: str, installed: str) -> BadOption:
    return BadOption(f"{package} is not installed: pip install {installed}")


def settings_of(run: Run) -> dict[str, Any]:
    """The game and all settings of a run, by name."""
    return {"game": run.game.identity, **dataclasses.asdict(run.config)}


class Tracking:
    """Hands the figures of each iteration to a tracker, as a listener of training events.

    A tracker that cannot be opened ends the training before it begins. One that fails later is asked no more, because a
    library that has lost its server may wait for minutes at each iteration.
    """

    def __init__(self, tracker: Tracker) -> None:
        self.tracker = tracker
        self.folder: Path | None = None
        """The folder of the run, once it is open."""
        self.failed = False

    def __call__(self, event: TrainingEvent) -> None:
        if isinstance(event, RunOpened):
            self.folder = event.run.folder
            self.tracker.open(event.run)
        elif isinstance(event, IterationDone | TrainingStopped | TrainingFinished) and not self.failed:
            try:
                self._tell(event)
            except Exception as error:
                self.failed = True
                reason = (str(error).strip() or type(error).__name__).splitlines()[0]
                lost = f"{type(self.tracker).__name__} takes no figures any more: {reason}; the training goes on"
                warnings.warn(lost, FiguresLost, stacklevel=2)

    def _tell(self, event: TrainingEvent) -> None:
        if not isinstance(event, IterationDone):
            self.tracker.close()
            return
        figures = {
            name: float(value)
            for name, value in event.report.line().items()
            if isinstance(value, int | float) and name != "iteration"
        }
        self.tracker.log(figures, event.report.iteration)


def track(name: str) -> Tracking:
    """The listener that hands the figures of a training to the tracker of this name; BadOption if there is none."""
    if name not in TRACKERS:
        raise BadOption(f"there is no log {name!r}; logs are {', '.join(TRACKERS)}")
    return Tracking(TRACKERS[name]())
