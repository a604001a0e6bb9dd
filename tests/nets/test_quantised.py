"""Quantised convolutions: close to float32, really in integers, and not used where quantising does harm."""

from pathlib import Path

import numpy as np
import onnx
import pytest
import torch

import ludus
from ludus.errors import BadOption
from ludus.nets.engines import OnnxEngine, make_engine
from ludus.nets.families import make_network
from ludus.runs.config import Config, with_settings
from ludus.training import preflight
from tests.nets.test_nets import lively

FRAMED = str(Path(__file__).parent / "framed.py")


def planes_of(game, count=256, seed=0):
    planes = np.random.default_rng(seed).integers(0, 2, (count, *game.observation)).astype(np.float32)
    if game.mask is not None:  # boards in a corner
        planes[:, game.mask] = 0.0
        planes[:, game.mask, :3, :3] = 1.0
    return planes


def both(network, planes):
    """An engine in float32, and a quantised one."""
    exact, quantised = make_engine("onnx", network), make_engine("int8")
    quantised.load(network, planes)
    return exact, quantised


@pytest.mark.parametrize(
    ("name", "kind", "size_free"),
    [
        ("connect4", "residual", False),
        ("connect4", "conv", False),
        ("connect4", "residual", True),
        ("cachex", "residual", True),
        (FRAMED, "residual", True),
    ],
)
def test_integers_give_nearly_what_float32_gives(name, kind, size_free):
    game = ludus.make(name)
    network = make_network(kind, game, blocks=3, width=16, size_free=size_free)
    if kind == "conv":  # or nothing gets through it
        network = lively(network)
    exact, quantised = both(network.eval(), planes_of(game))
    assert quantised.quantised
    others = planes_of(game, 64, seed=1)
    for mine, theirs in zip(quantised.run(others), exact.run(others), strict=True):
        shown = np.abs(theirs) < 1000  # not what a mask hides
        spread = theirs[shown].std()
        assert spread > 0
        assert 0 < np.abs(mine - theirs)[shown].mean() < 0.2 * spread


def test_all_convolutions_but_the_first_run_in_integers(tmp_path):
    game = ludus.make("connect4")
    engine = make_engine("int8")
    engine.options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    network = make_network("residual", game, blocks=4, width=16).eval()
    engine.load(network, planes_of(game))  # the last session that it makes is the quantised one
    kinds = [node.op_type for node in onnx.load(tmp_path / "optimised.onnx").graph.node]
    inner = sum(isinstance(module, torch.nn.Conv2d) for module in network.modules()) - 1
    assert kinds.count("QLinearConv") == inner
    assert kinds.count("QLinearAdd") == 4  # the sums at the end of the blocks
    assert sum("Conv" in kind for kind in kinds) == inner + 1


@pytest.mark.parametrize(("kind", "blocks"), [("mlp", 2), ("conv", 0), ("residual", 0)])
def test_networks_with_few_convolutions_or_none_run_all_the_same(kind, blocks):
    game = ludus.make("connect4")
    network = lively(make_network(kind, game, blocks=blocks, width=8))
    exact, quantised = both(network, planes_of(game))
    assert quantised.quantised == (kind == "residual")  # its heads have convolutions
    for mine, theirs in zip(quantised.run(planes_of(game)), exact.run(planes_of(game)), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=0.1)


def test_a_channel_with_next_to_no_weights_keeps_its_bias():
    game = ludus.make("connect4")
    network = make_network("residual", game, blocks=1, width=8).eval()
    with torch.no_grad():
        convolution, norm = network.trunk[2].first
        convolution.weight[0] = 0.0
        norm.bias[0] = 1.0
    exact, quantised = both(network, planes_of(game))
    assert quantised.quantised
    for mine, theirs in zip(quantised.run(planes_of(game)), exact.run(planes_of(game)), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=0.02)


def test_without_calibration_it_is_float32():
    game = ludus.make("connect4")
    network = lively(make_network("residual", game, blocks=1, width=8))
    engine = make_engine("int8", network)
    exact = OnnxEngine()
    exact.load(network)
    assert not engine.quantised
    for mine, theirs in zip(engine.run(planes_of(game, 8)), exact.run(planes_of(game, 8)), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_network_that_quantising_would_ruin_stays_in_float32():
    game = ludus.make("connect4")
    network = lively(make_network("residual", game, blocks=2, width=8))
    with torch.no_grad():  # one channel is huge and counts for nothing: quantised beside it, the others vanish
        norm = network.trunk[2].first[1]
        norm.bias[0] += 1e6
        network.trunk[2].second[0].weight[:, 0] = 0.0
        network.trunk[2].second[1].weight *= 30.0
    exact, quantised = both(network, planes_of(game))
    assert not quantised.quantised
    np.testing.assert_array_equal(quantised.run(planes_of(game))[0], exact.run(planes_of(game))[0])


@pytest.mark.parametrize(("times", "chosen"), [(2.0, "int8"), (1.1, "auto")])
def test_the_preflight_takes_what_is_faster(monkeypatch, times, chosen):
    config = with_settings(Config(), {"blocks": 1, "width": 8})
    rates = iter([100.0, 100.0 * times])
    monkeypatch.setattr(preflight, "calls_per_second", lambda work, seconds: next(rates))
    monkeypatch.setattr(preflight, "fastest_engine", lambda among: "onnx")
    game = ludus.make("connect4")
    assert preflight._choose_engine(game, config, config.make_network(game))[0] == chosen


def test_what_is_said_is_kept_and_what_has_no_convolutions_is_left_alone():
    game = ludus.make("connect4")
    for settings, engine in (
        ({"engine": "torch"}, "torch"),
        ({"engine": "int8"}, "int8"),
        ({"network": "mlp"}, "auto"),
    ):
        config = with_settings(Config(), {"blocks": 1, "width": 8, **settings})
        assert preflight._choose_engine(game, config, config.make_network(game))[0] == engine
    with pytest.raises(
        BadOption, match="engine = onnx cannot run network = graph; use auto or cuda, native, int8, torch"
    ):
        with_settings(Config(), {"network": "graph", "engine": "onnx"})
