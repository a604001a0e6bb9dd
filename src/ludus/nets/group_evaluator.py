"""A network over groups of cells as the evaluator of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.nets.engines import load_checked
from ludus.nets.evaluator import NetworkEvaluator, calls_per_second
from ludus.search.batch import View
from ludus.search.touching import spread_all_parts, view_batch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ludus.game import Game
    from ludus.nets.engines import Engine
    from ludus.search.batch import Batch
    from ludus.search.forest import SearchForest


class GroupEvaluator(NetworkEvaluator):
    """Evaluates a batch of positions by a network over groups of cells, for games in which players move in turn."""

    def __init__(self, game: Game, engine: Engine):
        assert game.groups is not None
        assert game.touches is not None
        self.game, self.engine = game.compile(), engine
        self.shape, self.touches = game.groups, game.touches
        self._reserve(0)

    def _reserve(self, count: int) -> None:
        """Make space for the input of `count` positions, and for the cells that a move of each touches."""
        self._planes = np.zeros((count, *self.shape.inputs), np.float32)
        self._roles, self._cells = np.zeros((2, count, self.touches.cells), np.int32)

    def see(self, states: np.ndarray, movers: np.ndarray) -> NDArray[np.float32]:
        count = len(movers)
        if len(self._planes) < count:
            self._reserve(count)
        planes = self._planes[:count]
        view_batch(self.game.rules, states, movers, planes, len(self.shape.groups))
        return planes

    def evaluate(self, batch: Batch) -> None:
        parts, outputs = self.engine.run(self.see(batch.states, batch.movers))
        spread_all_parts(
            *(self.game.rules, batch.states, batch.movers, batch.actions, batch.counts, self._roles, self._cells),
            *(self.touches.roles, self.touches.kinds, parts, outputs, batch.logits, batch.values),
        )

    def load(self, network: Any, calibration: Any = None) -> None:
        load_checked(self.engine, network, calibration)

    def share(self) -> GroupEvaluator:
        return type(self)(self.game, self.engine.share())

    def make_forest(self, rules: Sequence[Any], *, trees: int, nodes: int, seed: int) -> SearchForest:
        view = View(self.shape.inputs, 1, self.shape, self.touches)
        return self.engine.make_forest(self.game, rules, self, view, trees=trees, nodes=nodes, seed=seed)

    def measure(self, batch: Batch, seconds: float) -> float:
        planes = np.zeros((len(batch.movers), *self.shape.inputs), np.float32)
        return len(planes) * calls_per_second(lambda: self.engine.run(planes), seconds)
