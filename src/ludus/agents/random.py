"""Any legal move, each as likely as the others."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from ludus.agents.agent import Choice, player_asked

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.budget import Budget
    from ludus.agents.naming import Spec
    from ludus.game import Game, Position


class RandomAgent:
    def __init__(self, name: str = "random", seed: int = 0):
        self.name = name
        self.random = Random(seed)

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        player = player_asked(position, player)
        actions = position.actions_of(player)
        action = self.random.choice(actions)
        move = position.game.write_move(position.state, player, action)
        return Choice(player, action, move, actions, policy=[1.0 / len(actions)] * len(actions))

    def new_game(self, seed: int) -> None:
        self.random = Random(seed)


def make(spec: Spec, game: Game, seed: int) -> RandomAgent:
    spec.refuse_budget()
    return RandomAgent(spec.text, seed, **spec.read())
