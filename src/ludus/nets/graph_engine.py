"""Graph networks on the CPU: compiled loops and products of matrices, in memory that is used again for every batch."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ludus.native import intensive_kernel, kernel
from ludus.nets.engines import CpuEngine
from ludus.nets.relations import Slots, add_to_nodes, slots_of, take_largest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.nets.graph_batches import Graphs

NARROWEST = 16
"""Layers with fewer outputs are filled up with zeros: products with narrower matrices take longer. With fewer inputs,
all relations of a node are one row: to add up the products of each relation would take longer than to make them."""
CHUNK = 16
"""Positions in one batch: fewer take longer for each."""


class Weights(NamedTuple):
    """A layer of C inputs and H outputs: (the sum of all products) * scales + offsets, from `low` to `high`.

    The weights are float32; or int8, and so are the inputs then. The sums of products are float32 or int32.
    """

    own: torch.Tensor  # [C, H]
    others: list[torch.Tensor]  # for each relation, [C, H]; if empty, `own` has them below it, [(1 + R) * C, H]
    scales: Any  # float32 [H]
    offsets: Any  # float32 [H]
    low: Any  # float32: 0 if the layer rectifies, else minus infinity
    high: Any  # float32
    rounds: bool  # are the outputs integers, int8? then `offsets` includes 0.5
    used: int  # outputs that do not only fill up


Matrix = tuple[torch.Tensor, Any]
"""A matrix as a tensor, and the same memory as an array."""


@intensive_kernel
def finish(sums, nodes, scales, offsets, low, high, out):
    """Fill the first rows of `out` [N, H], float32 or int8: sums [N, H] * scales + offsets, from `low` to `high`."""
    for node in range(nodes):
        total, row = sums[node], out[node]
        for h in range(sums.shape[1]):
            row[h] = min(max(np.float32(total[h]) * scales[h] + offsets[h], low), high)


@intensive_kernel
def join_relations(x, count, largest, nodes, bounds, joined):
    """Fill the first `count` rows of joined [N, (1 + R) * C] with x [N, C] and, for each relation, largest [S, C]."""
    channels = x.shape[1]
    for node in range(count):
        row, numbers = joined[node], x[node]
        row[channels:] = 0
        for c in range(channels):
            row[c] = numbers[c]
    for relation in range(bounds.size - 1):
        first = (1 + relation) * channels
        for slot in range(bounds[relation], bounds[relation + 1]):
            row, numbers = joined[nodes[slot]], largest[slot]
            for c in range(channels):
                row[first + c] = numbers[c]


@kernel
def pool_nodes(x, ends, policy, outputs):
    """Fill policy float32 [N] and outputs float32 [K, outputs], before tanh, from the last layer x float32 [N, H]."""
    first = 0
    for k in range(ends.size):
        outputs[k, :] = 0.0
        for node in range(first, ends[k]):
            policy[node] = x[node, 0]
            for i in range(outputs.shape[1]):
                outputs[k, i] += x[node, 1 + i]
        for i in range(outputs.shape[1]):
            outputs[k, i] /= max(1, ends[k] - first)
        first = ends[k]


class NativeEngine(CpuEngine):
    """Runs graph networks in float32. Engines made by `share` have its weights, and memory of their own."""

    chunk = CHUNK

    def __init__(self) -> None:
        self.layers: list[Weights] = []
        """The same list in all engines made by `share`."""
        self._begin()

    def _begin(self) -> None:
        self.memory: dict[Any, tuple[torch.Tensor, np.ndarray]] = {}

    def share(self) -> NativeEngine:
        made = copy.copy(self)
        made._begin()
        return made

    def load(self, network: Any, calibration: Any = None) -> None:
        self.layers[:] = weights_of(network)

    def run(self, inputs: Graphs) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        torch.set_num_threads(1)  # of this thread: several threads run engines, and each of them would start more
        _, x = self.activations(inputs)[-1]
        policy = np.zeros(len(inputs.features), np.float32)
        values = np.empty((len(inputs.ends), self.layers[-1].used - 1), np.float32)
        pool_nodes(x, inputs.ends, policy, values)
        return policy, np.tanh(values)

    def activations(self, inputs: Graphs) -> list[Matrix]:
        """The outputs of all layers, with at least as many rows as nodes. They are valid until the next call."""
        slots = slots_of(inputs.starts, inputs.sources)
        sizes = np.diff(slots.bounds).tolist()
        found = [(torch.from_numpy(inputs.features), inputs.features)]
        with torch.inference_mode():
            for number, weights in enumerate(self.layers):
                found.append(self._apply(number, weights, found[-1], len(inputs.features), slots, sizes))
        return found[1:]

    def _apply(self, number: int, weights: Weights, x: Matrix, nodes: int, slots: Slots, sizes: list[int]) -> Matrix:
        """The outputs of a layer; sizes [R] are the numbers of the relations' slots."""
        is_exact = weights.own.is_floating_point()
        multiply, kind = (torch.mm, torch.float32) if is_exact else (torch._int_mm, torch.int32)
        (inputs, outputs), channels, count = weights.own.shape, x[0].shape[1], len(slots.nodes)
        largest, sums = self._take("largest", count, channels, x[0].dtype), self._take("sums", nodes, outputs, kind)
        out = self._take(number, nodes, outputs, torch.int8 if weights.rounds else torch.float32)
        take_largest(x[1], slots.firsts, slots.sources, largest[1])
        if weights.others:
            rows = self._take("rows", count, outputs, kind)
            multiply(x[0][:nodes], weights.own, out=sums[0][:nodes])
            first = 0
            for size, weight in zip(sizes, weights.others, strict=True):
                if size:
                    last = first + size
                    multiply(largest[0][first:last], weight, out=rows[0][first:last])
                    first = last
            add_to_nodes(rows[1], slots.nodes, sums[1])
        else:
            joined = self._take("joined", nodes, inputs, x[0].dtype)
            join_relations(x[1], nodes, largest[1], slots.nodes, slots.bounds, joined[1])
            multiply(joined[0][:nodes], weights.own, out=sums[0][:nodes])
        finish(sums[1], nodes, *weights[2:6], out[1])
        return out

    def _take(self, name: Any, rows: int, columns: int, kind: torch.dtype) -> Matrix:
        """A matrix of at least this size, in memory that is taken again by the next call with this name."""
        found = self.memory.get((name, columns, kind))
        if found is None or len(found[1]) < rows:
            made = torch.empty(rows * 5 // 4 + 1, columns, dtype=kind)
            found = self.memory[name, columns, kind] = made, made.numpy()
        return found


def weights_of(network: Any) -> list[Weights]:
    """The layers of a nets.graph.GraphNetwork."""
    made = []
    inputs = network.sizes.graph[0]
    for layer in (*network.layers, network.last):
        outputs = max(NARROWEST, layer.own.out_features)
        relations = layer.others.in_features // layer.own.in_features
        own, *others = (
            filled_up(part.T, inputs, outputs) for part in (layer.own.weight, *layer.others.weight.chunk(relations, 1))
        )
        if inputs < NARROWEST:
            own, others = torch.cat([own, *others]), []
        offsets = filled_up(layer.own.bias[None], 1, outputs)[0].numpy()
        low = np.float32(-np.inf if layer is network.last else 0.0)
        scales, high, used = np.ones(outputs, np.float32), np.float32(np.inf), layer.own.out_features
        made.append(Weights(own, others, scales, offsets, low, high, False, used))
        inputs = outputs
    return made


def filled_up(matrix: torch.Tensor, rows: int, columns: int) -> torch.Tensor:
    """A copy of a matrix on the CPU, filled up with zeros."""
    made = torch.zeros(rows, columns)
    made[: matrix.shape[0], : matrix.shape[1]] = matrix.detach()
    return made
