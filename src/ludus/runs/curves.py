"""The learning curves of a run, drawn from the lines of its log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ludus.displays import Chart, Point, draw_charts

CURVES = {"policy": "policy loss", "value": "value loss", "rating": "rating (Elo above the untrained network)"}
"""Figures of the log that are drawn, with their titles."""


def draw_learning(log: Sequence[Mapping[str, Any]], title: str) -> str:
    """Policy loss, value loss and running rating over the minutes of training, as SVG; empty if nothing is known."""
    return draw_charts([Chart(name, "minutes", _points(log, key)) for key, name in CURVES.items()], title)


def _points(log: Sequence[Mapping[str, Any]], key: str) -> list[Point]:
    """One figure over time. Lines of the log without it are left out."""
    ends = f"{key}_low", f"{key}_high"
    return [
        Point(line["seconds"] / 60, line[key], *(_number(line.get(end)) for end in ends))
        for line in log
        if _number(line.get(key)) is not None and _number(line.get("seconds")) is not None
    ]


def _number(value: Any) -> float | None:
    """A number of the log; None for anything else, since the file may have been edited."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
