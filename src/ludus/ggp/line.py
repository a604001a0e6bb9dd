"""A match of general game playing as positions: joint moves as a manager reports them, and the moves of every role.

In GDL every role moves at every step. A position of Ludus asks only the roles that have a choice, so the moves of the
others are looked up here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, product

import numpy as np

from ludus.errors import IllegalMove
from ludus.gdl.described import DescribedGame
from ludus.gdl.kif import shorten, show
from ludus.ggp.messages import find_spelling
from ludus.native import kernel
from ludus.rules import EVERYONE, legal

MOST_GUESSES = 400
"""Joint moves that are tried for a step whose message was lost."""


@kernel
def list_legal(rules, states, player, actions):
    """Write the legal actions of a role in states[0], also of one that has a single move; returns their number."""
    return legal(rules, states[0], player, actions)


class Line:
    """The positions of a match, from its start to the present one."""

    def __init__(self, game: DescribedGame, joint_moves: Sequence[Sequence[str]] = ()):
        """The line after some joint moves, which must be legal."""
        self.game = game
        self.roles = [game.player_name(player) for player in range(game.players)]
        self.position = game.start()
        self.played: list[tuple[str, ...]] = []
        """The joint moves, spelled as in the rules."""
        for moves in joint_moves:
            self.play(moves)

    @property
    def is_over(self) -> bool:
        return self.position.is_over

    @property
    def goals(self) -> list[int]:
        """The goal of each role, from 0 to 100, if the game is over."""
        return [round(50 * (value + 1)) for value in self.position.values]

    @property
    def choosers(self) -> list[int]:
        """The roles that have a choice."""
        if self.is_over:
            return []
        mover = self.position.to_move
        return [
            player
            for player in (range(self.game.players) if mover == EVERYONE else [mover])
            if len(self.position.actions_of(player)) > 1
        ]

    def moves(self, player: int) -> dict[str, int]:
        """The legal moves of a role, spelled as in the rules, and their actions. There are none after the end."""
        if self.is_over:
            return {}
        state = self.position.state
        return {show(self.game.move_term(state, player, action)): action for action in self._actions(player)}

    def _actions(self, player: int) -> list[int]:
        if self.position.to_move in (player, EVERYONE):
            return self.position.actions_of(player)
        if not self.game.compiled:
            return self.game.legal(self.position.state, player)
        actions = np.zeros(self.game.most_legal, np.int32)
        count = list_legal(self.game.rules, self.position.states, player, actions)
        self.game.raise_pending()
        return actions[:count].tolist()

    def find(self, player: int, move: str) -> str | None:
        """The legal move that a text means, as spelled in the rules; None if there is none."""
        known = list(self.moves(player))
        found = find_spelling(move, known)
        return None if found is None else known[found]

    def play(self, moves: Sequence[str]) -> None:
        """Play a joint move; IllegalMove if a role cannot make its move here."""
        if self.is_over:
            raise IllegalMove("the game is over")
        if len(moves) != len(self.roles):
            raise IllegalMove(f"a joint move has {len(self.roles)} moves here, not {len(moves)}")
        spelled, actions = [], []
        for player, move in enumerate(moves):
            known = self.moves(player)
            found = find_spelling(move, list(known))
            if found is None:
                raise IllegalMove(f"{shorten(move, 40)} is not a legal move of {self.roles[player]} here")
            spelled.append(list(known)[found])
            actions.append(known[spelled[-1]])
        mover = self.position.to_move
        self.position = self.position.play(tuple(actions) if mover == EVERYONE else actions[mover])
        self.played.append(tuple(spelled))

    def play_after_gap(self, moves: Sequence[str], player: int, answered: str) -> bool:
        """Play a joint move that is legal only if one step was missed, and guess that step: with the move `answered` of
        `player`, if possible. False if no guess fits."""
        position, played = self.position, list(self.played)
        for guess in islice(self._joint_moves(player, answered), MOST_GUESSES):
            try:
                self.play(guess)
                self.play(moves)
                return True
            except IllegalMove:
                self.position, self.played = position, list(played)
        return False

    def _joint_moves(self, player: int, first: str) -> Iterator[tuple[str, ...]]:
        """The legal joint moves; those in which `player` makes the move `first` come first."""
        known = [list(self.moves(role)) for role in range(len(self.roles))]
        mine = sorted(known[player], key=lambda move: move != first)
        for move in mine:
            yield from product(*([move] if role == player else each for role, each in enumerate(known)))
