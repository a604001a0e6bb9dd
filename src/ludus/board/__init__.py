"""The board of a game as plain data: cells, pieces, and the cells that each legal move touches.

A game describes its board in one optional method, `Game.drawing(position)`, which returns a `Board`. Every front end
draws from it: the page of `ludus web` from `board_json`, a notebook from `svg`. A game without the method is shown as
its text and a list of moves. docs/board.md has an example.
"""

from ludus.board.describing import board_json, board_of, why_not
from ludus.board.parts import PAINTS, Board, Cell, Hand, Line, Mark, Piece, Table, Touch, grid, hexagon_at
from ludus.board.svg import svg

__all__ = [
    "PAINTS",
    "Board",
    "Cell",
    "Hand",
    "Line",
    "Mark",
    "Piece",
    "Table",
    "Touch",
    "board_json",
    "board_of",
    "grid",
    "hexagon_at",
    "svg",
    "why_not",
]
