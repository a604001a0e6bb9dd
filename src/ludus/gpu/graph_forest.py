"""A forest on a GPU for graph networks: each leaf becomes a graph there, by the function of the game."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from ludus.gpu.forest import GROWING_LANES, GpuForest, Load, Plan
from ludus.gpu.relations import GpuGraphs
from ludus.search.neighbours import spread_nodes, view_graph
from ludus.search.rounds import advance_tree


def grow_tree_of_graphs(tree, rules, rule, trees, buffer, budgets, sizes, policy, outputs):
    """One round of a tree: take the network's answer in, and find the next leaf.

    budgets int32 [B]; sizes int32 [B, 2]: nodes and edges of the leaf's graph; policy float32 [B, nodes] and outputs
    float32 [B, outputs].
    """
    if buffer.waiting[tree]:
        count = buffer.counts[tree, 0]
        first = sizes[tree, 0] - count
        spread_nodes(first, buffer.movers[tree], count, policy[tree], outputs, buffer.logits, buffer.values, tree)
    advance_tree(rules, rule, trees, tree, buffer, budgets)


def view_leaf(tree, rules, buffer, features, edges, sizes, starts, sources):
    """Write the leaf of a tree as a graph (see relations.GpuGraphs), or an empty one if no leaf waits."""
    if buffer.waiting[tree]:
        view_graph(
            rules, buffer.states[tree], buffer.movers[tree], buffer.actions[tree], buffer.counts[tree, 0],
            features[tree], edges[tree], sizes[tree], starts[tree], sources[tree],
        )  # fmt: skip
    else:
        sizes[tree, 0] = 0
        sizes[tree, 1] = 0


class GraphForest(GpuForest):
    """A forest whose leaves a network sees as graphs."""

    def _allocate_network(self, rows: int, observation: tuple[int, ...]) -> None:
        shape = self.view.graph
        assert shape is not None
        like = GpuGraphs(
            np.empty((rows, shape.nodes, shape.features), np.float32),
            np.empty((rows, shape.edges, 3), np.int32),
            np.empty((rows, 2), np.int32),
            np.empty((rows, len(shape.relations), shape.nodes + 1), np.int32),
            np.empty((rows, shape.edges), np.int32),
        )
        self._seen = GpuGraphs(*map(self._reserve, like))
        self._graphs = GpuGraphs(*map(self._tensor, self._seen))
        self._keep_answers()

    def _tensor(self, array: np.ndarray) -> torch.Tensor:
        """The GPU's memory that a placeholder stands for, with its shape and type."""
        kind = torch.from_numpy(np.empty(0, array.dtype)).dtype
        return self._tensors[id(array)][1][: array.nbytes].view(kind).view(array.shape)

    def _evaluate(self) -> Any:
        """The policy [B, nodes] of all nodes of the leaves, and their values [B, outputs]."""
        with torch.inference_mode():
            found = self.engine.forward(self._graphs)
            sizes = self._graphs.sizes[:, :1]
            known = torch.arange(found.shape[1], device=found.device) < sizes
            sums = torch.where(known[:, :, None], found[:, :, 1:], 0.0).sum(1)
            return found[:, :, 0], torch.tanh(sums / sizes.clamp(min=1))

    def plan(self, load: Load, common: tuple[Any, ...]) -> Plan:
        grow = load(grow_tree_of_graphs, *common, self._seen.sizes, *self._exchanged, lanes=GROWING_LANES)
        view = load(view_leaf, self._rules, self.buffer, *self._seen, lanes=GROWING_LANES)
        return Plan(scoring=[], growing=[grow, view])
