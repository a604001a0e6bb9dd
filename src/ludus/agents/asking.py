"""Asking an agent for a move, and checking that its answer is legal."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING

from ludus.errors import BadAgent
from ludus.spec import shortened

if TYPE_CHECKING:
    from ludus.agents.agent import Agent, Choice
    from ludus.agents.budget import Budget
    from ludus.game import Position


class IllegalChoice(BadAgent):
    """An agent chose an action that its player cannot play."""


def ask(position: Position, agent: Agent, player: int, budget: Budget | None = None) -> Choice:
    """The agent's choice for `player`; IllegalChoice if its action is not legal."""
    return check_choice(position, agent, player, agent.choose(position_for(agent, position), budget, player))


def position_for(agent: Agent, position: Position) -> Position:
    """The position to show to an agent: a copy, with its history, for an agent that is not part of Ludus.

    Such an agent may write into the arrays of the position. The copy keeps the game of the caller as it is.
    """
    return position if type(agent).__module__.startswith("ludus.") else position.copy()


def check_choice(position: Position, agent: Agent, player: int, choice: Choice) -> Choice:
    """The choice, for `player` and with a plain integer as its action; IllegalChoice if `player` cannot play it."""
    try:
        action = operator.index(choice.action)
    except TypeError:
        action = -1
    if action not in position.actions_of(player):
        raise IllegalChoice(
            f"{agent.name} chose action {shortened(choice.action)}, which is not legal in the position {position.text}"
        )
    is_plain = type(choice.action) is int and choice.player == player
    return choice if is_plain else replace(choice, player=player, action=action)
