import re
from functools import cache

import numpy as np
import pytest

from ludus.errors import BadOption, BadPosition, IllegalMove
from ludus.registry import make
from ludus.rng import below, generator
from ludus.rules import heuristic

SIZES = [(8, 8), (6, 6), (3, 2), (4, 3), (5, 7), (13, 5), (9, 8), (8, 9), (11, 13), (30, 26)]


def legal_by_the_book(text):
    """The moves in a position, worked out from its text alone, with one character for each cell."""
    grid, side = text.split()
    rows = [re.sub("[0-9]+", lambda run: "." * int(run[0]), row) for row in grid.split("/")][::-1]
    forward = 1 if side == "w" else -1
    moves = set()
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            for sideways in (-1, 0, 1):
                to_row, to_column = row + forward, column + sideways
                if cell != side or not (0 <= to_row < len(rows) and 0 <= to_column < len(cells)):
                    continue
                there = rows[to_row][to_column]
                if there == "." or (sideways and there != side):
                    names = [f"{chr(ord('a') + c)}{r + 1}" for r, c in ((row, column), (to_row, to_column))]
                    moves.add(("" if there == "." else "x").join(names))
    return moves


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("compiled", [False, True], ids=["plain", "compiled"])
def test_legal_moves_by_the_book(height, width, compiled):
    game = make("breakthrough", height=height, width=width)
    if compiled:
        game.compile()
    random = generator(height, width)
    position, plies = game.start(), 0
    while not position.is_over and plies < 100:
        moves = position.moves
        assert set(moves) == legal_by_the_book(position.text)
        assert len(moves) == len(set(moves)) <= game.most_legal
        position = position.play(moves[below(random, len(moves))])
        plies += 1
        assert position == game.parse(position.text)
        assert position.states.tobytes() == game.parse(position.text).states.tobytes()
    assert plies <= game.longest


def test_longest_is_reached_where_armies_pass():
    """On the smallest board the bound on the plies is the length of the longest game."""
    game = make("breakthrough", height=3, width=2)

    @cache
    def longest(position):
        return 0 if position.is_over else 1 + max(longest(position.play(action)) for action in position.actions)

    assert longest(game.start()) == game.longest


@pytest.mark.parametrize(("rows", "columns"), [(6, 6), (8, 8), (7, 5), (6, 12), (5, 4)])
def test_agrees_with_openspiel(rows, columns):
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game(f"breakthrough(rows={rows},columns={columns})")
    # OpenSpiel gives each player one row of pieces on low boards; there, black begins, from the top.
    ours = make("breakthrough", height=rows, width=columns, ranks=2 if rows >= 6 else 1).compile()

    def flipped(move):
        return re.sub("[0-9]+", lambda row: str(rows + 1 - int(row[0])), move.replace("x", "").replace("*", ""))

    for seed in range(20):
        random = generator(seed)
        state, position = theirs.new_initial_state(), ours.start()
        while not position.is_over:
            assert not state.is_terminal()
            assert state.current_player() == position.to_move
            actions = {flipped(state.action_to_string(action)): action for action in state.legal_actions()}
            moves = {move.replace("x", ""): move for move in position.moves}
            assert actions.keys() == moves.keys()
            move = sorted(moves)[below(random, len(moves))]
            state.apply_action(actions[move])
            position = position.play(moves[move])
        assert state.is_terminal()
        assert tuple(state.returns()) == position.values


def perft(position, depth):
    if depth == 0 or position.is_over:
        return int(depth == 0)
    return sum(perft(position.play(action), depth - 1) for action in position.actions)


def test_perft():
    """As OpenSpiel counts them."""
    assert [perft(make("breakthrough", height=6, width=6).start(), depth) for depth in (1, 2, 3)] == [16, 256, 4308]
    assert [perft(make("breakthrough").start(), depth) for depth in (1, 2)] == [22, 484]


def test_far_row_wins():
    game = make("breakthrough", height=6, width=6)
    white = game.parse("b5/1w4/6/6/b4w/6 w").play("b5xa6")
    assert white.is_over
    assert white.values == (1.0, -1.0)
    assert white.actions == []
    black = game.parse("b5/1w4/6/6/b4w/6 b").play("a2b1")
    assert black.values == (-1.0, 1.0)
    assert str(black).endswith("  a b c d e f\nblack has won")
    assert black == game.parse(black.text)


def test_last_piece_captured_wins():
    game = make("breakthrough", height=6, width=6)
    position = game.parse("6/6/2b3/1w4/6/6 w").play("b3xc4")
    assert position.values == (1.0, -1.0)
    assert position.text == "6/6/2w3/6/6/6 b"
    assert position == game.parse(position.text)


def test_pieces_do_not_capture_straight_on_nor_wrap_around():
    game = make("breakthrough", height=6, width=6)
    assert set(game.parse("6/6/b4b/w4w/6/6 w").moves) == {"a3b4", "f3e4"}
    assert set(game.parse("6/6/b4b/w4w/6/6 b").moves) == {"a4b3", "f4e3"}


