"""Games and positions as people use them."""

import copy
import json
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.errors import BadOption, BadPosition, IllegalMove, LudusError
from ludus.game import Game, Position, convert_options

TOGETHER = str(Path(__file__).parent / "broken_games" / "together.py")


@pytest.fixture(params=["plain", "compiled"])
def connect4(request):
    game = ludus.make("connect4")
    return game.compile() if request.param == "compiled" else game


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_a_position_goes_through_json():
    position = ludus.make("connect4", rows=5).start().play("d")
    data = json.loads(json.dumps(position.json))
    options = {"rows": 5, "columns": 7, "line": 4}
    assert data["game"] == {"source": "connect4", "options": options, "digest": ""}
    assert (data["name"], data["version"]) == ("connect4", 1)
    assert (data["to_move"], data["is_over"], data["values"]) == (1, False, [0.0, 0.0])
    assert data["moves"][3] == {"action": 3, "move": "d"}
    assert ludus.from_json(data) == ludus.from_json(json.dumps(data)) == position
    former = {**data, "game": "connect4", "options": options}  # as Ludus 0.1 wrote it
    assert ludus.from_json(former) == position


@pytest.mark.parametrize("wrong", ["", "[]", "{}", '{"game": "connect4"}', None])
def test_other_json_is_refused(wrong):
    with pytest.raises(BadPosition, match="not the JSON of a position"):
        ludus.from_json(wrong)


def test_json_of_another_version_is_refused():
    data = {**ludus.make("connect4").start().json, "version": 99}
    with pytest.raises(BadPosition, match="version 99"):
        ludus.from_json(data)


# --- A game of people -------------------------------------------------------------------------------------------------


def test_a_game_from_start_to_end(connect4):
    position = connect4.start()
    assert (position.to_move, position.is_over, position.values) == (0, False, (0.0, 0.0))
    assert position.moves == list("abcdefg")
    assert position.actions == [0, 1, 2, 3, 4, 5, 6]
    for move in "dedede":
        position = position.play(move)
    assert (position.to_move, position.actions_of(0), position.actions_of(1)) == (0, [0, 1, 2, 3, 4, 5, 6], [])
    won = position.play("d")
    assert won.is_over
    assert won.values == (1.0, -1.0)
    assert won.to_move == ludus.EVERYONE
    assert won.actions == won.moves == won.actions_of(0) == won.actions_of(1) == []
    assert won.played == list("dededed")
    assert won.text == "7/7/3x3/3xo2/3xo2/3xo2"
    assert str(won).splitlines()[2:] == [
        " . . . x . . .",
        " . . . x o . .",
        " . . . x o . .",
        " . . . x o . .",
        " a b c d e f g",
    ]


def test_moves_are_given_in_notation_or_as_ids(connect4):
    start = connect4.start()
    for move in (3, np.int32(3), np.int64(3), "d", " D "):
        position = start.play(move)
        assert position.text == "7/7/7/7/7/3x3"
        assert position.action == 3
        assert type(position.action) is int
    assert (start.notation(3), start.action_of("d")) == ("d", 3)


def test_positions_do_not_change(connect4):
    start = connect4.start()
    before = start.states.tobytes()
    first, second = start.play("a"), start.play("b")
    assert start.states.tobytes() == before
    assert first.text != second.text
    assert first.states is not second.states
    start.actions.clear()
    start.actions_of(0).clear()
    assert len(start.actions) == 7
    with pytest.raises(IllegalMove):
        start.play("z")
    assert start.states.tobytes() == before


def test_history_goes_back_to_the_first_known_position(connect4):
    position = connect4.parse("7/7/7/7/7/3x3").play("a").play("b")
    assert [each.text for each in position.history] == ["7/7/7/7/7/3x3", "7/7/7/7/7/o2x3", "7/7/7/7/7/ox1x3"]
    assert position.played == ["a", "b"]
    assert position.parent == position.history[1]
    assert position.history[0].parent is None
    assert position.history[0].action is None
    assert position.history[0].played == []


# --- Equality ---------------------------------------------------------------------------------------------------------


def test_positions_are_equal_if_game_and_state_are():
    game, other = ludus.make("connect4"), ludus.make("connect4", line=5)
    one = game.start().play("a").play("b").play("c")
    two = ludus.make("connect4").compile().start().play("c").play("b").play("a")
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two, one.play("d")}) == 2
    assert one != other.start().play("a").play("b").play("c")
    assert one != game.start()
    assert one != one.text


def test_copies_and_pickles_are_equal(connect4):
    position = connect4.start().play("d")
    for twin in (copy.copy(position), copy.deepcopy(position), pickle.loads(pickle.dumps(position))):
        assert twin == position
        assert twin.play("e") == position.play("e")
        assert twin.played == ["d"]


def test_repr_names_game_and_position():
    game = ludus.make("connect4", rows=4)
    assert repr(game) == game.identity == "connect4(rows=4,columns=7,line=4)v1"
    assert repr(game.start().play("d")) == "<connect4 7/7/7/3x3>"


