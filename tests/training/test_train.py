"""`ludus.train`: a whole training by one call, with events, that can be stopped and resumed."""

import math
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
import safetensors.numpy

import ludus
from ludus.errors import BadOption, FiguresLost
from ludus.runs.config import Config, with_settings
from ludus.runs.files import BadRun
from ludus.runs.players import pack_player
from ludus.runs.run import Run
from ludus.stopping import Stopped
from ludus.training import preflight, session
from ludus.training.events import (
    BudgetAssumed,
    CheckpointSaved,
    Evaluated,
    IterationDone,
    Measuring,
    Planned,
    Resumed,
    RunOpened,
    TrainingFinished,
    TrainingStopped,
)
from ludus.training.planning import Budget, choose_without_measuring, mean_plies, plan, settings_for
from ludus.training.tracking import TRACKERS, track
from tests.training.small import QUICK


@pytest.fixture(autouse=True)
def short_preflight(monkeypatch):
    monkeypatch.setattr(preflight, "SECONDS", 0.1)


def kinds(events):
    return [type(event) for event in events]


def test_a_training_tells_what_happens_in_order(tmp_path):
    events = []
    run = ludus.train("tictactoe", steps=20, run=tmp_path / "run", settings=QUICK, on_event=events.append)
    assert isinstance(run, Run)
    measuring = [event for event in events if isinstance(event, Measuring)]
    assert [event.fraction for event in measuring] == sorted(event.fraction for event in measuring)
    assert (measuring[0].fraction, measuring[-1].fraction) == (0.0, 1.0)
    told = [kind for kind in kinds(events) if kind is not Measuring]
    assert told[:2] == [Planned, RunOpened]
    iterations = (len(told) - 3) // 2
    assert told[2:] == iterations * [IterationDone, CheckpointSaved] + [TrainingFinished]
    planned, *_, finished = (event for event in events if not isinstance(event, Measuring))
    assert planned.folder == run.folder == tmp_path / "run"
    assert run.config == planned.config
    assert finished.iteration == iterations == len(run.log()) == run.checkpoints()[-1]
    reports = [event.report for event in events if isinstance(event, IterationDone)]
    assert [report.line() for report in reports] == [{**line, "gate": None} for line in run.log()]
    assert reports[-1].steps >= 20 > reports[-2].steps
    left = [event.seconds_left for event in events if isinstance(event, IterationDone)]
    assert left[-1] == 0.0 < left[0]


def test_a_training_is_stopped_and_resumed(tmp_path):
    stop, events = threading.Event(), []

    def listen(event):
        events.append(event)
        if isinstance(event, IterationDone) and event.report.iteration == 2:
            stop.set()

    run = ludus.train("tictactoe", games=10**6, run=tmp_path / "run", settings=QUICK, on_event=listen, stop=stop)
    assert kinds(events)[-3:] == [IterationDone, CheckpointSaved, TrainingStopped]
    assert run.whole_checkpoint() == 2
    events.clear()
    steps = run.log()[-1]["steps"]
    again = ludus.train(resume=run.folder, steps=steps + 1, on_event=events.append)
    assert kinds(events) == [RunOpened, Resumed, IterationDone, CheckpointSaved, TrainingFinished]
    assert (events[1].iteration, events[1].rows) == (2, run.log()[1]["rows"])
    assert again.checkpoints() == [1, 2, 3]
    events.clear()
    ludus.train(resume=run.folder, steps=steps, on_event=events.append)  # spent already
    assert kinds(events) == [RunOpened, Resumed, TrainingFinished]


def test_an_iteration_under_way_is_given_up_when_stopped(tmp_path):
    stop = threading.Event()

    def listen(event):
        if isinstance(event, RunOpened):
            threading.Timer(0.3, stop.set).start()

    settings = {**QUICK, "iteration_rows": 10**7}
    run = ludus.train("tictactoe", minutes=60, run=tmp_path / "run", settings=settings, on_event=listen, stop=stop)
    assert run.checkpoints() == []
    assert run.log() == []