def test_actions_and_observation_are_as_the_mover_sees_them():
    """A position turned by half a turn, with colours and turn exchanged, is the same to the mover."""
    game = make("breakthrough", height=6, width=5)
    white = game.parse("1b3/5/2b2/3w1/w4/5 w")
    black = game.parse("5/4b/1b3/2w2/5/3w1 b")
    assert white.actions == sorted(black.actions)
    assert np.array_equal(white.observe(), black.observe())
    assert np.array_equal(white.observe(1), black.observe(0))
    assert not np.array_equal(white.observe(), white.observe(1))
    assert white.observe().shape == (3, 6, 5)
    assert np.argwhere(white.observe()[0]).tolist() == [[1, 0], [2, 3]]
    assert np.argwhere(white.observe()[1]).tolist() == [[3, 2], [5, 1]]
    assert white.observe()[2].all()
    assert not white.observe(1)[2].any()


def test_heuristic_likes_pieces_and_advance():
    game = make("breakthrough", height=6, width=6)

    def guess(text):
        position = game.parse(text)
        values = [heuristic(game.rules, position.state, player) for player in range(2)]
        assert values[0] == -values[1]
        assert -1 < values[0] < 1
        return values[0]

    assert guess(game.start().text) == 0
    assert guess("b5/6/6/6/6/ww4 w") > guess("b5/6/6/6/6/w5 w") == 0
    assert guess("b5/6/w5/6/6/6 w") > guess("b5/6/6/w5/6/6 w") > 0
    assert guess("6/6/6/b5/6/w5 w") < 0


def test_start_and_drawing():
    assert make("breakthrough").start().text == "bbbbbbbb/bbbbbbbb/8/8/8/8/wwwwwwww/wwwwwwww w"
    assert make("breakthrough", height=3, width=4).start().text == "bbbb/4/wwww w"
    assert make("breakthrough", height=7, width=2, ranks=3).start().text == "bb/bb/bb/2/ww/ww/ww w"
    assert str(make("breakthrough", height=4, width=3).start()) == (
        "4 b b b\n3 b b b\n2 w w w\n1 w w w\n  a b c\nwhite to move"
    )


def test_notation():
    game = make("breakthrough", height=6, width=6)
    position = game.parse("6/6/2b3/1w4/1b4/6 w")
    assert position.moves == ["b3a4", "b3b4", "b3xc4"]
    assert position.action_of("B3xC4") == position.action_of("b3c4") == position.action_of(" b3-c4 ")
    wide = make("breakthrough", height=6, width=26)
    assert wide.parse("26/26/22b3/23w2/26/26 w").moves == ["x3xw4", "x3x4", "x3y4"]
    assert [wide.parse("26/26/22b3/23w2/26/26 w").action_of(move) % 3 for move in ("x3w4", "x3x4", "x3y4")] == [0, 1, 2]


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("hello", "not a move"),
        ("b3", "not a move"),
        ("b3g4", "no cell g4; cells are a1 to f6"),
        ("b7b8", "no cell b7"),
        ("a3a4", "white has no piece on a3"),
        ("c4c3", "white has no piece on c4"),
        ("b3b2", "one row forward"),
        ("b3d4", "one row forward"),
        ("b3b5", "one row forward"),
        ("b3b4", "b4 is occupied, and pieces capture only diagonally"),
        ("b3a4", "white has a piece of its own on a4"),
        ("a4xb5", "no piece to capture on b5"),
    ],
)
def test_illegal_moves(move, reason):
    with pytest.raises(IllegalMove, match=reason):
        make("breakthrough", height=6, width=6).parse("6/6/wbb3/1w4/6/6 w").play(move)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("bbb/3/3/www", "comes w or b, whose turn it is, not ''", 12),
        (" bbb/3/3/www x", "not 'x'", 13),
        ("bbb/3/3/www w b", "not 'w b'", 12),
        ("bbb/3/xx/www w", "'x' is none of w b", 6),
        ("bbb/3/3 w", "ends in row 3 of 4", 7),
        ("b2/www/www/1w1 w", "w has more than the 6 pieces it begins with", 12),
        ("bw1/3/3/w2 w", "w has won, so it is not the turn of w", 11),
        ("3/bbb/3/b2 b", "b has won, so it is not the turn of b", 11),
        ("b1w/3/3/w1b b", "both players have won", 0),
        ("3/3/w2/3 w", "w has won", 9),
        ("3/3/3/3 w", "the board is empty", 0),
    ],
)
def test_bad_positions(text, message, place):
    with pytest.raises(BadPosition, match=message) as caught:
        make("breakthrough", height=4, width=3).parse(text)
    assert caught.value.place == place


@pytest.mark.parametrize(
    "options", [{"height": 2}, {"height": 31}, {"width": 1}, {"width": 27}, {"ranks": 0}, {"height": 3, "ranks": 2}]
)
def test_bad_options(options):
    with pytest.raises(BadOption, match="breakthrough: "):
        make("breakthrough", **options)


def test_boards_of_up_to_64_cells_share_their_machine_code():
    assert make("breakthrough").state == make("breakthrough", height=3, width=2).state
    assert make("breakthrough", height=9).state != make("breakthrough").state
