"""Networks as evaluators of a search: an evaluator turns positions into a network's input, and its answer into logits
along the legal lists and one value per player.

Over planes, each position is observed by the player to move; where everyone moves at once, by each player in turn.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.native import kernel
from ludus.nets.engines import WHOLE, load_checked
from ludus.nets.families import family_of
from ludus.rules import observe
from ludus.search.batch import View, spread_answers
from ludus.search.spread import Spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.game import Game
    from ludus.nets.engines import Engine
    from ludus.search.batch import Batch
    from ludus.search.forest import SearchForest


class NetworkEvaluator(ABC):
    """An evaluator whose answers come from a network. These methods are all that its users call."""

    game: Game
    engine: Engine

    @abstractmethod
    def evaluate(self, batch: Batch) -> None:
        """Fill batch.logits, aligned with batch.actions, and batch.values."""

    def see(self, states: np.ndarray, movers: np.ndarray) -> Any:
        """The network's input for positions: states [K], and the players to move int8 [K]. Valid until the next call.

        Evaluators of families that the engine int8 runs have it.
        """
        raise NotImplementedError(f"{type(self).__name__} has no see()")

    @abstractmethod
    def load(self, network: Any, calibration: Any = None) -> None:
        """Take over the weights of a network as they are now; `calibration` as for Engine.load."""

    @abstractmethod
    def share(self) -> NetworkEvaluator:
        """An evaluator for another thread. It has the weights of this one, also after the next `load` of this one."""

    def spread(self, threads: int) -> Spread:
        """This evaluator for one search on up to `threads` threads. It has the weights of this one, also after `load`.

        If batches are not cut into chunks, a second thread evaluates the other half, and further ones are of no use.
        """
        helpers = threads - 1 if self.engine.chunk < WHOLE else min(threads, 2) - 1
        return Spread([self, *(self.share() for _ in range(helpers))], self.engine.chunk)

    @abstractmethod
    def make_forest(self, rules: Sequence[Any], *, trees: int, nodes: int, seed: int) -> SearchForest:
        """A forest for searches by this evaluator and these selection rules, of which the first is set.

        Its trees are where the network is, on the CPU or on a GPU. Where they cannot be, `why_not_on_gpu` of the forest
        says why.
        """

    @abstractmethod
    def measure(self, batch: Batch, seconds: float) -> float:
        """Evaluations per second of the network alone, measured for `seconds` on batches of this size."""


@kernel
def observe_batch(rules, states, players, planes):
    """Fill planes float32 [V, ...] with observations by players int8 [V], one or several of each of the states [K]."""
    observers = planes.shape[0] // states.shape[0]
    planes[...] = 0.0
    for k in range(planes.shape[0]):
        observe(rules, states[k // observers], players[k], planes[k])


class PlaneEvaluator(NetworkEvaluator):
    """Evaluates a batch of positions by a network over planes."""

    def __init__(self, game: Game, engine: Engine):
        self.game, self.engine = game.compile(), engine
        self.observers = game.players if game.simultaneous else 1
        """Observations of each position: one for each player where they move at once, unless the network that is loaded
        sees them all by the first player's."""
        self._shape = tuple(game.observation or ())
        self._planes = np.zeros((0, *self._shape), np.float32)
        self._seats = np.arange(game.players, dtype=np.int8)

    def see(self, states: np.ndarray, movers: np.ndarray) -> NDArray[np.float32]:
        count = len(movers) * self.observers
        if len(self._planes) < count:
            self._planes = np.zeros((count, *self._shape), np.float32)
        planes = self._planes[:count]
        if self.game.simultaneous:
            players = np.tile(self._seats[: self.observers], len(movers))
        else:
            players = np.maximum(movers, 0)
        observe_batch(self.game.rules, states, players, planes)
        return planes

    def evaluate(self, batch: Batch) -> None:
        policy, outputs = self.engine.run(self.see(batch.states, batch.movers))
        spread_answers(batch.movers, batch.actions, batch.counts, policy, outputs, batch.logits, batch.values)

    def load(self, network: Any, calibration: Any = None) -> None:
        self.observers = 1 if network.sizes.shared_view or not self.game.simultaneous else self.game.players
        load_checked(self.engine, network, calibration)

    def share(self) -> PlaneEvaluator:
        other = type(self)(self.game, self.engine.share())
        other.observers = self.observers
        return other

    def make_forest(self, rules: Sequence[Any], *, trees: int, nodes: int, seed: int) -> SearchForest:
        view = View(self._shape, self.observers)
        return self.engine.make_forest(self.game, rules, self, view, trees=trees, nodes=nodes, seed=seed)

    def measure(self, batch: Batch, seconds: float) -> float:
        planes = np.zeros((len(batch.movers) * self.observers, *self._shape), np.float32)
        return len(planes) * calls_per_second(lambda: self.engine.run(planes), seconds)


def calls_per_second(work: Callable[[], Any], seconds: float) -> float:
    """Calls of `work` per second, measured for `seconds` after one call that does not count."""
    work()
    began, count = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        work()
        count += 1
    return count / (time.perf_counter() - began)


def make_evaluator(game: Game, network: Any, engine: str = "auto") -> NetworkEvaluator:
    """An evaluator for a network, on a new engine of this name."""
    family = family_of(network)
    evaluator = family.make_evaluator(game, family.make_engine(engine))
    evaluator.load(network)
    return evaluator
