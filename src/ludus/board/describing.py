"""The board of a position, as JSON for front ends; and the reason why clicks make no legal move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ludus.board.glyphs import GLYPHS
from ludus.board.parts import CELL_SHAPES, PAINTS, PIECE_SHAPES, Board, Hand, Piece, Touch
from ludus.errors import BrokenGame, IllegalMove

if TYPE_CHECKING:
    from ludus.position import Position


def board_of(position: Position) -> Board:
    """The board of a position: as the game draws it, else its text."""
    drawn = position.game.drawing(position)
    return Board(notes=position.game.draw(position.state).splitlines()) if drawn is None else drawn


def board_json(position: Position) -> dict[str, Any]:
    """The board of a position with its legal moves, ready for json.dumps. docs/board.md lists the fields.

    Raises BrokenGame if the game names a cell, symbol, shape or paint that does not exist.
    """
    game, board = position.game, board_of(position)
    names = [game.player_name(player) for player in range(game.players)]
    paints = [_paint(paint) for paint in board.paints]
    shown = [*board.pieces, *(piece for hand in board.hands for piece in hand.pieces)]
    shown += [*(board.table.columns if board.table else []), *board.stock]
    _check(position, board, shown)

    def piece_json(piece: Piece) -> dict[str, Any]:
        owner = piece.owner
        paint = PAINTS["grey"] if owner is None else paints[owner % len(paints)]
        paint = _paint(piece.paint) if piece.paint else paint
        words = ["" if owner is None else names[owner], piece.symbol or piece.text]
        name = piece.name or " ".join(word for word in words if word) or "piece"
        return {**vars(piece), "paint": paint, "name": name, "kind": piece.kind or name}

    def hand_json(hand: Hand) -> dict[str, Any]:
        return {"player": hand.player, "pieces": [piece_json(piece) for piece in hand.pieces]}

    table = board.table
    return {
        "players": names,
        "paints": [paints[player % len(paints)] for player in range(game.players)],
        "cells": [{**vars(cell), "paint": cell.paint and _paint(cell.paint)} for cell in board.cells],
        "pieces": [piece_json(piece) for piece in board.pieces],
        "hands": [hand_json(hand) for hand in board.hands],
        "marks": [vars(mark) for mark in board.marks],
        "lines": [{"points": [list(at) for at in line.points], "paint": _paint(line.paint)} for line in board.lines],
        "table": table
        and {
            "title": table.title,
            "columns": [piece_json(piece) for piece in table.columns],
            "rows": [{"name": name, "entries": list(entries)} for name, entries in table.rows],
            "holds": table.holds,
        },
        "stock": [piece_json(piece) for piece in board.stock],
        "stacks": board.stacks,
        "notes": list(board.notes),
        "glyphs": {piece.symbol: GLYPHS[piece.symbol] for piece in shown if piece.symbol},
        "moves": _moves(position, board),
        "any_order": board.any_order,
        "last": list(_last(position, board)),
        "won": list(board.won),
        "falls": board.falls,
        "pans": board.pans,
    }


def _moves(position: Position, board: Board) -> list[dict[str, Any]]:
    """Every player's legal moves with what they touch: for each click, the ids that will do."""
    if position.is_over:
        return []
    return [
        {
            "player": player,
            "action": action,
            "move": position.game.write_move(position.state, player, action),
            "touches": [_ids(touch) for touch in _touches(board, player, action)],
        }
        for player in range(position.game.players)
        for action in position.actions_of(player)
    ]


def _touches(board: Board, player: int, action: int) -> Sequence[Touch]:
    return board.touches.get((player, action), board.touches.get(action, ()))


def _ids(touch: Touch) -> list[str]:
    return [touch] if isinstance(touch, str) else list(touch)


def _last(position: Position, board: Board) -> Sequence[str]:
    """The cells of the last move: as the board says, else those that it touched in the position before."""
    if board.last is not None:
        return board.last
    parent, action = position.parent, position.action
    if parent is None or action is None or not board.cells:
        return ()
    before = board_of(parent)
    made = [(parent.to_move, action)] if isinstance(action, int) else list(enumerate(action))
    cells = {cell.id for cell in board.cells}
    return [ids[0] for who, each in made for touch in _touches(before, who, each) if (ids := _ids(touch))[0] in cells]


def _paint(paint: str) -> str:
    return PAINTS.get(paint, paint)


def _check(position: Position, board: Board, shown: Sequence[Piece]) -> None:
    """Raise BrokenGame if the board names something that does not exist."""
    cells = {cell.id for cell in board.cells}
    touchable = cells | {piece.cell for hand in board.hands for piece in hand.pieces}

    def need(known: bool, what: str) -> None:
        if not known:
            raise BrokenGame(f"{position.game.name}: drawing() gives {what}")

    need(len(cells) == len(board.cells), "two cells with the same id")
    for cell in board.cells:
        need(cell.shape in CELL_SHAPES, f"the cell shape {cell.shape!r}; shapes are {', '.join(CELL_SHAPES)}")
        need(not cell.paint or cell.paint == "alt" or _is_paint(cell.paint), f"the unknown paint {cell.paint!r}")
    for piece in shown:
        need(piece.shape in PIECE_SHAPES, f"the piece shape {piece.shape!r}; shapes are {', '.join(PIECE_SHAPES)}")
        need(not piece.symbol or piece.symbol in GLYPHS, f"the unknown symbol {piece.symbol!r}")
        need(not piece.paint or _is_paint(piece.paint), f"the unknown paint {piece.paint!r}")
    for paint in (*board.paints, *(line.paint for line in board.lines)):
        need(_is_paint(paint), f"the unknown paint {paint!r}")
    for piece in board.pieces:
        need(piece.cell in cells, f"a piece on {piece.cell!r}, which is no cell")
    for id in (*(board.last or ()), *board.won):
        need(id in cells, f"the marked cell {id!r}, which is no cell")
    for action, touches in board.touches.items():
        for touch in touches:
            for id in _ids(touch):
                need(id in touchable, f"action {action} that touches {id!r}, which is no cell and no piece in a hand")


def _is_paint(paint: str) -> bool:
    digits = paint[1:]
    return paint in PAINTS or (paint[:1] == "#" and len(digits) == 6 and all(c in "0123456789abcdef" for c in digits))


def why_not(position: Position, player: int, touched: Sequence[str]) -> str:
    """The reason why clicking these cells and hand pieces, in this order, makes no legal move of a player.

    The game names the attempted move (`Game.attempt`) and says in its own words why it cannot be played.
    """
    if position.is_over:
        return "the game is over"
    if not position.actions_of(player):
        return f"it is not the turn of {position.game.player_name(player)}"
    try:
        text = position.game.attempt(position, player, list(touched))
        if text is not None:
            position.game.read_move(position.state, player, text)
    except IllegalMove as error:
        return str(error)
    return f"no legal move begins with {', then '.join(touched)}"
