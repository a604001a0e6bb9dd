"""Sources of exact values: the solver of Ludus, and BitBully for Connect-4."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from ludus.search.solver import NotSolved, prepare, solve

if TYPE_CHECKING:
    from ludus.game import Game, Position

STANDARD_CONNECT4 = {"rows": 6, "columns": 7, "line": 4}
TABLE_BYTES = 1 << 28
"""Memory for the table of positions of the solver."""


class Truth(Protocol):
    """A source of exact values."""

    name: str

    def values(self, position: Position) -> dict[int, float] | None:
        """The value of every legal action, in order, to the player to move; None if that takes too long."""


def truth_of(game: Game, limit: float) -> Truth:
    """The solver of Ludus, or BitBully for standard Connect-4 if it is installed: it also reaches openings."""
    if is_standard_connect4(game):
        try:
            return BitBully()
        except ImportError:
            pass
    return Solver(game, limit)


def is_standard_connect4(game: Game) -> bool:
    """True for Connect-4 on its usual board."""
    return game.name == "connect4" and game.options_in_use() == STANDARD_CONNECT4


class Solver:
    """Alpha-beta for every two-player zero-sum game with turns. Positions share one table."""

    def __init__(self, game: Game, limit: float):
        from ludus import __version__

        self.name, self.limit = f"ludus {__version__}", limit
        self.stack = prepare(game.start(), TABLE_BYTES)

    def values(self, position: Position) -> dict[int, float] | None:
        """The value of every legal action; None if the position is not solved within the limit."""
        try:
            return solve(position, limit=self.limit, stack=self.stack).values
        except NotSolved:
            return None


class BitBully:
    """A solver for Connect-4 alone, with a book of openings.

    Ludus does not depend on it because of its licence (AGPL), and uses it where it is installed.
    """

    def __init__(self) -> None:
        import bitbully

        self.name = f"bitbully {importlib.metadata.version('bitbully')}"
        self.new_board: Callable[[], Any] = bitbully.Board
        self.solver = bitbully.BitBully()

    def values(self, position: Position) -> dict[int, float]:
        """The outcome of every legal action. BitBully's scores also tell how soon a game is won; that is dropped."""
        board = self.new_board()
        for step in position.history:
            if step.action is not None:
                board.play(step.action)
        scores = self.solver.score_all_moves(board)
        return {
            action: float((scores[action] > 0) - (scores[action] < 0))
            for action in position.actions_of(position.to_move)
        }
