"""The solver against what is known, against plain minimax, and against an independent solver."""

import numpy as np
import pytest

import ludus
from ludus.errors import Unsuitable
from ludus.search.solver import NotSolved, solve, value_of
from tests.search.test_known_solutions import random_positions


def minimax(position, known):
    """The value for player 0, without any cleverness."""
    if position.is_over:
        return position.values[0]
    if position not in known:
        values = [minimax(position.play(action), known) for action in position.actions]
        known[position] = max(values) if position.to_move == 0 else min(values)
    return known[position]


def test_every_position_of_tic_tac_toe():
    game = ludus.make("tictactoe")
    known = {}
    assert minimax(game.start(), known) == 0.0
    assert len(known) > 4000
    for index, (position, value) in enumerate(known.items()):
        if index % 13 == 0:
            sign = 1.0 if position.to_move == 0 else -1.0
            assert value_of(position, memory=1 << 22) == sign * value


def test_the_solution_names_the_moves_that_keep_the_value():
    game = ludus.make("tictactoe")
    solution = solve(game.parse("3/1x1/2o"))
    assert solution.value == 0.0
    assert solution.values.keys() == set(game.parse("3/1x1/2o").actions)
    assert solution.best == [action for action, value in solution.values.items() if value == 0.0]
    over = game.parse("xxx/oo1/3")
    assert solve(over).value == 1.0
    assert solve(over).best == []


def test_small_boards():
    # Known: a draw on all of these (John Tromp's table of Connect-4 results).
    for rows, columns in ((4, 4), (4, 5), (5, 4)):
        game = ludus.make("connect4", rows=rows, columns=columns)
        assert value_of(game.start()) == 0.0
    # Three in a row on a board of two rows by four columns and more is won at once by the open middle.
    assert value_of(ludus.make("connect4", rows=3, columns=5, line=3).start()) == 1.0


def test_breakthrough_agrees_with_minimax():
    game = ludus.make("breakthrough", height=5, width=3)
    known = {}
    for position in random_positions(game, 6, plies=range(10, 16)):
        sign = 1.0 if position.to_move == 0 else -1.0
        assert value_of(position, memory=1 << 24) == sign * minimax(position, known)


def test_unsuitable_games_and_limits():
    for name in ("laststone", "roshambo"):
        with pytest.raises(Unsuitable):
            solve(ludus.make(name).start())
    with pytest.raises(NotSolved, match="not solved within"):
        solve(ludus.make("connect4").start(), limit=0.3)


def test_against_bitbully():
    bitbully = pytest.importorskip("bitbully")
    oracle = bitbully.BitBully()
    game = ludus.make("connect4")
    for position in random_positions(game, 100, plies=range(14, 36), seed=7):
        board = bitbully.Board()
        for before in position.history[1:]:
            board.play(before.action)
        assert value_of(position, memory=1 << 25) == np.sign(oracle.mtdf(board)), position.text
