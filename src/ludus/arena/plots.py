"""Plots of results: learning curves, ratings over time, a matrix of scores, and move times over a game.

Every function takes plain rows and writes one file, PNG or SVG by its suffix. Names stand beside their lines or points,
moved apart where they would overlap: a legend with twelve long names is hard to read.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ludus.arena.ratings import Tally
from ludus.errors import BadOption, missing_package

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = (".png", ".svg")
COLOURS = ("#3b6ea8", "#c8553d", "#4f9d69", "#8d6cab", "#c99a2e", "#3fa3a8", "#b5577f", "#6b7f3a", "#7a6a5d", "#5a5f73")
"""Colours that differ even when printed small. Further lines use them again, dashed."""
INK, PALE, GRID = "#333333", "#888888", "#e6e6e6"
STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": PALE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.titlepad": 12,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": PALE,
    "ytick.color": PALE,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "svg.hashsalt": "ludus",
}


class LearningPoint(NamedTuple):
    """The rating of a checkpoint."""

    series: str
    """The line that the point belongs to: a run, or a run at a number of simulations."""
    iteration: int
    rating: float
    low: float
    high: float


class TimePoint(NamedTuple):
    """The rating of an agent, with its mean time for a move."""

    name: str
    seconds: float
    rating: float
    low: float
    high: float
    series: str = ""
    """Agents of one series are joined by a line, such as uct with more and more simulations."""


class MoveTime(NamedTuple):
    """The mean time of an agent for its move at a ply, counted from 1."""

    name: str
    ply: int
    seconds: float


class End(NamedTuple):
    """The end of a line, with its name."""

    across: float
    height: float
    name: str
    colour: str


def check_file(file: str | Path) -> Path:
    """A file for a plot that a user gave; BadOption if its suffix is neither .png nor .svg."""
    path = Path(file)
    if path.suffix.lower() not in KINDS:
        raise BadOption(f"a plot is a file that ends in .png or .svg, not {str(file)!r}")
    return path


def save(figure: Figure, file: str | Path) -> None:
    """Write a figure as PNG or SVG. The same figure gives the same bytes."""
    import matplotlib

    from ludus.runs.files import write_whole

    path = check_file(file)
    metadata: dict[str, Any] = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
    with matplotlib.rc_context(STYLE):
        write_whole(
            path,
            lambda draft: figure.savefig(
                draft, dpi=160, bbox_inches="tight", pad_inches=0.2, facecolor="white", metadata=metadata
            ),
        )


def plot_learning(
    points: Iterable[LearningPoint], file: str | Path, title: str = "", references: Sequence[tuple[str, float]] = ()
) -> None:
    """Ratings over training iterations, with 95 % intervals. `references` are names and ratings of other agents."""
    series = _grouped(sorted(points, key=lambda point: point.iteration), file)
    everything = list(itertools.chain(*series.values()))
    axes = _axes(title, "training iteration", "rating")
    bottom, top = _limits(everything, [rating for _, rating in references])
    axes.set_ylim(bottom, top)
    ends: list[End] = []
    for (colour, dashes), (name, line) in zip(_styles(), series.items(), strict=False):
        at, ratings = [point.iteration for point in line], [point.rating for point in line]
        low, high = ([max(bottom, min(top, point[place])) for point in line] for place in (3, 4))
        axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
        dot = 3.5 if len(at) <= 60 else 0
        axes.plot(at, ratings, color=colour, linestyle=dashes, linewidth=1.8, marker="o", markersize=dot)
        ends.append(End(at[-1], ratings[-1], name, colour))
    for name, rating in references:
        axes.axhline(rating, color=PALE, linewidth=1, linestyle=(0, (4, 3)))
        ends.append(End(math.inf, rating, name, PALE))
    axes.margins(x=0.02)
    _whole_numbers(axes)
    if len(ends) > 1 or next(iter(series)):
        _name_at_the_right(axes, ends)
    save(_figure(axes), file)


def plot_times(points: Iterable[TimePoint], file: str | Path, title: str = "") -> None:
    """Ratings over the time for a move, on a logarithmic axis, with 95 % intervals."""
    points = list(points)
    _some(points, file)
    for point in points:
        if not point.seconds > 0:
            raise BadOption(f"{point.name} takes {point.seconds:g} s a move: a logarithmic axis has times above 0 only")
    axes = _axes(title, "time for a move", "rating", width=8.0)
    axes.set_xscale("log")
    bottom, top = _limits(points)
    axes.set_ylim(bottom, top)
    logs = np.log10([point.seconds for point in points])
    axes.set_xlim(10.0 ** math.floor(logs.min() - 0.1), 10.0 ** math.ceil(logs.max() + 0.1))
    axes.xaxis.set_major_formatter(lambda value, _: in_words(value))
    axes.xaxis.set_minor_formatter("")
    names = list(dict.fromkeys(point.series for point in points))
    for (colour, _), name in zip(_styles(), names, strict=False):
        line = sorted((point for point in points if point.series == name), key=lambda point: point.seconds)
        at, ratings = [point.seconds for point in line], [point.rating for point in line]
        if name and len(line) > 1:
            axes.plot(at, ratings, color=colour, linewidth=1, alpha=0.5)
        low, high = ([max(bottom, min(top, point[place])) for point in line] for place in (3, 4))
        axes.vlines(at, low, high, color=colour, linewidth=1.2, alpha=0.6)
        axes.plot(at, ratings, color=colour, marker="o", markersize=5, linewidth=0)
    _name_beside(axes, points)
    save(_figure(axes), file)


def score_matrix(tallies: Iterable[Tally], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """The number of games and the score, from 0 to 1, of each agent (row) against each other (column).

    Both are float64 [n, n] in the order of `names`. The score is NaN where there are no games.
    """
    place = {name: number for number, name in enumerate(names)}
    games, points = np.zeros((2, len(names), len(names)))
    for tally in tallies:
        if tally.first in place and tally.second in place and tally.first != tally.second:
            i, j = place[tally.first], place[tally.second]
            total, made = tally.wins + tally.draws + tally.losses, tally.wins + tally.draws / 2
            games[i, j] += total
            games[j, i] += total
            points[i, j] += made
            points[j, i] += total - made
    return games, np.where(games > 0, points / np.maximum(games, 1), np.nan)


def plot_matrix(
    tallies: Iterable[Tally], file: str | Path, title: str = "", names: Sequence[str] | None = None
) -> None:
    """The score of each agent (row) against each other (column), in percent. `names` are in order, best first."""
    from matplotlib.colors import LinearSegmentedColormap

    tallies = [tally for tally in tallies if tally.first != tally.second]
    _some(tallies, file)
    names = list(names or dict.fromkeys(name for tally in tallies for name in tally[:2]))
    games, scores = score_matrix(tallies, names)
    side = max(3.0, 0.55 * len(names))
    axes = _axes(title, "", "", width=side, height=side)
    colours = LinearSegmentedColormap.from_list("score", ["#c8553d", "#f6f3ee", "#3b6ea8"])
    axes.imshow(np.ma.masked_invalid(scores), cmap=colours, vmin=0, vmax=1)
    for i, j in zip(*np.nonzero(games), strict=True):
        score = scores[i, j]
        ink = "white" if abs(score - 0.5) > 0.35 else INK
        axes.text(j, i, f"{100 * score:.0f}", ha="center", va="center", fontsize=8, color=ink)
    axes.set_xticks(range(len(names)), names, rotation=40, ha="left", rotation_mode="anchor")
    axes.set_yticks(range(len(names)), names)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for edge in axes.spines.values():
        edge.set_visible(False)
    for line in np.arange(len(names) + 1) - 0.5:
        axes.axhline(line, color="white", linewidth=1.5)
        axes.axvline(line, color="white", linewidth=1.5)
    axes.set_xlabel("points of the row against the column, in percent", color=PALE, labelpad=10)
    save(_figure(axes), file)


def plot_move_times(points: Iterable[MoveTime], file: str | Path, title: str = "") -> None:
    """The mean time for a move over the plies of a game, a line for each agent."""
    points = sorted(points, key=lambda point: point.ply)
    _some(points, file)
    lines: dict[str, list[MoveTime]] = {}
    for point in points:
        lines.setdefault(point.name, []).append(point)
    axes = _axes(title, "ply", "time for a move")
    seconds = np.array([point.seconds for point in points])
    least = seconds[seconds > 0].min() if (seconds > 0).any() else 1e-6
    if seconds.max() > 20 * least:  # within a smaller range, a linear axis shows more
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter("")
    else:
        axes.set_ylim(0, 1.1 * seconds.max() or 1.0)
    axes.yaxis.set_major_formatter(lambda value, _: in_words(value))
    ends = []
    for (colour, dashes), (name, line) in zip(_styles(), lines.items(), strict=False):
        times = [max(point.seconds, least) for point in line]
        axes.plot([point.ply for point in line], times, color=colour, linestyle=dashes, linewidth=1.6)
        ends.append(End(line[-1].ply, times[-1], name, colour))
    axes.margins(x=0.02)
    _whole_numbers(axes)
    _name_at_the_right(axes, ends)
    save(_figure(axes), file)


def in_words(seconds: float) -> str:
    """A time with its unit, such as 20 ms."""
    if seconds == 0:
        return "0"
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9999 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.2g} µs"


def _axes(title: str, across: str, up: str, width: float = 7.0, height: float = 4.2) -> Axes:
    """New axes, made without pyplot, which keeps every figure in memory and may need a screen."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise missing_package("a plot", error.name, "plots") from None
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        axes.set(title=title, xlabel=across, ylabel=up)
        axes.tick_params(which="both", length=0)
    return axes


