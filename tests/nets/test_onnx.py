"""The ONNX writer: it writes what it knows exactly, and refuses everything else by name."""

import operator

import numpy as np
import onnx
import pytest
import torch
from torch import nn

import ludus
from ludus.errors import Unsuitable
from ludus.nets.engines import OnnxEngine, TorchEngine
from ludus.nets.families import make_network
from ludus.nets.network import Network, Sizes
from ludus.nets.onnx import write_onnx

SIZES = Sizes(observation=(2, 3, 3), actions=9, heads=1, outputs=1)


class Given(Network):
    """A network around a given trunk, whose result has `features` numbers."""

    def __init__(self, trunk, features):
        super().__init__(SIZES)
        self.trunk = trunk
        self.policy = nn.Sequential(nn.Flatten(), nn.Linear(features, 9))
        self.value = nn.Sequential(nn.Flatten(), nn.Linear(features, 1))


class Calls(nn.Module):
    """A module that calls a function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class OwnConvolution(nn.Conv2d):
    """Could compute anything."""


class KeepsDropping(Given):
    """Its dropout stays in training mode."""

    def train(self, mode=True):
        super().train(mode)
        self.trunk.training = True
        return self


@pytest.mark.parametrize(
    ("trunk", "message"),
    [
        (nn.Conv2d(2, 2, 3, stride=2, padding=1), r"convolution trunk has the stride \(2, 2\), and only \(1, 1\)"),
        (nn.Conv2d(2, 2, 3, dilation=2, padding=2), r"convolution trunk has the dilation \(2, 2\)"),
        (nn.Conv2d(2, 2, 3, groups=2, padding=1), "convolution trunk has the groups 2, and only 1"),
        (nn.Conv2d(2, 2, 3, padding_mode="circular", padding=1), "padding mode circular, and only zeros"),
        (nn.Conv2d(2, 2, 3, padding="same"), "padding 'same', and only numbers"),
        (nn.ConvTranspose2d(2, 2, 3, padding=1), "a ConvTranspose2d, which is not known"),
        (OwnConvolution(2, 2, 3, padding=1), "it calls conv2d, which is not known"),
        (nn.BatchNorm2d(2), "the batch norm trunk does not follow a convolution"),
        (nn.Sequential(nn.Conv2d(2, 2, 1), nn.ReLU(), nn.BatchNorm2d(2)), "the batch norm trunk.2 does not follow"),
        (nn.Flatten(0), "trunk flattens dimensions 0 to -1, and only 1 to -1"),
        (Calls(torch.sigmoid), "it calls sigmoid, which is not known"),
        (Calls(lambda x: nn.functional.dropout(x, 0.5)), "dropout has the keyword arguments p, training, inplace"),
        (Calls(lambda x: torch.add(x, x, alpha=2)), "add has the keyword arguments alpha"),
        (Calls(lambda x: operator.add(x, [1.0])), r"add calculates with \[1.0\]"),
        (Calls(lambda x: x.mean((2, 3), keepdim=True)), "mean has the keyword arguments keepdim"),
        (Calls(lambda x: x.amax((2, 3), True)), "amax has 3 arguments, and only 2 are known"),
        (Calls(lambda x: x.amax(1)), "amax takes 1 where a list of dimensions is known"),
        (Calls(lambda x: x.reshape((-1, 18))), r"reshape takes \(-1, 18\) where a whole number is known"),
        (Calls(lambda x: x.reshape(0, 2, 9)), r"reshape has the shape \(0, 2, 9\)"),
        (Calls(lambda x: x.reshape(x.size(0), 18)), "it calls size, which is not known"),
        (Calls(lambda x: torch.cat([x, x])), "cat has 1 arguments, and only 2 are known"),
    ],
)
def test_what_it_does_not_know_is_refused(trunk, message):
    with pytest.raises(Unsuitable, match=f"cannot write this network as ONNX: .*{message}.*; use the torch engine"):
        write_onnx(Given(trunk, 18))


def test_dropout_in_training_mode_is_refused():
    with pytest.raises(Unsuitable, match="the dropout trunk is in training mode"):
        write_onnx(KeepsDropping(nn.Dropout(0.5), 18))


def test_graph_networks_are_refused():
    with pytest.raises(Unsuitable, match="a GraphNetwork is no network over planes"):
        write_onnx(make_network("graph", ludus.make("sevn", base=3), blocks=2, width=8))


@pytest.mark.parametrize(
    ("trunk", "features"),
    [
        (Calls(lambda x: torch.cat([x, x], 1)), 36),  # the same input twice
        (Calls(lambda x: 1 - x / 3), 18),  # numbers on either side
        (nn.Sequential(nn.Flatten(), nn.Linear(18, 5, bias=False)), 5),
        (nn.Sequential(nn.Conv2d(2, 4, (3, 1), padding=(1, 0)), nn.BatchNorm2d(4), nn.LeakyReLU(0.2)), 36),
    ],
)
def test_what_it_knows_gives_the_answers_of_torch(trunk, features):
    network = Given(trunk, features).eval()
    planes = np.random.default_rng(0).random((5, 2, 3, 3), np.float32)
    answers = []
    for engine in (OnnxEngine(), TorchEngine()):
        engine.load(network)
        answers.append(engine.run(planes))
    for mine, theirs in zip(*answers, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-5)


def test_writing_leaves_the_network_as_it_is():
    network = make_network("residual", ludus.make("tictactoe"), blocks=1, width=8).train()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    write_onnx(network)
    assert network.training
    assert list(before) == list(network.state_dict())
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_properties_are_in_the_model():
    network = make_network("mlp", ludus.make("tictactoe"), blocks=1, width=8)
    model = onnx.load_model_from_string(write_onnx(network, {"ludus.game": "tictactoe"}))
    assert {each.key: each.value for each in model.metadata_props} == {"ludus.game": "tictactoe"}
