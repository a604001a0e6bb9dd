"""A board as pixels: draws the SVG picture of board/svg.py with Pillow, so that both always show the same.

It reads the parts of SVG that board/svg.py writes: rect, circle, polygon, polyline, path, text, and groups that are
shifted and scaled.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from ludus.board.svg import svg

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.position import Position

Point = tuple[float, float]
Line = list[Point]

SMOOTHING = 2
"""The picture is drawn this many times larger and then reduced, which smooths its edges."""
CURVE = 24
"""The number of straight lines that stand for a curve."""
MONOSPACE_WIDTH = 0.6
"""The width of a character of a monospace font, as a part of its height."""
TOKEN = re.compile(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?")
NUMBERS = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "A": 7}
"""The commands of a path, and how many numbers follow each."""
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def raster(position: Position, width: int = 480, height: int = 480) -> NDArray[np.uint8]:
    """The picture of a position, uint8 [height, width, 3]: as large as fits, in the middle, on white."""
    from PIL import Image

    tree = ElementTree.fromstring(CONTROL.sub(" ", svg(position)))
    left, top, across, down = map(float, tree.attrib["viewBox"].split())
    scale = min(width / across, height / down) * SMOOTHING
    image = Image.new("RGB", (width * SMOOTHING, height * SMOOTHING), "#ffffff")
    painter = _Painter(image)
    shift = (image.width - across * scale) / 2 - left * scale, (image.height - down * scale) / 2 - top * scale
    painter.draw(tree, scale, *shift)
    return np.array(image.reduce(SMOOTHING))


class _Painter:
    """Draws elements of SVG; a point (x, y) of an element lies at the pixel (scale * x + dx, scale * y + dy)."""

    def __init__(self, image: Any):
        from PIL import ImageDraw

        self.image, self.pen = image, ImageDraw.Draw(image)

    def draw(self, element: ElementTree.Element, scale: float, dx: float, dy: float) -> None:
        """Draw an element and those within it."""
        given = element.attrib
        move = re.search(r"translate\(([-\d.e]+) ([-\d.e]+)\)", given.get("transform", ""))
        if move:
            dx, dy = dx + scale * float(move[1]), dy + scale * float(move[2])
        zoom = re.search(r"scale\(([-\d.e]+)\)", given.get("transform", ""))
        if zoom:
            scale *= float(zoom[1])
        kind = element.tag.rpartition("}")[2]
        if kind == "text":
            self._write(element.text or "", given, scale, dx, dy)
        elif kind != "g" and kind != "svg":
            lines = [[(scale * x + dx, scale * y + dy) for x, y in line] for line in _outline(kind, given)]
            closed = kind != "polyline"
            if given.get("fill", "none") != "none":
                self._fill(lines, given["fill"], given.get("fill-rule") == "evenodd")
            if "stroke" in given:
                self._stroke(lines, given["stroke"], scale * float(given["stroke-width"]), closed)
        for inner in element:
            self.draw(inner, scale, dx, dy)

    def _fill(self, lines: list[Line], paint: str, even_odd: bool) -> None:
        """Fill the inside of closed lines: where they wind around a point, or do so an odd number of times."""
        from PIL import Image, ImageDraw

        lines = [line for line in lines if len(line) > 2]
        if len(lines) == 1:
            self.pen.polygon(lines[0], fill=paint)
        if len(lines) < 2:
            return
        points = np.concatenate([np.array(line) for line in lines])
        (left, top), (right, bottom) = np.floor(points.min(0)).astype(int), np.ceil(points.max(0)).astype(int) + 1
        size = (int(right - left), int(bottom - top))
        turns = np.zeros(size[::-1], np.int32)
        for line in lines:
            mask = Image.new("L", size)
            ImageDraw.Draw(mask).polygon([(x - left, y - top) for x, y in line], fill=1)
            turns += np.array(mask, np.int32) * (1 if _area(line) > 0 else -1)
        inside = turns % 2 == 1 if even_odd else turns != 0
        self.image.paste(paint, (int(left), int(top)), Image.fromarray((inside * 255).astype(np.uint8)))

    def _stroke(self, lines: list[Line], paint: str, width: float, closed: bool) -> None:
        """Draw lines with round ends."""
        radius = width / 2
        for line in lines:
            self.pen.line([*line, line[0]] if closed else line, fill=paint, width=max(1, round(width)), joint="curve")
            if width > 2:
                for x, y in (line[0], line[-1]):
                    self.pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=paint)

    def _write(self, text: str, given: Mapping[str, str], scale: float, dx: float, dy: float) -> None:
        """Write a line of text, in the middle of its height."""
        size = scale * float(given["font-size"])
        x, y = scale * float(given["x"]) + dx, scale * float(given["y"]) + dy
        font = _font(round(size * 2) / 2)
        if "monospace" not in given.get("font-family", ""):
            anchor = "lm" if given.get("text-anchor") == "start" else "mm"
            self.pen.text((x, y), text, fill=given["fill"], font=font, anchor=anchor)
            return
        for index, character in enumerate(text):
            middle = x + (index + 0.5) * MONOSPACE_WIDTH * size
            self.pen.text((middle, y), character, fill=given["fill"], font=font, anchor="mm")


@lru_cache(maxsize=64)
def _font(size: float) -> Any:
    from PIL import ImageFont

    return ImageFont.load_default(max(1.0, size))


def _area(line: Line) -> float:
    """Twice the area inside a closed line; negative if it runs counter-clockwise on the screen."""
    return sum(x * v - u * y for (x, y), (u, v) in zip(line, [*line[1:], line[0]], strict=True))


# --- outlines ---------------------------------------------------------------------------------------------------------


def _outline(kind: str, given: Mapping[str, str]) -> list[Line]:
    """The lines around a shape."""
    if kind in ("polygon", "polyline"):
        numbers = [float(each) for each in re.split(r"[ ,]+", given["points"].strip())]
        return [list(zip(numbers[::2], numbers[1::2], strict=True))]
    if kind == "circle":
        x, y, radius = (float(given.get(name, "0")) for name in ("cx", "cy", "r"))
        turns = (2 * math.pi * k / (2 * CURVE) for k in range(2 * CURVE))
        return [[(x + radius * math.cos(turn), y + radius * math.sin(turn)) for turn in turns]]
    if kind == "rect":
        x, y, width, height = (float(given[name]) for name in ("x", "y", "width", "height"))
        return [[(x, y), (x + width, y), (x + width, y + height), (x, y + height)]]
    return list(_path(given["d"]))


def _path(text: str) -> Iterator[Line]:
    """The lines of an SVG path of the commands M, L, H, V, C, A and Z, absolute or relative."""
    tokens = TOKEN.findall(text)
    at, command = 0, ""
    line: Line = []
    x = y = 0.0
    while at < len(tokens):
        if tokens[at].isalpha():
            command = tokens[at]
            at += 1
        kind, begin = command.upper(), (x, y)
        if kind == "Z":
            x, y = line[0]
            continue
        numbers = [float(token) for token in tokens[at : at + NUMBERS[kind]]]
        at += NUMBERS[kind]
        from_x, from_y = begin if command.islower() else (0.0, 0.0)
        if kind != "V":
            x = from_x + numbers[-1 if kind == "H" else -2]
        if kind != "H":
            y = from_y + numbers[-1]
        if kind == "M":
            if line:
                yield line
            line, command = [(x, y)], "l" if command.islower() else "L"
        elif kind == "C":
            one, two = ((from_x + numbers[k], from_y + numbers[k + 1]) for k in (0, 2))
            line += _curve(begin, one, two, (x, y))
        elif kind == "A":
            line += _arc(begin, numbers[0], numbers[1], numbers[3] != 0, numbers[4] != 0, (x, y))
        else:
            line.append((x, y))
    if line:
        yield line


def _curve(start: Point, one: Point, two: Point, end: Point) -> Line:
    """The points of a cubic Bezier curve after its start."""
    points = np.array([start, one, two, end])
    t = np.linspace(0, 1, CURVE + 1)[1:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return [(float(x), float(y)) for x, y in weights @ points]


def _arc(start: Point, width: float, height: float, large: bool, sweep: bool, end: Point) -> Line:
    """The points after the start of an arc of an ellipse with these radii, as the SVG standard defines it."""
    # In units of the radii the ellipse is a circle of radius 1, or larger if the two points lie further apart.
    dx, dy = (start[0] - end[0]) / 2 / width, (start[1] - end[1]) / 2 / height
    half = math.hypot(dx, dy)
    radius = max(1.0, half)
    reach = math.sqrt(radius**2 - half**2) / half * (1 if large != sweep else -1)
    x = (start[0] + end[0]) / 2 / width + reach * dy
    y = (start[1] + end[1]) / 2 / height - reach * dx
    begin = math.atan2(start[1] / height - y, start[0] / width - x)
    turn = math.atan2(end[1] / height - y, end[0] / width - x) - begin
    turn = turn % (2 * math.pi) if sweep else -(-turn % (2 * math.pi))
    steps = (begin + turn * k / CURVE for k in range(1, CURVE + 1))
    return [(width * (x + radius * math.cos(at)), height * (y + radius * math.sin(at))) for at in steps]
