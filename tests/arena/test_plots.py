"""Pictures are written whole, say what was given, and no name covers another."""

import math
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from ludus.arena import plots
from ludus.arena.plots import LearningPoint, MoveTime, TimePoint, apart, in_words
from ludus.arena.ratings import Tally
from ludus.errors import BadOption

NAMES = [
    "random",
    *(f"uct:{10**power}" for power in (2, 3, 4)),
    *(f"zero:runs/connect4-first@{checkpoint}:100" for checkpoint in range(10, 90, 10)),
]
LEARNING = [LearningPoint("zero:run", iteration, 500 + 9.0 * iteration, 400, math.inf) for iteration in range(0, 50, 5)]
TIMES = [
    TimePoint(name, 0.0005 * 1.6**number, 500 + 90 * number, 450 + 90 * number, 550 + 90 * number, name[:4])
    for number, name in enumerate(NAMES)
]
MOVES = [MoveTime(name, ply, 0.01 + 0.0001 * place) for place, name in enumerate(NAMES) for ply in range(1, 30)]
TALLIES = [Tally("a", "b", 7, 2, 1), Tally("b", "a", 4, 0, 6), Tally("c", "a", 0, 1, 0)]
ALL = {
    "learning": lambda file: plots.plot_learning(LEARNING, file, "A title", [("uct:1000", 700.0), ("random", 500.0)]),
    "times": lambda file: plots.plot_times(TIMES, file),
    "matrix": lambda file: plots.plot_matrix(TALLIES, file, names=["a", "b", "c"]),
    "moves": lambda file: plots.plot_move_times(MOVES, file),
}


@pytest.fixture
def figures(monkeypatch):
    """The figures that would be written."""
    kept = []
    monkeypatch.setattr(plots, "save", lambda figure, file: kept.append(figure))
    return kept


@pytest.mark.parametrize("what", ALL)
def test_png_and_svg_are_written(what, tmp_path):
    ALL[what](tmp_path / "plot.png")
    with Image.open(tmp_path / "plot.png") as image:
        assert min(image.size) > 400
        assert len(np.unique(np.asarray(image.convert("L")))) > 20
    ALL[what](tmp_path / "plot.svg")
    first = (tmp_path / "plot.svg").read_text()
    assert first.rstrip().endswith("</svg>")
    ALL[what](tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.svg", "plot.png", "plot.svg"]


@pytest.mark.parametrize("what", ["learning", "times", "moves"])
def test_no_name_covers_another(what, figures):
    ALL[what]("plot.png")
    (figure,) = figures
    figure.canvas.draw()
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    assert len(texts) == {"learning": 3, "times": 12, "moves": 12}[what]
    boxes = [text.get_window_extent() for text in texts]
    for number, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:number])


def test_names_are_moved_apart_no_further_than_needed():
    assert apart([0.1, 0.5, 0.9], 0.2) == pytest.approx([0.1, 0.5, 0.9])
    assert apart([0.5, 0.5, 0.5], 0.1) == pytest.approx([0.4, 0.5, 0.6])
    assert apart([0.9, 0.0, 0.05], 0.1) == pytest.approx([0.9, -0.025, 0.075])
    heights = np.random.default_rng(1).random(30)
    moved = apart(heights, 0.05)
    assert np.diff(np.sort(moved)).min() >= 0.05 - 1e-12
    assert (np.argsort(moved) == np.argsort(heights)).all()


def test_the_matrix_counts_both_seats(figures):
    ALL["matrix"]("plot.svg")
    (axes,) = figures[0].axes
    shown = {text.get_position(): text.get_text() for text in axes.texts}
    # a has 7 + 2 / 2 points of ten, and 6 of ten: 14 of 20.
    assert shown == {(1, 0): "70", (0, 1): "30", (0, 2): "50", (2, 0): "50"}
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b", "c"]


def test_an_interval_without_an_end_reaches_the_edge(figures):
    ALL["learning"]("plot.svg")
    (axes,) = figures[0].axes
    bottom, top = axes.get_ylim()
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert heights.max() == top < 2000
    assert heights.min() == 400 > bottom


@pytest.mark.parametrize("what", ALL)
def test_other_files_are_refused(what, tmp_path):
    with pytest.raises(BadOption, match=r"ends in \.png or \.svg, not '.*plot\.gif'"):
        ALL[what](tmp_path / "plot.gif")
    assert not list(tmp_path.iterdir())


def test_nothing_to_plot_is_said(tmp_path):
    for plot in (plots.plot_learning, plots.plot_times, plots.plot_matrix, plots.plot_move_times):
        with pytest.raises(BadOption, match="nothing to plot"):
            plot([], tmp_path / "plot.png")
    with pytest.raises(BadOption, match="takes 0 s a move"):
        plots.plot_times([TimePoint("a", 0, 1, 0, 2)], tmp_path / "plot.png")


def test_times_in_words():
    assert [in_words(value) for value in (0, 2, 0.1, 0.001, 0.00025, 1e-6, 2e-7)] == [
        "0",
        "2 s",
        "100 ms",
        "1 ms",
        "250 µs",
        "1 µs",
        "0.2 µs",
    ]


def test_matplotlib_is_loaded_late():
    code = "import sys, ludus.arena.plots; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
