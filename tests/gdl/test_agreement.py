"""One game, several implementations: native rules, the network, 512 games at once, and the promises of a game."""

from random import Random

import numpy as np
import pytest

import ludus
from ludus.gdl.game import make
from ludus.gdl.modes import find_modes
from ludus.gdl.sheets import names
from ludus.gdl.wide import make_lanes, play_out_all
from ludus.rng import generator
from ludus.rules import EVERYONE
from ludus.search.forest import Forest
from ludus.search.random_play import play_games
from ludus.testing import check_game


def letter(number):
    return "abcdefgh"[int(number) - 1]


def to_mark(term):
    return f"{letter(term[2])}{term[1]}"


def to_drop(term):
    return letter(term[1])


def to_step(term):
    return f"{letter(term[1])}{term[2]}{letter(term[3])}{term[4]}"


@pytest.mark.parametrize(
    ("name", "native", "options", "native_move", "plies"),
    [
        ("tictactoe", "tictactoe", {}, to_mark, 2000),
        ("connect4", "connect4", {}, to_drop, 2000),
        ("connect4-8x6", "connect4", {"columns": 8}, to_drop, 1500),
        ("breakthrough-6x6", "breakthrough", {"height": 6, "width": 6}, to_step, 1500),
        ("breakthrough-8x8", "breakthrough", {}, to_step, 1000),
    ],
)
def test_a_rule_sheet_agrees_with_the_native_game_position_by_position(name, native, options, native_move, plies):
    described, own, random = make(name), ludus.make(native, **options), Random(1)
    assert (described.players, described.simultaneous, described.zero_sum) == (2, False, True)
    mine, theirs = described.start(), own.start()
    for _ in range(plies):
        assert (mine.is_over, mine.values) == (theirs.is_over, theirs.values)
        if mine.is_over:
            mine, theirs = described.start(), own.start()
            continue
        assert mine.to_move == theirs.to_move
        moves = {native_move(described.terms[action]): action for action in mine.actions}
        others = {move.replace("x", ""): action for move, action in zip(theirs.moves, theirs.actions, strict=True)}
        assert set(moves) == set(others)
        move = random.choice(sorted(moves))
        mine, theirs = mine.play(moves[move]), theirs.play(others[move])


@pytest.mark.parametrize("name", ["tictactoe", "babel", "eightpuzzle"])
def test_small_rule_sheets_keep_the_promises_of_a_game(name):
    assert check_game(f"gdl:{name}", games=2).games == 2


@pytest.mark.parametrize(
    ("name", "players", "at_once", "cancels"),
    [("eightpuzzle", 1, False, False), ("pacman", 3, True, False), ("tron", 4, True, False)],
)
def test_turns_and_sums_are_known(name, players, at_once, cancels):
    game = make(name)
    assert (game.players, game.simultaneous, game.zero_sum) == (players, at_once, cancels)
    assert (game.start().to_move == EVERYONE) == at_once


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "babel", "pacman"])
def test_playouts_of_many_games_at_once_have_the_results_of_single_ones(name):
    game, count = make(name), 4000
    start = game.start().states
    wide = np.zeros((count, game.players), np.float32)
    play_out_all(game.rules, np.repeat(start, count, 0), generator(1), make_lanes(game.rules), wide)
    single = np.zeros((count, game.players), np.float32)
    actions, joint = np.zeros(game.most_legal, np.int32), np.zeros(game.players, np.int32)
    states, random = game.new_states(1), generator(2)
    for row in single:
        play_games(game.rules, start, states, random, actions, joint, row, 1)
    assert np.isin(wide, game.rules.goal_values).all()
    spread = np.sqrt((wide.var(0) + single.var(0)) / count)
    assert np.all(np.abs(wide.mean(0) - single.mean(0)) <= 4.5 * spread + 1e-6)


@pytest.mark.parametrize("name", [name for name in names() if name != "othello"])  # which takes long to load
def test_the_circuit_makes_the_moves_and_gets_the_values_of_a_sweep(name):
    game = make(name)
    swept = game.rules._replace(mode_after=game.rules.mode_after[:0])
    start, states = game.start().states, game.new_states(1)
    actions, joint = np.zeros(game.most_legal, np.int32), np.zeros(game.players, np.int32)
    results = []
    for rules in (game.rules, swept):
        random, values = generator(4), np.zeros((40, game.players), np.float32)
        for row in values:
            play_games(rules, start, states, random, actions, joint, row, 1)
        results.append((values.tolist(), random.tolist()))  # equal random states: the same number of choices
    assert results[0] == results[1]


def test_scratch_behind_states_changes_no_search():
    found = []
    for keep in (True, False):
        game = make("connect4")
        assert game.scratch > 0
        game.scratch *= keep
        forest = Forest(game, nodes=2000, seed=1)
        forest.plant(game.start().play("(drop 3)"))
        forest.search(simulations=1500)
        found.append((forest.conclude()[1].tolist(), forest.trees.random.tolist()))
    assert found[0] == found[1]


def test_turns_of_the_board_that_keep_the_rules_are_symmetries_for_learning():
    assert [make(name).symmetries for name in ("tictactoe", "connect4", "babel")] == [8, 2, 1]


def test_facts_that_follow_a_cycle_are_modes():
    turns, _ = find_modes(make("connect4").network)
    assert len(turns) == 2
    assert all(sum(mode.values()) == 1 for mode in turns)
    assert find_modes(make("pacman").network)[1] == [0]


def test_a_position_outside_the_cycle_is_swept():
    nobody = make("tictactoe").parse("#3 (cell 1 1 blank)")
    assert nobody.is_over  # no role has a move
    assert nobody.values == (0.0, 0.0)


def test_playouts_of_many_games_at_once_end_each_position_in_its_own_place():
    game = make("tictactoe")
    won = game.start()
    for move in ("(mark 1 1)", "(mark 2 1)", "(mark 1 2)", "(mark 2 2)"):
        won = won.play(move)
    one_left = game.start()  # x has the last move, which wins or draws
    for row, column in ("11", "12", "13", "22", "21", "23", "32", "31"):
        one_left = one_left.play(f"(mark {row} {column})")
    states = np.concatenate([won.play("(mark 1 3)").states, one_left.states] * 700)
    results = np.zeros((len(states), 2), np.float32)
    play_out_all(game.rules, states, generator(3), make_lanes(game.rules), results)
    assert np.all(np.isnan(results[0::2, 0]))  # over already
    assert np.all(results[1::2] == np.float32(one_left.play(one_left.actions[0]).values))


def test_a_game_without_an_end_is_cut_off(tmp_path):
    text = (
        "(role a) (legal a x) (legal a y) (init p) (next p) (goal a 100) (<= terminal (true q)) (<= (next q) (true q))"
    )
    (tmp_path / "endless.kif").write_text(text)
    position = ludus.make(tmp_path / "endless.kif", longest=5).start()
    for _ in range(5):
        assert not position.is_over
        position = position.play("x")
    assert (position.is_over, position.values) == (True, (0.0,))
