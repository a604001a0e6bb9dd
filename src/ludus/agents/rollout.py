"""Tree search whose playouts are played by a network: its policy draws the moves, the result is the value.

rollout:RUN:100      simulations (or seconds) a move; other parts as for zero
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.agents.budget import Budget
from ludus.agents.zero import SEARCH_OPTIONS as OPTIONS
from ludus.agents.zero import ZeroAgent, evaluator_of, player_of
from ludus.native import below, kernel, uniform
from ludus.rng import generators
from ludus.rules import outcome, to_move
from ludus.search.batch import Batch
from ludus.search.random_play import play_joint
from ludus.search.tree import list_moves

if TYPE_CHECKING:
    from ludus.agents.naming import Spec
    from ludus.game import Game

BUDGET = Budget(simulations=100)


@kernel
def draw_and_play(rules, batch_states, movers, actions, counts, logits, random, joint):
    """In every position, draw a move (of each player, where all move) from the softmax of its logits, and play it."""
    for k in range(movers.size):
        begin = 0
        joint[:] = -1
        for block in range(counts.shape[1]):
            count = counts[k, block]
            if count == 0:
                continue
            highest = -np.inf
            for i in range(begin, begin + count):
                highest = max(highest, logits[k, i])
            total = 0.0
            for i in range(begin, begin + count):
                logits[k, i] = np.exp(logits[k, i] - highest)
                total += logits[k, i]
            left = uniform(random[0]) * total
            chosen = actions[k, begin + below(random[0], count)]
            for i in range(begin, begin + count):
                left -= logits[k, i]
                if left < 0.0:
                    chosen = actions[k, i]
                    break
            joint[block] = chosen
            begin += count
        play_joint(rules, batch_states[k], joint)


@kernel
def inspect_all(rules, states, movers, actions, counts, values, over):
    """Of every position: is it over, with which values, or who moves, and what."""
    for k in range(movers.size):
        over[k] = outcome(rules, states[k], values[k])
        counts[k, :] = 0
        if over[k]:
            continue
        movers[k] = to_move(rules, states[k])
        list_moves(rules, states[k], movers[k], actions[k], counts[k])


class RolloutEvaluator:
    """The network's logits, and as values the results of games that it plays on from the leaves."""

    def __init__(self, game: Game, evaluator: Any, seed: int = 0):
        self.game, self.evaluator = game.compile(), evaluator
        self.random = generators(seed, 1)
        self.poll: Callable[[], None] = lambda: None
        """Called after each ply of the playouts; it may raise to end the search."""

    def evaluate(self, batch: Batch) -> None:
        self.evaluator.evaluate(batch)
        rows = np.arange(len(batch.movers))
        games = Batch(*(np.array(array) for array in batch))
        joint = np.zeros(self.game.players, np.int32)
        while len(rows):
            draw_and_play(
                self.game.rules,
                games.states,
                games.movers,
                games.actions,
                games.counts,
                games.logits,
                self.random,
                joint,
            )
            over = np.zeros(len(rows), np.bool_)
            inspect_all(self.game.rules, games.states, games.movers, games.actions, games.counts, games.values, over)
            batch.values[rows[over]] = games.values[over]
            rows = rows[~over]
            games = Batch(*(np.ascontiguousarray(array[~over]) for array in games))
            if len(rows):
                self.poll()
                self.evaluator.evaluate(games)


class RolloutAgent(ZeroAgent):
    """A ZeroAgent whose evaluator plays games on. They are drawn from the seed of the game too."""

    evaluator: RolloutEvaluator

    def new_game(self, seed: int) -> None:
        super().new_game(seed)
        self.evaluator.random = generators(seed, 1)


def make(spec: Spec, game: Game, seed: int) -> RolloutAgent:
    options = spec.read_options(OPTIONS)
    evaluator = RolloutEvaluator(game, evaluator_of(player_of(spec, game), game, options.pop("engine", "auto")), seed)
    agent = RolloutAgent(game, evaluator, spec.text, spec.budget or BUDGET, seed, **options)
    evaluator.poll = agent.poll
    return agent
