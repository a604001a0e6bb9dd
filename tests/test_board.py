"""Boards as plain data: every drawn game gives cells, pieces and clicks that lead to its legal moves."""

import itertools
import json
import random
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import ludus
from ludus.board import Board, Cell, Hand, Piece, board_json, board_of, grid, svg, why_not
from ludus.board.raster import raster
from ludus.errors import BadPosition, BrokenGame
from tests.guide import write_chomp

DRAWN = {
    "connect4": {},
    "tictactoe": {},
    "breakthrough": {"height": 5, "width": 4},
    "sevn": {"base": 5},
    "hive": {"expansions": "MLP"},
    "cachex": {"n": 5},
    "laststone": {},
    "roshambo": {"rounds": 2},
}
PLIES = 30


def positions(game, seed, most=PLIES):
    """The positions of a random game."""
    choose, position = random.Random(seed), game.start(seed)
    yield position
    while not position.is_over and most > 0:
        position = position.play(choose.choice(position.actions))
        most -= 1
        yield position


@pytest.mark.parametrize("name", DRAWN)
def test_clicks_tell_the_legal_moves_of_a_drawn_game_apart(name):
    game = ludus.make(name, **DRAWN[name])
    for position in positions(game, 1):
        board = board_json(position)
        assert board["cells"]
        for player in range(game.players):
            moves = [move for move in board["moves"] if move["player"] == player]
            assert [move["action"] for move in moves] == ([] if position.is_over else position.actions_of(player))
            clicks = [tuple(ids[0] for ids in move["touches"]) for move in moves if move["touches"]]
            assert len(set(clicks)) == len(clicks)
            assert len(moves) - len(clicks) <= 1  # a pass, or the steal of Cachex
            if board["any_order"]:
                assert len({frozenset(each) for each in clicks}) == len(clicks)


@pytest.mark.parametrize("name", DRAWN)
def test_a_board_is_json_and_its_picture_is_xml(name):
    *_, position = positions(ludus.make(name, **DRAWN[name]), 2, most=12)
    board = board_json(position)
    assert json.loads(json.dumps(board)) == board
    picture = ElementTree.fromstring(svg(position))
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert position._repr_svg_() == svg(position)


def test_the_last_move_is_marked_where_it_went():
    position = ludus.make("connect4").start().play("d").play("d")
    assert board_json(position)["last"] == ["d2"]
    assert board_json(ludus.make("breakthrough").start().play("a2b3"))["last"] == ["a2", "b3"]
    assert board_json(ludus.make("connect4").start())["last"] == []


def test_a_line_of_four_is_marked():
    position = ludus.make("connect4").start()
    for move in "aabbccd":
        position = position.play(move)
    assert board_json(position)["won"] == ["a1", "b1", "c1", "d1"]
    assert board_json(position)["moves"] == []


def test_a_column_takes_a_click_on_any_of_its_cells():
    position = ludus.make("connect4").start().play("d")
    (move,) = [move for move in board_json(position)["moves"] if move["move"] == "d"]
    assert move["touches"] == [["d2", "d3", "d4", "d5", "d6", "d1"]]


@pytest.mark.parametrize(
    ("name", "moves", "touched", "reason"),
    [
        ("connect4", "aaaaaa", ["a3"], "column a is full"),
        ("tictactoe", ["b2"], ["b2"], "cell b2 is taken"),
        ("breakthrough", [], ["a2", "a5"], "a piece moves one row forward, straight or diagonally, not from a2 to a5"),
        ("breakthrough", [], ["a7"], "white has no piece on a7"),
        ("breakthrough", [], ["a1"], "white has a piece of its own on a2"),
        ("sevn", [], ["c4"], "c4 is not a corner: there are tiles on its left and right"),
        ("cachex", ["0,0"], ["0,0"], "0,0 is taken by a stone of red"),
        ("laststone", [], ["2"], "one takes 1 to 3 stones, not 11"),
        (
            "hive",
            ["wA1", "bA1 wA1-"],
            ["wG", "1,-1"],
            "a new piece must not touch the other colour, and there wG1 would touch bA1",
        ),
        ("hive", ["wA1", "bA1 wA1-"], ["1,0"], "no piece may be moved before wQ is placed"),
        ("gdl:tictactoe", ["(mark 1 1)"], ["1-1"], "no legal move begins with 1-1"),
    ],
)
def test_a_click_that_makes_no_move_is_answered_in_the_words_of_the_game(name, moves, touched, reason):
    position = ludus.make(name).start()
    for move in moves:
        position = position.play(move)
    assert why_not(position, position.to_move, touched) == reason


