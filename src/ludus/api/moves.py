"""The moves of a game: played, hidden, undone and played again. No clocks, no seats, no locks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludus.agents.agent import Choice, player_asked
from ludus.agents.human import read_move
from ludus.api.result import Result, result_by_rules
from ludus.errors import IllegalMove
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.game import Action, Position


@dataclass(frozen=True)
class Ply:
    """One move of the game, or the moves of all players at once."""

    action: Action
    move: str
    choices: tuple[Choice, ...] = ()
    """What each player who moved chose and expected; empty for moves that were played before the session."""
    by: tuple[str, ...] = ()
    """Who made each choice: the names of the seats at that time."""
    left: tuple[float | None, ...] | None = None
    """The seconds that each player had left after the move; None for a player without a clock."""


class MoveList:
    """All positions and moves of a game, and the place in it where the players are."""

    def __init__(self, position: Position):
        """A game that has come to a position, whose history is part of it."""
        self.game = position.game
        self.positions = position.history
        self.plies = [
            Ply(after.action, move)
            for after, move in zip(self.positions[1:], position.played, strict=True)
            if after.action is not None
        ]
        self.ply = len(self.plies)
        """The number of moves that led to the present position. Those after it were undone."""
        self.hidden: dict[int, tuple[Choice, str]] = {}
        """Where everyone moves at once, the moves made so far, and who made them."""
        self.end: Result | None = None
        """The result, if the game did not end by its rules."""

    @property
    def position(self) -> Position:
        return self.positions[self.ply]

    @property
    def result(self) -> Result | None:
        if self.end is not None:
            return self.end
        return result_by_rules(self.game, self.position.values) if self.position.is_over else None

    @property
    def waiting_for(self) -> list[int]:
        """The players whose move is awaited; empty when the game is over."""
        if self.result is not None:
            return []
        players = range(self.game.players)
        return [player for player in players if self.position.actions_of(player) and player not in self.hidden]

    def awaited(self, player: int | None) -> int:
        """A player whose move is awaited: the one given, or the only one. Raises if there is none."""
        waiting = self.waiting_for
        if player is None:
            if len(waiting) != 1:
                raise IllegalMove("several players move at once here: say for which one")
            return waiting[0]
        if player in self.hidden:
            raise IllegalMove(f"{self.game.player_name(player)} has moved already, and waits for the others")
        return player_asked(self.position, player)

    def choices(self, move: str | Action, player: int | None) -> list[Choice]:
        """The choices that a move stands for, each legal: one of a player, or those of all where everyone moves."""
        position = self.position
        if player is None and position.to_move == EVERYONE and not self.hidden and len(self.waiting_for) > 1:
            joint = position.action_of(move) if isinstance(move, str) else move
            if not isinstance(joint, tuple):
                raise IllegalMove(f"everyone moves at once here: say for which player {move!r} is")
            position.play(joint)  # refuses one that is not legal
            return [self._choice(each, joint[each]) for each in self.waiting_for]
        player = self.awaited(player)
        action = read_move(position, player, move) if isinstance(move, str) else move
        if action not in position.actions_of(player):
            raise IllegalMove(f"action {action} is not legal for {self.game.player_name(player)} in this position")
        return [self._choice(player, int(action))]

    def _choice(self, player: int, action: int) -> Choice:
        return Choice(player, action, self.game.write_move(self.position.state, player, action))

    def submit(self, choice: Choice, by: str) -> bool:
        """Take a legal choice. True if all have moved now, and the move was played; undone moves are discarded then."""
        self.hidden[choice.player] = choice, by
        if self.waiting_for:
            return False
        position = self.position
        made = [self.hidden[player] for player in sorted(self.hidden)]
        action: Action = choice.action
        if position.to_move == EVERYONE:
            chosen = {each.player: each.action for each, _ in made}
            action = tuple(chosen.get(player, -1) for player in range(self.game.players))
        after = position.play(action)
        self.hidden = {}
        del self.positions[self.ply + 1 :], self.plies[self.ply :]
        self.positions.append(after)
        choices, names = tuple(each for each, _ in made), tuple(name for _, name in made)
        self.plies.append(Ply(action, position.notation(action), choices, names))
        self.ply += 1
        return True

    def go_to(self, ply: int) -> None:
        """Make the position after `ply` moves the present one. Hidden moves and an end by other than rules are gone."""
        if not 0 <= ply <= len(self.plies):
            raise IllegalMove(f"there is no ply {ply}; the game has 0 to {len(self.plies)}")
        self.ply, self.hidden, self.end = ply, {}, None

    def last_choice_of(self, players: Iterable[int]) -> int:
        """The ply of the last earlier position in which one of these players had a choice."""
        who = list(players)
        for ply in range(self.ply - 1, -1, -1):
            if any(self.positions[ply].actions_of(player) for player in who):
                return ply
        raise IllegalMove("there is no move of yours to take back")
