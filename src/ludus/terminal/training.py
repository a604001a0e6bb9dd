"""`ludus train`: the plan before a run, the live view during it, and how to go on after it."""

from __future__ import annotations

import dataclasses
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.live import Live

from ludus.errors import BadOption
from ludus.runs.config import Config, read_toml, with_settings
from ludus.terminal.show import describe, new_table, print_table, terminal

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.run import Run
    from ludus.training.preflight import Measured
    from ludus.training.trainer import Report, Trainer

RECIPES = Path(__file__).parent.parent / "runs" / "recipes"


def show_settings() -> None:
    table = new_table()
    for heading in ("setting", "default", "what it is"):
        table.add_column(heading)
    for each in dataclasses.fields(Config):
        among = each.metadata.get("among")
        table.add_row(each.name, str(each.default), each.metadata["help"] + (f": {', '.join(among)}" if among else ""))
    print_table(table)


def start_training(
    game: Game | None,
    folder: str | None,
    resume: str | None,
    recipe: str | None,
    given: list[str],
    minutes: float | None,
    games: int | None,
    steps: int | None,
    start: str | None = None,
    tensorboard: bool = False,
) -> Run:
    for name, value in (("--minutes", minutes), ("--games", games), ("--steps", steps)):
        if value is not None and value <= 0:
            raise BadOption(f"{name} must be above 0, not {value:g}")
    if resume is not None:
        if recipe or folder or given or start:
            raise BadOption("--resume goes on with the settings of the run: no --recipe, --run, --set or --from")
        from ludus.runs.run import Run

        run = Run.open(Path(resume), game)
    else:
        run = _new_run(game, folder, recipe, given, minutes, games, steps, start)
    train(run, minutes, games, steps, Board(run) if tensorboard else None)
    return run


def _new_run(
    game: Game | None,
    folder: str | None,
    recipe: str | None,
    given: list[str],
    minutes: float | None,
    games: int | None,
    steps: int | None,
    start: str | None,
) -> Run:
    from ludus.registry import make
    from ludus.runs.run import Run, first_weights
    from ludus.training.preflight import measure, plan, settings_for

    settings: dict[str, Any] = {}
    if recipe is not None:
        name, options, settings = read_toml(find_recipe(recipe))
        if game is None and name is not None:
            game = make(name, **options)
    if start is not None:
        game, inherited = _begin_from(start, game)
        settings = {**inherited, **settings}
    if game is None:
        raise BadOption("name a GAME to train, or a --recipe, or a run to --resume; see ludus train --help")
    for text in given:
        key, equals, value = text.partition("=")
        if not equals:
            raise BadOption(f"--set takes name=value, not {text!r}")
        settings[key.strip()] = value.strip()
    config = with_settings(Config(), {**settings_for(game), **settings})
    if config.initial_run:
        first_weights(config.initial_run, game, config.make_network(game))  # they must fit, before anything is measured
    where = Path(folder) if folder else Path("runs") / f"{game.name}-{time.strftime('%Y%m%d-%H%M%S')}"
    if (where / "config.toml").exists():
        raise BadOption(f"{where} holds a run already: ludus train --resume {where} goes on with it")
    if minutes is None and games is None and steps is None:
        minutes = 10.0
        print("No budget given: planning for 10 minutes; Ctrl-C stops sooner, --resume goes on.")
    measured = measure(game, config)
    config = plan(config, measured, None if minutes is None else 60 * minutes, games, steps)
    _show_plan(game, config, measured, where)
    return Run.create(where, game, config)


def _begin_from(name: str, game: Game | None) -> tuple[Game, dict[str, Any]]:
    """The game, that of another run where none is given, and the settings of one that begins with its weights."""
    from ludus.runs.files import BadRun
    from ludus.runs.run import NETWORK, open_run

    run, checkpoint = open_run(name, game)
    if checkpoint is None and not run.checkpoints():
        raise BadRun(f"{run.folder} has no checkpoint yet")
    at = run.checkpoints()[-1] if checkpoint is None else checkpoint
    network = {key: getattr(run.config, key) for key in NETWORK}
    return run.game, {**network, "initial_run": f"{run.folder.resolve()}@{at}"}


def find_recipe(name: str) -> Path:
    if name.endswith(".toml"):
        return Path(name)
    path = RECIPES / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in RECIPES.glob("*.toml")))
        raise BadOption(f"no recipe is called {name!r}; there are {known}, or a file that ends in .toml")
    return path


