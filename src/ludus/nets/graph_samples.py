"""Rows of self-play as graphs to learn from, and the loss of a graph network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ludus.nets.graph import GraphBuilder
from ludus.nets.rows import pick_rows

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.rows import Rows
    from ludus.nets.samples import Targets


class GraphSample(NamedTuple):
    """K rows as graphs, with M moves in all."""

    graphs: Any  # see nets.graph.Graphs
    owners: Any  # int64 [M]: the row of each move
    policy: Any  # float32 [M]: the search's policy
    values: Any  # float32 [K, outputs]
    weights: Any  # float32 [K]

    def to(self, device: torch.device) -> GraphSample:
        """The same sample in a device's memory."""
        return GraphSample(*(each.to(device) for each in self))


class GraphSampler:
    """Draws rows as graphs. Symmetric images are not needed: a graph has no orientation."""

    fixed_shape = False

    def __init__(self, game: Game, targets: Targets, outputs: int):
        self.game, self.targets, self.outputs = game, targets, outputs

    def draw(self, rows: Rows, count: int, rng: np.random.Generator) -> GraphSample:
        drawn = pick_rows(rows, rng.integers(0, len(rows), count))
        counts = np.diff(drawn.starts).astype(np.int32)
        actions = np.zeros((count, counts.max()), np.int32)
        actions[np.arange(counts.max()) < counts[:, None]] = drawn.actions
        graphs = GraphBuilder(self.game).build(drawn.states, drawn.players, actions, counts)
        arrays = np.repeat(np.arange(count), counts), drawn.policy, self._values(drawn), drawn.weights
        return GraphSample(graphs, *map(torch.from_numpy, arrays))

    def loss(self, network: Any, sample: GraphSample) -> tuple[Any, Any]:
        graphs, owners, target, values, weights = sample
        logits, predicted = network(graphs)
        highest = logits.detach().new_full((len(weights),), -torch.inf)
        highest = highest.scatter_reduce(0, owners, logits.detach(), "amax")
        shifted = logits - highest[owners]
        totals = torch.zeros_like(highest).index_add(0, owners, shifted.exp())
        logs = shifted - totals.log()[owners]
        policy_loss = -(weights[owners] * target * logs).sum()
        return policy_loss, (weights * (predicted - values).square().mean(1)).sum()

    def _values(self, rows: Rows) -> np.ndarray:
        seats = (rows.players[:, None].astype(np.int64) + np.arange(self.outputs)) % self.game.players
        values = np.take_along_axis(rows.results, seats, 1)
        fraction = self.targets.outcome_fraction
        values[:, 0] = fraction * values[:, 0] + (1 - fraction) * rows.search
        return values
