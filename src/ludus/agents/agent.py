"""What an agent is: given a position and a budget, it answers with a move and with what it expects.

Anything with `name`, `choose` and `new_game` is an agent, foreign programs behind a class of one's own included.
Agents that grow a search tree offer more, see `ludus.agents.search`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ludus.agents.budget import Budget
from ludus.errors import BadAgent, IllegalMove
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.game import Position

Progress = Callable[[float], object]
"""Called while an agent thinks, with the fraction of its budget that is spent, from 0 to 1.

It asks the agent to answer now, with its best move so far, by returning False. An agent that thinks in one go may
never call it.
"""


class AgentFault(BadAgent):
    """An external program did not answer as it must, and its agent loses the game.

    The message is the reason in the record of the game: "crashed: ...", "hung: ..." or "illegal move: ...".
    """


@dataclass(frozen=True)
class Choice:
    """A move, and what the agent knows about it; None stands for what the agent does not know.

    `visits`, `values`, `policy` and `priors` are aligned with `actions`, all in the view of `player`.
    """

    player: int
    action: int
    """The player's action id."""
    move: str
    """The action in notation."""
    actions: list[int] | None = None
    """The player's legal actions, in the game's order."""
    visits: list[int] | None = None
    """The number of simulations that began with each action."""
    values: list[float] | None = None
    """The value of each action, in [-1, 1]; NaN for an action that was not searched."""
    policy: list[float] | None = None
    """The probability of each action, as the agent would play it or learn it."""
    value: float | None = None
    """The result that the player can expect, in [-1, 1]."""
    line: list[str] = field(default_factory=list)
    """The principal variation in notation: the moves that are expected from all players, this one first."""
    simulations: int = 0
    """Simulations run, or positions searched, for this move."""
    seconds: float = 0.0
    solved: bool = False
    """True if `value` is proven."""
    priors: list[float] | None = None
    """The probability that a network gave each action before the search."""


class Agent(Protocol):
    """A player. The same object plays one game at a time, in one thread at a time."""

    name: str

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        """A move for `player`, by default the player to move. Where everyone moves at once, `player` is required."""

    def new_game(self, seed: int) -> None:
        """Forget earlier games, draw random numbers from this seed from now on, and get ready.

        Work that is done once (compiling, loading) is done here, so that no clock runs meanwhile. An agent fresh from
        make_agent may be asked for a move without this call.
        """


def player_asked(position: Position, player: int | None) -> int:
    """The player for whom a choice is made: `player`, or the one to move. Raises where that player has no choice."""
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
