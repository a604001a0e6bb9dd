"""Global pooling on a GPU, as one kernel that reads the board once: what PyTorch compiles takes twice as long."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

LARGEST = 8192
"""Numbers of one board that a program holds: beyond, the registers do not suffice."""


@triton.jit
def _pool_boards(x, out, cells: tl.constexpr, channels: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr):
    board = tl.program_id(0).to(tl.int64)
    row = tl.arange(0, rows)
    column = tl.arange(0, columns)
    inside = (row < cells)[:, None] & (column < channels)[None, :]
    place = board * cells * channels + row[:, None] * channels + column[None, :]
    numbers = tl.maximum(tl.load(x + place, mask=inside, other=0.0).to(tl.float32), 0.0)
    there = out + board * 2 * channels + column
    tl.store(there, tl.sum(numbers, 0) / cells, mask=column < channels)
    tl.store(there + channels, tl.max(numbers, 0), mask=column < channels)


def pool_rectified(x: Any) -> torch.Tensor:
    """The mean and the maximum of relu(x) in every channel: [K, C, rows, columns] to [K, 2 * C]."""
    count, channels, height, width = x.shape
    rows, columns = triton.next_power_of_2(height * width), triton.next_power_of_2(channels)
    if rows * columns > LARGEST:
        x = torch.relu(x)
        return torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)
    out = torch.empty((count, 2 * channels), dtype=x.dtype, device=x.device)
    x = x.contiguous(memory_format=torch.channels_last)
    _pool_boards[(count,)](x, out, height * width, channels, rows, columns)
    return out