def test_identity_tells_arrays_apart():
    game, other = ludus.make(TOGETHER), ludus.make(TOGETHER)
    assert game.identity == other.identity
    other.rules = other.rules._replace(prizes=np.array([1, 4, 10]))
    assert game.identity != other.identity
    assert len(game.identity) < 60


# --- Text -------------------------------------------------------------------------------------------------------------


def test_texts_are_read_back(connect4):
    position = connect4.start()
    for move in "ddcebba":
        position = position.play(move)
        again = connect4.parse(position.text)
        assert again == position
        assert again.actions == position.actions


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the text ends in row 1 of 6"),
        ("7/7/7/7/7/3z3", "position text, character 12: 'z' is none of x o"),
        ("7/7/7/7/7/8", "character 11: row 6 has more than 7 cells"),
        ("7/7/7/7/7/6", "after 6 of 7 cells"),
        ("7/7/7/7/7/ooo4", "x has 0 stones and o has 3"),
        ("7/7/7/7/3x3/7", "hangs in the air"),
    ],
)
def test_bad_texts_are_refused_with_the_place(text, told):
    with pytest.raises(BadPosition) as caught:
        ludus.make("connect4").parse(text)
    assert told in str(caught.value)
    assert isinstance(caught.value, LudusError)


# --- What cannot be played --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("move", "told"),
    [
        ("h", "there is no column 'h'; columns are a to g"),
        ("", "there is no column ''"),
        (7, "action 7 is not legal in this position"),
        (-1, "action -1 is not legal in this position"),
        ((0, 1), "(0, 1) cannot be played: this position takes one id"),
    ],
)
def test_illegal_moves_are_refused_with_the_reason(connect4, move, told):
    with pytest.raises(IllegalMove) as caught:
        connect4.start().play(move)
    assert told in str(caught.value)


def test_full_columns_and_finished_games(connect4):
    position = connect4.start()
    for _ in range(6):
        position = position.play("a")
    assert position.moves == list("bcdefg")
    with pytest.raises(IllegalMove, match="column a is full"):
        position.play("a")
    with pytest.raises(IllegalMove, match="action 0 is not legal in this position"):
        position.play(0)
    over = connect4.parse("7/7/3x3/3xo2/3xo2/3xo2")
    for move in ("a", 0):
        with pytest.raises(IllegalMove, match="the game is over"):
            over.play(move)


# --- Where everyone moves ---------------------------------------------------------------------------------------------


def test_everyone_moves_at_once():
    start = ludus.make("roshambo", rounds=2).start()
    assert start.to_move == ludus.EVERYONE
    assert (start.actions_of(0), start.actions_of(1)) == ([0, 1, 2], [0, 1, 2])
    assert len(start.actions) == len(start.moves) == 9
    assert (start.actions[1], start.moves[1]) == ((0, 1), "rock,paper")
    assert start.action_of("rock, paper") == (0, 1)
    for move in ("rock,paper", (0, 1), [0, 1], np.array([0, 1])):
        position = start.play(move)
        assert position.action == (0, 1)
        assert position.played == ["rock,paper"]
    for wrong, told in (
        ("rock", "everyone moves here, so give 2 moves joined by commas"),
        (0, "this position takes one id for each player"),
        ((0, 3), "not legal"),
        ((0,), "not legal"),
    ):
        with pytest.raises(IllegalMove, match=told):
            start.play(wrong)


def test_players_without_a_choice_give_minus_one():
    position = ludus.make(TOGETHER).start().play("bid1,bid3,bid2")
    assert (position.to_move, position.actions) == (2, [0, 1, 2])
    position = position.play("bid1")
    assert position.to_move == ludus.EVERYONE
    assert [position.actions_of(player) for player in range(3)] == [[0, 1, 2], [], [0, 1, 2]]
    assert position.actions[0] == (0, -1, 0)
    assert position.moves[0] == "bid1,-,bid1"
    after = position.play("bid2,-,bid3")
    assert after.action == (1, -1, 2)
    assert after == position.play((1, -1, 2))
    assert after.played == ["bid1,bid3,bid2", "bid1", "bid2,-,bid3"]
    with pytest.raises(IllegalMove, match="not legal"):
        position.play((1, 0, 2))
    over = after.play("bid1")
    assert over.is_over
    assert over.values == pytest.approx((0.05, 0.09, 0.15))


# --- Observations -----------------------------------------------------------------------------------------------------


def test_observations_are_from_the_view_of_a_player(connect4):
    position = connect4.start().play("d")
    planes = position.observe()
    assert (planes.shape, planes.dtype) == ((2, 6, 7), np.float32)
    assert planes[1, 0, 3] == planes.sum() == 1
    assert np.array_equal(planes[::-1], position.observe(0))
    with pytest.raises(BadOption, match="together has no observation"):
        ludus.make(TOGETHER).start().observe()


# --- Options ----------------------------------------------------------------------------------------------------------


