"""A graph network as the evaluator of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.nets.evaluator import NetworkEvaluator, calls_per_second
from ludus.nets.graph import GraphBuilder, Graphs
from ludus.search.forest import Forest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ludus.game import Game
    from ludus.nets.engines import Engine
    from ludus.search.batch import Batch


class GraphEvaluator(NetworkEvaluator):
    """Evaluates a batch of positions by a graph network, for games in which players move in turn."""

    def __init__(self, game: Game, engine: Engine):
        self.game, self.engine, self.builder = game.compile(), engine, GraphBuilder(game)

    def evaluate(self, batch: Batch) -> None:
        logits, values = self.engine.run(self._graphs(batch))
        rows = np.repeat(np.arange(len(batch.movers)), batch.counts[:, 0])
        places = np.concatenate([np.arange(count) for count in batch.counts[:, 0]])
        batch.logits[rows, places] = logits
        seats = np.arange(self.game.players)
        if values.shape[1] == 1:
            batch.values[:] = np.where(seats == batch.movers[:, None], values, -values)
        else:
            batch.values[:] = np.take_along_axis(values, (seats - batch.movers[:, None]) % self.game.players, 1)

    def load(self, network: Any, calibration: Any = None) -> None:
        self.engine.load(network)

    def share(self) -> GraphEvaluator:
        return type(self)(self.game, self.engine.share())

    def make_forest(self, rules: Sequence[Any], *, trees: int, nodes: int, seed: int) -> Forest:
        return Forest(self.game, rules[0], trees=trees, nodes=nodes, seed=seed)

    def measure(self, batch: Batch, seconds: float) -> float:
        graphs = self._graphs(batch)
        return len(batch.movers) * calls_per_second(lambda: self.engine.run(graphs), seconds)

    def _graphs(self, batch: Batch) -> Graphs:
        return self.builder.build(batch.states, batch.movers, batch.actions, batch.counts[:, 0])