def _figure(axes: Axes) -> Figure:
    return cast("Figure", axes.figure)


def _whole_numbers(axes: Axes) -> None:
    """Only whole numbers on the lower axis, for iterations and plies."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    left, right = axes.get_xlim()
    if right - left < 1:  # there is a single point
        axes.set_xlim((left + right) / 2 - 1, (left + right) / 2 + 1)


def _grouped(points: Iterable[LearningPoint], file: str | Path) -> dict[str, list[LearningPoint]]:
    series: dict[str, list[LearningPoint]] = {}
    for point in points:
        series.setdefault(point.series, []).append(point)
    _some(series, file)
    return series


def _some(rows: object, file: str | Path) -> None:
    check_file(file)
    if not rows:
        raise BadOption(f"there is nothing to plot in {file} yet: play games first")


def _limits(points: Sequence[LearningPoint | TimePoint], more: Sequence[float] = ()) -> tuple[float, float]:
    """The limits of the axis of ratings. Infinite intervals reach its edge."""
    ends = [value for point in points for value in (point.rating, point.low, point.high) if math.isfinite(value)]
    low, high = min([*ends, *more]), max([*ends, *more])
    margin = max(100.0 - (high - low) / 2, 0.06 * (high - low))  # at least 200 points from end to end
    return low - margin, high + margin


def _styles() -> Iterator[tuple[str, Any]]:
    """The colour and the dashes of each line."""
    return (
        (colour, dashes) for dashes in itertools.chain(["-"], itertools.repeat((0, (5, 1.5)))) for colour in COLOURS
    )


def _name_at_the_right(axes: Axes, ends: Sequence[End]) -> None:
    """Put names to the right of the lines, at the height of their ends or moved apart, each with a thin connection."""
    figure = _figure(axes)
    figure.canvas.draw()
    right = axes.get_xlim()[1]
    places = axes.transData.transform([(min(end.across, right), end.height) for end in ends])
    places = axes.transAxes.inverted().transform(places)
    line_height = 12.5 / (axes.get_window_extent().height * 72 / figure.dpi)  # 9 points and spacing
    for end, (across, height), moved in zip(ends, places, apart(places[:, 1], line_height), strict=True):
        path = [across, 1.0, 1.03], [height, height, moved]
        axes.plot(*path, transform=axes.transAxes, clip_on=False, color=end.colour, linewidth=0.7, alpha=0.6)
        axes.text(1.037, moved, end.name, transform=axes.transAxes, va="center", fontsize=9, color=end.colour)


def apart(heights: Sequence[float] | np.ndarray, gap: float) -> np.ndarray:
    """The heights nearest to those given with at least `gap` between any two. Groups that touch are centred."""
    order = np.argsort(heights, kind="stable")
    groups: list[list[float]] = []  # each: the mean height that its members want for the lowest, and their number
    for height in np.asarray(heights)[order]:
        groups.append([float(height), 1])
        while len(groups) > 1 and groups[-2][0] + gap * groups[-2][1] > groups[-1][0]:
            lowest, count = groups.pop()
            before, many = groups[-1]
            groups[-1] = [(before * many + (lowest - gap * many) * count) / (many + count), many + count]
    placed = np.empty(len(order))
    placed[order] = [lowest + gap * number for lowest, count in groups for number in range(int(count))]
    return placed


def _name_beside(axes: Axes, points: Sequence[TimePoint]) -> None:
    """Put names beside points, each where it covers least of other names, points and intervals."""
    figure = _figure(axes)
    figure.canvas.draw()
    left_edge, unit = axes.get_window_extent().x0, figure.dpi / 72
    spots = axes.transData.transform([(point.seconds, point.rating) for point in points])
    taken: list[tuple[float, float, float, float]] = []
    for (x, y), point in zip(spots, points, strict=True):
        ends = [(point.seconds, end if math.isfinite(end) else point.rating) for end in (point.low, point.high)]
        (_, low), (_, high) = axes.transData.transform(ends)
        taken += [(x - 4, y - 4, x + 4, y + 4), (x - 2, low, x + 2, high)]
    ways = [(7, 0, "left"), (-7, 0, "right")]
    ways += [(x, sign * y, side) for y in (9, 18, 27) for sign in (1, -1) for x, side in ((4, "left"), (-4, "right"))]
    for (x, y), point in zip(spots, points, strict=True):
        at = point.seconds, point.rating
        text = axes.annotate(point.name, at, (0, 0), textcoords="offset points", va="center", fontsize=8, color=INK)
        width, height = text.get_window_extent().width, text.get_window_extent().height
        tried: list[tuple[float, int, tuple[float, float, float, float], tuple[int, int], str]] = []
        for across, up, side in ways:
            left = x + across * unit - (width if side == "right" else 0)
            box = (left, y + up * unit - height / 2, left + width, y + up * unit + height / 2)
            covered = sum(_shared(box, other) for other in taken)
            outside = max(0.0, left_edge - left)  # the picture grows to the right as far as needed
            tried.append((covered + 20 * outside, len(tried), box, (across, up), side))
        _, _, box, place, side = min(tried)
        taken.append(box)
        text.set(ha=side, position=place)


def _shared(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The common area of two boxes (left, bottom, right, top)."""
    across, up = (min(one[i + 2], other[i + 2]) - max(one[i], other[i]) for i in (0, 1))
    return max(0.0, across) * max(0.0, up)
