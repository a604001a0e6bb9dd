"""Asking an agent for a move, and checking that its answer is legal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludus.errors import BadAgent

if TYPE_CHECKING:
    from ludus.agents.agent import Agent, Choice
    from ludus.agents.budget import Budget
    from ludus.game import Position


class IllegalChoice(BadAgent):
    """An agent chose an action that its player cannot play."""


def ask(position: Position, agent: Agent, player: int, budget: Budget | None = None) -> Choice:
    """The agent's choice for `player`; IllegalChoice if its action is not legal."""
    choice = agent.choose(position, budget, player)
    if choice.action not in position.actions_of(player):
        raise IllegalChoice(
            f"{agent.name} chose action {choice.action}, which is not legal in the position {position.text}"
        )
    return choice
