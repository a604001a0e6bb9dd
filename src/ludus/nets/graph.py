"""A relational network over graphs: one set of weights for every board size, one node for every legal move.

Each layer takes, for every node and every relation, the maximum over the neighbours in that relation. It has a weight
matrix for each relation and one for the node itself. The value is the mean of one output over all nodes; the policy is
another output of the nodes that are moves (see search/neighbours.py).
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from ludus.nets.graph_batches import Graphs
from ludus.nets.network import Sizes
from ludus.nets.relations import Relate, slots_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Relating = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


class Layer(nn.Module):
    """New features of every node, from its own features and from the maximum over its neighbours in each relation."""

    def __init__(self, inputs: int, outputs: int, relations: int):
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.others = nn.Linear(relations * inputs, outputs, bias=False)

    def forward(self, x: torch.Tensor, relate: Relating) -> torch.Tensor:
        """x [N, inputs] to [N, outputs]; `relate` as by `relating`."""
        return self.own(x) + relate(x, self.others.weight)


def relating(graphs: Graphs) -> Relating:
    """A function of x [N, C] and weight [H, R * C]: the sum over relations r of weight_r @ (maximum over neighbours).

    Of a node without neighbours in a relation, the maximum is 0.
    """
    if graphs.features.is_cuda:
        from ludus.gpu.relations import relating as on_gpu

        return on_gpu(graphs.starts, graphs.sources)
    slots = slots_of(graphs.starts.numpy(), graphs.sources.numpy())

    def relate(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        with torch.autocast("cpu", enabled=False):  # the compiled loops are for float32
            return Relate.apply(x.float(), weight, slots)

    return relate


def pooled(outputs: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """The values [K, outputs] of graphs: tanh of the mean over their nodes, outputs [N, outputs], ends int32 [K]."""
    count = len(ends)
    nodes = torch.arange(len(outputs), dtype=torch.int32, device=ends.device)
    owners = torch.searchsorted(ends, nodes, right=True)
    sums = outputs.new_zeros(count + 1, outputs.shape[1], dtype=torch.float32).index_add(0, owners, outputs.float())
    sizes = torch.diff(ends, prepend=ends.new_zeros(1)).clamp(min=1)
    return torch.tanh(sums[:count] / sizes[:, None])


class GraphNetwork(nn.Module):
    """`blocks` layers: two of `width`, two of half of it, then halving each time; the last gives policy and values."""

    family = "graph"
    quantisable = True
    tolerance = 0.1
    """As that of Network (see network.py)."""

    def __init__(self, sizes: Sizes, blocks: int, width: int):
        super().__init__()
        self.sizes = sizes
        features, relations = sizes.graph
        halvings = [0, 0, 1, 1, *range(2, blocks)][: max(1, blocks - 1)]
        widths = [features, *(max(8, width >> halving) for halving in halvings)]
        self.layers = nn.ModuleList(Layer(a, b, relations) for a, b in itertools.pairwise(widths))
        self.last = Layer(widths[-1], 1 + sizes.outputs, relations)

    def forward(self, graphs: Graphs) -> tuple[torch.Tensor, torch.Tensor]:
        """A policy [N], the logits of the nodes that are moves, and values [K, outputs]."""
        relate = relating(graphs)
        x = graphs.features
        for layer in self.layers:
            x = torch.relu(layer(x, relate))
        x = self.last(x, relate)
        return x[:, 0], pooled(x[:, 1:], graphs.ends)

    def to_logits(self, policy: NDArray[np.float32], inputs: Graphs) -> NDArray[np.float32]:
        """The policy that an engine answers graphs with as logits [K, moves], minus infinity where there is no move."""
        logits = np.full((len(inputs.ends), max(1, inputs.moves.max())), -np.inf, np.float32)
        for row, end, count in zip(logits, inputs.ends, inputs.moves, strict=True):
            row[:count] = policy[end - count : end]
        return logits

    def folded(self) -> GraphNetwork:
        """A copy for inference."""
        return copy.deepcopy(self).eval()
