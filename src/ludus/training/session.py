"""A whole training: from a game and a budget to a finished run. `ludus.train` is the function here."""

from __future__ import annotations

import dataclasses
import re
import shlex
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.errors import BadOption
from ludus.registry import make, remake
from ludus.runs.config import Config, read_toml, with_settings
from ludus.runs.files import BadRun, check_writable
from ludus.runs.lock import StopRequests, training_lock
from ludus.runs.players import first_weights, is_pack, read_pack
from ludus.runs.run import NETWORK, Run, open_checkpoint
from ludus.stopping import NEVER
from ludus.training.events import (
    BudgetAssumed,
    CheckpointSaved,
    Evaluated,
    IterationDone,
    Listener,
    Measuring,
    Planned,
    Resumed,
    RunOpened,
    StageBegun,
    TrainingFinished,
    TrainingStopped,
)
from ludus.training.growing import grow, may_grow
from ludus.training.joining import Joined, join_cluster
from ludus.training.planning import Budget, check_fit, choose_without_measuring, find_recipe, plan, settings_for
from ludus.training.preflight import measure
from ludus.training.trainer import Trainer

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.stopping import Stop
    from ludus.training.preflight import Measured

MINUTES = 10.0
"""The budget if none is given."""


def train(
    game: Game | str | None = None,
    *,
    minutes: float | None = None,
    games: int | None = None,
    steps: int | None = None,
    run: str | Path | None = None,
    resume: str | Path | None = None,
    recipe: str | None = None,
    settings: Mapping[str, Any] | None = None,
    start: str | None = None,
    trust: bool = False,
    cluster: str | None = None,
    lockstep: bool = False,
    on_event: Listener | None = None,
    stop: Stop | None = None,
) -> Run:
    """Train a player by self-play, and return its run. This takes as long as the budget says.

    The budget is `minutes`, `games` or `steps` (gradient steps), since the run began; without one, ten minutes. A new
    run is made in the folder `run`, by default runs/GAME-DATE, with settings that suit the game, changed by a `recipe`
    (a name or a file) and by `settings` (see runs/config.py). It begins with random weights, or with those of another
    run or of a packed player, `start` = RUN, RUN@CHECKPOINT or FILE. `resume` continues a run with its own settings.
    Python code of a game that comes with a run or a recipe is used only with `trust`.

    `cluster` is the address HOST:PORT of a Ray cluster whose nodes play the games, or `auto` (see docs/cluster.md).
    With `lockstep`, the same settings give the same weights there as on one machine, but nodes wait for each other.

    `on_event` is called with the events of training/events.py. When `stop` is set (a threading.Event), the training
    ends within a move of self-play, and the run can be resumed from its latest checkpoint; Stopped is raised if there
    is no run yet.
    """
    budget = Budget(minutes, games, steps)
    budget.check()
    emit: Listener = on_event or (lambda event: None)
    made = make(game) if isinstance(game, str) else game
    if resume is not None and (recipe or run or settings or start):
        raise BadOption("resume keeps the settings of the run: no recipe, run, settings (--set) or start (--from)")
    opened = None if resume is None else Run.open(Path(resume), made, trust=trust)
    if opened is not None:
        check_writable(opened.folder)
    with join_cluster(cluster, lockstep, emit) as joined:
        if opened is None:
            opened = new_run(made, budget, run, recipe, settings or {}, start, trust, emit, stop or NEVER, joined)
        emit(RunOpened(opened))
        return continue_run(opened, budget, emit, stop or NEVER, joined)


def usual_folder(game: Game) -> Path:
    """The folder of a new run for which no other was given: a name that an agent's name can hold, without colons."""
    name = re.sub(r"[^\w.-]+", "-", game.name)
    return Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"


def new_run(
    game: Game | None,
    budget: Budget,
    folder: str | Path | None,
    recipe: str | None,
    settings: Mapping[str, Any],
    start: str | None,
    trust: bool,
    emit: Listener,
    stop: Stop,
    joined: Joined | None = None,
) -> Run:
    """A new run, with settings that are measured and planned for a budget."""
    game, suited, given = chosen_settings(game, recipe, settings, start, trust)
    if game is None:
        raise BadOption("name a game to train, or a recipe, or a run to resume; see ludus train --help")
    config = with_settings(Config(), {**suited, **given})
    if config.initial_run:
        first_weights(config.initial_run, game, config.make_network(game))  # raises if they do not fit
    where = Path(folder) if folder else usual_folder(game)
    if (where / "config.toml").exists():
        raise BadOption(f"{where} holds a run already: ludus train --resume {shlex.quote(str(where))} goes on with it")
    if budget.is_empty:
        budget = Budget(MINUTES)
        emit(BudgetAssumed(MINUTES))
    check_writable(where)
    if joined is not None:
        config = joined.prepare(config)

    def measure_now(config: Config) -> Measured:
        found = measure(game, config, progress=lambda what, done: emit(Measuring(what, done)), stop=stop)
        return found if joined is None else joined.scale(found, config)

    if budget.minutes is None:
        check_fit(game, config)
        config = choose_without_measuring(game, config, budget)
        measured = measure_now(config)  # tells how long it takes, and changes nothing
        config = dataclasses.replace(config, workers=measured.workers)
    else:
        measured = measure_now(config)
        if may_grow(budget, suited, set(given)):
            config, measured = grow(config, measured, budget.minutes, measure_now)
        config = plan(config, measured, budget)
    emit(Planned(game, config, measured, where))
    return Run.create(where, game, config)


