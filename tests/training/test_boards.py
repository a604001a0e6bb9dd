"""Further boards: other sizes of the game are played and learned at the same time by the same weights."""

import numpy as np
import pytest
import torch

import ludus
from ludus.errors import BadOption
from ludus.nets.sharing import share_weights
from ludus.runs.config import Config, with_settings
from ludus.runs.run import Run
from ludus.training import preflight
from ludus.training.boards import further_games
from ludus.training.trainer import Trainer
from tests.training.small import SMALL

SETTINGS = {**SMALL, "size_free": True, "boards": "n=3;n=4", "rating_games": 0, "engine": "onnx"}


def run_in(folder, settings):
    config = with_settings(Config(), settings)
    return Run.create(folder, ludus.make("cachex", n=5), config)


def test_every_board_is_played_and_learned_and_the_run_goes_on_bit_for_bit(tmp_path):
    whole = Trainer(run_in(tmp_path / "whole", SETTINGS))
    for _ in range(3):
        report = whole.iterate()
    whole.save()
    assert [board.game.rules.n for board in whole.boards] == [3, 4]
    assert all(window.total >= SMALL["iteration_rows"] for window in whole._windows)
    assert report.rows == sum(window.total for window in whole._windows)
    assert report.steps > 0

    part = Trainer(run_in(tmp_path / "part", SETTINGS))
    part.iterate()
    part.save()
    resumed = Trainer(Run.open(tmp_path / "part"))
    resumed.restore(1)
    for _ in range(2):
        resumed.iterate()
    for name, weight in whole.learner.network.state_dict().items():
        assert torch.equal(weight, resumed.learner.network.state_dict()[name]), name


def test_graph_networks_in_integers_are_calibrated_on_every_board(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight, "SECONDS", 0.1)
    settings = {**SMALL, "network": "graph", "boards": "base=5", "engine": "int8", "rating_games": 0}
    game, config = ludus.make("sevn", base=3), with_settings(Config(), settings)
    measured = preflight.measure(game, config)
    assert measured.engine == "int8"
    assert measured.simulations > 0
    trainer = Trainer(Run.create(tmp_path / "run", game, config))
    playing = [trainer.selfplay, trainer.boards[0].selfplay]
    assert [each.workers[0].evaluator.engine.precision for each in playing] == ["int8", "int8"]  # before any row
    assert trainer.iterate().rows > 0
    assert [each.workers[0].evaluator.engine.precision for each in playing] == ["int8", "int8"]


def test_networks_of_two_sizes_share_their_weights(tmp_path):
    config = with_settings(Config(), SETTINGS)
    one, other = (config.make_network(ludus.make("cachex", n=n)) for n in (3, 6))
    share_weights(other, one)
    planes = torch.from_numpy(np.random.default_rng(0).random((4, *other.sizes.observation), np.float32))
    before = other.eval()(planes)[1]
    with torch.no_grad():
        for weight in one.parameters():
            weight.mul_(1.5)
    assert not torch.allclose(before, other(planes)[1])
    assert [name for name, _ in one.named_parameters()] == [name for name, _ in other.named_parameters()]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"boards": "n=4"}, "boards need a network whose weights fit all board sizes"),
        ({"size_free": True, "boards": "4"}, "boards must be options of the game such as n=5;n=11"),
        ({"size_free": True, "boards": "m=4"}, "no option"),
        ({"size_free": True, "boards": "n=99"}, "must be from 3 to 15"),
    ],
)
def test_boards_that_do_not_exist_are_one_line(settings, told):
    with pytest.raises(BadOption, match=told):
        further_games(ludus.make("cachex", n=5), with_settings(Config(), settings))
