"""What objects show in a notebook: line charts as SVG and tables as HTML.

Both are plain text without scripts, and need no library. Every text in them is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

WIDTH, HEIGHT = 300, 200
"""Size of one chart in pixels, with its title and axes."""
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 30, 40
"""Margins around the area of the lines."""
LINE, BAND, INK, PALE, GRID = "#3b6ea8", "#3b6ea8", "#333333", "#777777", "#e6e6e6"
FONT = "font-family='system-ui, sans-serif'"


class Point(NamedTuple):
    """A point of a chart, with the interval of its value if there is one."""

    across: float
    up: float
    low: float | None = None
    high: float | None = None


class Chart(NamedTuple):
    """A line through points."""

    title: str
    x_label: str
    points: Sequence[Point]


def draw_charts(charts: Iterable[Chart], title: str) -> str:
    """Charts side by side as one SVG picture. A chart without points is left out; without any, the text is empty."""
    filled = [chart for chart in charts if any(map(_is_finite, chart.points))]
    if not filled:
        return ""
    parts = [
        f"<g transform='translate({WIDTH * number} 24)'>{_chart(chart)}</g>" for number, chart in enumerate(filled)
    ]
    head = text_at(10, 18, title, 13, INK, "start", bold=True)
    return picture(WIDTH * len(filled), HEIGHT + 24, title, head + "".join(parts))


def picture(width: float, height: float, title: str, content: str) -> str:
    """An SVG picture on a white ground. `content` is SVG, `title` is plain text for readers who cannot see it."""
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' "
        f"height='{height:.0f}' role='img' aria-label={quoteattr(title)}>"
        f"<rect width='{width:.0f}' height='{height:.0f}' fill='#ffffff'/>{content}</svg>"
    )


def text_at(
    x: float, y: float, text: str, size: float = 11, paint: str = INK, anchor: str = "middle", bold: bool = False
) -> str:
    """A line of text in SVG. `y` is its baseline."""
    weight = " font-weight='600'" if bold else ""
    return (
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size:g}' fill='{paint}' text-anchor='{anchor}'{weight} {FONT}>"
        f"{escape(text)}</text>"
    )


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """A table in HTML. The first column is set to the left, the others to the right, as they hold numbers.

    Columns that are empty in all rows are left out.
    """
    rows = list(rows)
    kept = [place for place in range(len(head)) if any(row[place] for row in rows)]
    body = "".join(f"<tr>{_cells('td', [row[place] for place in kept])}</tr>" for row in rows)
    above = f"<caption style='text-align:left;white-space:nowrap'>{escape(caption)}</caption>" if caption else ""
    top = _cells("th", [head[place] for place in kept])
    return f"<table>{above}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(
        f"<{tag} style='text-align:{'right' if place else 'left'}'>{escape(text)}</{tag}>"
        for place, text in enumerate(texts)
    )


def _chart(chart: Chart) -> str:
    """One chart: grid, axes with numbers, the band of the intervals, the line."""
    points = sorted(filter(_is_finite, chart.points), key=lambda point: point.across)
    ends = [value for point in points for value in point[1:] if value is not None and math.isfinite(value)]
    (left, right), (bottom, top) = _range([point.across for point in points]), _range(ends)
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        inside = min(top, max(bottom, y))
        return LEFT + (x - left) / (right - left) * across, TOP + (top - inside) / (top - bottom) * up

    parts = [text_at(LEFT, TOP - 10, chart.title, 11, INK, "start")]
    rows, columns = ticks(bottom, top, 5), ticks(left, right, 5)
    for value in rows:
        y = place(left, value)[1]
        parts.append(f"<path d='M{LEFT} {y:.1f}h{across}' stroke='{GRID}'/>")
        parts.append(text_at(LEFT - 6, y + 3.5, shown(value, rows), 10, PALE, "end"))
    for value in columns:
        parts.append(text_at(place(value, bottom)[0], HEIGHT - BOTTOM + 15, shown(value, columns), 10, PALE))
    parts.append(text_at(LEFT + across / 2, HEIGHT - 8, chart.x_label, 10, PALE))
    with_interval = [(point.across, point.low, point.high) for point in points]
    lower = [place(x, low) for x, low, high in with_interval if low is not None and high is not None]
    upper = [place(x, high) for x, low, high in with_interval if low is not None and high is not None]
    if len(lower) > 1:
        parts.append(f"<polygon points='{_path([*lower, *reversed(upper)])}' fill='{BAND}' fill-opacity='0.15'/>")
    line = [place(point.across, point.up) for point in points]
    parts.append(f"<polyline points='{_path(line)}' fill='none' stroke='{LINE}' stroke-width='1.8'/>")
    if len(line) <= 40:
        parts += [f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2.2' fill='{LINE}'/>" for x, y in line]
    return "".join(parts)


def _is_finite(point: Point) -> bool:
    return math.isfinite(point.across) and math.isfinite(point.up)


def _path(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest value; one below and one above if they are equal."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 1, low + 1)


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from low to high, 1, 2 or 5 times a power of ten apart: two or more, if possible at most `most`."""
    ten = 10.0 ** math.ceil(math.log10(high - low))
    inside: list[float] = []
    for step in (ten * part for ten in (ten, ten / 10, ten / 100) for part in (1, 0.5, 0.2)):
        numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        if len(inside) >= 2 and len(numbers) > most:
            break
        inside = [step * number for number in numbers]
    return inside


def shown(value: float, among: Sequence[float]) -> str:
    """A number with the decimal places that the step between the ticks needs."""
    step = among[1] - among[0]
    return f"{value:,.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"
