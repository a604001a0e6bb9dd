"""The picture of a Sevn position in Ludus's own style: a panel with the score grid above the board.

The score grid has a row for each colour, with a marker in that colour. The marker is in the middle if no player leads,
else one cell further for each tile of the lead, to the left for player 1 and to the right for player 2. The bar beside
the grid is lit on the side of the player to move. `ludus.protocols.sevn_screen` reads such pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus.errors import BadOption
from ludus.games.sevn import PAINTS

if TYPE_CHECKING:
    from PIL.Image import Image

    from ludus.game import Position

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

PALETTES: dict[str, tuple[str, ...]] = {
    "ludus": PAINTS,
    "dusk": ("#edb879", "#e07f85", "#805a5b", "#7f3773", "#f0dec4", "#3f3d37", "#889faf"),
    "sea": ("#0b3954", "#087e8b", "#bfd7ea", "#ff5a5f", "#c81d25", "#f2d492", "#5c946e"),
    "candy": ("#ef476f", "#f78c6b", "#ffd166", "#06d6a0", "#118ab2", "#073b4c", "#b388eb"),
}
MARGIN, PADDING, BETWEEN = 0.7, 1.1, 1.2
"""Space around the panel, around the grids in the panel, and between the grids, in cells of the score grid."""
INSET = 0.07
"""Gap on each side of a cell, as a fraction of the cell."""
SMALLEST, LARGEST = 100, 8000
"""Limits of the width of a picture in pixels."""


class Layout(NamedTuple):
    """The boxes of all parts of a picture for a base; the unit is a cell of the score grid."""

    base: int

    @property
    def columns(self) -> int:
        """Number of columns of the score grid, which is as wide as the board."""
        return 2 * self.base + 1

    @property
    def size(self) -> tuple[float, float]:
        return self.panel[2] + MARGIN, self.panel[3] + MARGIN

    @property
    def panel(self) -> Box:
        edge = MARGIN + 2 * PADDING
        return MARGIN, MARGIN, edge + self.columns, edge + self.base + BETWEEN + self.columns

    @property
    def board_top(self) -> float:
        return MARGIN + PADDING + self.base + BETWEEN

    def score(self, row: int, column: int) -> Box:
        left, top = MARGIN + PADDING + column, MARGIN + PADDING + row
        return left + INSET, top + INSET, left + 1 - INSET, top + 1 - INSET

    def tile(self, row: int, column: int) -> Box:
        size = self.columns / self.base
        left, top = MARGIN + PADDING + size * column, self.board_top + size * row
        return left + size * INSET, top + size * INSET, left + size * (1 - INSET), top + size * (1 - INSET)

    def seam(self, cell: int, other: int) -> Box:
        """The middle of the gap between a cell and the cell below it or to its right."""
        one, two = (self.tile(each // self.base, each % self.base) for each in (cell, other))
        sides = [(a + b) / 2 for a, b in zip(one, two, strict=True)]
        if other == cell + 1:
            return (
                sides[0] + (sides[2] - sides[0]) * 0.48,
                one[1] + 0.3,
                sides[0] + (sides[2] - sides[0]) * 0.52,
                one[3] - 0.3,
            )
        return (
            one[0] + 0.3,
            sides[1] + (sides[3] - sides[1]) * 0.48,
            one[2] - 0.3,
            sides[1] + (sides[3] - sides[1]) * 0.52,
        )

    def bar(self, player: int) -> Box:
        left = MARGIN + 0.3 if player == 0 else MARGIN + 2 * PADDING + self.columns - 0.7
        return left, MARGIN + PADDING + INSET, left + 0.4, MARGIN + PADDING + self.base - INSET

    def between(self) -> Box:
        """An empty part of the panel."""
        top = MARGIN + PADDING + self.base
        return MARGIN + PADDING, top + 0.3, MARGIN + PADDING + self.columns, top + BETWEEN - 0.3


def render(
    position: Position,
    palette: str | Sequence[str] = "ludus",
    width: int = 600,
    background: str = "#f2efe8",
    shading: float = 1.0,
) -> Image:
    """A picture of a position. `palette` is a name from PALETTES or a list of colours. `shading` goes from 0, flat
    tiles, to 1."""
    from PIL import Image, ImageDraw, ImageFont

    base = position.game.rules.base
    colours = [rgb(colour) for colour in paints_for(palette, base)]
    if not SMALLEST <= width <= LARGEST:
        raise BadOption(f"a picture is from {SMALLEST} to {LARGEST} pixels wide, not {width}")
    layout, state, back = Layout(base), position.state, rgb(background)
    panel, socket, ink = greys(colours)
    fine = max(1, round(1600 / width))  # drawn larger and then shrunk, for smooth edges
    unit = fine * width / layout.size[0]
    image = Image.new("RGB", (fine * width, round(unit * layout.size[1])), back)
    draw = ImageDraw.Draw(image)

    def fill(box: Box, colour: tuple[int, int, int], round_off: float) -> None:
        draw.rounded_rectangle([unit * side for side in box], unit * round_off, colour)

    fill(layout.panel, panel, 0.5)
    for player in range(2):
        left, top, right, _ = layout.bar(player)
        fill(layout.bar(player), ink if state.turn == player else socket, 0.15)
        font = ImageFont.load_default(0.7 * unit)
        draw.text((unit * (left + right) / 2, unit * (top - 0.5)), str(player + 1), ink, font, "mm")
    for row in range(base):
        for column in range(layout.columns):
            marked = column == base - state.lead[row]
            fill(layout.score(row, column), colours[row] if marked else socket, 0.12)
    for row, cells in enumerate(position.game.cells(state).tolist()):  # type: ignore[attr-defined]
        for column, cell in enumerate(cells):
            box = layout.tile(row, column)
            if cell:
                paint_tile(image, [unit * side for side in box], colours[cell - 1], shading)
            else:
                fill(box, socket, 0.2)
    return image.resize((width, round(image.height / fine)), Image.Resampling.LANCZOS) if fine > 1 else image


def save(position: Position, file: str, *how: Any) -> None:
    """Render a position, with the further arguments of `render`, into a file."""
    from PIL import Image

    Image.init()
    if Path(file).suffix.lower() not in Image.EXTENSION:
        raise BadOption(f"{file!r} does not end like the name of a picture; take .png or .jpg")
    try:
        render(position, *how).save(file)
    except OSError as error:
        raise BadOption(f"{file} cannot be written: {error.strerror or error}") from None


def paint_tile(image: Any, box: list[float], colour: tuple[int, int, int], shading: float) -> None:
    """Paint a tile lit from above: darker at the bottom, with a light upper edge and a dark lower edge."""
    from PIL import Image, ImageDraw

    left, top, right, bottom = (round(side) for side in box)
    wide, high = right - left, bottom - top
    face = Image.new("RGB", (wide, high))
    draw = ImageDraw.Draw(face)
    edge = 0.07 * high
    for y in range(high):
        light = 0.1 - 0.22 * y / high
        light += 0.25 if y < edge else -0.3 if y >= high - 1.6 * edge else 0.0
        draw.line((0, y, wide, y), tuple(round(min(255, part * (1 + shading * light))) for part in colour))
    draw.line((0, 0, 0, high), tuple(round(part * (1 - 0.2 * shading)) for part in colour), round(edge))
    shape = Image.new("L", (wide, high), 0)
    ImageDraw.Draw(shape).rounded_rectangle((0, 0, wide - 1, high - 1), 0.09 * high, 255)
    image.paste(face, (left, top), shape)


def paints_for(palette: str | Sequence[str], base: int) -> Sequence[str]:
    """The colours of a palette, if it has enough of them."""
    if isinstance(palette, str):
        if palette not in PALETTES:
            raise BadOption(f"there is no palette {palette!r}; there are {', '.join(PALETTES)}")
        palette = PALETTES[palette]
    if len(palette) < base:
        raise BadOption(f"a board of base {base} needs {base} colours, and the palette has {len(palette)}")
    return palette[:base]


def rgb(colour: str) -> tuple[int, int, int]:
    from PIL import ImageColor

    try:
        red, green, blue = ImageColor.getrgb(colour)[:3]
    except ValueError:
        raise BadOption(f"{colour!r} is not a colour; give a name, or red, green and blue as in #f2efe8") from None
    return red, green, blue


def greys(colours: Sequence[tuple[int, int, int]]) -> tuple[tuple[int, int, int], ...]:
    """Greys for the panel, for empty cells and for lit parts; the first two are as far from the colours as possible."""

    def distance(grey: int) -> float:
        return min(sum(abs(part - grey) for part in colour) for colour in colours)

    def both(panel: int) -> float:
        return min(distance(panel), distance(panel + 34))

    panel = max(range(28, 215, 2), key=both)
    ink = 250 if panel < 110 else 12
    return tuple((level, level, level) for level in (panel, panel + 34, ink))
