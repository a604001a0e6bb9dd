"""What a network sees of a position in GDL: a plane for each kind of fact on a board, or a list of facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ludus.gdl.counters import NUMBERS, Counter
from ludus.gdl.network import Network
from ludus.gdl.structure import Grid

Stretch = tuple[int, int, float]
"""The first number of the input to write, how many, and what."""


class View(NamedTuple):
    """The shape of a network's input, and what each fact and the role that looks write into it (see GdlRules)."""

    shape: tuple[int, ...]
    shown: np.ndarray
    shown_values: np.ndarray
    shown_starts: np.ndarray


def view_of(network: Network, grid: Grid | None, counters: Sequence[Counter] = ()) -> View:
    """The view of a game; facts of counters are numbers, all others are 1 if they are true."""
    counted = {fact for counter in counters for fact in counter.facts}
    cells = 1 if grid is None else len(grid.rows) * len(grid.columns)
    planes: dict[int, int] = {}
    """The plane of each kind of fact, or of each fact if there is no board."""
    writes: list[list[Stretch]] = [[] for _ in network.bases]
    for fact in range(len(network.bases)):
        if fact not in counted:
            plane = planes.setdefault(fact if grid is None else grid.facts[fact].kind, len(planes))
            writes[fact].append(_stretch(grid, fact, plane, cells))
    count = len(planes)
    for counter in counters:
        for place, fact in enumerate(counter.facts):
            writes[fact] += [((count + i) * cells, cells, value) for i, value in enumerate(counter.shown(place))]
        count += NUMBERS
    for _ in network.roles:
        writes.append([(count * cells, cells, 1.0)])
        count += 1
    stretches = [stretch for each in writes for stretch in each]
    return View(
        (count,) if grid is None else (count, len(grid.rows), len(grid.columns)),
        np.array([stretch[:2] for stretch in stretches], np.int32),
        np.array([value for *_, value in stretches], np.float32),
        np.cumsum([0, *map(len, writes)]).astype(np.int32),
    )


def _stretch(grid: Grid | None, fact: int, plane: int, cells: int) -> Stretch:
    """Where a fact is 1: at its cell, or on the whole plane if it lies on none."""
    if grid is None or grid.facts[fact].row < 0:
        return plane * cells, cells, 1.0
    spot = grid.facts[fact]
    return plane * cells + spot.row * len(grid.columns) + spot.column, 1, 1.0