@pytest.mark.parametrize("stage", [0, 2])
def test_a_preflight_is_stopped_before_anything_is_written(tmp_path, stage):
    stop, seen = threading.Event(), []

    def listen(event):
        seen.append(event)
        if len(seen) == stage + 1:
            stop.set()

    with pytest.raises(Stopped, match="before the run began: nothing was written"):
        ludus.train("tictactoe", steps=10, run=tmp_path / "run", settings=QUICK, on_event=listen, stop=stop)
    assert kinds(seen) == [Measuring] * (stage + 1)
    assert not (tmp_path / "run").exists()


def test_without_a_budget_there_is_a_default(tmp_path, monkeypatch):
    monkeypatch.setattr(session, "MINUTES", 0.005)
    events = []
    run = ludus.train("tictactoe", run=tmp_path / "run", settings=QUICK, on_event=events.append)
    assert events[0] == BudgetAssumed(0.005)
    assert kinds(events)[-1] is TrainingFinished
    before = len(run.log())
    ludus.train(resume=run.folder)  # as long again
    assert len(run.log()) > before


def test_a_budget_of_time_makes_the_plan():
    measured = preflight.Measured(1000, 1e5, 1e5, 30.0, 1e4, "onnx", 256, 2, 1, "float32", 0, 0, 0.0, False, "")
    config = with_settings(Config(), {"simulations": 20, "reuse": 4, "batch_size": 512, "iteration_rows": 8192})
    per_row = 20 / 1e5 + 4 / 1e4
    assert measured.seconds_per_row(config) == pytest.approx(per_row)
    hour = plan(config, measured, Budget(minutes=60))
    assert hour.planned_rows == int(3600 / per_row)
    assert (hour.iteration_rows, hour.batch_size, hour.parallel_games) == (8192, 512, 256)
    short = plan(config, measured, Budget(minutes=0.1))
    assert (short.iteration_rows, short.batch_size) == (256, 66)
    assert short.parallel_games == int(6 * 0.1 * 1e5 / (30 * 20))
    assert plan(config, measured, Budget(minutes=60, games=100)).planned_rows == 3000


def test_a_budget_of_games_or_steps_needs_no_measurement():
    game = ludus.make("connect4", rows=4, columns=5)
    config = with_settings(Config(), settings_for(game))
    plies = mean_plies(game)
    assert 8 < plies < 20
    assert plies == mean_plies(game)
    many = choose_without_measuring(game, config, Budget(games=100_000))
    assert many.planned_rows == round(100_000 * plies)
    assert (many.iteration_rows, many.batch_size, many.parallel_games) == (8192, 512, 128)
    few = choose_without_measuring(game, config, Budget(games=3))
    assert (few.planned_rows, few.iteration_rows) == (round(3 * plies), math.ceil(3 * plies))
    assert few.parallel_games == 3
    steps = choose_without_measuring(game, config, Budget(steps=100))
    assert steps.planned_rows == 100 * config.batch_size / config.reuse
    assert steps.batch_size == config.batch_size
    for each in (many, few, steps):
        assert each.engine != "auto"
        assert each.learner_threads > 0
    assert choose_without_measuring(game, config, Budget(games=600)) == choose_without_measuring(
        game, config, Budget(games=600)
    )


@pytest.mark.parametrize("budget", [{"games": 30}, {"steps": 12}])
def test_the_same_seed_gives_the_same_weights(tmp_path, budget, monkeypatch):
    """The same command twice, on a machine whose speed changes in between."""
    settings = {"blocks": 1, "width": 8, "simulations": 4, "seed": 3}
    found = []
    for name, seconds in (("slow", 0.3), ("fast", 0.05)):
        monkeypatch.setattr(preflight, "SECONDS", seconds)
        run = ludus.train("tictactoe", run=tmp_path / name, settings=settings, **budget)
        assert run.config.planned_rows <= run.log()[-1]["rows"] or "games" in budget
        files = [run.checkpoint(run.checkpoints()[-1]) / each for each in ("player.safetensors", "learner.safetensors")]
        found.append([run.config, run.log()[-1]["rows"], *(safetensors.numpy.load_file(file) for file in files)])
    for slow, fast in zip(*found, strict=True):
        if isinstance(slow, dict):
            assert all(np.array_equal(slow[name], fast[name]) for name in slow)
        else:
            assert slow == fast


