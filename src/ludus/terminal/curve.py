"""A line chart of braille characters, each of which has two dots across and four up."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ludus.displays import shown, ticks

DOTS = ((0x40, 0x80), (0x04, 0x20), (0x02, 0x10), (0x01, 0x08))
"""The bit of a braille character for each of its dots, [up, across], counted from the lower left."""
BLANK = 0x2800


def draw_curve(
    xs: Sequence[float],
    ys: Sequence[float],
    width: int = 72,
    height: int = 16,
    x_label: str = "",
    y_label: str = "",
) -> str:
    """A chart of a line through points, `width` columns by `height` rows with its axes. Points with NaN are left out.

    The label of y stands above its axis. The label of x stands at the right end below its axis.
    """
    points = sorted((float(x), float(y)) for x, y in zip(xs, ys, strict=True) if math.isfinite(x) and math.isfinite(y))
    if not points:
        return "(nothing to draw yet)"
    across, up = np.array(points).T
    bottom, top = _range(up)
    left, right = _range(across)
    y_ticks, x_ticks = ticks(bottom, top, max(3, height // 4)), ticks(left, right, max(3, width // 12))
    labels = [shown(tick, y_ticks) for tick in y_ticks]
    margin = max(map(len, labels))
    rows = max(2, height - 2 - bool(x_label) - bool(y_label))
    columns = max(2, width - margin - 2)

    cells = _cells((across - left) / (right - left), (up - bottom) / (top - bottom), rows, columns)
    named = {
        round((tick - bottom) / (top - bottom) * (4 * rows - 1)) // 4: label
        for tick, label in zip(y_ticks, labels, strict=True)
    }
    lines = [y_label.rjust(margin)] if y_label else []
    for row in reversed(range(rows)):
        text = "".join(chr(BLANK + cell) if cell else " " for cell in cells[row])
        lines.append(f"{named.get(row, '').rjust(margin)} {'┤' if row in named else '│'}{text}".rstrip())

    axis, under = ["─"] * columns, [" "] * (margin + 2 + columns)
    free = 0
    for tick in x_ticks:
        place, number = round((tick - left) / (right - left) * (columns - 1)), shown(tick, x_ticks)
        start = min(margin + 2 + place - len(number) // 2, len(under) - len(number))
        if start >= free:
            axis[place] = "┬"
            under[start : start + len(number)] = number
            free = start + len(number) + 1
    lines += [f"{' ' * margin} └{''.join(axis)}", "".join(under).rstrip()]
    return "\n".join([*lines, x_label.rjust(len(under))] if x_label else lines)


def _cells(across: np.ndarray, up: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The dots of every character, [rows, columns] from the lowest row, for a line through points in [0, 1]."""
    dots = np.zeros((4 * rows, 2 * columns), bool)
    at_x, at_y = np.rint(across * (2 * columns - 1)).astype(int), np.rint(up * (4 * rows - 1)).astype(int)
    dots[at_y, at_x] = True
    for here in range(len(across) - 1):
        steps = max(abs(at_x[here + 1] - at_x[here]), abs(at_y[here + 1] - at_y[here])) + 1
        line_x = np.rint(np.linspace(at_x[here], at_x[here + 1], steps)).astype(int)
        line_y = np.rint(np.linspace(at_y[here], at_y[here + 1], steps)).astype(int)
        dots[line_y, line_x] = True
    return (dots.reshape(rows, 4, columns, 2) * np.array(DOTS)[None, :, None, :]).sum(axis=(1, 3))


def _range(values: np.ndarray) -> tuple[float, float]:
    """The least and the greatest value; one below and one above if they are equal."""
    low, high = float(values.min()), float(values.max())
    return (low, high) if high > low else (low - 1, low + 1)
