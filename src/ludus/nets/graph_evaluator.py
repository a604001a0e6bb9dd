"""A graph network as the evaluator of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.native import kernel
from ludus.nets.calibrating import sample_positions
from ludus.nets.checking import ROWS
from ludus.nets.engines import load_checked
from ludus.nets.evaluator import NetworkEvaluator, calls_per_second
from ludus.nets.graph_batches import GraphBuilder, Graphs
from ludus.rules import legal
from ludus.search.batch import View
from ludus.search.neighbours import spread_all_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ludus.game import Game
    from ludus.nets.engines import Engine
    from ludus.search.batch import Batch
    from ludus.search.forest import SearchForest


@kernel
def list_all_moves(rules, states, movers, actions, counts):
    """Write the legal moves of positions: actions int32 [K, most_legal] and their numbers, counts int32 [K]."""
    for k in range(counts.size):
        counts[k] = legal(rules, states[k], movers[k], actions[k])


class GraphEvaluator(NetworkEvaluator):
    """Evaluates a batch of positions by a graph network, for games in which players move in turn."""

    def __init__(self, game: Game, engine: Engine, why_not_on_gpu: str = ""):
        """`why_not_on_gpu`: why the network is on the CPU although the machine has a GPU, if it is."""
        self.game, self.engine, self.builder = game.compile(), engine, GraphBuilder(game)
        self.why_not_on_gpu = why_not_on_gpu

    def evaluate(self, batch: Batch) -> None:
        graphs = self.builder.build(batch.states, batch.movers, batch.actions, batch.counts[:, 0])
        policy, outputs = self.engine.run(graphs)
        spread_all_nodes(graphs.ends, graphs.moves, batch.movers, policy, outputs, batch.logits, batch.values)

    def see(self, states: np.ndarray, movers: np.ndarray) -> Graphs:
        actions, counts = np.zeros((len(movers), self.game.most_legal), np.int32), np.zeros(len(movers), np.int32)
        list_all_moves(self.game.rules, states, movers, actions, counts)
        return self.builder.build(states, movers, actions, counts)

    def load(self, network: Any, calibration: Any = None) -> None:
        load_checked(self.engine, network, calibration, lambda: self.see(*sample_positions(self.game, ROWS)))

    def share(self) -> GraphEvaluator:
        return type(self)(self.game, self.engine.share(), self.why_not_on_gpu)

    def make_forest(self, rules: Sequence[Any], *, trees: int, nodes: int, seed: int) -> SearchForest:
        view = View((), graph=self.builder.shape)
        forest = self.engine.make_forest(self.game, rules, self, view, trees=trees, nodes=nodes, seed=seed)
        forest.why_not_on_gpu = forest.why_not_on_gpu or self.why_not_on_gpu
        return forest

    def measure(self, batch: Batch, seconds: float) -> float:
        graphs = self.see(*sample_positions(self.game, len(batch.movers)))  # the batch of a GPU's forest has none
        return len(batch.movers) * calls_per_second(lambda: self.engine.run(graphs), seconds)
