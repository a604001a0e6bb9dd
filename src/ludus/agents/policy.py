"""The network of a run without a search: plays the move with the highest probability.

policy:RUN           the latest checkpoint of a run        policy:RUN@40   checkpoint 40
sample=yes           draw the move from the network's policy
engine=onnx          the engine that runs the network: auto, onnx, torch, cuda
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.agents.agent import Choice, player_asked
from ludus.agents.naming import yes_or_no
from ludus.agents.zero import player_of
from ludus.rules import EVERYONE
from ludus.search.batch import make_buffer

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.budget import Budget
    from ludus.agents.naming import Spec
    from ludus.game import Game, Position


def exact_engine(text: str) -> str:
    from ludus.nets.engines import EXACT_ENGINE_NAMES

    if text not in EXACT_ENGINE_NAMES:
        raise ValueError(f"one of {', '.join(EXACT_ENGINE_NAMES)}")
    return text


OPTIONS = {"sample": yes_or_no, "engine": exact_engine}


class PolicyAgent:
    """One evaluation by the network. Where everyone moves at once, the move is always drawn from the policy."""

    def __init__(self, game: Game, evaluator: Any, name: str = "policy", seed: int = 0, sample: bool = False):
        self.game, self.evaluator, self.name, self.sample = game, evaluator, name, sample
        self.leaf = make_buffer(game, 1, 1)
        self.new_game(seed)

    def new_game(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        began = time.perf_counter()
        player = player_asked(position, player)
        actions = position.actions_of(player)
        policy, value = self.evaluate(position, player)
        drawn = self.sample or position.to_move == EVERYONE
        at = int(self.random.choice(len(actions), p=policy)) if drawn else int(np.argmax(policy))
        return Choice(
            player,
            actions[at],
            position.game.write_move(position.state, player, actions[at]),
            actions,
            policy=policy.tolist(),
            value=value,
            simulations=1,
            seconds=time.perf_counter() - began,
        )

    def evaluate(self, position: Position, player: int) -> tuple[np.ndarray, float]:
        """The network's policy over the player's legal actions, and the value for that player."""
        from ludus.search.batch import Batch

        leaf = self.leaf
        leaf.states[...] = position.states
        leaf.movers[0] = position.to_move
        leaf.counts[:] = 0
        begin = total = 0
        deciders = range(self.game.players) if position.to_move == EVERYONE else [position.to_move]
        for block, each in enumerate(deciders):
            ids = position.actions_of(each)
            begin = total if each == player else begin
            leaf.actions[0, total : total + len(ids)] = ids
            leaf.counts[0, block] = len(ids)
            total += len(ids)
        self.evaluator.evaluate(Batch(*leaf[: len(Batch._fields)]))
        logits = leaf.logits[0, begin : begin + len(position.actions_of(player))].astype(np.float64)
        weights = np.exp(logits - logits.max())
        return weights / weights.sum(), float(leaf.values[0, player])


def make(spec: Spec, game: Game, seed: int) -> PolicyAgent:
    from ludus.nets.evaluator import make_evaluator

    spec.refuse_budget()
    options = spec.read_options(OPTIONS)
    evaluator = make_evaluator(game, player_of(spec, game).load()[0], options.pop("engine", "auto"))
    return PolicyAgent(game, evaluator, spec.text, seed, **options)