@pytest.mark.parametrize("games", [3, 60])
def test_a_run_plays_the_games_of_its_budget(games, tmp_path):
    settings = {"blocks": 0, "width": 4, "simulations": 2, "workers": 1, "parallel_games": 4}
    run = ludus.train("tictactoe", games=games, run=tmp_path / "run", settings=settings)
    assert games <= run.log()[-1]["games"] <= games + 5


def test_few_steps_reach_the_end_of_the_schedules(tmp_path):
    settings = {"blocks": 0, "width": 4, "simulations": 2, "simulations_end": 8, "batch_size": 64, "workers": 2}
    run = ludus.train("tictactoe", steps=50, run=tmp_path / "run", settings=settings)
    assert run.log()[-1]["simulations"] == 8
    assert run.log()[-1]["steps"] < 60


@pytest.mark.parametrize("minutes", [math.nan, math.inf, 0.0, -1.0])
def test_budgets_are_numbers_above_0(minutes, tmp_path):
    with pytest.raises(BadOption, match="minutes must be a number above 0"):
        ludus.train("tictactoe", minutes=minutes, run=tmp_path / "run")


def test_recipes_settings_and_another_runs_weights_come_together(tmp_path):
    recipe = tmp_path / "own.toml"
    recipe.write_text('game = "tictactoe"\n\n[settings]\nblocks = 0\nwidth = 4\nreuse = 2.0\n')
    settings = {name: value for name, value in QUICK.items() if name not in ("blocks", "width")}
    first = ludus.train(steps=1, run=tmp_path / "first", recipe=str(recipe), settings=settings)
    assert first.game.name == "tictactoe"
    assert (first.config.blocks, first.config.width, first.config.reuse) == (0, 4, 2.0)
    second = ludus.train(steps=1, run=tmp_path / "second", start=str(first.folder), settings=settings)
    assert second.game.name == "tictactoe"
    assert second.config.initial_run == f"{first.folder}@{first.checkpoints()[-1]}"
    assert (second.config.blocks, second.config.width, second.config.reuse) == (0, 4, 4.0)
    packed = pack_player(str(first.folder), tmp_path / "first.player")
    third = ludus.train(steps=1, run=tmp_path / "third", start=str(packed.file), settings=settings)
    assert (third.game.name, third.config.width) == ("tictactoe", 4)
    assert third.config.initial_run == str(packed.file)
    again = pack_player(str(third.folder), tmp_path / "third.player")
    assert again.facts["settings"]["initial_run"] == "first.player"  # without the folders of this machine
    with pytest.raises(BadRun, match="plays tictactoe"):
        ludus.train("connect4", steps=1, run=tmp_path / "fourth", start=str(packed.file), settings=settings)


def test_evaluations_are_told(tmp_path):
    from ludus.grading.drawing import draw_positions
    from ludus.grading.positions import write_positions

    game = ludus.make("tictactoe")
    write_positions(tmp_path / "p.txt", draw_positions(game, 12, seed=1))
    settings = {**QUICK, "evaluate_every": 2, "evaluation_positions": str(tmp_path / "p.txt")}
    events = []
    run = ludus.train(game, steps=30, run=tmp_path / "run", settings=settings, on_event=events.append)
    told = [(event.iteration, event.outcomes_kept) for event in events if isinstance(event, Evaluated)]
    assert told
    for iteration, kept in told:
        assert iteration % 2 == 0
        assert run.log()[iteration - 1]["graded"] == pytest.approx(kept, abs=1e-5)


