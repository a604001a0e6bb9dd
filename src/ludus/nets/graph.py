"""A relational network over graphs: one set of weights for every board size, one node for every legal move.

Each layer takes, for every node and every relation, the maximum over the neighbours in that relation. It has a weight
matrix for each relation and one for the node itself. The value is the mean of one output over all nodes; the policy is
another output of the nodes that are moves (see ludus.graphs).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ludus.graphs import build_kernel, shape_of
from ludus.nets.network import Sizes

if TYPE_CHECKING:
    from ludus.game import Game


class Graphs(NamedTuple):
    """A batch of K graphs with N nodes and M edges in all."""

    features: Any  # float32 [N, F]
    relations: Any  # int64 [M]
    sources: Any  # int64 [M]
    targets: Any  # int64 [M]
    owners: Any  # int64 [N]: the graph of each node
    graphs: Any  # int: K
    moves: Any  # int64 [sum of legal moves]: the nodes of the moves, graph after graph

    def to(self, device: torch.device) -> Graphs:
        """The same graphs in a device's memory."""
        return Graphs(*(each.to(device) if isinstance(each, torch.Tensor) else each for each in self))


class Layer(nn.Module):
    """New features of every node, from its own features and from the maximum over its neighbours in each relation."""

    def __init__(self, inputs: int, outputs: int, relations: int):
        super().__init__()
        self.relations = relations
        self.own = nn.Linear(inputs, outputs)
        self.others = nn.Linear(relations * inputs, outputs, bias=False)

    def forward(self, x: torch.Tensor, graphs: Graphs) -> torch.Tensor:
        nodes, width = x.shape
        gathered = x.new_full((nodes * self.relations, width), -torch.inf)
        slots = (graphs.targets * self.relations + graphs.relations)[:, None].expand(-1, width)
        gathered = gathered.scatter_reduce(0, slots, x[graphs.sources], "amax")
        gathered = gathered.masked_fill(gathered == -torch.inf, 0.0)  # no neighbour in this relation
        return self.own(x) + self.others(gathered.reshape(nodes, self.relations * width))


class GraphNetwork(nn.Module):
    """`blocks` layers: two of `width`, two of half of it, then halving each time; the last gives policy and values."""

    family = "graph"

    def __init__(self, sizes: Sizes, blocks: int, width: int):
        super().__init__()
        self.sizes = sizes
        features, relations = sizes.graph
        halvings = [0, 0, 1, 1, *range(2, blocks)][: max(1, blocks - 1)]
        widths = [features, *(max(8, width >> halving) for halving in halvings)]
        self.layers = nn.ModuleList(Layer(a, b, relations) for a, b in itertools.pairwise(widths))
        self.last = Layer(widths[-1], 1 + sizes.outputs, relations)

    def forward(self, graphs: Graphs) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits [sum of legal moves], move after move, and values [K, outputs]."""
        x = graphs.features
        for layer in self.layers:
            x = torch.relu(layer(x, graphs))
        x = self.last(x, graphs)
        sums = x.new_zeros(graphs.graphs, x.shape[1]).index_add(0, graphs.owners, x)
        sizes = torch.bincount(graphs.owners, minlength=graphs.graphs).clamp(min=1)
        values = torch.tanh(sums / sizes[:, None])[:, 1:]
        return x[graphs.moves, 0], values


class GraphBuilder:
    """Turns positions into a batch of graphs, in arrays that grow when needed."""

    def __init__(self, game: Game):
        self.game = game.compile()
        self.shape = shape_of(game)
        self.features = np.zeros((0, self.shape.features), np.float32)
        self.edges = np.zeros((0, 3), np.int32)

    def build(self, states: Any, players: Any, actions: Any, counts: Any) -> Graphs:
        """The graphs of K positions: players int8 [K], actions int32 [K, R] and counts int32 [K], as in a batch."""
        count = len(counts)
        starts = np.zeros((count + 1, 2), np.int32)
        most = (self.shape.nodes, self.shape.edges)
        kernel = build_kernel()
        while True:
            arrays = (states, players, actions, counts, most, self.features, self.edges, starts)
            fitted = kernel(self.game.rules, *arrays)
            if fitted == count:
                break
            self._grow(starts[fitted], count, fitted)
        nodes, edges = starts[-1].tolist()
        ends = starts[1:, 0].astype(np.int64)
        legal = counts.astype(np.int64)
        first = np.repeat(ends - legal - (np.cumsum(legal) - legal), legal)
        arrows = torch.from_numpy(self.edges[:edges].astype(np.int64))
        return Graphs(
            features=torch.from_numpy(self.features[:nodes].copy()),
            relations=arrows[:, 0],
            sources=arrows[:, 1],
            targets=arrows[:, 2],
            owners=torch.from_numpy(np.repeat(np.arange(count), np.diff(starts[:, 0]))),
            graphs=count,
            moves=torch.from_numpy(first + np.arange(legal.sum())),
        )

    def _grow(self, used: np.ndarray, count: int, fitted: int) -> None:
        """Make the arrays large enough for all positions, estimated from those that fitted, and for one more graph."""
        for name, taken, most in (("features", used[0], self.shape.nodes), ("edges", used[1], self.shape.edges)):
            old = getattr(self, name)
            needed = int(taken * count / max(1, fitted)) + most + 1
            setattr(self, name, np.zeros((max(needed, len(old) * 5 // 4), old.shape[1]), old.dtype))
