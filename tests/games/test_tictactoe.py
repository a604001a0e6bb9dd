from collections import Counter

import numpy as np
import pytest

from ludus.errors import BadOption, BadPosition, IllegalMove
from ludus.registry import make
from ludus.rules import heuristic

GAME = make("tictactoe")


def test_numbers_of_games_and_positions():
    """How many move sequences there are of each length, and how many positions."""
    level, seen = Counter([GAME.start()]), set()
    sequences = []
    while level:
        seen |= set(level)
        following = Counter()
        for position, times in level.items():
            for action in position.actions:
                after = position.play(action)
                after.parent = None  # equal positions count once, however they came about
                following[after] += times
        level = following
        sequences.append(sum(level.values()))
    assert sequences[:-1] == [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert len(seen) == 5478


def test_perfect_play_is_a_draw():
    known = {}

    def value(position):
        """For the player to move."""
        if position not in known:
            if position.is_over:
                known[position] = position.values[sum(map(position.text.count, "xo")) % 2]
            else:
                known[position] = max(-value(position.play(action)) for action in position.actions)
        return known[position]

    assert value(GAME.start()) == 0


@pytest.mark.parametrize(
    "line", ["a1 b1 c1", "a2 b2 c2", "a3 b3 c3", "a1 a2 a3", "b1 b2 b3", "c1 c2 c3", "a1 b2 c3", "a3 b2 c1"]
)
def test_every_line_wins(line):
    line = line.split()
    others = [move for move in GAME.start().moves if move not in line]
    position = GAME.start()
    for mine, other in zip(line, others, strict=False):
        assert not position.is_over
        position = position.play(mine)
        if not position.is_over:
            position = position.play(other)
    assert position.values == (1.0, -1.0)


def test_full_board_is_a_draw():
    position = GAME.parse("xxo/oox/xo1").play("c1")
    assert position.is_over
    assert position.values == (0.0, 0.0)
    assert position.actions == []


def test_notation_counts_from_bottom_left():
    position = GAME.start().play("a1").play("C3").play(1)
    assert position.text == "2o/3/xx1"
    assert position.played == ["a1", "c3", "b1"]
    assert str(position) == "3 . . o\n2 . . .\n1 x x .\n  a b c"


@pytest.mark.parametrize(("move", "reason"), [("a1", "a1 is taken"), ("d1", "no cell 'd1'"), ("", "no cell ''")])
def test_illegal_moves(move, reason):
    with pytest.raises(IllegalMove, match=reason):
        GAME.start().play("a1").play(move)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("3/1y1/3", "'y' is none of x o", 3),
        ("  3/4/3", "row 2 has more than 3 cells", 4),
        ("3/3", "the text ends in row 2 of 3", 3),
        ("3/oo1/3", "x has 0 stones and o has 2", None),
        ("xxx/ooo/3", "both players have a line", None),
        ("ooo/xx1/xx1", "o has a line, yet", None),
        ("xxx/oo1/o2", "x has a line, yet", None),
    ],
)
def test_bad_positions(text, message, place):
    with pytest.raises(BadPosition, match=message) as caught:
        GAME.parse(text)
    assert caught.value.place == place


def test_no_options():
    with pytest.raises(BadOption, match="it has no options"):
        make("tictactoe", size=4)


def test_observation():
    planes = GAME.parse("2o/3/xx1").observe()
    assert planes.shape == (2, 3, 3)
    assert np.argwhere(planes).tolist() == [[0, 2, 2], [1, 0, 0], [1, 0, 1]]
    assert np.array_equal(GAME.parse("2o/3/xx1").observe(0), planes[::-1])


@pytest.mark.parametrize(("move", "open_lines"), [("b2", 4), ("a1", 3), ("b1", 2)])
def test_heuristic_counts_open_lines(move, open_lines):
    state = GAME.start().play(move).state
    assert heuristic(GAME.rules, state, 0) == -heuristic(GAME.rules, state, 1) == open_lines / 8