def test_options_are_converted_to_the_types_of_their_defaults():
    known = {"size": 3, "rate": 0.5, "swap": True, "mode": "long"}
    assert convert_options("x", known, {}) == known
    given = {"size": "7", "rate": "1", "swap": "no", "mode": "short"}
    assert convert_options("x", known, given) == {"size": 7, "rate": 1.0, "swap": False, "mode": "short"}
    assert convert_options("x", known, {"size": 4.0, "swap": 0})["size"] == 4


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"size": "big"}, "x: option size must be a whole number, not 'big'"),
        ({"size": 1.5}, "x: option size must be a whole number, not 1.5"),
        ({"size": None}, "x: option size must be a whole number, not None"),
        ({"rate": "much"}, "x: option rate must be a finite number, not 'much'"),
        ({"swap": "maybe"}, "x: option swap must be yes or no, not 'maybe'"),
        ({"wide": 3}, "x has no option 'wide'; its options are size, rate, swap"),
    ],
)
def test_bad_options_are_refused(given, told):
    with pytest.raises(BadOption) as caught:
        convert_options("x", {"size": 3, "rate": 0.5, "swap": True}, given)
    assert str(caught.value) == told


def test_a_game_without_options_says_so():
    with pytest.raises(BadOption, match="x has no option 'size'; it has no options"):
        convert_options("x", {}, {"size": 3})


@pytest.mark.parametrize("move", [None, float("inf"), float("nan"), 3.5, ("n", "e"), [[1], [2, 3]], object(), b"d"])
def test_what_is_no_move_is_refused(move):
    for game in (ludus.make("connect4"), ludus.make("roshambo")):
        with pytest.raises(IllegalMove, match="is no move: give its notation or its action id"):
            game.start().play(move)
        with pytest.raises(IllegalMove, match="is no move"):
            game.start().action_of(move)
        with pytest.raises(IllegalMove, match="is no move"):
            game.start().notation(move)
        with pytest.raises(BadPosition, match="a position is given as text"):
            game.parse(move)


def test_messages_are_cut_where_they_quote_a_long_text():
    for game in (ludus.make("connect4"), ludus.make("hive")):
        for ask in (game.parse, game.start().play):
            with pytest.raises(LudusError) as raised:
                ask("x" * 100_000)
            assert len(str(raised.value)) < 1100
        with pytest.raises(IllegalMove, match="is no action: action ids are 0 to"):
            game.start().notation(game.actions)


# --- What games and kernels share -------------------------------------------------------------------------------------


def test_states_are_records_or_rows():
    records, rows = ludus.make("connect4"), ludus.make(TOGETHER)
    assert records.new_states(3).shape == (3,)
    assert rows.new_states(3).shape == (3, 5)
    states = records.new_states(2)
    records.state_view(states, 1).ply = 5
    assert states["ply"].tolist() == [0, 5]
    states = rows.new_states(2)
    rows.state_view(states, 1)[0] = 5
    assert states[:, 0].tolist() == [0, 5]


def test_rules_keep_the_functions_beside_them():
    """Whoever else names them."""
    connect4 = ludus.make("connect4")

    class Borrowed(type(connect4)):
        Rules = type(connect4.rules)
        name = "borrowed"

    assert Borrowed().start().play("d").text == connect4.start().play("d").text


def test_what_a_game_does_not_define_is_asked_for():
    class Silent(Game):
        Rules = type(ludus.make("connect4").rules)
        name = "silent"

    with pytest.raises(NotImplementedError, match=r"Silent must define setup\(\)"):
        Silent()


def test_default_notation_is_the_id_and_errors_list_the_legal_ones():
    game = ludus.make("connect4")
    state = game.start().state
    assert Game.write_move(game, state, 0, 3) == "3"
    assert Game.read_move(game, state, 0, " D ") == 3
    with pytest.raises(IllegalMove, match="'h' is not a legal move here; legal: a b c d e f g"):
        Game.read_move(game, state, 0, "h")
    assert (Game.player_name(game, 0), Game.draw(game, state)) == ("player 1", game.write(state))


def test_has_knows_the_optional_functions():
    game = ludus.make("connect4")
    names = ("observe", "symmetry", "heuristic", "play_together", "fingerprint")
    assert [game.has(name) for name in names] == [True, True, True, False, False]


def test_the_seed_matters_only_to_random_set_ups():
    game = ludus.make("connect4")
    assert game.start(1) == game.start(2)
    probe = ludus.make(str(Path(__file__).parent / "native_games" / "probe.py"))
    assert probe.start(1) == probe.start(1) != probe.start(2)


def test_positions_are_made_from_states():
    game = ludus.make("connect4")
    assert Position(game, game.start().play("d").states.copy()).text == "7/7/7/7/7/3x3"


def test_a_position_that_is_being_compiled_does_not_hold_up_others():
    slow, quick, began, end = ludus.make("tictactoe"), ludus.make("tictactoe"), threading.Event(), threading.Event()
    run = slow.run

    def compile_first(*arguments):
        began.set()
        assert end.wait(60)
        return run(*arguments)

    slow.run = compile_first
    thread = threading.Thread(target=lambda: slow.start().is_over)
    thread.start()
    assert began.wait(60)
    seen = []
    other = threading.Thread(target=lambda: seen.append(len(quick.start().moves)))
    other.start()
    other.join(10)
    end.set()
    thread.join()
    assert seen == [9]
