"""What an agent is: given a position and a budget, it answers with a move and with what it thought."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ludus.agents.budget import Budget
from ludus.errors import BadAgent, IllegalMove
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.game import Position

Progress = Callable[[float], None]
"""Called while an agent thinks, with the part of its budget that is spent, from 0 to 1; without a budget, never."""


@dataclass(frozen=True)
class Choice:
    """A move, and what the agent thought; what it did not think about is None.

    `visits`, `values` and `policy` are aligned with `actions`, all in the view of `player`.
    """

    player: int
    action: int
    """That player's action id."""
    move: str
    """The same in notation."""
    actions: list[int] | None = None
    visits: list[int] | None = None
    values: list[float] | None = None
    """What each action is worth, in [-1, 1]; NaN for those never looked at."""
    policy: list[float] | None = None
    """How likely the agent finds, or makes, each action."""
    value: float | None = None
    """The result that the player can expect, in [-1, 1]."""
    line: list[str] = field(default_factory=list)
    """The principal variation, in notation: what everybody is expected to play, from this move on."""
    simulations: int = 0
    """Simulations run, or positions looked at, for this move."""
    seconds: float = 0.0
    solved: bool = False
    """Is `value` proven?"""


class Agent(Protocol):
    """Who plays."""

    name: str

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        """A move for a player (by default the one to move; where everyone moves at once it must be said)."""

    def new_game(self, seed: int) -> None:
        """Forget what was, draw from this seed from now on, and get ready: what takes long only once (compiling) is
        done here, so that no clock runs meanwhile. An agent fresh from make_agent need not be told."""


def player_asked(position: Position, player: int | None) -> int:
    """For whom a choice is to be made in this position."""
    if position.is_over:
        raise IllegalMove("the game is over: there is nothing to choose")
    if player is None:
        if position.to_move == EVERYONE:
            raise BadAgent("everyone moves at once here: say for which player the agent shall choose")
        return position.to_move
    if not 0 <= player < position.game.players:
        raise BadAgent(f"there is no player {player}; players are numbered 0 to {position.game.players - 1}")
    if not position.actions_of(player):
        raise BadAgent(f"{position.game.player_name(player)} has nothing to choose here")
    return player
