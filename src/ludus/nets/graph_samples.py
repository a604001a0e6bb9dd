"""Rows of self-play as graphs to learn from, and the loss of a graph network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ludus.nets.graph_batches import GraphBuilder, Graphs
from ludus.nets.rows import pick_rows
from ludus.nets.samples import cross_entropy

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.rows import Rows
    from ludus.nets.samples import Targets


class GraphSample(NamedTuple):
    """K rows as graphs (see nets.graph_batches.Graphs), of up to A moves."""

    features: Any
    starts: Any
    sources: Any
    ends: Any
    moves: Any
    policy: Any  # float32 [K, A]: the search's policy, and -1 where there is no move
    values: Any  # float32 [K, outputs]
    weights: Any  # float32 [K]

    def to(self, device: torch.device) -> GraphSample:
        """The same sample in a device's memory."""
        return GraphSample(*(each.to(device) for each in self))

    def inputs(self) -> Graphs:
        """What an engine runs the network on."""
        return Graphs(*(each.numpy() for each in self[: len(Graphs._fields)]))


class GraphSampler:
    """Draws rows as graphs. Symmetric images are not needed: a graph has no orientation."""

    def __init__(self, game: Game, targets: Targets, outputs: int):
        self.game, self.targets, self.outputs = game, targets, outputs

    @property
    def fixed_shape(self) -> bool:
        """Samples are filled up to few shapes. False if steps on them failed their trial on the GPU."""
        from ludus.nets.graph_trial import why_not

        return not why_not(self.game.spec)

    def draw(self, rows: Rows, count: int, rng: np.random.Generator) -> GraphSample:
        drawn = pick_rows(rows, rng.integers(0, len(rows), count))
        counts = np.diff(drawn.starts).astype(np.int32)
        most = min(self.game.most_legal, 1 << (int(counts.max()) - 1).bit_length())  # so that it seldom changes
        known = np.arange(most) < counts[:, None]
        actions, policy = np.zeros((count, most), np.int32), np.full((count, most), -1.0, np.float32)
        actions[known], policy[known] = drawn.actions, drawn.policy
        graphs = GraphBuilder(self.game).build(drawn.states, drawn.players, actions, counts, rounded=True)
        return GraphSample(*map(torch.from_numpy, (*graphs, policy, self._values(drawn), drawn.weights)))

    def loss(self, network: Any, sample: GraphSample) -> tuple[Any, Any]:
        *parts, target, values, weights = sample
        graphs = Graphs(*parts)
        nodes, predicted = network(graphs)
        logits = logits_of(nodes, graphs, target.shape[1])
        return cross_entropy(logits, target, weights), (weights * (predicted - values).square().mean(1)).sum()

    def _values(self, rows: Rows) -> np.ndarray:
        seats = (rows.players[:, None].astype(np.int64) + np.arange(self.outputs)) % self.game.players
        values = np.take_along_axis(rows.results, seats, 1)
        fraction = self.targets.outcome_fraction
        values[:, 0] = fraction * values[:, 0] + (1 - fraction) * rows.search
        return values


def logits_of(nodes: torch.Tensor, graphs: Graphs, most: int) -> torch.Tensor:
    """The logits [K, most] of moves from the policy [N] of all nodes; any numbers after the last move of a graph."""
    moves = (graphs.ends - graphs.moves)[:, None] + torch.arange(most, device=nodes.device)
    return nodes.gather(0, moves.clamp(max=len(nodes) - 1).flatten()).view(-1, most)
