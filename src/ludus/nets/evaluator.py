"""A network as the evaluator of a search: planes from the leaves, logits along their legal lists, a value per player.

Each leaf is looked at by the player to move; where everyone moves at once, by each player in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.native import kernel, part
from ludus.nets.engines import make_engine
from ludus.nets.network import sizes_of
from ludus.rules import EVERYONE, observe

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.engines import Engine
    from ludus.search.batch import Batch
    from ludus.search.forest import Forest


@kernel
def observe_batch(rules, states, viewers, planes):
    """What each viewer sees: viewers int8 [K], planes float32 [K, ...], for K = len(states) or P views of each."""
    views = planes.shape[0] // states.shape[0]
    planes[...] = 0.0
    for k in range(planes.shape[0]):
        observe(rules, states[k // views], viewers[k], planes[k])


@part
def answer_one(movers, actions, counts, policy, outputs, logits, values, k):
    """Spread a network's answer over leaf k of a batch (see search.batch.Batch).

    policy float32 [V, heads, actions] and outputs float32 [V, outputs], with one view of each leaf, or one for each
    player, beside each other.
    """
    players = values.shape[1]
    views = policy.shape[0] // values.shape[0]
    heads = policy.shape[1]
    if views == 1:
        mover = max(0, movers[k])
        head = mover if heads > 1 else 0
        for i in range(counts[k, 0]):
            logits[k, i] = policy[k, head, actions[k, i]]
        if outputs.shape[1] == 1:
            values[k, mover] = outputs[k, 0]
            values[k, 1 - mover] = -outputs[k, 0]
        else:
            for seat in range(players):
                values[k, (mover + seat) % players] = outputs[k, seat]
        return
    begin = 0
    for player in range(players):
        view = k * views + player
        values[k, player] = outputs[view, 0]
        if movers[k] == EVERYONE or movers[k] == player:
            block = player if movers[k] == EVERYONE else 0
            head = player if heads > 1 else 0
            for i in range(begin, begin + counts[k, block]):
                logits[k, i] = policy[view, head, actions[k, i]]
            begin += counts[k, block]


@kernel
def answer(movers, actions, counts, policy, outputs, logits, values):
    """The same for all leaves."""
    for k in range(values.shape[0]):
        answer_one(movers, actions, counts, policy, outputs, logits, values, k)


class NetworkEvaluator:
    """Judges a batch of leaves by a network that runs in an engine."""

    def __init__(self, game: Game, engine: Engine):
        self.game = game.compile()
        self.engine = engine
        self.views = game.players if game.simultaneous else 1
        self.sizes = sizes_of(game)
        self._planes = np.zeros((0, *self.sizes.observation), np.float32)
        self._seats = np.arange(self.views, dtype=np.int8)
        self.evaluations = 0

    def evaluate(self, batch: Batch) -> None:
        planes = self._room(len(batch.movers) * self.views)
        viewers = np.maximum(batch.movers, 0) if self.views == 1 else np.tile(self._seats, len(batch.movers))
        observe_batch(self.game.rules, batch.states, viewers, planes)
        policy, outputs = self.engine.run(planes)
        answer(batch.movers, batch.actions, batch.counts, policy, outputs, batch.logits, batch.values)
        self.evaluations += len(planes)

    def sample(self, forest: Forest) -> Any:
        """What the engine would run for all leaves of a forest: to measure it alone."""
        return np.zeros((len(forest.trees.root) * self.views, *self.sizes.observation), np.float32)

    def _room(self, rows: int) -> Any:
        if len(self._planes) < rows:
            self._planes = np.zeros((rows, *self.sizes.observation), np.float32)
        return self._planes[:rows]


def make_evaluator(game: Game, network: Any, engine: str = "auto") -> Any:
    """An evaluator for a network, on an engine of its own."""
    from ludus.nets.graph import GraphEvaluator, GraphNetwork

    if isinstance(network, GraphNetwork):
        return GraphEvaluator(game, make_engine("torch" if engine == "auto" else engine, network))
    return NetworkEvaluator(game, make_engine(engine, network))


def make_evaluators(game: Game, network: Any, engine: str, count: int) -> list[Any]:
    """Evaluators for so many forests, whose engines share the weights where they can."""
    first = make_evaluator(game, network, engine)
    if _share([first]):
        return [first, *(NetworkEvaluator(game, first.engine.beside()) for _ in range(count - 1))]
    return [first, *(make_evaluator(game, network, engine) for _ in range(count - 1))]


def load_all(evaluators: list[Any], network: Any, samples: Any = None) -> None:
    """New weights for evaluators that were made together; `samples` as for an engine's `load`."""
    for evaluator in evaluators[:1] if _share(evaluators) else evaluators:
        evaluator.engine.load(network, samples)


def _share(evaluators: list[Any]) -> bool:
    """Do the weights of the first one serve all?"""
    return hasattr(evaluators[0].engine, "beside")
