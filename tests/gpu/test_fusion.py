"""A network as a GPU runs it, with the GPU's operations done by the CPU: it gives the same answers."""

from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional

import ludus
from ludus.gpu import fusion
from ludus.gpu.fusion import fastest_fusion, fused, linear_of_board
from ludus.nets.checking import random_planes
from ludus.nets.families import make_network
from tests.nets.test_nets import lively
from tests.nets.test_size_free import FRAMED, made, some_planes


def conv_relu(x, weight, bias, stride, padding, dilation, groups):
    return torch.relu(torch.conv2d(x, weight, bias, stride, padding, dilation, groups))


def conv_add_relu(x, weight, z, alpha, bias, stride, padding, dilation, groups):
    return torch.relu(torch.conv2d(x, weight, bias, stride, padding, dilation, groups) + alpha * z)


def pool_and_add(x, bias, weight, offset):
    y = x + bias[:, None, None]
    pooled = torch.cat([torch.relu(y).mean((2, 3)), torch.relu(y).amax((2, 3))], 1)
    return torch.relu(y + functional.linear(pooled, weight, offset)[:, :, None, None])


def convolve_planes(planes, weight, bias):
    return torch.relu(functional.conv2d(planes, weight, bias, padding=1))


def mix_groups(x, bias, members, group_weight, group_offset, board_weight, board_offset, scale):
    y = x + bias[:, None, None]
    cells = torch.relu(y).flatten(2).transpose(1, 2)
    pooled = torch.cat([members @ cells * scale, (members @ cells**4 + 1e-6) ** 0.25], 2)
    spread = members.transpose(1, 2) @ functional.linear(pooled, group_weight, group_offset)
    board = torch.cat([cells.mean(1), cells.amax(1)], 1)
    whole = functional.linear(board, board_weight, board_offset)
    return torch.relu(y + spread.transpose(1, 2).reshape(y.shape) + whole[:, :, None, None])


LAYERS = SimpleNamespace(
    TERMS=64,
    fits_pooling=lambda channels, cells: True,
    pool_and_add=pool_and_add,
    convolve_planes=convolve_planes,
    fits_mixing=lambda channels, shape: True,
    mix_groups=mix_groups,
)


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch, "cudnn_convolution_relu", conv_relu)
    monkeypatch.setattr(torch, "cudnn_convolution_add_relu", conv_add_relu)


def used_in(network, layers, planes):
    """The operations of the fused network, whose answers must be those of the plain one."""
    joined = fused(network, layers)
    with torch.no_grad():
        for mine, theirs in zip(network(planes), joined(planes), strict=True):
            torch.testing.assert_close(mine, theirs, atol=1e-5, rtol=1e-4)
    return [node.target for node in joined.graph.nodes]


@pytest.mark.parametrize("layers", [None, LAYERS])
def test_networks_over_groups(layers):
    game = ludus.make("sevn", base=5)
    network = lively(make_network("groups", game, blocks=2, width=8)).folded()
    used = used_in(network, layers, torch.from_numpy(random_planes(network.sizes)))
    assert used.count(mix_groups) == (2 if layers else 0)
    assert used.count(torch.cudnn_convolution_add_relu) == 2


@pytest.mark.parametrize("layers", [None, LAYERS])
@pytest.mark.parametrize("name", ["cachex", FRAMED])
def test_networks_free_of_sizes(name, layers):
    game = ludus.make(name)
    used = used_in(lively(made(game)).folded(), layers, torch.from_numpy(some_planes(game)))
    if layers is None:
        assert (used.count(conv_relu), used.count(conv_add_relu)) == (4, 3)  # stem, two blocks, value; three blocks


@pytest.mark.parametrize("kind", ["residual", "conv", "mlp"])
def test_networks_of_one_size(kind):
    game = ludus.make("connect4")
    network = lively(make_network(kind, game, blocks=3, width=8, auxiliary=1)).folded()
    used = used_in(network, LAYERS, torch.from_numpy(some_planes(game)))
    expected = {"residual": (1, 1, 2), "conv": (0, 1, 2), "mlp": (0, 0, 0)}[kind]
    assert tuple(map(used.count, (pool_and_add, convolve_planes, linear_of_board))) == expected


def broken(*arguments):
    raise RuntimeError("cannot compile")


def wrong(x, bias, weight, offset):
    return 1.5 * pool_and_add(x, bias, weight, offset)


@pytest.mark.parametrize(
    ("layer", "reasons"),
    [
        (pool_and_add, []),
        (wrong, ["Triton's layers: its answers differ from those of the plain network"]),
        (broken, ["Triton's layers: RuntimeError: cannot compile"]),
    ],
)
def test_a_fusion_that_fails_or_errs_is_not_taken_and_says_why(monkeypatch, layer, reasons):
    monkeypatch.setattr(fusion, "_layers", lambda: SimpleNamespace(**{**vars(LAYERS), "pool_and_add": layer}))
    exact = lively(make_network("residual", ludus.make("connect4"), blocks=3, width=8)).folded()
    network = lively(make_network("residual", ludus.make("connect4"), blocks=3, width=8)).folded().to(torch.bfloat16)
    network.load_state_dict(exact.state_dict())
    made, found = fastest_fusion(network, exact, "cpu")
    assert found == reasons
    used = [node.target for node in made.graph.nodes]
    assert (layer in used) == (not reasons)
    assert used.count(conv_add_relu) == 3


def test_where_nothing_can_be_fused_the_plain_network_runs(monkeypatch):
    monkeypatch.setattr(torch, "cudnn_convolution_add_relu", broken)
    monkeypatch.setattr(fusion, "_layers", broken)
    exact = lively(make_network("residual", ludus.make("connect4"), blocks=1, width=8)).folded()
    network = lively(make_network("residual", ludus.make("connect4"), blocks=1, width=8)).folded().to(torch.bfloat16)
    made, reasons = fastest_fusion(network, exact, "cpu")
    assert made is network
    assert [reason.partition(":")[0] for reason in reasons] == ["Triton's layers", "fusion by cuDNN"]
