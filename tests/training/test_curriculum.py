"""A curriculum: self-play begins with easier versions of a game."""

import copy

import pytest

import ludus
from ludus.games.connect4 import Connect4Game
from ludus.runs.config import Config, with_settings
from ludus.runs.run import Run
from ludus.training import preflight
from ludus.training.events import StageBegun
from ludus.training.planning import settings_for
from ludus.training.trainer import Trainer
from tests.training.small import QUICK, SMALL


@pytest.fixture(autouse=True)
def three_in_a_row_first(monkeypatch):
    """Connect-4 begins with three in a row, until half of the run."""

    def curriculum(self):
        easier = copy.copy(self)
        easier.rules = self.rules._replace(line=3)
        return [(0.5, easier), (1.0, self)]

    monkeypatch.setattr(Connect4Game, "curriculum", curriculum)
    monkeypatch.setattr(preflight, "SECONDS", 0.1)


def small_game():
    return ludus.make("connect4", rows=4, columns=5)


def new_trainer(folder):
    settings = {**SMALL, "curriculum": True, "planned_rows": 4 * SMALL["iteration_rows"]}
    return Trainer(Run.create(folder, small_game(), with_settings(Config(), settings)))


def weights(trainer):
    return [value.numpy().tobytes() for value in trainer.learner.network.state_dict().values()]


def test_stages_follow_the_progress_of_the_run_and_are_told(tmp_path):
    events = []
    settings = {**QUICK, "curriculum": True}
    run = ludus.train(small_game(), steps=24, run=tmp_path / "run", settings=settings, on_event=events.append)
    assert [event.game.rules.line for event in events if isinstance(event, StageBegun)] == [3, 4]
    lengths = [line["plies"] for line in run.log()]
    assert lengths[0] < lengths[-1]
    assert run.game.rules.line == 4


def test_a_run_resumed_in_its_second_stage_gives_the_same_weights(tmp_path):
    whole = new_trainer(tmp_path / "whole")
    for _ in range(4):
        whole.iterate()
    assert whole.stage.rules.line == whole.learner.samplers[0].game.rules.line == 4
    stopped = new_trainer(tmp_path / "stopped")
    for _ in range(3):
        stopped.iterate()
        stopped.save()
    again = Trainer(Run.open(tmp_path / "stopped"))
    again.restore(3)
    again.iterate()
    assert weights(again) == weights(whole)


def test_trained_weights_begin_with_the_last_stage(tmp_path):
    first = new_trainer(tmp_path / "first")
    first.iterate()
    first.save()
    again = {**SMALL, "curriculum": True, "planned_rows": 1000, "initial_run": str(tmp_path / "first")}
    trainer = Trainer(Run.create(tmp_path / "second", small_game(), with_settings(Config(), again)))
    assert [(until, stage.rules.line) for until, stage in trainer.stages] == [(1.0, 4)]


def test_without_the_setting_the_game_itself_is_played(tmp_path):
    trainer = Trainer(Run.create(tmp_path / "run", small_game(), with_settings(Config(), SMALL)))
    assert not trainer.stages
    assert trainer.stage is trainer.game


def test_a_game_with_a_curriculum_is_trained_by_it():
    assert settings_for(small_game())["curriculum"]
    stages = ludus.make("hive", limit=100, surround=3).curriculum()
    assert [(stage.rules.surround, stage.rules.limit) for _, stage in stages] == [(3, 60), (3, 80), (3, 100), (3, 100)]
    assert all(stage.rules.decide_at_limit for _, stage in stages)
    worth = [stage.rules.worth for _, stage in stages]
    assert worth == sorted(worth, reverse=True)  # a lead at the limit comes to be worth less than a win
    assert worth[-1] < 1.0
