"""Curves in the terminal: in the room given, with round numbers, and the line where it belongs."""

import math

import pytest

from ludus.displays import shown, ticks
from ludus.terminal.curve import draw_curve


def test_a_straight_line():
    assert draw_curve([0, 1, 2, 3, 4], [0, 25, 50, 75, 100], 14, 6).splitlines() == [
        "100 ┤       ⡠⠊",
        " 50 ┤    ⡠⠔⠊",
        "    │  ⡠⠊",
        "  0 ┤⡠⠊",
        "    └┬───┬───┬",
        "     0   2   4",
    ]


@pytest.mark.parametrize(("width", "height"), [(72, 16), (40, 8), (120, 30), (20, 6)])
def test_it_keeps_to_its_room(width, height):
    xs = range(0, 500, 5)
    lines = draw_curve(xs, [1000 * math.sin(x / 40) for x in xs], width, height, "iteration", "rating").splitlines()
    assert len(lines) == height
    assert max(map(len, lines)) <= width
    assert lines[0].strip() == "rating"
    assert lines[-1].endswith("iteration")
    assert len(lines[-1]) == width


def test_every_column_has_a_dot_and_the_ends_are_at_the_edges():
    lines = draw_curve([0, 10], [5.0, 7.0], 50, 10).splitlines()[:-2]
    begin = lines[0].index("│" if "│" in lines[0] else "┤") + 1
    columns = {column for line in lines for column, sign in enumerate(line) if "\u2800" < sign <= "\u28ff"}
    assert columns == set(range(begin, 50))
    assert lines[-1][begin] > "\u2800"
    assert lines[0].rstrip()[-1] > "\u2800"
    assert len(lines[0]) == 50


def test_odd_input():
    assert draw_curve([], []) == "(nothing to draw yet)"
    assert draw_curve([1, 2], [math.nan, math.inf]) == "(nothing to draw yet)"
    with_gap = draw_curve([0, 1, 2], [0, math.nan, 2], 30, 8)
    assert with_gap == draw_curve([2, 0], [2, 0], 30, 8)
    single = draw_curve([3], [7.5], 30, 8)
    assert sum("\u2800" < sign <= "\u28ff" for sign in single) == 1
    with pytest.raises(ValueError, match="zip"):
        draw_curve([1, 2], [1])


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (0, 100, 6, ["0", "20", "40", "60", "80", "100"]),
        (500, 1561, 4, ["500", "1,000", "1,500"]),
        (0.0012, 0.0017, 3, ["0.0012", "0.0014", "0.0016"]),
        (-3, 5e6, 3, ["0", "2,000,000", "4,000,000"]),
        (-1, 1, 5, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        (98.7, 99.4, 2, ["98.8", "99.0", "99.2", "99.4"]),
    ],
)
def test_round_numbers(low, high, most, expected):
    found = ticks(low, high, most)
    assert [shown(tick, found) for tick in found] == expected
