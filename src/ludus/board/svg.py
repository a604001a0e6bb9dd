"""A board as an SVG picture, for notebooks and documents. The page of `ludus web` draws the same data with board.js."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

from ludus.board.describing import board_json
from ludus.board.glyphs import STROKE

if TYPE_CHECKING:
    from ludus.position import Position

SCALE = 48
"""Pixels for one cell."""
PAPER, CELL, ALT, FRAME, EDGE, INK, MARKED = "#ffffff", "#e9e4d8", "#d3ccba", "#3d5a80", "#b9b19c", "#2b2d33", "#e0a100"
LINE_HEIGHT = 0.42
FONT = "font-family='system-ui, sans-serif'"


def svg(position: Position) -> str:
    """The picture of a position: the board, the hands, the table and the notes below it."""
    board = board_json(position)
    parts = [_line(line) for line in board["lines"]]
    cells = {cell["id"]: cell for cell in board["cells"]}
    heights = _heights(board["pieces"])
    under = [_cell(cell) for cell in board["cells"] if cell["shape"] != "hole"]
    over = [_cell(cell) for cell in board["cells"] if cell["shape"] == "hole"]
    marked = [_ring(cells[id], MARKED) for id in board["last"]] + [_ring(cells[id], INK) for id in board["won"]]
    pieces = [
        _piece(piece, board["glyphs"], cells[piece["cell"]]["x"], cells[piece["cell"]]["y"] - 0.13 * piece["level"])
        for piece in sorted(board["pieces"], key=lambda piece: piece["level"])
        if heights[piece["cell"]] - piece["level"] <= 3
    ]
    parts = under + parts + pieces + over + marked
    parts += [_text(mark["x"], mark["y"], mark["text"], 0.26, "#77715f") for mark in board["marks"]]
    left, top, right, bottom = _bounds(board)
    bottom += 0.35
    for hand in board["hands"]:
        parts.append(_text(left + 0.1, bottom + 0.3, board["players"][hand["player"]], 0.28, INK, "start"))
        for k, piece in enumerate(hand["pieces"]):
            x = left + 1.9 + 1.3 * k
            right = max(right, x + 0.8)
            parts.append(_piece(piece, board["glyphs"], x, bottom + 0.3, 0.7))
            parts.append(_text(x + 0.55, bottom + 0.3, str(piece["count"]), 0.24, INK))
        bottom += 0.85
    if board["table"]:
        head = board["table"]["columns"]
        right = max(right, left + 1.9 + 0.7 * len(head))
        for k, piece in enumerate(head):
            parts.append(_piece(piece, board["glyphs"], left + 1.9 + 0.7 * k, bottom + 0.25, 0.55))
        for row in board["table"]["rows"]:
            bottom += 0.6
            parts.append(_text(left + 0.1, bottom + 0.25, row["name"], 0.28, INK, "start"))
            for k, entry in enumerate(row["entries"]):
                parts.append(_text(left + 1.9 + 0.7 * k, bottom + 0.25, str(entry), 0.3, INK))
        bottom += 0.7
    for line in board["notes"]:
        bottom += LINE_HEIGHT
        right = max(right, left + 0.3 + 0.19 * len(line))
        parts.append(_text(left + 0.1, bottom - 0.15, line, 0.3, INK, "start", "ui-monospace, monospace"))
    width, height = right - left, bottom + 0.1 - top
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='{left:.3g} {top:.3g} {width:.4g} {height:.4g}' "
        f"width='{width * SCALE:.0f}' height='{height * SCALE:.0f}' role='img' "
        f"aria-label={quoteattr(f'{position.game.title}: {position.text}')}>"
        f"<rect x='{left:.3g}' y='{top:.3g}' width='{width:.4g}' height='{height:.4g}' fill='{PAPER}'/>"
        + "".join(parts)
        + "</svg>"
    )


def _heights(pieces: list[dict[str, Any]]) -> dict[str, int]:
    """The number of pieces on each cell."""
    heights: dict[str, int] = {}
    for piece in pieces:
        heights[piece["cell"]] = max(heights.get(piece["cell"], 0), piece["level"] + 1)
    return heights


def _bounds(board: dict[str, Any]) -> tuple[float, float, float, float]:
    places = [(cell["x"], cell["y"]) for cell in board["cells"]] or [(0.5, -0.5)]
    around = [(mark["x"], mark["y"]) for mark in board["marks"]]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    left, right, top, bottom = min(xs) - 0.7, max(xs) + 0.7, min(ys) - 0.8, max(ys) + 0.7
    for x, y in around:
        left, right, top, bottom = min(left, x - 0.3), max(right, x + 0.3), min(top, y - 0.3), max(bottom, y + 0.3)
    return left, top, right, bottom


def _hexagon(x: float, y: float, width: float) -> str:
    radius = width / math.sqrt(3)
    corners = ((math.sin(k * math.pi / 3), -math.cos(k * math.pi / 3)) for k in range(6))
    return " ".join(f"{x + radius * u:.3f},{y + radius * v:.3f}" for u, v in corners)


def _cell(cell: dict[str, Any]) -> str:
    x, y, shape = cell["x"], cell["y"], cell["shape"]
    fill = {"": CELL, "alt": ALT}.get(cell["paint"], cell["paint"])
    border = f"fill='{fill}' stroke='{EDGE}' stroke-width='0.03'"
    if shape == "hexagon":
        return f"<polygon points='{_hexagon(x, y, 1)}' {border}/>"
    if shape == "circle":
        return f"<circle cx='{x}' cy='{y}' r='0.46' {border}/>"
    if shape == "hole":
        hole = f"M{x - 0.4} {y}a.4 .4 0 1 0 .8 0a.4 .4 0 1 0 -.8 0Z"
        return f"<path d='M{x - 0.505} {y - 0.505}h1.01v1.01h-1.01Z{hole}' fill='{FRAME}' fill-rule='evenodd'/>"
    return f"<rect x='{x - 0.5}' y='{y - 0.5}' width='1' height='1' {border}/>"


def _ring(cell: dict[str, Any], paint: str) -> str:
    x, y = cell["x"], cell["y"]
    look = f"fill='none' stroke='{paint}' stroke-width='0.07'"
    if cell["shape"] == "hexagon":
        return f"<polygon points='{_hexagon(x, y, 0.93)}' {look}/>"
    if cell["shape"] == "square":
        return f"<rect x='{x - 0.46}' y='{y - 0.46}' width='0.92' height='0.92' {look}/>"
    return f"<circle cx='{x}' cy='{y}' r='0.43' {look}/>"


def _line(line: dict[str, Any]) -> str:
    points = " ".join(f"{x:.3f},{y:.3f}" for x, y in line["points"])
    return (
        f"<polyline points='{points}' fill='none' stroke='{line['paint']}' stroke-width='0.16' "
        "stroke-linejoin='round' stroke-linecap='round'/>"
    )


def _piece(piece: dict[str, Any], glyphs: dict[str, str], x: float, y: float, size: float = 1.0) -> str:
    paint, shape = piece["paint"], piece["shape"]
    border = f"fill='{paint}' stroke='{INK}' stroke-width='0.03'"
    body = {
        "disc": f"<circle r='0.38' {border}/>",
        "tile": f"<rect x='-0.42' y='-0.42' width='0.84' height='0.84' rx='0.1' {border}/>",
        "hexagon": f"<polygon points='{_hexagon(0, 0, 0.92)}' {border}/>",
        "bare": "",
    }[shape]
    ink = paint if shape == "bare" else ink_on(paint)
    reach = {"disc": 0.22, "tile": 0.24, "hexagon": 0.3, "bare": 0.36}[shape]
    symbol = ""
    if piece["symbol"]:
        lift = -0.04 if piece["text"] else 0
        symbol = (
            f"<path d='{glyphs[piece['symbol']]}' transform='translate(0 {lift}) scale({reach})' fill='{ink}' "
            f"stroke='{ink}' stroke-width='{STROKE}' stroke-linecap='round' stroke-linejoin='round'/>"
        )
    text = ""
    if piece["text"]:
        size_alone = 0.34 if len(piece["text"]) < 3 else 0.22
        y_text, height = (0.34, 0.17) if piece["symbol"] else (0.0, size_alone)
        text = _text(0, y_text, piece["text"], height, ink)
    return f"<g transform='translate({x:.3f} {y:.3f}) scale({size})'>{body}{symbol}{text}</g>"


def ink_on(paint: str) -> str:
    """Black or white, whichever is easier to read on a paint."""
    red, green, blue = (int(paint[k : k + 2], 16) for k in (1, 3, 5))
    return INK if 0.299 * red + 0.587 * green + 0.114 * blue > 140 else "#ffffff"


def _text(x: float, y: float, text: str, size: float, paint: str, anchor: str = "middle", family: str = "") -> str:
    font = f"font-family='{family}' xml:space='preserve'" if family else FONT
    return (
        f"<text x='{x:.3f}' y='{y:.3f}' font-size='{size}' fill='{paint}' text-anchor='{anchor}' "
        f"dominant-baseline='central' {font}>{escape(text)}</text>"
    )