def test_a_reason_is_given_out_of_turn_and_after_the_end():
    position = ludus.make("connect4").start()
    assert why_not(position, 1, ["a1"]) == "it is not the turn of o"
    for move in "ababab":
        position = position.play(move)
    assert why_not(position.play("a"), 1, ["a1"]) == "the game is over"


def test_hive_shows_stacks_hands_and_moves_out_of_the_hand():
    game = ludus.make("hive")
    position = game.parse("Base;InProgress;White[5];wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wB1 -wQ;bA1 bQ-;wB1 wQ;bA2 bQ/")
    board = board_json(position)
    levels = [(piece["text"], piece["level"]) for piece in board["pieces"] if piece["cell"] == "-1,0"]
    assert levels == [("Q", 0), ("B1", 1)]
    white = {piece["cell"]: piece["count"] for piece in board["hands"][0]["pieces"]}
    assert white == {"wS": 1, "wB": 1, "wG": 3, "wA": 3}
    assert any(move["touches"][0] == ["wA"] for move in board["moves"])


def taken_up(board):
    """What the page sends for the pieces of a board: `placed` of Game.arrange."""
    kinds = [piece["kind"] for piece in board["stock"]]
    placed = {}
    for piece in board["pieces"]:
        placed.setdefault(piece["cell"], []).append(kinds.index(piece["kind"]))
    placed = placed if board["stacks"] else {cell: pile[0] for cell, pile in placed.items()}
    if board["table"] is not None and board["table"]["holds"]:
        heads = [kinds.index(head["kind"]) for head in board["table"]["columns"]]
        for row in board["table"]["rows"]:
            counted = zip(heads, row["entries"], strict=True)
            placed[row["name"]] = [kind for kind, count in counted for _ in range(count)]
    return placed


@pytest.mark.parametrize("name", ["connect4", "tictactoe", "breakthrough", "cachex", "sevn", "hive"])
def test_a_position_set_up_by_hand_is_the_one_with_these_pieces(name):
    *_, position = positions(ludus.make(name, **DRAWN[name]), 3, most=30 if name == "hive" else 6)
    game, placed = position.game, taken_up(board_json(position))
    again = game.parse(game.arrange(placed, position.to_move))
    assert again.to_move == position.to_move
    assert game.parse(again.text) == again
    board = board_json(again)
    assert len(board["pieces"]) == len(board_json(position)["pieces"])
    assert name == "hive" or taken_up(board) == placed  # a hive has no fixed place
    # Of the moves of Hive only those that the last move forbids may differ.
    assert set(again.moves) >= set(position.moves) if name != "hive" else len(again.moves) >= len(position.moves)
    with pytest.raises(BadPosition, match="there is no cell 'z9'"):
        game.arrange({**placed, "z9": [0] if board["stacks"] else 0}, 0)


def test_the_game_of_the_guide_is_set_up_by_hand(tmp_path):
    game = ludus.make(str(write_chomp(tmp_path)), rows=2, columns=3)
    assert game.arrange({"a1": 0, "b1": 0, "a2": 0}, 1) == "2/1 2"
    with pytest.raises(BadPosition, match="a bite leaves no hole"):
        game.arrange({"a1": 0, "c1": 0}, 0)


def test_a_game_without_a_stock_is_set_up_by_its_text():
    with pytest.raises(BadPosition, match="roshambo cannot be set up by hand: give the position as text"):
        ludus.make("roshambo").arrange({}, 0)


def test_a_described_game_gets_a_board_from_its_rules():
    position = ludus.make("gdl:connect4").start().play("(drop 3)").play("(drop 3)")
    board = board_json(position)
    assert (len(board["cells"]), len(board["pieces"]), board["last"]) == (42, 2, ["3-2"])
    bottom = max(cell["y"] for cell in board["cells"])
    assert {cell["id"] for cell in board["cells"] if cell["y"] == bottom} == {f"{k}-1" for k in range(1, 8)}
    assert [move["touches"][0][0] for move in board["moves"]][:2] == ["1-1", "2-1"]
    babel = board_json(ludus.make("gdl:babel").start())
    assert babel["cells"] == []
    assert babel["notes"]
    assert all(move["touches"] == [] for move in babel["moves"])


def test_a_game_without_a_drawing_is_shown_as_its_text(tmp_path):
    position = ludus.make(str(write_chomp(tmp_path, drawn=False)), rows=2, columns=2).start()
    assert board_of(position).notes == [" 2 # #", " 1 # #", "   a b"]


