"""ludus.grids: symmetries, texts and boards of games on grids; Othello written with it; the default text of a state."""

from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.board import board_json
from ludus.errors import BadPosition
from ludus.fields import read_fields, write_fields
from ludus.grids import symmetries_of, turned

OTHELLO = Path(__file__).parent.parent / "examples" / "othello.py"
PERFT = (4, 12, 56, 244, 1396, 8200, 55092, 390216)
"""The known numbers of lines of play in Othello, 1 to 8 plies deep."""


@pytest.fixture
def othello():
    """The game in plain Python."""
    return ludus.make(OTHELLO)


def test_othello_takes_no_more_than_120_lines():
    assert len(OTHELLO.read_text().splitlines()) <= 120


def test_othello_has_the_known_numbers_of_lines_of_play():
    start = ludus.make(OTHELLO).start()
    assert tuple(ludus.perft(start, depth) for depth in range(1, 9)) == PERFT


def test_a_player_who_cannot_flip_passes(othello):
    game = ludus.make(OTHELLO, size=4)
    position = game.parse("xo2/4/4/4 o")
    assert not position.is_over
    assert position.moves == ["pass"]
    after = position.play("pass").play("c1")
    assert after.text == "xxx1/4/4/4 o"
    assert after.is_over
    assert after.values == (1.0, -1.0)


def test_a_stone_flips_all_stones_between_it_and_another(othello):
    position = othello.parse("8/8/8/3ox3/3xo3/8/8/8 x")
    assert position == othello.start()
    assert sorted(position.moves) == ["c4", "d3", "e6", "f5"]
    assert position.play("d3").text == "8/8/3x4/3xx3/3xo3/8/8/8 o"
    assert str(position).splitlines()[0] == "1 . . . . . . . ."


def test_positions_that_cannot_be_are_refused_with_the_place(othello):
    for text, place in (("8/8/8/3ox3/3xo3/8/8/9 x", 21), ("8/8/8/3ox3/3xo3/8/8/8 z", 23), ("8/8 x", 4)):
        with pytest.raises(BadPosition, match=f"character {place}"):
            othello.parse(text)


def test_the_board_can_be_clicked_and_set_up(othello):
    position = othello.start()
    board = board_json(position)
    assert len(board["cells"]) == 64
    assert {piece["cell"] for piece in board["pieces"]} == {"d4", "e4", "d5", "e5"}
    assert {move["move"]: move["touches"] for move in board["moves"]}["d3"] == [["d3"]]
    arranged = othello.arrange({"d4": 1, "e4": 0, "d5": 0, "e5": 1}, 0)
    assert othello.parse(arranged) == position


@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 5)])
def test_symmetries_are_distinct_and_keep_neighbours(rows, columns):
    cells = range(rows * columns)
    maps = [
        tuple(turned(rows, columns, which, cell) for cell in cells) for which in range(symmetries_of(rows, columns))
    ]
    assert len(set(maps)) == len(maps) == (8 if rows == columns else 4)
    assert maps[0] == tuple(cells)

    def distance(one, other):
        return abs(one // columns - other // columns) + abs(one % columns - other % columns)

    for images in maps:
        assert sorted(images) == list(cells)
        assert all(distance(a, b) == distance(images[a], images[b]) for a in cells for b in cells)
    assert turned(rows, columns, 1, rows * columns) == rows * columns  # a pass stays


def test_any_state_has_a_text():
    kind = np.dtype([("cells", np.int8, (2, 3)), ("far", np.uint64), ("odds", np.float32), ("in", [("x", np.bool_)])])
    states = np.zeros(1, kind)
    state = states.view(np.recarray)[0]
    state.cells[1] = (-3, 4, 4)
    state.far, state.odds = 2**64 - 1, 0.1
    state["in"]["x"] = True
    text = write_fields(state)
    assert text == f"cells=0*3,-3,4*2 far={2**64 - 1} odds={float(np.float32(0.1))!r} in.x=1"
    again = np.zeros(1, kind)
    read_fields(text, again.view(np.recarray)[0])
    assert again.tobytes() == states.tobytes()
    row = np.array([3, 0, 0, 7], np.int32)
    assert write_fields(row) == "3,0*2,7"
    empty = np.zeros(4, np.int32)
    read_fields("3,0*2,7", empty)
    assert empty.tolist() == row.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("turn=0", "stones is missing"),
        ("stones=5 turn=1 turn=1", "'turn=1' is not wanted here"),
        ("stones=5 turn=x", "character 15: 'x' is not a number of turn"),
        ("stones=99999 turn=0", "99999 is not a number of stones from -32768 to 32767"),
        ("stones=5,6 turn=0", "there are more than 1 numbers of stones"),
        ("stones=5 turn=7", "its rules give no legal move there"),
        ("stones=0.5 turn=0", "'0.5' is not a whole number of stones"),
        ("5", "left to give: stones=..., turn=..."),
    ],
)
def test_what_is_wrong_with_a_text_is_told(text, message):
    game = ludus.make("laststone")
    state = game.state_view(game.new_states(1))
    with pytest.raises(BadPosition, match=message):
        ludus.Game.read(game, text, state)
