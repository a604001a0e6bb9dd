"""The largest neighbour of each node in each relation, on the CPU: compiled loops, and a product of matrices for each
relation.

Most nodes have neighbours in a few relations only. A *slot* is a node and a relation in which it has neighbours; only
slots are computed. They are ordered by relation, so that the slots of a relation are one matrix.

Shapes use N nodes, R relations, M edges, S slots, C inputs and H outputs of a layer.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch

from ludus.native import intensive_kernel, kernel


class Slots(NamedTuple):
    """The slots of a batch of graphs. Indices without a sign are faster: a negative one would count from the end."""

    firsts: Any  # uint32 [S + 1]
    sources: Any  # uint32 [M]: the neighbours of slot s are sources[firsts[s] : firsts[s + 1]]
    nodes: Any  # uint32 [S]: the node of each slot
    bounds: Any  # int64 [R + 1]: the slots of relation r are bounds[r] to bounds[r + 1]


@kernel
def list_slots(starts, firsts, nodes, bounds):
    """Fill firsts uint32 [R * N + 1], nodes uint32 [R * N + 1] and bounds int64 [R + 1] of Slots."""
    count = 0
    for relation in range(starts.shape[0]):
        bounds[relation] = count
        for node in range(starts.shape[1] - 1):
            firsts[count] = starts[relation, node]
            nodes[count] = node
            count += starts[relation, node] < starts[relation, node + 1]
    bounds[starts.shape[0]] = count
    firsts[count] = starts[-1, -1]


def slots_of(starts: Any, sources: Any) -> Slots:
    """The slots of graphs whose edges are sorted: starts int32 [R, N + 1] and sources (see search/neighbours.py)."""
    relations, ends = starts.shape
    (firsts, nodes), bounds = np.empty((2, relations * (ends - 1) + 1), np.uint32), np.empty(relations + 1, np.int64)
    list_slots(starts, firsts, nodes, bounds)
    count = int(bounds[-1])
    return Slots(firsts[: count + 1], sources.view(np.uint32), nodes[:count], bounds)


@intensive_kernel
def take_largest(x, firsts, sources, largest):
    """Fill `largest` [S, C] with the maximum of x [N, C] over the neighbours of each slot; both float32, or int8.

    Both may have more rows.
    """
    channels, step = x.shape[1], np.uint32(1)
    for slot in range(firsts.size - 1):
        first, last = firsts[slot], firsts[slot + 1] - step
        row, one, other = largest[slot], x[sources[first]], x[sources[last]]
        for c in range(channels):
            row[c] = max(one[c], other[c])
        for edge in range(first + step, last, step + step):  # two at a time: the row is written half as often
            one, other = x[sources[edge]], x[sources[edge + step]]
            for c in range(channels):
                row[c] = max(row[c], max(one[c], other[c]))


@intensive_kernel
def give_to_largest(x, largest, gradients, firsts, sources, into):
    """Add gradients float32 [S, C] to into float32 [N, C], each to a node that its maximum came from.

    Of several nodes with the maximum the first takes it. The gradients are set to 0 on the way.
    """
    channels = x.shape[1]
    for slot in range(largest.shape[0]):
        row, rest = largest[slot], gradients[slot]
        for edge in range(firsts[slot], firsts[slot + 1]):
            source = sources[edge]
            one, sums = x[source], into[source]
            for c in range(channels):
                taken = rest[c] if one[c] == row[c] else np.float32(0.0)
                sums[c] += taken
                rest[c] -= taken


@intensive_kernel
def add_to_nodes(rows, nodes, into):
    """Add rows float32 [S, H] to those of their nodes in into float32 [N, H]."""
    for slot in range(nodes.size):
        row, sums = rows[slot], into[nodes[slot]]
        for h in range(rows.shape[1]):
            sums[h] += row[h]


class Relate(torch.autograd.Function):
    """x [N, C] and weight [H, R * C] to [N, H]: the sum over relations of weight_r @ (maximum over the neighbours)."""

    @staticmethod
    def forward(context: Any, x: torch.Tensor, weight: torch.Tensor, slots: Slots) -> torch.Tensor:
        channels = x.shape[1]
        largest = x.new_empty(len(slots.nodes), channels)
        take_largest(x.detach().numpy(), slots.firsts, slots.sources, largest.numpy())
        out = x.new_zeros(x.shape[0], weight.shape[0])
        for relation, first, last in _relations(slots):
            rows = largest[first:last] @ weight[:, relation * channels :][:, :channels].T
            add_to_nodes(rows.numpy(), slots.nodes[first:last], out.numpy())
        context.save_for_backward(x, weight, largest)
        context.slots = slots
        return out

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[Any, Any, None]:
        x, weight, largest = context.saved_tensors
        channels, (firsts, sources, nodes, _) = x.shape[1], context.slots
        for_weight = torch.zeros_like(weight)
        for_x = torch.zeros_like(x) if context.needs_input_grad[0] else None
        for relation, first, last in _relations(context.slots):
            columns, mine = slice(relation * channels, (relation + 1) * channels), largest[first:last]
            rows = gradient.index_select(0, torch.from_numpy(nodes[first:last].view(np.int32)))
            # Products of narrow matrices take longer one way than the other.
            for_weight[:, columns] = (mine.T @ rows).T if channels < weight.shape[0] else rows.T @ mine
            if for_x is not None:
                numbers = x.detach().numpy(), mine.numpy(), (rows @ weight[:, columns]).numpy()
                give_to_largest(*numbers, firsts[first : last + 1], sources, for_x.numpy())
        return for_x, for_weight, None


def _relations(slots: Slots) -> list[tuple[int, int, int]]:
    """(relation, first slot, end) of each relation that has slots."""
    bounds = slots.bounds.tolist()
    return [(i, bounds[i], bounds[i + 1]) for i in range(len(bounds) - 1) if bounds[i] < bounds[i + 1]]