def test_the_example_of_the_documentation_draws_the_game_of_the_guide(tmp_path):
    position = ludus.make(str(write_chomp(tmp_path)), rows=2, columns=3).start().play("c1")
    board = board_json(position)
    assert [cell["id"] for cell in board["cells"]] == ["a2", "b2", "c2", "a1", "b1", "c1"]
    assert {piece["cell"] for piece in board["pieces"]} == {"a2", "b2", "a1", "b1"}
    assert board["last"] == ["c1"]
    assert [move["touches"] for move in board["moves"]] == [[["a1"]], [["b1"]], [["a2"]], [["b2"]]]


class Drawn:
    """Stands for a game that draws a given board."""

    name, players = "drawn", 2

    def __init__(self, board):
        self.board = board

    def drawing(self, position):
        return self.board

    def player_name(self, player):
        return "ab"[player]


@pytest.mark.parametrize(
    ("board", "complaint"),
    [
        (Board([Cell("a", 0, 0), Cell("a", 1, 0)]), "two cells with the same id"),
        (Board([Cell("a", 0, 0, "star")]), "the cell shape 'star'"),
        (Board([Cell("a", 0, 0)], [Piece("b")]), "a piece on 'b', which is no cell"),
        (Board([Cell("a", 0, 0)], [Piece("a", symbol="dragon")]), "the unknown symbol 'dragon'"),
        (Board([Cell("a", 0, 0, paint="mauve")]), "the unknown paint 'mauve'"),
        (Board([Cell("a", 0, 0)], paints=("#12",)), "the unknown paint '#12'"),
        (Board([Cell("a", 0, 0)], touches={3: ["b"]}), "action 3 that touches 'b'"),
        (Board([Cell("a", 0, 0)], won=["c"]), "the marked cell 'c'"),
        (Board(hands=[Hand(0, [Piece("x", shape="cube")])]), "the piece shape 'cube'"),
    ],
)
def test_a_board_that_names_what_does_not_exist_is_refused(board, complaint):
    position = ludus.Position(Drawn(board), None)
    with pytest.raises(BrokenGame, match=re.escape(f"drawn: drawing() gives {complaint}")):
        board_json(position)


def test_a_grid_names_its_cells_and_lines():
    cells, marks = grid(["2", "1"], "ab", chequered=True)
    assert [(cell.id, cell.x, cell.y, cell.paint) for cell in cells] == [
        ("a2", 0, 0, ""),
        ("b2", 1, 0, "alt"),
        ("a1", 0, 1, "alt"),
        ("b1", 1, 1, ""),
    ]
    assert [mark.text for mark in marks] == ["2", "1", "a", "b"]
    assert all(a.id != b.id for a, b in itertools.combinations(cells, 2))


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawn_game_is_also_pixels(name):
    *_, position = positions(ludus.make(name, **DRAWN[name]), 1, 8)
    pixels = raster(position, 200, 150)
    assert (pixels.shape, pixels.dtype) == ((150, 200, 3), np.uint8)
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 5


def test_pixels_show_pieces_where_they_lie(monkeypatch):
    game = ludus.make("tictactoe")
    monkeypatch.setattr(type(game), "drawing", lambda self, position: BOARD)
    cells, _ = grid(["2", "1"], ["a", "b"])
    ring = Piece("a2", paint="black", shape="bare", symbol="ring")
    BOARD = Board(cells=cells, pieces=[ring, Piece("b1", paint="red", shape="tile")])
    pixels = raster(game.start(), 300, 300).astype(int)  # 2.4 cells across, 2.95 down with the margins

    def at(x, y):
        """The colour at a point of the board, whose first cell is (0, 0)."""
        scale = 300 / 2.95
        return pixels[int((y + 0.8) * scale), int((300 - 2.4 * scale) / 2 + (x + 0.7) * scale)].tolist()

    assert at(1, 1) == [209, 73, 91]
    assert at(0, 0) == at(1, 0) == [233, 228, 216]  # the hole of the ring, and an empty cell
    assert at(0.25, 0) == at(0, -0.25) == at(-0.18, 0.18) == [51, 54, 63]
    assert at(-0.65, 0) == [255, 255, 255]


def test_a_game_without_a_drawing_is_pixels_of_its_text(monkeypatch):
    game = ludus.make("tictactoe")
    monkeypatch.setattr(type(game), "drawing", lambda self, position: None)
    assert raster(game.start(), 80, 60).min() < 128
    monkeypatch.setattr(type(game), "draw", lambda self, state: "\x1b[1m")
    assert raster(game.start(), 80, 60).shape == (60, 80, 3)
