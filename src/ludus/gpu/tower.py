"""The residual blocks of a network as one kernel on Hopper GPUs: boards stay in shared memory from block to block.

Twelve convolutions by cuDNN write twelve boards of activations to memory and read them again, and each loads a board
nine times over. The kernel (tower.cu) reads and writes every board once.
"""

from __future__ import annotations

import copy
import ctypes
import math
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import torch
from torch import nn

from ludus.gpu.driver import Function, compile_cuda

CHIP = "sm_90a"
OUTPUTS = 64
"""Channels that the matrix units compute at once. Narrower blocks are padded to it, wider ones do not fit."""
GROUPS = 2
"""Groups of four warps in a block of threads; each has boards of its own."""
THREADS = (GROUPS + 1) * 128
"""Threads of a block; the last 128 load weights."""
MOST_PLACES = 256
"""Places that one matrix product covers."""
SHARED = 232_448 - 1024
"""Bytes of shared memory that a block of threads may have."""
FEWEST_STAGES, ENOUGH_STAGES, MOST_STAGES = 3, 9, 18
"""Slots for the weights of a tap. One group of warps can be ahead of the other by so many taps."""


class Plan(NamedTuple):
    """How boards are spread over the GPU; the numbers that tower.cu is compiled with."""

    channels: int
    rows: int
    columns: int
    boards: int
    """Boards of one group of warps."""
    places: int
    """Their places, with padding."""
    blocks: int
    pooled: int
    """Bit i is set if block i pools over the board."""
    stages: int
    shared: int
    """Bytes of shared memory."""


