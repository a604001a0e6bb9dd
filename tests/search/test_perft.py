"""Perft: known counts, and agreement with counting by hand."""

import pytest

import ludus
from ludus.errors import BadOption
from ludus.search.perft import perft


def count(position, depth):
    """The same in plain Python."""
    return 1 if depth == 0 else sum(count(position.play(action), depth - 1) for action in position.actions)


def test_tic_tac_toe():
    start = ludus.make("tictactoe").start()
    assert [perft(start, depth) for depth in range(10)] == [1, 9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    assert perft(start, 10) == 0


@pytest.mark.parametrize(
    ("name", "options", "depth"),
    [
        ("connect4", {"rows": 4, "columns": 4}, 5),
        ("breakthrough", {"height": 6, "width": 4}, 3),
        ("laststone", {"stones": 9}, 6),
        ("roshambo", {"rounds": 3}, 3),
    ],
)
def test_agrees_with_plain_python(name, options, depth):
    game = ludus.make(name, **options)
    for ply in range(depth + 1):
        assert perft(game.start(), ply) == count(game.start(), ply)


def test_connect4_from_the_empty_board():
    # Known: 7^7 ways less those in which a game of 7 plies is over before.
    game = ludus.make("connect4")
    assert perft(game.start(), 7) == 823536
    assert perft(game.start(), 8) == 5673234


def test_a_negative_depth_is_refused():
    with pytest.raises(BadOption):
        perft(ludus.make("tictactoe").start(), -1)
