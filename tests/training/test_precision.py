"""The learner in bfloat16: only on CPUs that can, and with nearly the losses of float32."""

import subprocess

import numpy as np
import pytest
import torch

import ludus
from ludus.runs.config import Config, with_settings
from ludus.training import precision, preflight
from ludus.training.learner import Learner
from ludus.training.precision import can_use_bfloat16
from ludus.training.selfplay import LocalSelfPlay
from tests.training.small import SMALL


@pytest.fixture
def fresh():
    can_use_bfloat16.cache_clear()
    yield
    can_use_bfloat16.cache_clear()


@pytest.mark.parametrize(("status", "able"), [(0, True), (-4, False), (1, False)])
def test_a_process_that_dies_of_the_instructions_says_no(fresh, monkeypatch, tmp_path, status, able):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("flags : fpu avx2 avx512_bf16")
    monkeypatch.setattr(precision, "Path", lambda name: cpuinfo)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], status))
    assert can_use_bfloat16() is able


def test_a_cpu_without_the_instructions_is_not_tried(fresh, monkeypatch, tmp_path):
    monkeypatch.setattr(precision, "Path", lambda name: tmp_path / "missing")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a process was started"))
    assert not can_use_bfloat16()


def small_rows(game, config):
    network = config.make_network(game)
    return LocalSelfPlay(game, config, network, games=16, workers=1, seed=0).play(400, 2).rows


def test_it_learns_as_in_float32_up_to_rounding():
    if not can_use_bfloat16():
        pytest.skip("this CPU has no instructions for bfloat16")
    game = ludus.make("connect4", rows=4, columns=5).compile()
    losses = {}
    for kind in ("float32", "bfloat16"):
        config = with_settings(Config(), {**SMALL, "width": 16, "engine": "onnx", "learner_precision": kind})
        torch.manual_seed(1)
        learner = Learner(game, config.make_network(game), config)
        assert learner.stepper.bfloat16 == (kind == "bfloat16")
        losses[kind] = learner.learn(small_rows(game, config), 40, 0.0, np.random.default_rng(0))
        assert all(weight.dtype == torch.float32 for weight in learner.network.parameters())
    assert losses["bfloat16"] != losses["float32"]
    assert losses["bfloat16"] == pytest.approx(losses["float32"], rel=0.1)


@pytest.mark.parametrize(("factor", "chosen"), [(1.5, "bfloat16"), (1.1, "float32")])
def test_the_preflight_takes_it_only_if_it_is_clearly_faster(monkeypatch, factor, chosen):
    monkeypatch.setattr(preflight, "can_use_bfloat16", lambda: True)
    monkeypatch.setattr(preflight, "Learner", lambda *_: None)
    monkeypatch.setattr(preflight, "_measure_learner", lambda *_: factor * 1000.0)
    game = ludus.make("tictactoe")
    rows, stop = None, None
    assert preflight._choose_precision(game, Config(), "cpu", 1, rows, 1000.0, stop, 0.1)[0] == chosen
    given = with_settings(Config(), {"learner_precision": "float32"})
    assert preflight._choose_precision(game, given, "cpu", 1, rows, 1000.0, stop, 0.1) == ("float32", 1000.0)
