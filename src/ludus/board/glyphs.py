"""Symbols that are drawn on pieces: SVG paths in the square from -1 to 1, filled and outlined in one colour."""

from __future__ import annotations

import itertools
import math


def _polygon(*points: tuple[float, float]) -> str:
    return "M" + "L".join(f"{x:.3g} {y:.3g}" for x, y in points) + "Z"


def _star(spikes: int, inner: float, outer: float = 0.95) -> str:
    turns = [(k * math.pi / spikes - math.pi / 2, inner if k % 2 else outer) for k in range(2 * spikes)]
    return _polygon(*((radius * math.cos(turn), radius * math.sin(turn)) for turn, radius in turns))


def _ellipse(x: float, y: float, width: float, height: float, clockwise: bool = True) -> str:
    """An ellipse with its centre at (x, y); a counter-clockwise one inside another is a hole."""
    sweep = int(clockwise)
    half = f"a{width:.3g} {height:.3g} 0 1 {sweep}"
    return f"M{x - width:.3g} {y:.3g}{half} {2 * width:.3g} 0{half} {-2 * width:.3g} 0Z"


def _legs(*joints: tuple[tuple[float, float], ...]) -> str:
    """Bent lines, and their mirror images. Each piece is a path of its own, so that nothing is filled between them."""
    parts = []
    for line in joints:
        for side in (1, -1):
            for (x, y), (u, v) in itertools.pairwise(line):
                parts.append(f"M{side * x:.3g} {y:.3g}L{side * u:.3g} {v:.3g}")
    return "".join(parts)


BUGS = {
    "queen": _ellipse(0, -0.62, 0.2, 0.17)
    + _ellipse(0, -0.22, 0.28, 0.2)
    + _ellipse(0, 0.15, 0.3, 0.09)
    + _ellipse(0, 0.45, 0.26, 0.09)
    + _ellipse(0, 0.73, 0.16, 0.08)
    + _legs(
        ((0.3, -0.3), (0.9, -0.62), (0.98, -0.3), (0.45, 0.0), (0.3, -0.15)),
        ((0.36, 0.08), (0.85, 0.2), (0.75, 0.5), (0.36, 0.32)),
        ((0.1, -0.78), (0.28, -0.98)),
    ),
    "spider": _ellipse(0, 0.28, 0.34, 0.4)
    + _ellipse(0, -0.32, 0.22, 0.2)
    + _legs(
        ((0.2, -0.3), (0.5, -0.72), (0.42, -0.98)),
        ((0.22, -0.22), (0.75, -0.42), (0.95, -0.75)),
        ((0.3, 0.05), (0.8, 0.05), (0.98, 0.4)),
        ((0.28, 0.35), (0.65, 0.55), (0.7, 0.95)),
    ),
    "beetle": "M0 -.32C.62 -.34 .66 .9 0 .95C-.66 .9 -.62 -.34 0 -.32Z"
    + _ellipse(0, -0.55, 0.26, 0.16)
    + _legs(
        ((0.14, -0.68), (0.2, -0.95)),
        ((0.42, 0.0), (0.8, -0.2), (0.88, -0.45)),
        ((0.5, 0.32), (0.92, 0.32)),
        ((0.42, 0.62), (0.78, 0.75), (0.82, 0.97)),
    ),
    "grasshopper": "M-.88 .1C-.7 -.2 -.3 -.2 .95 .28C.3 .5 -.6 .52 -.88 .1Z"
    + "M-.3 .3L-.62 .8M-.05 .35L-.2 .8M.2 .28L.32 -.72M.32 -.72L.85 .85M-.8 -.02L-.62 -.62M-.72 -.08L-.38 -.55",
    "ant": _ellipse(0, -0.62, 0.22, 0.2)
    + _ellipse(0, -0.15, 0.15, 0.2)
    + _ellipse(0, 0.5, 0.28, 0.4)
    + _legs(
        ((0.12, -0.78), (0.4, -0.98)),
        ((0.14, -0.22), (0.55, -0.32), (0.75, -0.7)),
        ((0.15, -0.12), (0.9, -0.02)),
        ((0.13, -0.02), (0.6, 0.28), (0.72, 0.8)),
    ),
    "mosquito": _ellipse(0, -0.35, 0.18, 0.2)
    + _ellipse(0, 0.4, 0.13, 0.52)
    + _legs(
        ((0, -0.55), (0, -0.98)),
        ((0.15, -0.2), (0.9, -0.55), (0.85, -0.15), (0.13, -0.02)),
        ((0.12, 0.15), (0.6, 0.3), (0.72, 0.92)),
        ((0.14, -0.45), (0.5, -0.7), (0.55, -0.98)),
    ),
    "ladybug": _ellipse(0, 0.18, 0.7, 0.7)
    + _ellipse(0.32, -0.05, 0.13, 0.13, False)
    + _ellipse(-0.32, -0.05, 0.13, 0.13, False)
    + _ellipse(0.3, 0.42, 0.13, 0.13, False)
    + _ellipse(-0.3, 0.42, 0.13, 0.13, False)
    + _ellipse(0, -0.68, 0.25, 0.14)
    + _legs(((0.12, -0.8), (0.28, -0.98))),
    "pillbug": "".join(_ellipse(0, -0.55 + 0.3 * k, 0.44 - 0.1 * abs(k - 2), 0.1) for k in range(5))
    + _legs(
        ((0.1, -0.68), (0.32, -0.95)),
        *(((0.42 - 0.1 * abs(k - 2), -0.52 + 0.3 * k), (0.78, -0.42 + 0.32 * k)) for k in range(5)),
    ),
}
"""The bugs of Hive."""

