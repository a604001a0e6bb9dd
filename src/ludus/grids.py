"""Games on rectangular grids: cell names, text in and out, drawings, the eight symmetries, and `GridGame`.

`GridGame` has everything that a game of stones on a grid needs beside its rules; examples/othello.py is one. The
functions above it serve other games too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ludus import rules as generic
from ludus.board import Board, Piece, grid
from ludus.errors import BadPosition
from ludus.fields import read_fields, write_fields
from ludus.game import Game
from ludus.rng import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.position import Position

# --- text and drawings ------------------------------------------------------------------------------------------------


def write_grid(cells: np.ndarray, symbols: str, separator: str = "/") -> str:
    """Cells [rows, columns], row 0 on top, as text: `symbols[cell]`, runs of 0 as their length, rows joined by '/'."""
    rows = []
    for row in cells.tolist():
        text, empty = "", 0
        for cell in [*row, None]:
            if cell == 0:
                empty += 1
                continue
            text += str(empty) if empty else ""
            text += "" if cell is None else symbols[cell]
            empty = 0
        rows.append(text)
    return separator.join(rows)


def read_grid(text: str, rows: int, columns: int, symbols: str, begin: int = 0, separator: str = "/") -> np.ndarray:
    """The cells int8 [rows, columns] of a text of `write_grid`, whose place in a longer text is `begin`."""
    cells = np.zeros((rows, columns), np.int8)
    row = column = place = 0
    while place < len(text):
        mark = text[place]
        if mark == separator:
            if column != columns:
                raise BadPosition(f"row {row + 1} has {column} cells instead of {columns}", begin + place)
            row, column, place = row + 1, 0, place + 1
            if row == rows:
                raise BadPosition(f"there are more than {rows} rows", begin + place - 1)
            continue
        width = 1
        if mark in "0123456789":
            end = place
            while end < len(text) and text[end] in "0123456789":
                end += 1
            if mark == "0" or end - place > 3:
                raise BadPosition(f"{text[place:end]!r} is not a number of empty cells", begin + place)
            width, cell, after = int(text[place:end]), 0, end
        elif mark in symbols[1:]:
            cell, after = symbols.index(mark), place + 1
        else:
            raise BadPosition(
                f"{mark!r} is none of {' '.join(symbols[1:])}, a number of empty cells or {separator!r}", begin + place
            )
        if column + width > columns:
            raise BadPosition(f"row {row + 1} has more than {columns} cells", begin + place)
        cells[row, column : column + width] = cell
        column, place = column + width, after
    if row + 1 != rows or column != columns:
        raise BadPosition(
            f"the text ends in row {row + 1} of {rows} after {column} of {columns} cells", begin + len(text)
        )
    return cells


def arranged(placed: Mapping[str, int], ids: Sequence[str], rows: int, columns: int) -> np.ndarray:
    """Cells int8 [rows, columns] of pieces that a person has placed: 0 empty, 1 for piece 0, ...; `ids` row by row."""
    unknown = [id for id in placed if id not in ids]
    if unknown:
        raise BadPosition(f"there is no cell {unknown[0]!r}")
    return np.array([placed.get(id, -1) + 1 for id in ids], np.int8).reshape(rows, columns)


def draw_grid(cells: np.ndarray, symbols: str, row_names: list[str], column_names: list[str]) -> str:
    """Cells [rows, columns], row 0 on top, as a drawing with names along two sides (row names may be empty)."""
    wide = max(map(len, column_names))
    margin = max(map(len, row_names), default=0)
    lines = [
        f"{name:>{margin}} " + " ".join(f"{symbols[cell]:>{wide}}" for cell in row)
        for name, row in zip(row_names or [""] * len(cells), cells.tolist(), strict=True)
    ]
    lines.append(" " * margin + " " + " ".join(f"{name:>{wide}}" for name in column_names))
    return "\n".join(line.rstrip() for line in lines)


def letters(count: int) -> list[str]:
    """Names of columns: a, b, ... z, aa, ab, ..."""
    names = []
    for index in range(count):
        name = ""
        while index >= 0:
            name, index = chr(ord("a") + index % 26) + name, index // 26 - 1
        names.append(name)
    return names


# --- symmetries: plain functions, which the rules of a game call also in compiled code --------------------------------


def symmetries_of(rows: int, columns: int) -> int:
    """The number of symmetries of a grid: 8 if it is square, else 4."""
    return 8 if rows == columns else 4


def turned(rows, columns, which, cell):
    """The image of a cell under a symmetry. Cells are numbered row by row; numbers beyond them stay as they are.

    0 is the identity, 1 exchanges left and right, 2 top and bottom, 3 both (half a turn). 4 to 7 exchange rows and
    columns first, which only a square grid allows.
    """
    if cell >= rows * columns:
        return cell
    row, column = cell // columns, cell % columns
    if which >= 4:
        row, column = column, row
    if which & 1:
        column = columns - 1 - column
    if which & 2:
        row = rows - 1 - row
    return row * columns + column


def turn_cells(rows, columns, which, cells, image):
    """Write the image of all cells [rows * columns] under a symmetry into `image`."""
    for cell in range(rows * columns):
        image[turned(rows, columns, which, cell)] = cells[cell]


def turn_actions(rows, columns, which, actions, count):
    """Replace the first `count` actions by their images under a symmetry. An action is a cell, or a number beyond."""
    for index in range(count):
        actions[index] = turned(rows, columns, which, actions[index])


def observe_cells(rows, columns, cells, player, planes):
    """Fill one plane [rows, columns] for each player with its stones: first the observing player's, then the next's.

    A cell holds 0 if it is empty, and 1 + the player whose stone is on it.
    """
    players = planes.shape[0]
    for cell in range(rows * columns):
        if cells[cell] > 0:
            planes[(cells[cell] - 1 - player + players) % players, cell // columns, cell % columns] = 1.0


# --- the class of a game on a grid ------------------------------------------------------------------------------------


def grid_state(rows: int, columns: int, *more: tuple[Any, ...]) -> np.dtype:
    """The state of a game on a grid: `cells` int8 [rows * columns], `turn` int8, and fields of your own."""
    return np.dtype([("cells", np.int8, (rows * columns,)), ("turn", np.int8), *more])


class GridGame(Game):
    """A game of stones on a rectangular grid: names, text, drawing, clicks and places, all from `use_grid` in setup().

    The state is a `grid_state`. A cell holds 0 if it is empty, and 1 + the player whose stone is on it; cells are
    numbered row by row. An action is the cell that it is played on; actions beyond the cells are played elsewhere, such
    as a pass.
    """

    symbols: ClassVar[str] = ".xo"
    """The sign of an empty cell, then those of the players' stones."""
    row_one_on_top: ClassVar[bool] = False
    """True if row 1 is drawn at the top, as in Othello; False if at the bottom, as in chess."""
    rows: int
    columns: int
    elsewhere: tuple[str, ...]
    """The names of the actions beyond the cells."""

    def use_grid(self, rows: int, columns: int, *more: tuple[Any, ...], elsewhere: Sequence[str] = ()) -> None:
        """Set the sizes: state, actions, observation with a plane for each player (see `observe_cells`), places.

        `more` are further fields of the state, `elsewhere` names of actions that are played on no cell, such as "pass".
        """
        self.rows, self.columns, self.elsewhere = rows, columns, tuple(elsewhere)
        self.state = grid_state(rows, columns, *more)
        self.actions = self.most_legal = rows * columns + len(elsewhere)
        self.observation = (self.players, rows, columns) if self.has("observe") else None
        places = [(0, row, column) for row in range(rows) for column in range(columns)]
        places += [(kind, -1, -1) for kind in range(1, len(elsewhere) + 1)]
        self.places = np.array([places], np.int32) if self.has("observe") else None
        self.symmetries = symmetries_of(rows, columns) if self.has("symmetry") else 1

    def cell_name(self, cell: int) -> str:
        """The name of a cell, such as b3: column b, row 3."""
        return f"{letters(self.columns)[cell % self.columns]}{cell // self.columns + 1}"

    def cell_names(self) -> list[str]:
        """The names of all cells."""
        return [self.cell_name(cell) for cell in range(self.rows * self.columns)]

    def write_move(self, state: Any, player: int, action: int) -> str:
        cells = self.rows * self.columns
        return self.cell_name(action) if action < cells else self.elsewhere[action - cells]

    def player_name(self, player: int) -> str:
        return self.symbols[player + 1]

    def _from_top(self, cells: NDArray[Any]) -> NDArray[Any]:
        """Cells as [rows, columns], the row at the top first; also the reverse."""
        board = cells.reshape(self.rows, self.columns)
        return board if self.row_one_on_top else board[::-1]

    def _row_names(self) -> list[str]:
        """The names of the rows, from the top."""
        names = [str(row + 1) for row in range(self.rows)]
        return names if self.row_one_on_top else names[::-1]

    def _more(self) -> list[str]:
        """The fields of the state beside cells and turn."""
        return [name for name in self.state.names or () if name not in ("cells", "turn")]  # type: ignore[union-attr]

    def write(self, state: Any) -> str:
        """The rows from the top, the player to move, and further fields: `3/1x1/3 o`."""
        words = [write_grid(self._from_top(state.cells), self.symbols), self.symbols[state.turn + 1]]
        return " ".join([*words, write_fields(state, self._more())]).strip()

    def read(self, text: str, state: Any) -> None:
        """Further fields that the text leaves out are as in the initial position."""
        begin = len(text) - len(text.lstrip())
        board, _, rest = text.strip().partition(" ")
        side, _, more = rest.partition(" ")
        cells = read_grid(board, self.rows, self.columns, self.symbols, begin)
        if len(side) != 1 or side not in self.symbols[1:]:
            known = ", ".join(self.symbols[1:])
            place = begin + len(board) + 1
            raise BadPosition(f"after the board and a space comes the player to move, {known}, not {side!r}", place)
        if more.strip():
            read_fields(more, state, self._more(), begin + len(board) + 3)
        elif self._more():
            generic.reset(self.rules, state, generator(0))
        state.cells[:] = self._from_top(cells).ravel()
        state.turn = self.symbols.index(side) - 1
        self.require_playable(state)

    def draw(self, state: Any) -> str:
        return draw_grid(self._from_top(state.cells), self.symbols, self._row_names(), letters(self.columns))

    def drawing(self, position: Position) -> Board:
        cells, marks = grid(self._row_names(), letters(self.columns))
        names, contents = self.cell_names(), position.state.cells.tolist()
        pieces = [Piece(name, owner - 1) for name, owner in zip(names, contents, strict=True) if owner]
        touches = {cell: [name] for cell, name in enumerate(names)}
        stock = [Piece("", player, name=self.player_name(player)) for player in range(self.players)]
        return Board(cells, pieces, touches, marks=marks, stock=stock)

    def arrange(self, placed: Mapping[str, Any], player: int) -> str:
        ids = [f"{column}{row}" for row in self._row_names() for column in letters(self.columns)]
        return f"{write_grid(arranged(placed, ids, self.rows, self.columns), self.symbols)} {self.symbols[player + 1]}"