def _show_plan(game: Game, config: Config, measured: Measured, folder: Path) -> None:
    per_row = measured.seconds_a_row(config)
    print(f"{describe(game)}: {config.network} network, {measured.parameters:,} parameters, into {folder}")
    print(
        f"This machine: {measured.evaluations:,.0f} evaluations/s, {measured.simulations:,.0f} simulations/s in "
        f"self-play, {measured.learned:,.0f} rows/s learned; {measured.workers} threads to play, "
        f"{measured.learner_threads} to learn{measured.trees}"
    )
    print(
        f"Expected: {measured.games_an_hour(config):,.0f} games/hour at first, at most {measured.memory >> 20:,} MB; "
        f"{config.planned_rows:,} rows in {clock(per_row * config.planned_rows)}"
    )


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def train(run: Run, minutes: float | None, games: int | None, steps: int | None, board: Board | None = None) -> None:
    """Until a budget is spent, or somebody presses Ctrl-C."""
    from ludus.training.trainer import Trainer

    interrupted = False

    def interrupt(*_: Any) -> None:
        nonlocal interrupted
        interrupted = True

    trainer = Trainer(run)
    known = run.whole_checkpoint()
    if known is not None:
        trainer.restore(known)
        print(f"Going on from iteration {known}: {trainer.window.total:,} rows, {clock(trainer.seconds)} of training")
    if minutes is None and games is None and steps is None:
        minutes = 10.0 + trainer.seconds / 60
    planned = None if minutes is None else 60 * minutes

    def over() -> bool:
        return (
            (planned is not None and trainer.seconds >= planned)
            or (games is not None and sum(worker.finished for worker in trainer.workers) >= games)
            or (steps is not None and trainer.learner.steps >= steps)
        )

    console = terminal()
    graded: float | None = None
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with Live(console=console, refresh_per_second=4, transient=False) as live:
            while not over() and not interrupted:
                report = trainer.iterate(lambda: interrupted)
                if report is None:
                    break
                if trainer.iteration % run.config.checkpoint_every == 0 or over():
                    trainer.save(wait=False)
                if board is not None:
                    board.add(report)
                graded = graded if report.graded is None else report.graded
                if console.is_terminal:
                    live.update(_table(report, time_left(trainer, planned, games, steps), graded))
                else:
                    print(_line(report), flush=True)
    finally:
        try:
            trainer.finish()
        finally:
            signal.signal(signal.SIGINT, before)
    if interrupted:
        print(f"Stopped after iteration {trainer.iteration}. Go on: ludus train --resume {run.folder}")
    print(f"Play against it: ludus play {run.game.name} --against zero:{run.folder}")


def time_left(trainer: Trainer, seconds: float | None, games: int | None, steps: int | None) -> float:
    """Until the budget is spent, if it goes on as it went so far."""
    if seconds is not None:
        return max(0.0, seconds - trainer.seconds)
    if games is not None:
        done = sum(worker.finished for worker in trainer.workers) / games
    else:
        done = trainer.learner.steps / max(1, steps or 1)
    return trainer.seconds * (1 / min(1.0, done) - 1) if done > 0 else 0.0


def _line(report: Report) -> str:
    rating = "" if report.rating is None else f"  rating {report.rating:5.0f}"
    return (
        f"{report.iteration:5d}  {clock(report.seconds):>8}  {report.games:9,} games  {report.rows:11,} rows  "
        f"{report.simulations_per_second:9,.0f} simulations/s  {report.rows_per_second:7,.0f} rows/s learned  "
        f"policy {report.losses.policy:.3f}  value {report.losses.value:.3f}{rating}"
        + ("" if report.graded is None else f"  outcomes kept {100 * report.graded:.1f} %")
    )


def _table(report: Report, left: float, graded: float | None) -> Any:
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
    if graded is not None:
        table.add_row("outcomes kept", f"{100 * graded:.1f} %", "by", "the network alone")
    return table


class Board:
    """The log for TensorBoard as well, in the run's folder."""

    def __init__(self, run: Run):
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise BadOption("--tensorboard needs one more package: pip install tensorboard") from None
        self.writer: Any = SummaryWriter(str(run.folder / "tensorboard"))
        print(f"tensorboard --logdir {run.folder / 'tensorboard'}")

    def add(self, report: Report) -> None:
        for name, value in report.line().items():
            if isinstance(value, int | float) and name != "iteration":
                self.writer.add_scalar(name, value, report.iteration)
        self.writer.flush()


def export_onnx(run: str, file: str) -> None:
    """Write a run's network as ONNX, and compare what both say about random planes."""
    import numpy as np

    from ludus.nets.engines import OnnxEngine, TorchEngine
    from ludus.nets.onnx import write_onnx
    from ludus.runs.files import write_bytes, write_whole
    from ludus.runs.run import open_run

    opened, checkpoint = open_run(run)
    network, facts = opened.load_player(checkpoint)
    model = write_onnx(network)
    planes = np.random.default_rng(0).random((64, *network.sizes.observation), np.float32)
    answers = []
    for engine in (OnnxEngine(), TorchEngine()):
        engine.load(network)
        answers.append(engine.run(planes))
    apart = max(float(np.abs(mine - theirs).max()) for mine, theirs in zip(*answers, strict=True))
    if not apart < 1e-3:
        raise BadOption(f"the ONNX model and PyTorch differ by {apart:g}: nothing was written")
    write_whole(Path(file), lambda path: write_bytes(path, model))
    print(f"{file}: {len(model):,} bytes, iteration {facts['iteration']}; differs from PyTorch by at most {apart:.1g}")
    print(f"Input planes [K, {', '.join(map(str, network.sizes.observation))}]; outputs policy and values")