SHAPES = {
    "dot": _ellipse(0, 0, 0.5, 0.5),
    "circle": _ellipse(0, 0, 0.8, 0.8),
    "ring": _ellipse(0, 0, 0.86, 0.86) + _ellipse(0, 0, 0.5, 0.5, False),
    "cross": _polygon(
        *[(0, -0.3), (0.5, -0.8), (0.8, -0.5), (0.3, 0), (0.8, 0.5), (0.5, 0.8), (0, 0.3)],
        *[(-0.5, 0.8), (-0.8, 0.5), (-0.3, 0), (-0.8, -0.5), (-0.5, -0.8)],
    ),
    "plus": _polygon(
        *[(-0.22, -0.85), (0.22, -0.85), (0.22, -0.22), (0.85, -0.22), (0.85, 0.22), (0.22, 0.22)],
        *[(0.22, 0.85), (-0.22, 0.85), (-0.22, 0.22), (-0.85, 0.22), (-0.85, -0.22), (-0.22, -0.22)],
    ),
    "square": _polygon((-0.7, -0.7), (0.7, -0.7), (0.7, 0.7), (-0.7, 0.7)),
    "diamond": _polygon((0, -0.95), (0.75, 0), (0, 0.95), (-0.75, 0)),
    "triangle": _polygon((0, -0.85), (0.92, 0.72), (-0.92, 0.72)),
    "wedge": _polygon((0, 0.85), (0.92, -0.72), (-0.92, -0.72)),
    "star": _star(5, 0.42),
    "sun": _star(8, 0.55),
    "moon": "M.35 -.85A.88 .88 0 1 0 .35 .85A.7 .7 0 0 1 .35 -.85Z",
    "heart": "M0 .85C-1.3 -.05 -.75 -.95 0 -.4C.75 -.95 1.3 -.05 0 .85Z",
    "hexagon": _polygon(*((0.85 * math.sin(k * math.pi / 3), -0.85 * math.cos(k * math.pi / 3)) for k in range(6))),
    "vertical": _polygon((-0.16, -0.8), (0.16, -0.8), (0.16, 0.8), (-0.16, 0.8)),
    "horizontal": _polygon((-0.8, -0.16), (0.8, -0.16), (0.8, 0.16), (-0.8, 0.16)),
    "pawn": _ellipse(0, -0.5, 0.32, 0.32) + "M-.2 -.12L.2 -.12C.22 .3 .6 .4 .6 .85L-.6 .85C-.6 .4 -.22 .3 -.2 -.12Z",
    "rock": "M-.85 .2C-.9 -.5 -.4 -.85 .1 -.75C.7 -.65 .95 -.1 .85 .35C.7 .8 -.7 .85 -.85 .2Z",
    "paper": "M-.65 -.9L.35 -.9L.65 -.6L.65 .9L-.65 .9Z",
    "scissors": _ellipse(-0.45, 0.62, 0.28, 0.28)
    + _ellipse(-0.45, 0.62, 0.12, 0.12, False)
    + _ellipse(0.45, 0.62, 0.28, 0.28)
    + _ellipse(0.45, 0.62, 0.12, 0.12, False)
    + _polygon((-0.3, 0.4), (0.42, -0.95), (0.52, -0.75), (-0.12, 0.5))
    + _polygon((0.3, 0.4), (0.12, 0.5), (-0.52, -0.75), (-0.42, -0.95)),
}
"""Plain symbols, which differ in outline and not only in colour."""

GLYPHS = {**SHAPES, **BUGS}
"""All symbols by name."""

STROKE = 0.12
"""The width of the outline of a symbol."""
