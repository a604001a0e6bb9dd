"""Resistance: of moves that are all proven to lose, the one that holds out longest.

A tree search that proves a loss knows for each move a largest number of plies to the end of the game. The opponent may
have a quicker win that the search did not visit. So the moves are searched ply by ply to the full width, as far as the
rest of the budget allows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.game import Position


class OutOfBudget(Exception):
    """No more positions may be searched."""


def longest_resistance(
    position: Position,
    player: int,
    lengths: Mapping[int, int],
    visits: Mapping[int, int],
    may_search: Callable[[], bool],
) -> int:
    """The action, of actions that all lose, which the player of the position loses last against best play.

    `lengths`: for each action, after how many plies at the latest the game is lost, the action included. `visits`
    decide between actions that hold out equally long: those took more work to refute. `may_search` is called before
    each position that is searched, and ends the search by returning False.
    """
    latest = dict(lengths)
    after = {action: position.play(action) for action in latest}
    try:
        for plies in range(1, max(latest.values())):
            for action in sorted(latest, key=lambda action: -latest[action]):
                if latest[action] > plies + 1 and _is_lost_within(after[action], plies, player, may_search):
                    latest[action] = plies + 1
            if sum(length > plies + 1 for length in latest.values()) <= 1:
                break
    except OutOfBudget:
        pass
    return max(latest, key=lambda action: (latest[action], visits[action]))


def _is_lost_within(position: Position, plies: int, player: int, may_search: Callable[[], bool]) -> bool:
    """True if the opponent can force a win against the player within `plies` plies."""
    if not may_search():
        raise OutOfBudget
    if position.is_over:
        return position.values[player] <= -1.0
    if plies == 0:
        return False
    children = (
        _is_lost_within(position.play(action), plies - 1, player, may_search)
        for action in position.actions_of(position.to_move)
    )
    return all(children) if position.to_move == player else any(children)
