"""`ludus train`: shows the events of a training; Ctrl-C stops it."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.live import Live
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ludus.cluster.events import ActorLost, ClusterChanged
from ludus.registry import runs_code
from ludus.runs.config import Config, with_settings
from ludus.terminal.cluster import cluster_line
from ludus.terminal.compiling import compiling_into
from ludus.terminal.interrupt import ctrl_c_stops
from ludus.terminal.show import command, counted, describe, new_table, option_value, print_table, terminal, typed
from ludus.terminal.trust import with_trust
from ludus.training.events import (
    BudgetAssumed,
    Evaluated,
    IterationDone,
    Measuring,
    Planned,
    Resumed,
    RunOpened,
    StageBegun,
    TrainingFinished,
    TrainingStopped,
)
from ludus.training.tracking import FOLDER, track

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.run import Run
    from ludus.training.events import TrainingEvent
    from ludus.training.trainer import Report


def show_settings(
    game: Game | None = None,
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    start: str | None = None,
    resume: str | None = None,
    trust: bool = False,
) -> None:
    """All settings with the values of a new run of this game on this machine, before the budget changes any.

    Without a game, a recipe and the like, the values are the defaults; with `resume`, they are those of the run.
    """
    config, values = Config(), "default"
    if resume is not None:
        from ludus.runs.run import Run

        config, values = with_trust(trust, lambda trust: Run.open(Path(resume), game, trust=trust)).config, "value"
    elif game is not None or recipe or settings or start:
        from ludus.training.session import chosen_settings

        game, suited, given = with_trust(
            trust, lambda trust: chosen_settings(game, recipe, settings or {}, start, trust)
        )
        config, values = with_settings(config, {**suited, **given}), "value"
    table = new_table()
    for heading in ("setting", values, "what it is"):
        table.add_column(heading)
    for each in dataclasses.fields(Config):
        among = each.metadata.get("among")
        table.add_row(
            each.name,
            str(option_value(getattr(config, each.name))),
            each.metadata["help"] + (f" One of {', '.join(among)}." if among else ""),
        )
    print_table(table)


def run_training(game: Game | None, *, logs: Sequence[str] = (), trust: bool = False, **options: Any) -> Run:
    """Train with a live view; `logs` names trackers (see training/tracking.py). `options` go to `ludus.train`."""
    with TrainingView("tensorboard" in logs) as view, ctrl_c_stops() as stop:
        if view.console.is_terminal:  # elsewhere, an error in the command is the only line
            view.show_status("Loading PyTorch")
        from ludus.training.session import train

        listeners: list[Any] = [*(track(name) for name in dict.fromkeys(logs)), view]

        def show(event: TrainingEvent) -> None:
            for listener in listeners:
                listener(event)

        return with_trust(trust, lambda trust: train(game, trust=trust, **options, on_event=show, stop=stop))


class TrainingView:
    """Shows the events of a training: a table that changes on a terminal, elsewhere a line for each iteration."""

    def __init__(self, tensorboard: bool = False) -> None:
        """With `tensorboard`, print the command that shows its files."""
        self.console = terminal()
        self.tensorboard = tensorboard
        self.opened = ExitStack()
        self.status: Any = None
        self.task: Any = None
        self.said = False
        self.live: Live | None = None
        self.left = 0.0
        self.report: Report | None = None
        self.outcomes_kept: float | None = None
        self.resumed_at: int | None = None
        """The iteration that a resumed run began with."""

    def __enter__(self) -> TrainingView:
        return self

    def __exit__(self, *failure: object) -> None:
        self.opened.close()

    def __call__(self, event: TrainingEvent) -> None:
        if isinstance(event, BudgetAssumed):
            print(f"No budget given: planning for {event.minutes:g} minutes; Ctrl-C stops sooner, --resume goes on.")
        elif isinstance(event, Measuring):
            self.show_status(f"Measuring this machine: {event.what}")
        elif isinstance(event, Planned):
            self._close()
            show_plan(event)
        elif isinstance(event, RunOpened):
            self.show_status("Training: the first iteration")
            if self.tensorboard:
                print(command("tensorboard", "--logdir", event.run.folder / FOLDER))
        elif isinstance(event, Resumed):
            self.resumed_at, spent = event.iteration, clock(event.seconds)
            print(f"Going on from iteration {event.iteration}: {event.rows:,} rows, {spent} of training")
        elif isinstance(event, StageBegun):
            print(f"Self-play now plays {event.game.identity}", flush=True)
        elif isinstance(event, ClusterChanged | ActorLost):
            print(cluster_line(event), flush=True)
        elif isinstance(event, IterationDone):
            self._show_iteration(event)
        elif isinstance(event, Evaluated):
            self._show_evaluation(event)
        elif isinstance(event, TrainingStopped | TrainingFinished):
            self._close()
            if isinstance(event, TrainingStopped):
                own = ["--trust"] if runs_code(event.run.game.spec) else []
                again = command("ludus", "train", "--resume", event.run.folder, *own)
                print(f"Stopped after iteration {event.iteration}. Go on: {again}")
            elif event.iteration == self.resumed_at:
                print("This budget was spent before: minutes, games and steps count from the beginning of the run.")
            if event.iteration:  # before that there are no weights
                against = command("--against", f"zero:{event.run.folder}")
                print(f"Play against it: ludus play {typed(event.run.game)} {against}")

    def _close(self) -> None:
        """Stop the live display; later output appears below it."""
        self.opened.close()
        self.status = self.live = None

    def show_status(self, text: str) -> None:
        """Show what goes on in a status line; without a terminal, only the first text, as a line."""
        if not self.console.is_terminal:
            if not self.said:
                print(f"{text} ...", file=sys.stderr, flush=True)
            self.said = True
            return
        if self.status is None:
            columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
            self.status = self.opened.enter_context(Progress(*columns, console=self.console, transient=True))
            self.task = self.status.add_task(text, total=None)
            self.opened.enter_context(compiling_into(self._show_compiling))
        self._update(text)

    def _show_compiling(self, text: str | None) -> None:
        """Show what is compiled, until the next status: kernels follow each other, and the line would flicker."""
        if text is not None:
            self._update(text)

    def _update(self, text: str) -> None:
        if self.status is not None:
            self.status.update(self.task, description=text)

    def _show_iteration(self, event: IterationDone) -> None:
        self.report, self.left = event.report, event.seconds_left
        if not self.console.is_terminal:
            print(show_line(event.report), flush=True)
            return
        if self.live is None:
            self._close()
            self.live = self.opened.enter_context(Live(console=self.console, refresh_per_second=4, transient=False))
            self.opened.enter_context(compiling_into(self._show_table))
        self._show_table()

    def _show_evaluation(self, event: Evaluated) -> None:
        self.outcomes_kept = event.outcomes_kept
        self._show_table()

    def _show_table(self, compiling: str | None = None) -> None:
        """Show the latest iteration, and below it what is compiled."""
        if self.live is not None and self.report is not None:
            table = make_table(self.report, self.left, self.outcomes_kept)
            self.live.update(Group(table, compiling) if compiling else table)


def show_plan(event: Planned) -> None:
    """Show the figures of the preflight, and the expected speed and duration of the run."""
    config, measured = event.config, event.measured
    trees = "; the trees grow on the GPU" if measured.trees_on_gpu else ""
    if measured.why_not_on_gpu:
        trees = f"; the trees stay on the CPU: {measured.why_not_on_gpu}"
    print(f"{describe(event.game)}: {config.network} network, {measured.parameters:,} parameters, into {event.folder}")
    print(
        f"This machine: {measured.evaluations:,.0f} evaluations/s, {measured.simulations:,.0f} simulations/s in "
        f"self-play, {measured.learned:,.0f} rows/s learned; {counted(measured.workers, 'thread')} to play, "
        f"{measured.learner_threads} to learn{' in bfloat16' * (config.learner_precision == 'bfloat16')}{trees}"
    )
    if measured.idle_gpus:
        print(f"One of {measured.idle_gpus + 1} GPUs is used; --cluster auto plays on all of them")
    expected = clock(measured.seconds_per_row(config) * config.planned_rows)
    memory = measured.memory(config) >> 20
    print(
        f"Expected: {measured.games_per_hour(config):,.0f} games/hour at first, at most {memory:,} MB; "
        f"{config.planned_rows:,} rows in {expected}"
    )


def clock(seconds: float) -> str:
    """A duration as 1:02:03 or 2:03."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def show_line(report: Report) -> str:
    """An iteration in one line."""
    rating = "" if report.rating is None else f"  rating {report.rating:5.0f}"
    return (
        f"{report.iteration:5d}  {clock(report.seconds):>8}  {report.games:9,} games  {report.rows:11,} rows  "
        f"{report.simulations_per_second:9,.0f} simulations/s  {report.rows_per_second:7,.0f} rows/s learned  "
        f"policy {report.losses.policy:.3f}  value {report.losses.value:.3f}{rating}"
        + ("" if report.graded is None else f"  outcomes kept {100 * report.graded:.1f} %")
    )