def chosen_settings(
    game: Game | None, recipe: str | None, settings: Mapping[str, Any], start: str | None, trust: bool
) -> tuple[Game | None, dict[str, Any], dict[str, Any]]:
    """The game of a new run, the settings that suit it on this machine, and those that the user chose.

    The user chooses settings by a recipe, by the weights to start with, and one by one. The game is None if nothing
    names it.
    """
    given: dict[str, Any] = {}
    if recipe is not None:
        spec, given = read_toml(find_recipe(recipe))
        if game is None and spec is not None:
            game = remake(spec, trust)
    if start is not None:
        game, inherited = _settings_of(start, game, trust)
        given = {**inherited, **given}
    given = {**given, **settings}
    return game, {} if game is None else settings_for(game, given), given


def _settings_of(name: str, game: Game | None, trust: bool) -> tuple[Game, dict[str, Any]]:
    """The game, by default the one of the run or pack `name`, and the settings of a run with its weights."""
    if is_pack(name):
        pack = read_pack(Path(name))
        return game or remake(pack.spec, trust), {**pack.network, "initial_run": str(Path(name).resolve())}
    run, checkpoint = open_checkpoint(name, game, trust, any_options=True)
    if checkpoint is None and not run.checkpoints():
        raise BadRun(f"{run.folder} has no checkpoint yet")
    at = run.checkpoints()[-1] if checkpoint is None else checkpoint
    network = {key: getattr(run.config, key) for key in NETWORK}
    return run.game, {**network, "initial_run": f"{run.folder.resolve()}@{at}"}


def continue_run(run: Run, budget: Budget, emit: Listener, stop: Stop, joined: Joined | None = None) -> Run:
    """Train a run from its latest good checkpoint, or from the start, until the budget is spent.

    Games are played on the cluster, if one was `joined`. The training ends when `stop` is set, or when another process
    asks for it (`ludus.runs.lock.request_stop`).
    """
    with training_lock(run.folder):
        return _continue(run, budget, emit, StopRequests(run.folder, stop), joined)


def _continue(run: Run, budget: Budget, emit: Listener, stop: Stop, joined: Joined | None) -> Run:
    known, stage = run.good_checkpoint(), None
    trainer = Trainer(run, None if joined is None else joined.make_selfplay)
    try:
        if known is None:
            run.forget_after(0)
        else:
            trainer.restore(known)
            emit(Resumed(run, known, trainer.rows, trainer.seconds))
        if budget.is_empty:
            budget = Budget(MINUTES + trainer.seconds / 60)
        while not is_spent(budget, trainer) and not stop.is_set():
            if trainer.stages and trainer.stage is not stage:
                stage = trainer.stage
                emit(StageBegun(stage))
            report = trainer.iterate(stop, None if budget.games is None else budget.games - trainer.games)
            if report is None:
                break
            emit(IterationDone(report, seconds_left(budget, trainer)))
            if report.graded is not None:
                emit(Evaluated(report.iteration, report.graded))
            if trainer.iteration % run.config.checkpoint_every == 0 or is_spent(budget, trainer):
                trainer.save(wait=False)
                emit(CheckpointSaved(run, trainer.iteration))
    finally:
        trainer.close()
    emit((TrainingFinished if is_spent(budget, trainer) else TrainingStopped)(run, trainer.iteration))
    return run


def is_spent(budget: Budget, trainer: Trainer) -> bool:
    """True if the run has trained as long as the budget says."""
    return (
        (budget.minutes is not None and trainer.seconds >= 60 * budget.minutes)
        or (budget.games is not None and trainer.games >= budget.games)
        or (budget.steps is not None and trainer.learner.steps >= budget.steps)
    )


def seconds_left(budget: Budget, trainer: Trainer) -> float:
    """Seconds until the budget is spent, if the run continues at its present speed."""
    left = []
    if budget.minutes is not None:
        left.append(60 * budget.minutes - trainer.seconds)
    for done, wanted in ((trainer.games, budget.games), (trainer.learner.steps, budget.steps)):
        if wanted is not None and done:
            left.append(trainer.seconds * (wanted / done - 1))
    return max(0.0, min(left, default=0.0))
