"""Tic-tac-toe in the corner of a larger frame: planes that a mask must cut to the board."""

from typing import NamedTuple

from ludus.game import require
from ludus.games import tictactoe
from ludus.games.tictactoe import legal, outcome, play, reset, to_move  # noqa: F401


class Framed(NamedTuple):
    frame: int = 5
    flaw: bool = False


def observe(rules, state, player, planes):
    """Own stones, the other's, the board."""
    for cell in range(9):
        planes[0, cell // 3, cell % 3] = state.stones[player] >> cell & 1
        planes[1, cell // 3, cell % 3] = state.stones[1 - player] >> cell & 1
        planes[2, cell // 3, cell % 3] = 0.5 if rules.flaw else 1.0


class FramedGame(tictactoe.TicTacToeGame):
    Rules = Framed
    name = "framed"
    symmetries = 1
    mask = 2

    def setup(self):
        require(self.rules.frame >= 3, "framed: the frame must be at least 3")
        self.observation = (3, self.rules.frame, self.rules.frame)
