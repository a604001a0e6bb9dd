"""The figures of a training for TensorBoard, as a listener of its events."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.errors import BadOption
from ludus.training.events import IterationDone, RunOpened, TrainingFinished, TrainingStopped

if TYPE_CHECKING:
    from ludus.training.events import TrainingEvent

FOLDER = "tensorboard"


class TensorBoardLog:
    """Writes the figures of each iteration into the folder `tensorboard` of the run. Pass it as `on_event`."""

    def __init__(self) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise BadOption("TensorBoard needs one more package: pip install tensorboard") from None
        self._make: Any = SummaryWriter
        self._writer: Any = None
        self.folder: Path | None = None
        """Where the files are, once the run is open."""

    def __call__(self, event: TrainingEvent) -> None:
        if isinstance(event, RunOpened):
            self.folder = event.run.folder / FOLDER
            self._writer = self._make(str(self.folder))
        elif isinstance(event, IterationDone):
            for name, value in event.report.line().items():
                if isinstance(value, int | float) and name != "iteration":
                    self._writer.add_scalar(name, value, event.report.iteration)
            self._writer.flush()
        elif isinstance(event, TrainingStopped | TrainingFinished):
            self._writer.close()
