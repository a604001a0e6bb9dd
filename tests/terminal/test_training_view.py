"""The view of a training says what a finished run means."""

from types import SimpleNamespace

import pytest

import ludus
from ludus.cli import main
from ludus.nets.engines import fastest_engine
from ludus.runs.config import Config, with_settings
from ludus.terminal.training import TrainingView
from ludus.training.events import Planned, Resumed, TrainingFinished
from ludus.training.planning import settings_for
from ludus.training.preflight import Measured


@pytest.mark.parametrize(("last", "spent"), [(12, True), (13, False)])
def test_a_resumed_run_whose_budget_was_spent_before_says_so(capsys, last, spent):
    run = SimpleNamespace(folder="runs/one", game=ludus.make("tictactoe"))
    with TrainingView() as view:
        view(Resumed(run, 12, 1000, 19.0))
        view(TrainingFinished(run, last))
    shown = capsys.readouterr().out
    assert "Going on from iteration 12: 1,000 rows, 0:19 of training\n" in shown
    assert ("This budget was spent before" in shown) is spent
    assert "Play against it: ludus play tictactoe --against zero:runs/one\n" in shown


@pytest.mark.parametrize("idle", [0, 3])
def test_a_machine_with_several_gpus_is_told_how_to_use_all(capsys, tmp_path, idle):
    found = Measured(1000, 1e5, 1e5, 30.0, 1e4, "onnx", 256, 2, 1, "float32", 0, 0, 0.0, True, "", idle_gpus=idle)
    with TrainingView() as view:
        view(Planned(ludus.make("tictactoe"), Config(planned_rows=1000), found, tmp_path))
    line = "One of 4 GPUs is used; --cluster auto plays on all of them\n"
    assert (line in capsys.readouterr().out) is bool(idle)


def shown_settings(capsys, *arguments):
    """The value of each setting that a command lists."""
    main(["train", *arguments, "--settings"])
    lines = capsys.readouterr().out.splitlines()[1:]
    return {line.split()[0]: line.split()[1] for line in lines}


def test_the_settings_of_a_game_are_those_that_a_run_uses(capsys):
    usual = shown_settings(capsys)
    game = ludus.make("connect4")
    assert usual["learning_rate"] == str(Config().learning_rate)
    config = with_settings(Config(), settings_for(game))
    assert config.learning_rate != Config().learning_rate or fastest_engine() == "cuda"
    shown = shown_settings(capsys, "connect4")
    assert shown["learning_rate"] == str(config.learning_rate)
    shown = shown_settings(capsys, "roshambo")
    assert (shown["search"], shown["shared_view"], usual["search"], usual["shared_view"]) == (
        "puct",
        "yes",
        "gumbel",
        "no",
    )
    shown = shown_settings(capsys, "connect4", "--set", "learning_rate=0.5", "--seed", "7")
    assert (shown["learning_rate"], shown["learning_rate_end"], shown["seed"]) == (
        "0.5",
        usual["learning_rate_end"],
        "7",
    )
