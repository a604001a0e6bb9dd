"""Layers of graph networks as GPU kernels written in Triton, which find the neighbours of a node themselves.

Shapes use B graphs in arrays for up to N nodes and M edges each, R relations, C inputs and H outputs of a layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
import triton
import triton.language as tl

if TYPE_CHECKING:
    from ludus.gpu.relations import GpuGraphs

ROWS = 64
"""Nodes that a program computes at a time."""
LEARNED_ROWS = 32
"""Nodes of one relation that a program of the learner computes."""
BLOCK = 1024
"""Numbers that a program of the learner gives back to the nodes that they come from."""


@triton.jit
def _relate(
    x, starts, sources, sizes, own, bias, others, out, nodes, edges,
    relations: tl.constexpr, inputs: tl.constexpr, outputs: tl.constexpr,
    columns: tl.constexpr, units: tl.constexpr, rows: tl.constexpr, rectifies: tl.constexpr,
):  # fmt: skip
    graph = tl.program_id(0).to(tl.int64)
    count = tl.load(sizes + 2 * graph)
    column = tl.arange(0, columns)
    unit = tl.arange(0, units)
    used, known = column < inputs, unit < outputs
    both = used[:, None] & known[None, :]
    starts += graph * relations * (nodes + 1)
    sources += graph * edges
    x += graph * nodes * inputs
    out += graph * nodes * outputs
    own_weight = tl.load(own + unit[None, :] * inputs + column[:, None], mask=both, other=0.0)
    added = tl.load(bias + unit, mask=known, other=0.0).to(tl.float32)
    other_weight = others + unit[None, :] * (relations * inputs) + column[:, None]
    for begin in range(tl.program_id(1) * rows, count, tl.num_programs(1) * rows):
        node = begin + tl.arange(0, rows)
        inside = node < count
        here = tl.load(x + node[:, None] * inputs + column[None, :], mask=inside[:, None] & used[None, :], other=0.0)
        total = tl.dot(here.to(own_weight.dtype), own_weight) + added[None, :]
        for relation in range(relations):
            run = starts + relation * (nodes + 1) + node
            first = tl.load(run, mask=inside, other=0)
            last = tl.load(run + 1, mask=inside, other=0)
            most = tl.max(last - first)
            if most > 0:
                largest = tl.full((rows, columns), float("-inf"), tl.float32)
                for i in range(most):
                    has = first + i < last
                    source = tl.load(sources + first + i, mask=has, other=0)
                    there = x + source[:, None] * inputs + column[None, :]
                    number = tl.load(there, mask=has[:, None] & used[None, :], other=float("-inf"))
                    largest = tl.maximum(largest, number.to(tl.float32))
                largest = tl.where((first < last)[:, None] & used[None, :], largest, 0.0)
                weight = tl.load(other_weight + relation * inputs, mask=both, other=0.0)
                total = tl.dot(largest.to(weight.dtype), weight, total)
        if rectifies:
            total = tl.maximum(total, 0.0)
        place = node[:, None] * outputs + unit[None, :]
        tl.store(out + place, total.to(out.dtype.element_ty), mask=inside[:, None] & known[None, :])


@triton.jit
def _find_largest(
    x, starts, sources, largest, which, nodes,
    relations: tl.constexpr, channels: tl.constexpr, columns: tl.constexpr, rows: tl.constexpr,
):  # fmt: skip
    node = tl.program_id(0) * rows + tl.arange(0, rows)
    relation = tl.program_id(1)
    column = tl.arange(0, columns)
    inside, used = node < nodes, column < channels
    run = starts + relation * (nodes + 1) + node
    first = tl.load(run, mask=inside, other=0)
    last = tl.load(run + 1, mask=inside, other=0)
    best = tl.full((rows, columns), float("-inf"), tl.float32)
    found = tl.full((rows, columns), -1, tl.int32)
    for i in range(tl.max(last - first)):
        has = first + i < last
        source = tl.load(sources + first + i, mask=has, other=0)
        there = x + source.to(tl.int64)[:, None] * channels + column[None, :]
        number = tl.load(there, mask=has[:, None] & used[None, :], other=float("-inf")).to(tl.float32)
        is_larger = number > best
        best = tl.where(is_larger, number, best)
        found = tl.where(is_larger, source[:, None], found)
    place = (node.to(tl.int64)[:, None] * relations + relation) * channels + column[None, :]
    kept = inside[:, None] & used[None, :]
    tl.store(largest + place, tl.where(found >= 0, best, 0.0).to(largest.dtype.element_ty), mask=kept)
    tl.store(which + place, found, mask=kept)


@triton.jit
def _give_to_largest(gradients, which, into, count, channels: tl.constexpr, block: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * block + tl.arange(0, block)
    inside = at < count
    node = tl.load(which + at, mask=inside, other=-1)
    number = tl.load(gradients + at, mask=inside, other=0.0).to(tl.float32)
    place = node.to(tl.int64) * channels + at % channels
    tl.atomic_add(into + place, number, mask=inside & (node >= 0))


def _columns(channels: int) -> int:
    """The number of channels, padded to what the matrix units take."""
    return max(16, triton.next_power_of_2(channels))


def relate(layer: Any, x: torch.Tensor, graphs: GpuGraphs, kind: torch.dtype, rectifies: bool) -> torch.Tensor:
    """A nets.graph.Layer: x [B, N, C] to [B, N, H] of this type, rectified or not. Invalid nodes are not written."""
    count, nodes, inputs = x.shape
    outputs, relations = layer.own.out_features, graphs.starts.shape[1]
    out = torch.empty((count, nodes, outputs), dtype=kind, device=x.device)
    programs = 1 if count > 1 else triton.cdiv(nodes, ROWS)
    _relate[(count, programs)](
        x, graphs.starts, graphs.sources, graphs.sizes, layer.own.weight, layer.own.bias, layer.others.weight, out,
        nodes, graphs.sources.shape[1], relations, inputs, outputs,
        _columns(inputs), _columns(outputs), ROWS, rectifies,
    )  # fmt: skip
    return out


def fused_forward(network: Any) -> Callable[[GpuGraphs], torch.Tensor]:
    """A graph network with one kernel for each layer: graphs to the outputs of its last layer, float32 [B, N, H]."""

    def forward(graphs: GpuGraphs) -> torch.Tensor:
        x = graphs.features
        for layer in network.layers:
            x = relate(layer, x, graphs, layer.own.weight.dtype, True)
        return relate(network.last, x, graphs, torch.float32, False)

    return forward


class _LargestNeighbours(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, x: torch.Tensor, starts: torch.Tensor, sources: torch.Tensor) -> torch.Tensor:
        (nodes, channels), relations = x.shape, starts.shape[0]
        largest = x.new_empty(nodes, relations * channels)
        which = torch.empty_like(largest, dtype=torch.int32)
        _find_largest[(triton.cdiv(nodes, LEARNED_ROWS), relations)](
            x.contiguous(), starts, sources, largest, which, nodes,
            relations, channels, triton.next_power_of_2(channels), LEARNED_ROWS,
        )  # fmt: skip
        context.save_for_backward(which)
        context.shape = x.shape
        return largest

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[Any, None, None]:
        if not context.needs_input_grad[0]:
            return None, None, None
        (which,) = context.saved_tensors
        into = gradient.new_zeros(context.shape, dtype=torch.float32)
        _give_to_largest[(triton.cdiv(which.numel(), BLOCK),)](
            gradient.contiguous(), which, into, which.numel(), context.shape[1], BLOCK
        )
        return into.to(gradient.dtype), None, None


def largest_neighbours(x: torch.Tensor, starts: torch.Tensor, sources: torch.Tensor) -> torch.Tensor:
    """The maximum over the neighbours in each relation, [N, R * C] for x [N, C]; 0 where a node has none."""
    return _LargestNeighbours.apply(x, starts, sources)