def plan(channels: int, rows: int, columns: int, pooled: Sequence[bool]) -> Plan | None:
    """The plan for blocks of this width and a board of this size; None if they do not fit."""
    if channels % 16 or not 0 < channels <= OUTPUTS:
        return None
    found = None
    for boards in range(1, MOST_PLACES // (rows * (columns + 1)) + 1):
        stride = boards * (columns + 1)
        places = math.ceil(rows * stride / 16) * 16
        lines = (places + 2 * (stride + 1) + 6) // 8 * 8 + 1
        fixed = GROUPS * (2 * channels // 8 * lines * 16 + boards * 2 * channels * 4)
        tap = channels * OUTPUTS * 2
        stages = min(MOST_STAGES, (SHARED - fixed) // (tap + 16))
        enough = ENOUGH_STAGES if found else FEWEST_STAGES
        if places <= MOST_PLACES and stages >= enough:
            bits = sum(1 << i for i, each in enumerate(pooled) if each)
            shared = fixed + stages * (tap + 16)
            found = Plan(channels, rows, columns, boards, places, len(pooled), bits, stages, shared)
    return found


def source(plan: Plan) -> str:
    """The text of the kernel for a plan."""
    code = (files("ludus.gpu") / "tower.cu").read_text()
    count = plan.places // 2
    sums = ", ".join(f"%{i}" for i in range(count))
    multiply = (
        f'asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{count + 2}, 0;\\n'
        f"wgmma.mma_async.sync.aligned.m64n{plan.places}k16.f32.bf16.bf16 "
        f'{{{sums}}}, %{count}, %{count + 1}, p, 1, 1, 0, 0;\\n}}" : '
        + ", ".join(f'"+f"(sums[{i}])' for i in range(count))
        + ' : "l"(weights), "l"(lines), "r"(add));'
    )
    numbers = plan._asdict()
    del numbers["shared"]
    named = "".join(f"#define {name.upper()} {number}\n" for name, number in numbers.items())
    return named + code.replace("@MULTIPLY@", multiply)


@cache
def _processors() -> int:
    return torch.cuda.get_device_properties().multi_processor_count


@cache
def _function(plan: Plan) -> Function:
    return Function(compile_cuda(source(plan), CHIP), "tower", plan.shared)


def fits(network: Any) -> bool:
    """True if the residual blocks of a folded network can run as one kernel on this GPU."""
    blocks = blocks_of(network)
    if not blocks or network.sizes.mask is not None or torch.cuda.get_device_capability() != (9, 0):
        return False
    return _plan_for(blocks, network.sizes.observation[1:]) is not None


def blocks_of(network: Any) -> list[Any]:
    """The residual blocks that end a network's trunk, nets.blocks.Block; empty for other trunks."""
    trunk = network.trunk
    parts = list(trunk if isinstance(trunk, nn.Sequential) else getattr(trunk, "blocks", []))
    first = len(parts)
    while first > 0 and isinstance(parts[first - 1], network.block):
        first -= 1
    return parts[first:]


def with_tower(network: Any) -> Any:
    """A copy of a folded network, with its weights, whose residual blocks are a Tower."""
    blocks = blocks_of(network)
    last = Tower(blocks, network.sizes.observation[1:])
    made = _copied(network)
    if isinstance(network.trunk, nn.Sequential):
        made.trunk = nn.Sequential(*list(network.trunk)[: -len(blocks)], last)
    else:
        made.trunk = _copied(network.trunk)
        made.trunk.blocks = nn.ModuleList([last])
    return made


def _copied(module: nn.Module) -> Any:
    """A module with the same parts, which can be replaced."""
    made = copy.copy(module)
    made._modules = dict(module._modules)
    return made


def _plan_for(blocks: Sequence[Any], shape: Sequence[int]) -> Plan | None:
    width = _convolution(blocks[0].first).out_channels
    return plan(width, shape[0], shape[1], [block.pool is not None for block in blocks])


def _convolution(part: Any) -> Any:
    """The convolution of a folded part of a block, whose batch norm has become a bias."""
    return part if isinstance(part, nn.Conv2d) else next(each for each in part if isinstance(each, nn.Conv2d))


class Tower(nn.Module):
    """Residual blocks as one kernel. x bfloat16 [K, C, rows, columns], channels last in memory, to the same shape."""

    def __init__(self, blocks: Sequence[Any], shape: Sequence[int]):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        found = _plan_for(blocks, shape)
        assert found is not None
        self.plan = found
        self._packed: list[torch.Tensor] = []
        self.refresh()

    def refresh(self) -> None:
        """Take over the weights of the blocks, into the memory that captured graphs use."""
        with torch.inference_mode(False), torch.no_grad():  # inference tensors cannot be written to later
            fresh = packed(self.blocks)
            if self._packed:
                for mine, theirs in zip(self._packed, fresh, strict=True):
                    mine.copy_(theirs)
            else:
                self._packed = fresh

    def forward(self, x: torch.Tensor, mask: None = None) -> torch.Tensor:
        """A mask is what some trunks pass on to their blocks; networks that have one run without a tower."""
        x = x.contiguous(memory_format=torch.channels_last)
        out = torch.empty_like(x, memory_format=torch.channels_last)
        pointers = [ctypes.c_void_p(each.data_ptr()) for each in (x, out, *self._packed)]
        blocks = min(_processors(), -(-len(x) // (GROUPS * self.plan.boards)))
        stream = torch.cuda.current_stream().cuda_stream
        _function(self.plan).launch(blocks, THREADS, stream, [*pointers, ctypes.c_int(len(x))])
        return out


def packed(blocks: Any) -> list[torch.Tensor]:
    """The weights of the blocks as the kernel reads them.

    Weights of convolutions bfloat16 [2 * blocks, 9, C / 8, 64, 8] (tap, inputs by eight, outputs, inputs), their biases
    float32 [2 * blocks, 64], weights of the pooling bfloat16 [P, 2 * C, C] and its offsets float32 [P, C].
    """
    weights, biases, pool_weights, pool_offsets = [], [], [], []
    for block in blocks:
        for part in (block.first, block.second):
            conv = _convolution(part)
            width = conv.out_channels
            weight = nn.functional.pad(conv.weight, (0, 0, 0, 0, 0, 0, 0, OUTPUTS - width))
            taps = weight.permute(2, 3, 1, 0).reshape(9, width // 8, 8, OUTPUTS)
            weights.append(taps.transpose(2, 3).to(torch.bfloat16))
            biases.append(nn.functional.pad(conv.bias, (0, OUTPUTS - width)).float())
        if block.pool is not None:
            linear = block.pool[1]
            pool_weights.append(linear.weight.t().to(torch.bfloat16))
            pool_offsets.append(linear.bias.float())
    nothing = [torch.zeros(1, device=weights[0].device)]
    lists = weights, biases, pool_weights or nothing, pool_offsets or nothing
    return [torch.stack(each).contiguous() for each in lists]
