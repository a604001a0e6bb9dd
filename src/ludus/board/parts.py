"""The parts of a board, as plain data. One unit of length is the width of a cell; y grows downward."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

SQUARE, HEXAGON, CIRCLE, HOLE = "square", "hexagon", "circle", "hole"
CELL_SHAPES = (SQUARE, HEXAGON, CIRCLE, HOLE)
"""Shapes of cells. A hole is a square with a round hole, behind which pieces lie."""
DISC, TILE, BARE = "disc", "tile", "bare"
PIECE_SHAPES = (DISC, TILE, HEXAGON, BARE)
"""Shapes of pieces. A bare piece is its symbol or its text alone."""

PAINTS = {
    "red": "#d1495b",
    "yellow": "#edae49",
    "blue": "#2f7fbf",
    "green": "#4c9f70",
    "purple": "#8e5ea2",
    "orange": "#e07a3f",
    "white": "#fbf7ee",
    "black": "#33363f",
    "grey": "#9aa0a8",
}
"""Names of paints. A paint may also be given as #rrggbb."""

ROW_HEIGHT = math.sqrt(3) / 2
"""The distance between rows of hexagons of width 1."""

Touch = str | Sequence[str]
"""The id of the cell or hand piece to click; or several ids, any of which will do, the most telling one first."""


@dataclass(frozen=True)
class Cell:
    """A place on the board that pieces lie on and people click."""

    id: str
    """A unique name of the cell, such as a1; people see it."""
    x: float
    y: float
    """The centre of the cell."""
    shape: str = SQUARE
    """One of CELL_SHAPES."""
    paint: str = ""
    """Empty for the usual colour, "alt" for the other colour of a chequered board, or a paint."""


@dataclass(frozen=True)
class Piece:
    """A piece on a cell, or in a hand."""

    cell: str
    """The id of its cell. In a hand, an id of its own, which moves touch."""
    owner: int | None = None
    """The player whose paint it has; None for a piece of nobody."""
    shape: str = DISC
    """One of PIECE_SHAPES."""
    symbol: str = ""
    """The name of a symbol of ludus.board.glyphs that is drawn on it."""
    text: str = ""
    """A short text that is drawn on it, below the symbol if it has one."""
    paint: str = ""
    """A paint of its own, in place of its owner's."""
    name: str = ""
    """What people call it, such as "white ant"; by default, the owner's name and the symbol."""
    level: int = 0
    """The number of pieces below it in a stack."""
    count: int = 1
    """In a hand: the number of pieces of this kind."""
    kind: str = ""
    """The name of its kind in the stock of the board; by default, its own name."""
    most: int = 0
    """In the stock: the number of pieces of this kind that the game has; 0 if there is no limit."""


@dataclass(frozen=True)
class Mark:
    """A text beside the cells, such as the name of a row."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Line:
    """A thick line, such as the coloured edge of a board."""

    points: Sequence[tuple[float, float]]
    paint: str


@dataclass(frozen=True)
class Hand:
    """The pieces that a player may bring onto the board."""

    player: int
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Table:
    """A table beside the board, such as the score."""

    title: str
    columns: Sequence[Piece]
    """The head of each column, as a piece; its `cell` is not used."""
    rows: Sequence[tuple[str, Sequence[int | str]]]
    """The name of each row, and one entry for each column."""
    holds: bool = False
    """True if the entries count pieces that lie beside the board, of the kinds of the stock that head the columns. Who
    sets up a position moves pieces between the board and the rows."""


@dataclass(frozen=True)
class Board:
    """A position for people to see and click. All but the cells may be left out."""

    cells: Sequence[Cell] = ()
    pieces: Sequence[Piece] = ()
    """Later pieces are drawn above earlier ones."""
    touches: Mapping[Any, Sequence[Touch]] = field(default_factory=dict)
    """For an action, or for (player, action), the cells and hand pieces that one clicks to make it, in order. A legal
    action that is not here becomes a button."""
    any_order: bool = False
    """True if the cells of a move are clicked in any order."""
    paints: Sequence[str] = ("red", "blue", "green", "yellow", "purple", "orange")
    """The paint of each player."""
    marks: Sequence[Mark] = ()
    lines: Sequence[Line] = ()
    hands: Sequence[Hand] = ()
    table: Table | None = None
    notes: Sequence[str] = ()
    """Lines of text below the board."""
    stock: Sequence[Piece] = ()
    """Kinds of pieces that a person may put on cells to set up a position (see Game.arrange). `cell` is not used."""
    stacks: bool = False
    """True if pieces may be put on top of others to set up a position."""
    last: Sequence[str] | None = None
    """The cells of the last move, to be marked; by default, those that the move touched in the position before."""
    won: Sequence[str] = ()
    """Cells that decided the game, such as a line of four."""
    falls: bool = False
    """True if new pieces fall into place from above."""
    pans: bool = False
    """True if the board has no bounds, so that people move and zoom it."""


def grid(
    rows: Sequence[str],
    columns: Sequence[str],
    shape: str = SQUARE,
    chequered: bool = False,
    name: str = "{column}{row}",
) -> tuple[list[Cell], list[Mark]]:
    """The cells of a rectangle, row by row, and the names along its left and lower sides.

    `rows` are the names of the rows from the top down, `columns` those of the columns from the left. The id of a cell
    is made by `name`.
    """
    cells = [
        Cell(name.format(column=column, row=row), x, y, shape, "alt" if chequered and (x + y) % 2 else "")
        for y, row in enumerate(rows)
        for x, column in enumerate(columns)
    ]
    marks = [Mark(-0.75, y, row) for y, row in enumerate(rows)]
    marks += [Mark(x, len(rows) - 0.25, column) for x, column in enumerate(columns)]
    return cells, marks


def hexagon_at(q: int, r: int) -> tuple[float, float]:
    """The centre (x, y) of a hexagon in axial coordinates: q grows to the right, r down and half to the right."""
    return q + r / 2, r * ROW_HEIGHT