def test_the_log_for_tensorboard_holds_what_the_log_holds(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    log = track("tensorboard")
    run = ludus.train("tictactoe", steps=24, run=tmp_path / "run", settings=QUICK, on_event=log)
    assert log.folder == run.folder
    events = accumulator.EventAccumulator(str(run.folder / "tensorboard"))
    events.Reload()
    lines = run.log()
    for name in ("rows", "policy", "rating"):
        scalars = events.Scalars(name)
        assert [scalar.step for scalar in scalars] == [line["iteration"] for line in lines]
        assert [scalar.value for scalar in scalars] == pytest.approx([line[name] for line in lines], rel=1e-5)


class Library:
    """Stands in for the library of a tracker, and for the run that it begins: keeps the calls of its functions."""

    id, info = "a1b2", SimpleNamespace(run_id="a1b2")

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def call(*values, **named):
            self.calls.append((name, *values, named))
            return self

        return call


@pytest.mark.parametrize(("name", "log", "end"), [("wandb", "log", "finish"), ("mlflow", "log_metrics", "end_run")])
def test_the_same_figures_go_to_other_trackers(tmp_path, monkeypatch, name, log, end):
    library = Library()
    monkeypatch.setitem(sys.modules, name, library)
    run = ludus.train("tictactoe", steps=8, run=tmp_path / "run", settings=QUICK, on_event=track(name))
    logged = [call for call in library.calls if call[0] == log]
    assert [call[-1]["step"] for call in logged] == [line["iteration"] for line in run.log()]
    assert logged[-1][1]["policy"] == run.log()[-1]["policy"]
    assert library.calls[-1][0] == end
    settings = [call[-1].get("config") or call[1] for call in library.calls if call[0] in ("init", "log_params")]
    assert settings[0]["game"] == run.game.identity
    assert settings[0]["batch_size"] == run.config.batch_size


@pytest.mark.parametrize(("name", "begin", "key"), [("wandb", "init", "id"), ("mlflow", "start_run", "run_id")])
def test_a_resumed_run_goes_on_under_the_name_that_a_tracker_gave_it(tmp_path, monkeypatch, name, begin, key):
    library = Library()
    monkeypatch.setitem(sys.modules, name, library)
    run = ludus.train("tictactoe", steps=8, run=tmp_path / "run", settings=QUICK, on_event=track(name))
    ludus.train(resume=run.folder, steps=16, on_event=track(name))
    assert [call[-1][key] for call in library.calls if call[0] == begin] == [None, "a1b2"]


def test_a_training_goes_on_when_a_tracker_fails(tmp_path, monkeypatch):
    class Server:
        def open(self, run):
            self.asked = 0

        def log(self, figures, iteration):
            self.asked += 1
            raise ConnectionError("nobody answers\nat this address")

        close = None

    monkeypatch.setitem(TRACKERS, "server", Server)
    listener = track("server")
    with pytest.warns(FiguresLost, match="^Server takes no figures any more: nobody answers; the training goes on$"):
        run = ludus.train("tictactoe", steps=20, run=tmp_path / "run", settings=QUICK, on_event=listener)
    assert len(run.log()) > listener.tracker.asked == 1


def test_a_tracker_that_is_not_installed_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(BadOption, match="pip install wandb"):
        track("wandb")
    with pytest.raises(BadOption, match="logs are tensorboard, wandb, mlflow"):
        track("paper")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "name a game to train, or a recipe, or a run to resume"),
        ({"game": "tictactoe", "steps": 0}, "steps must be a number above 0 and at most 1,000,000,000,000"),
        ({"game": "tictactoe", "steps": 10**400}, "steps must be a number above 0 and at most"),
        ({"game": "tictactoe", "minutes": 1.7e308}, "minutes must be a number above 0 and at most 1,000,000,000"),
        ({"game": "tictactoe", "recipe": "soup"}, "no recipe is called 'soup'; there are .*etazero-sevn"),
        ({"resume": "x", "settings": {"blocks": 1}}, "resume keeps the settings of the run"),
        ({"game": "tictactoe", "settings": {"block": 1}}, "no setting is called 'block'; did you mean blocks"),
    ],
)
def test_what_cannot_be_trained_is_refused_at_once(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    events = []
    with pytest.raises(BadOption, match=message):
        ludus.train(**options, on_event=events.append)
    assert events == []
    assert list(tmp_path.iterdir()) == []
