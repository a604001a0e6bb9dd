"""Engines are compared with PyTorch when they first load a network of a shape."""

import numpy as np
import pytest

import ludus
from ludus.errors import Unsuitable
from ludus.nets import checking
from ludus.nets.engines import ENGINES, EngineKind, OnnxEngine, make_engine
from ludus.nets.evaluator import PlaneEvaluator, make_evaluator
from ludus.nets.families import make_network

ONES = np.ones((40, 2, 3, 3), np.float32)


class Wrong(OnnxEngine):
    """Adds to all logits but the first: another policy."""

    error = 0.1

    def run(self, inputs):
        policy, values = super().run(inputs)
        policy[..., 1:] += self.error
        return policy, values


class Rounds(Wrong):
    precision = "bfloat16"


@pytest.fixture
def game():
    return ludus.make("tictactoe")


@pytest.fixture(autouse=True)
def nothing_checked(monkeypatch):
    monkeypatch.setattr(checking, "_checked", set())


def network_of(game, width=8):
    return make_network("residual", game, blocks=1, width=width)


def test_an_engine_with_other_answers_is_refused(game, monkeypatch):
    with pytest.raises(Unsuitable, match=r"Wrong differs from PyTorch by 0\.1 on this network, in float32: set"):
        PlaneEvaluator(game, Wrong()).load(network_of(game))
    monkeypatch.setitem(ENGINES, "onnx", EngineKind(lambda threads: Wrong(), lambda: ""))
    with pytest.raises(Unsuitable, match="Wrong differs"):
        make_evaluator(game, network_of(game), "onnx")
    with pytest.raises(Unsuitable, match="Wrong differs"):
        make_engine("onnx", network_of(game))


def test_an_engine_that_rounds_may_differ_by_a_little(game, monkeypatch):
    PlaneEvaluator(game, Rounds()).load(network_of(game))
    monkeypatch.setattr(checking, "_checked", set())
    monkeypatch.setattr(Rounds, "error", 3.0)
    with pytest.raises(Unsuitable, match=r"Rounds differs from PyTorch by .* in bfloat16"):
        PlaneEvaluator(game, Rounds()).load(network_of(game))


def test_each_shape_of_network_is_compared_once(game, monkeypatch):
    compared = []
    monkeypatch.setattr(checking, "random_planes", lambda sizes: compared.append(1) or ONES)
    evaluator = make_evaluator(game, network_of(game), "onnx")
    evaluator.load(network_of(game))
    make_evaluator(game, network_of(game), "onnx")
    assert len(compared) == 1
    make_evaluator(game, network_of(game, width=16), "onnx")
    assert len(compared) == 2
    make_evaluator(game, network_of(game), "torch")  # is PyTorch
    assert len(compared) == 2


def test_calibration_planes_serve_for_the_comparison(game, monkeypatch):
    seen = []
    monkeypatch.setattr(
        OnnxEngine, "run", lambda self, planes, run=OnnxEngine.run: seen.append(planes) or run(self, planes)
    )
    PlaneEvaluator(game, OnnxEngine()).load(network_of(game), ONES)
    (planes,) = seen
    np.testing.assert_array_equal(planes, ONES[: checking.ROWS])
