"""Layers of convolutional networks, each as one GPU kernel written in Triton that reads every board once.

Shapes use K boards of `cells` cells; activations are [K, cells, channels] in memory (PyTorch's channels_last).
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

LARGEST = 8192
"""Largest board, or half of the pooling's weights, in numbers: a program holds them in registers."""
BOARDS = 8
"""Boards for which one program of the pooling loads its weights once. A program is one warp: to sum up a board, its
threads need not wait for others."""
ROWS = 128
"""Cells that one program of the first convolution computes."""
TERMS = 64
"""Largest number of terms of the first convolution's sum for each cell: nine for each plane."""
WIDEST = 64
"""Largest number of channels of the pooling over groups: a program holds four matrices of this size."""
SLOTS = 16
"""Groups of a grouping, padded to what the matrix units take."""
TURNED = 4096
"""Numbers that one program turns from one order in memory into another."""
SMALL = tl.constexpr(1e-6)
"""As nets.groups.SMALL."""


@triton.jit
def _pool_and_add(
    x, bias, weight, offset, out, count,
    cells: tl.constexpr, channels: tl.constexpr, rows: tl.constexpr, columns: tl.constexpr, boards: tl.constexpr,
):  # fmt: skip
    row = tl.arange(0, rows)
    column = tl.arange(0, columns)
    used = column < channels
    within = row[:, None] * channels + column[None, :]
    own = tl.load(bias + column, mask=used, other=0.0).to(tl.float32)
    added = tl.load(offset + column, mask=used, other=0.0).to(tl.float32)
    both = used[:, None] & used[None, :]
    by_mean = weight + column[None, :] * (2 * channels) + column[:, None]
    mean_weight = tl.load(by_mean, mask=both, other=0.0)
    most_weight = tl.load(by_mean + channels, mask=both, other=0.0)
    for i in range(boards):
        board = tl.program_id(0).to(tl.int64) * boards + i
        inside = (row < tl.where(board < count, cells, 0))[:, None] & used[None, :]
        numbers = tl.load(x + board * cells * channels + within, mask=inside, other=0.0).to(tl.float32) + own[None, :]
        rectified = tl.where(inside, tl.maximum(numbers, 0.0), 0.0)
        # Sixteen equal rows: the matrix units take no fewer.
        mean = tl.broadcast_to((tl.sum(rectified, 0) / cells)[None, :], (16, columns)).to(mean_weight.dtype)
        most = tl.broadcast_to(tl.max(rectified, 0)[None, :], (16, columns)).to(mean_weight.dtype)
        whole = tl.max(tl.dot(most, most_weight, tl.dot(mean, mean_weight)), 0) + added
        result = tl.maximum(numbers + whole[None, :], 0.0)
        tl.store(out + board * cells * channels + within, result.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _mix_groups(
    x, bias, members, group_weight, group_offset, board_weight, board_offset, out, count, scale,
    cells: tl.constexpr, channels: tl.constexpr, groups: tl.constexpr,
    rows: tl.constexpr, columns: tl.constexpr, slots: tl.constexpr, boards: tl.constexpr,
):  # fmt: skip
    row = tl.arange(0, rows)
    column = tl.arange(0, columns)
    slot = tl.arange(0, slots)
    used = column < channels
    within = row[:, None] * channels + column[None, :]
    own = tl.load(bias + column, mask=used, other=0.0).to(tl.float32)
    group_added = tl.load(group_offset + column, mask=used, other=0.0).to(tl.float32)
    board_added = tl.load(board_offset + column, mask=used, other=0.0).to(tl.float32)
    both = used[:, None] & used[None, :]
    turned = column[None, :] * (2 * channels) + column[:, None]
    total_weight = tl.load(group_weight + turned, mask=both, other=0.0)
    most_weight = tl.load(group_weight + turned + channels, mask=both, other=0.0)
    mean_weight = tl.load(board_weight + turned, mask=both, other=0.0)
    high_weight = tl.load(board_weight + turned + channels, mask=both, other=0.0)
    for i in range(boards):
        board = tl.program_id(0).to(tl.int64) * boards + i
        known = row < tl.where(board < count, cells, 0)
        inside = known[:, None] & used[None, :]
        numbers = tl.load(x + board * cells * channels + within, mask=inside, other=0.0).to(tl.float32) + own[None, :]
        seen = tl.where(inside, tl.maximum(numbers, 0.0), 0.0)
        member = members + board * groups * cells + slot[:, None] * cells + row[None, :]
        belongs = tl.load(member, mask=(slot < groups)[:, None] & known[None, :], other=0.0).to(total_weight.dtype)
        squares = seen * seen
        total = (tl.dot(belongs, seen.to(belongs.dtype)) * scale).to(belongs.dtype)
        powers = tl.dot(belongs, (squares * squares).to(belongs.dtype))
        most = tl.sqrt(tl.sqrt(powers + SMALL)).to(belongs.dtype)
        mixed = tl.dot(most, most_weight, tl.dot(total, total_weight)) + group_added[None, :]
        spread = tl.dot(tl.trans(belongs), mixed.to(belongs.dtype))
        # Sixteen equal rows: the matrix units take no fewer.
        mean = tl.broadcast_to((tl.sum(seen, 0) / cells)[None, :], (16, columns)).to(belongs.dtype)
        high = tl.broadcast_to(tl.max(seen, 0)[None, :], (16, columns)).to(belongs.dtype)
        whole = tl.max(tl.dot(high, high_weight, tl.dot(mean, mean_weight)), 0) + board_added
        result = tl.maximum(numbers + spread + whole[None, :], 0.0)
        tl.store(out + board * cells * channels + within, result.to(out.dtype.element_ty), mask=inside)


@triton.jit
def _convolve_planes(
    planes, weight, bias, out, count,
    p0: tl.constexpr, p1: tl.constexpr, p2: tl.constexpr, p3: tl.constexpr,
    w0: tl.constexpr, w1: tl.constexpr, w2: tl.constexpr, w3: tl.constexpr,
    inputs: tl.constexpr, height: tl.constexpr, width: tl.constexpr, channels: tl.constexpr,
    terms: tl.constexpr, columns: tl.constexpr, rows: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * rows + tl.arange(0, rows)
    board, cell = at // (height * width), at % (height * width)
    term = tl.arange(0, terms)
    plane, down, right = term // 9, term % 9 // 3, term % 3
    column = tl.arange(0, columns)
    r = (cell // width)[:, None] + down[None, :] - 1
    c = (cell % width)[:, None] + right[None, :] - 1
    seen = (r >= 0) & (r < height) & (c >= 0) & (c < width) & (term < 9 * inputs)[None, :] & (at < count)[:, None]
    there = board.to(tl.int64)[:, None] * p0 + plane[None, :] * p1 + r * p2 + c * p3
    x = tl.load(planes + there, mask=seen, other=0.0).to(tl.bfloat16)
    known = (term < 9 * inputs)[:, None] & (column < channels)[None, :]
    where = column[None, :] * w0 + plane[:, None] * w1 + down[:, None] * w2 + right[:, None] * w3
    w = tl.load(weight + where, mask=known, other=0.0)
    result = tl.dot(x, w) + tl.load(bias + column, mask=column < channels, other=0.0).to(tl.float32)[None, :]
    place = at.to(tl.int64)[:, None] * channels + column[None, :]
    kept = (at < count)[:, None] & (column < channels)[None, :]
    tl.store(out + place, tl.maximum(result, 0.0).to(out.dtype.element_ty), mask=kept)


@triton.jit
def _turn_planes(
    planes, out, count, cells: tl.constexpr, channels: tl.constexpr, columns: tl.constexpr, boards: tl.constexpr
):  # fmt: skip
    cell = tl.program_id(0)
    board = tl.program_id(1) * boards + tl.arange(0, boards)
    channel = tl.arange(0, columns)
    known, used = board < count, channel < channels
    there = (channel[:, None] * cells + cell) * count + board[None, :]
    x = tl.load(planes + there, mask=used[:, None] & known[None, :], other=0.0)
    place = (board.to(tl.int64)[:, None] * cells + cell) * channels + channel[None, :]
    tl.store(out + place, tl.trans(x).to(out.dtype.element_ty), mask=known[:, None] & used[None, :])


def _columns(channels: int) -> int:
    """The number of channels, padded to what the matrix units take."""
    return max(16, triton.next_power_of_2(channels))


def fits_pooling(channels: int, cells: int) -> bool:
    """True if `pool_and_add` can be used for boards of this size."""
    return _numbers(channels, cells) <= LARGEST


def pool_and_add(x: Any, bias: Any, weight: Any, offset: Any) -> torch.Tensor:
    """relu(y + weight @ pooled(relu(y)) + offset) for y = x + bias, where `pooled` is nets.blocks.Pooling.

    x [K, C, rows, columns], bias and offset [C], weight [C, 2 * C].
    """
    count, channels, height, width = x.shape
    x = x.contiguous(memory_format=torch.channels_last)
    out = torch.empty_like(x, memory_format=torch.channels_last)
    rows, columns = triton.next_power_of_2(height * width), _columns(channels)
    _pool_and_add[(triton.cdiv(count, BOARDS),)](
        x, bias, weight, offset, out, count, height * width, channels, rows, columns, BOARDS,
        num_warps=1,
    )  # fmt: skip
    return out


def fits_mixing(channels: int, shape: Any) -> bool:
    """True if `mix_groups` can be used for groups of this game.GroupShape."""
    return channels <= WIDEST and max(shape.groups) <= SLOTS and _numbers(channels, shape.cells) <= 2 * LARGEST


def _numbers(channels: int, cells: int) -> int:
    """The numbers of a board, or half of the pooling's weights if those are more, padded."""
    columns = _columns(channels)
    return max(triton.next_power_of_2(cells), columns) * columns


def mix_groups(
    x: Any,
    bias: Any,
    members: Any,
    group_weight: Any,
    group_offset: Any,
    board_weight: Any,
    board_offset: Any,
    scale: float,
) -> torch.Tensor:
    """nets.groups.GroupMix with one grouping, of y = x + bias.

    x [K, C, rows, columns], members [K, groups, cells], weights [C, 2 * C], bias and offsets [C].
    """
    count, channels, height, width = x.shape
    x = x.contiguous(memory_format=torch.channels_last)
    out = torch.empty_like(x, memory_format=torch.channels_last)
    rows, columns = max(16, triton.next_power_of_2(height * width)), _columns(channels)
    _mix_groups[(triton.cdiv(count, BOARDS),)](
        x, bias, members.contiguous(), group_weight, group_offset, board_weight, board_offset, out, count, scale,
        height * width, channels, members.shape[1], rows, columns, SLOTS, BOARDS,
        num_warps=4 if _numbers(channels, height * width) <= LARGEST else 8,
    )  # fmt: skip
    return out


def convolve_planes(planes: Any, weight: Any, bias: Any) -> torch.Tensor:
    """relu(convolution(planes)) for few planes [K, inputs, rows, columns] and weight [C, inputs, 3, 3]."""
    count, inputs, height, width = planes.shape
    channels = weight.shape[0]
    out = torch.empty(
        (count, channels, height, width), dtype=weight.dtype, device=planes.device, memory_format=torch.channels_last
    )
    terms = max(16, triton.next_power_of_2(9 * inputs))
    cells = count * height * width
    _convolve_planes[(triton.cdiv(cells, ROWS),)](
        planes, weight, bias, out, cells, *planes.stride(), *weight.stride(), inputs, height, width, channels,
        terms, _columns(channels), ROWS,
    )  # fmt: skip
    return out


def turn_planes(planes: Any) -> torch.Tensor:
    """planes float32 [channels, rows, columns, K] to bfloat16 [K, channels, rows, columns], channels last in memory."""
    channels, height, width, count = planes.shape
    out = torch.empty(
        (count, channels, height, width),
        dtype=torch.bfloat16,
        device=planes.device,
        memory_format=torch.channels_last,
    )
    columns = triton.next_power_of_2(channels)
    boards = max(16, min(128, TURNED // columns))
    _turn_planes[(height * width, triton.cdiv(count, boards))](
        planes, out, count, height * width, channels, columns, boards
    )  # fmt: skip
    return out