def make_table(report: Report, left: float, outcomes_kept: float | None) -> Any:
    """An iteration as a table, with the latest evaluation."""
    table = new_table(show_header=False)
    table.add_row("time", clock(report.seconds), "time left", clock(left))
    table.add_row("iteration", f"{report.iteration}", "steps", f"{report.steps:,}")
    table.add_row("games", f"{report.games:,}", "plies a game", f"{report.plies:.1f}")
    table.add_row("positions", f"{report.rows:,}", "positions/s", f"{report.rows / max(report.seconds, 1e-9):,.0f}")
    table.add_row(
        "simulations/s", f"{report.simulations_per_second:,.0f}", "learned/s", f"{report.rows_per_second:,.0f}"
    )
    table.add_row("policy loss", f"{report.losses.policy:.3f}", "value loss", f"{report.losses.value:.3f}")
    if report.rating is not None:
        table.add_row("rating", f"{report.rating:.0f}", "", "Elo above the untrained network")
    if outcomes_kept is not None:
        table.add_row("outcomes kept", f"{100 * outcomes_kept:.1f} %", "by", "the network alone")
    return table


def show_export(run: str, file: str, trust: bool = False) -> None:
    """Write a run's network as ONNX, and say what was written."""
    from ludus.runs.export import export_onnx

    done = with_trust(trust, lambda trust: export_onnx(run, Path(file), trust))
    print(
        f"{done.file}: {done.bytes:,} bytes, iteration {done.iteration}; "
        f"differs from PyTorch by at most {done.difference:.1g}"
    )
    print(f"Input planes [K, {', '.join(map(str, done.observation))}]; outputs policy and values")
