"""Residual blocks as one kernel: its plan and its weights everywhere, its answers where there is a Hopper GPU."""

import pytest
import torch
from torch import nn

import ludus
from ludus.gpu import tower
from ludus.gpu.fusion import fused
from ludus.nets.blocks import Block
from ludus.nets.families import make_network
from ludus.nets.folding import folded
from tests.nets.test_nets import lively

HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
SIZES = [(64, 6, 7), (32, 6, 7), (16, 3, 3), (48, 8, 8), (64, 15, 15), (48, 5, 9)]


def blocks_of(width: int, pooled: list[bool]) -> nn.Sequential:
    torch.manual_seed(0)
    return folded(lively(nn.Sequential(*(Block(width, each) for each in pooled))))


@pytest.mark.parametrize(("channels", "rows", "columns"), SIZES)
def test_a_plan_keeps_to_the_limits_of_the_gpu(channels, rows, columns):
    plan = tower.plan(channels, rows, columns, [False, True])
    assert rows * plan.boards * (columns + 1) <= plan.places <= tower.MOST_PLACES
    assert plan.places % 16 == 0
    assert plan.stages >= tower.FEWEST_STAGES
    assert plan.shared <= tower.SHARED
    assert plan.pooled == 2


@pytest.mark.parametrize(("channels", "rows", "columns"), [(40, 6, 7), (128, 6, 7), (64, 16, 16), (64, 2, 200)])
def test_other_sizes_have_no_plan(channels, rows, columns):
    assert tower.plan(channels, rows, columns, [False]) is None


@pytest.mark.parametrize(("channels", "rows", "columns"), SIZES)
def test_packed_weights_times_the_lines_of_neighbours_are_the_convolution(channels, rows, columns):
    """The kernel's arithmetic for the boards of one group of warps, with its layout of places."""
    blocks = blocks_of(channels, [False])
    plan = tower.plan(channels, rows, columns, [False])
    stride = plan.boards * (columns + 1)
    places = [
        row * stride + board * (columns + 1) + column
        for board in range(plan.boards)
        for row in range(rows)
        for column in range(columns)
    ]
    boards = torch.randn(plan.boards, channels, rows, columns).bfloat16().float()
    lines = torch.zeros(2 * (stride + 1) + plan.places, channels)
    lines[[stride + 1 + place for place in places]] = boards.permute(0, 2, 3, 1).reshape(-1, channels)
    weights, biases, *_ = tower.packed(blocks)
    sums = torch.zeros(plan.places, tower.OUTPUTS)
    for tap in range(9):
        first = stride + 1 + (tap // 3 - 1) * stride + tap % 3 - 1
        weight = weights[0, tap].float().transpose(1, 2).reshape(channels, tower.OUTPUTS)
        sums += lines[first : first + plan.places] @ weight
    found = (sums + biases[0])[places, :channels].reshape(plan.boards, rows, columns, channels).permute(0, 3, 1, 2)
    conv = tower._convolution(blocks[0].first)
    expected = nn.functional.conv2d(boards, conv.weight.bfloat16().float(), conv.bias, padding=1)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_only_trunks_of_residual_blocks_become_a_tower():
    game = ludus.make("connect4")
    network = make_network("residual", game, blocks=3, width=16).folded()
    assert len(tower.blocks_of(network)) == 3
    assert tower.blocks_of(make_network("mlp", game, blocks=3, width=16).folded()) == []
    assert tower.blocks_of(make_network("conv", game, blocks=3, width=16).folded()) == []
    with_tower = tower.with_tower(network)
    assert isinstance(with_tower.trunk[-1], tower.Tower)
    assert with_tower.policy is network.policy
    assert not any(isinstance(each, tower.Tower) for each in network.trunk)


def test_trunks_that_fit_every_board_become_a_tower_and_keep_their_weights():
    game = ludus.make("breakthrough", height=6, width=6)
    network = make_network("residual", game, blocks=3, width=16, size_free=True).folded()
    with_tower = tower.with_tower(network)
    assert len(tower.blocks_of(network)) == 3
    assert [type(each) for each in with_tower.trunk.blocks] == [tower.Tower]
    assert with_tower.trunk.stem is network.trunk.stem
    assert len(network.trunk.blocks) == 3
    assert any(node.target == "trunk.blocks.0" for node in fused(with_tower).graph.nodes)


def test_new_weights_are_packed_into_the_same_memory():
    network = make_network("residual", ludus.make("connect4"), blocks=3, width=16).folded()
    with torch.inference_mode():
        made = tower.with_tower(network).trunk[-1]
    before = [each.data_ptr() for each in made._packed]
    with torch.no_grad():
        for each in network.parameters():
            each.add_(1.0)
    made.refresh()
    assert [each.data_ptr() for each in made._packed] == before
    for mine, fresh in zip(made._packed, tower.packed(tower.blocks_of(network)), strict=True):
        assert torch.equal(mine, fresh)


@pytest.mark.skipif(not HOPPER, reason="needs a Hopper GPU")
@pytest.mark.parametrize("pooled", [[False], [True], [False, True, False]])
@pytest.mark.parametrize("count", [1, 37, 3000])
@pytest.mark.parametrize(("channels", "rows", "columns"), SIZES)
def test_the_kernel_is_as_exact_as_pytorch_in_bfloat16(channels, rows, columns, pooled, count):
    blocks = blocks_of(channels, pooled).to("cuda")
    x = torch.rand(count, channels, rows, columns, device="cuda").to(torch.bfloat16, memory_format=torch.channels_last)
    with torch.inference_mode():
        exact = blocks(x.float())
        made = tower.Tower(list(blocks), (rows, columns))
        found = [made(x).float() for _ in range(2)]
        plain = blocks.to(torch.bfloat16)(x).float()
    assert torch.equal(*found)
    assert (found[0] - exact).norm() <= 1.2 * (plain - exact).norm()


@pytest.mark.skipif(not HOPPER, reason="needs a Hopper GPU")
@pytest.mark.parametrize(("name", "size_free"), [("connect4", False), ("breakthrough", True)])
def test_an_engine_runs_the_kernel_also_with_new_weights(name, size_free):
    from ludus.gpu.engine import CudaEngine
    from ludus.nets.checking import random_planes
    from ludus.nets.engines import TorchEngine

    game = ludus.make(name)
    gpu, cpu = CudaEngine(), TorchEngine()
    for seed in range(3):
        torch.manual_seed(seed)
        network = make_network("residual", game, blocks=3, width=32, size_free=size_free)
        gpu.load(network)
        cpu.load(network)
        assert any(isinstance(each, tower.Tower) for each in gpu.forward.modules())
        planes = random_planes(network.sizes)
        for mine, theirs in zip(gpu.run(planes), cpu.run(planes), strict=True):
            assert abs(mine - theirs).max() < 0.03
