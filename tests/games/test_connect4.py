import pytest

from ludus.errors import BadOption, BadPosition, IllegalMove
from ludus.registry import make
from ludus.rng import below, generator

GAME = make("connect4")


def perft(position, depth):
    if depth == 0 or position.is_over:
        return int(depth == 0)
    return sum(perft(position.play(action), depth - 1) for action in position.actions)


def test_perft():
    assert [perft(GAME.start(), depth) for depth in (1, 2, 3, 4)] == [7, 49, 343, 2401]
    # A column of 2 and lines of 2: games end early, in columns and out of moves.
    small = make("connect4", rows=2, columns=2, line=2)
    assert [perft(small.start(), depth) for depth in (1, 2, 3, 4)] == [2, 4, 6, 0]


@pytest.mark.parametrize(("rows", "columns"), [(6, 7), (4, 5), (9, 8)])
def test_agrees_with_openspiel(rows, columns):
    pyspiel = pytest.importorskip("pyspiel")
    theirs = pyspiel.load_game(f"connect_four(rows={rows},columns={columns})")
    ours = make("connect4", rows=rows, columns=columns).compile()
    for seed in range(40):
        random = generator(seed)
        state, position = theirs.new_initial_state(), ours.start()
        while not position.is_over:
            assert not state.is_terminal()
            assert state.current_player() == position.to_move
            assert state.legal_actions() == position.actions
            action = position.actions[below(random, len(position.actions))]
            state.apply_action(action)
            position = position.play(action)
            assert position == ours.parse(position.text)
        assert state.is_terminal()
        assert tuple(state.returns()) == position.values


@pytest.mark.parametrize(
    ("moves", "winner"),
    [
        ("a b a b a b a", 0),  # upwards
        ("a a b b c c d", 0),  # along a row
        ("a b b c c d c d d f d", 0),  # diagonally upwards
        ("g f f e e d e d d b d", 0),  # diagonally downwards
        ("a b a c a d b e", 1),
        ("a b a c a d b f", -1),
        ("d d d d d d e e e e e e c", -1),
    ],
)
def test_lines_win(moves, winner):
    position = GAME.start()
    for move in moves.split():
        assert not position.is_over
        position = position.play(move)
    assert position.is_over == (winner >= 0)
    assert position.values == {0: (1.0, -1.0), 1: (-1.0, 1.0), -1: (0.0, 0.0)}[winner]


@pytest.mark.parametrize(("move", "reason"), [("a", "column a is full"), ("h", "no column 'h'"), ("", "no column ''")])
def test_illegal_moves(move, reason):
    with pytest.raises(IllegalMove, match=reason):
        GAME.parse("o6/x6/o6/x6/o6/x6").play(move)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("7/7/7/7/7/3y3", "'y' is none of x o", 11),
        ("7/7/7/7/7/xoo4", "x has 1 stones and o has 2", None),
        ("7/7/7/7/x6/o6", None, None),
        ("7/7/7/7/x6/7", "column a, row 2 hangs in the air", None),
        ("7/7/7/7/oooo3/xxxx3", "both players have a line", None),
        ("7/7/7/7/7/xxxx1oo/7", "more than 6 rows", 17),
        ("7/7/7/7/oo5/xxxxoo1", "x has a line, yet", None),
    ],
)
def test_bad_positions(text, message, place):
    if message is None:
        assert GAME.parse(text).text == text
        return
    with pytest.raises(BadPosition, match=message) as caught:
        GAME.parse(text)
    assert caught.value.place == place


def test_bad_options():
    with pytest.raises(BadOption, match="rows and columns must be"):
        make("connect4", rows=0)
