"""The board of a described game: facts with coordinates lie on a grid, all others are lines of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING

from ludus.board import PAINTS, Board, Piece, Touch, grid
from ludus.gdl.kif import show
from ludus.gdl.structure import Grid, coordinates

if TYPE_CHECKING:
    from ludus.gdl.game import GdlGame
    from ludus.gdl.language import Term
    from ludus.position import Position

EMPTY = frozenset(("b", "blank", "empty", "clear", "nil", "none"))
"""Names of content, in lower case, that stand for an empty cell."""
SYMBOLS = {"x": "cross", "o": "ring", "wall": "square", "pawn": "pawn", "wp": "pawn", "bp": "pawn"}
"""Symbols for content that many descriptions name alike."""
STONES = ("", "ring", "cross", "plus", "diamond", "triangle")
"""Symbols of stones that are named like their player, by player."""
LETTERS = 2
"""Of the name of its content, a piece shows this number of letters."""


def draw_described(game: GdlGame, board: Grid, position: Position) -> Board:
    """The position on the grid of its game. `game.facts` are the true facts."""
    layout = Layout(board)
    pieces, notes = _pieces(game, board, layout, position)
    touches = {action: layout.touches(game.terms[action]) for action in range(game.actions)}
    last = None
    if position.parent is not None and isinstance(position.action, int):
        lines = [touch for touch in touches[position.action] if not isinstance(touch, str)]
        if lines:  # the move names a line: mark the cells of the line that have changed
            before, _ = _pieces(game, board, layout, position.parent)
            changed = {piece.cell for piece in set(pieces) ^ set(before)}
            last = [cell for line in lines for cell in line if cell in changed]
    paints = [
        role if role in PAINTS else usual
        for role, usual in zip(map(show, game.network.roles), cycle(Board.paints), strict=False)
    ]
    return Board(layout.cells, pieces, touches, paints=paints, marks=layout.marks, notes=notes, last=last)


def _pieces(game: GdlGame, board: Grid, layout: Layout, position: Position) -> tuple[list[Piece], list[str]]:
    """The facts on cells as pieces, and all others as texts."""
    found: list[tuple[str, str]] = []
    notes: list[str] = []
    for fact in game.facts(position.state):
        places = coordinates(board, fact) if isinstance(fact, tuple) else []
        if not places:
            notes.append(show(fact))
            continue
        assert isinstance(fact, tuple)
        rest = [part for i, part in enumerate(fact) if i not in places[:2] and i > 0]
        content = " ".join(map(show, rest)) if rest else show(fact[0])
        if content.lower() in EMPTY and rest:
            continue
        found.append((layout.id_of(fact[places[0]], fact[places[1]]), content))
    roles, heights = list(map(show, game.network.roles)), Counter[str]()
    pieces: list[Piece] = []
    for cell, content in sorted(found, key=lambda each: owner_of(each[1], roles) is not None):  # players' pieces on top
        pieces.append(_piece(cell, content, roles, heights[cell]))
        heights[cell] += 1
    return pieces, notes


def _piece(cell: str, content: str, roles: Sequence[str], level: int) -> Piece:
    owner = owner_of(content, roles)
    if content in roles:  # the stones of a player
        return Piece(cell, owner, symbol=STONES[roles.index(content) % len(STONES)], name=content, level=level)
    symbol = SYMBOLS.get(content.lower(), "")
    text = "" if symbol else content[:LETTERS]
    shape = "bare" if symbol in ("cross", "ring") else "disc"
    return Piece(cell, owner, shape, symbol, text, name=content, level=level)


def owner_of(content: str, roles: Sequence[str]) -> int | None:
    """The role whose name the content of a cell shares: its name, the beginning of it, or in wp and bk a letter."""
    matching = [
        role
        for role, name in enumerate(roles)
        if name.startswith(content) or content.startswith(name) or (len(content) <= 2 and content[0] == name[0])
    ]
    return matching[0] if len(matching) == 1 else None


class Layout:
    """A grid with rows and columns as people expect them.

    The first coordinate counts rows from the top. It counts columns, with the second counting rows from below, if its
    constants are letters and the others numbers, as on a chess board, or if moves name whole lines of it, as (drop 3).
    """

    def __init__(self, board: Grid):
        self.board = board
        letters = all(name.isalpha() for name in board.rows) and all(name.isdecimal() for name in board.columns)
        drops = any(spot.row >= 0 and spot.column < 0 for spot in board.moves)
        self.is_turned = letters or drops
        rows, columns = (board.columns[::-1], board.rows) if self.is_turned else (board.rows, board.columns)
        name = "{column}-{row}" if self.is_turned else "{row}-{column}"
        self.cells, self.marks = grid(rows, columns, name=name)

    def id_of(self, first: Term, second: Term) -> str:
        return f"{show(first)}-{show(second)}"

    def touches(self, move: Term) -> list[Touch]:
        """The cells that a move names, in order; or one of a row or a column that it names; none if it names neither.

        A move that also names other things than cells is a button, because its cells alone do not tell it from others.
        """
        if not isinstance(move, tuple):
            return []
        places = coordinates(self.board, move)
        if places:
            others = [part for i, part in enumerate(move) if i > 0 and i not in places]
            cells = [self.id_of(move[i], move[i + 1]) for i in places[::2]]
            return [] if others else list(cells)
        if len(move) == 2 and move[1] in self.board.rows:
            return [[self.id_of(move[1], other) for other in self.board.columns]]
        if len(move) == 2 and move[1] in self.board.columns:
            return [[self.id_of(other, move[1]) for other in self.board.rows]]
        return []
