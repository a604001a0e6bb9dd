"""Messages of general game managers as text and as objects, and scrambling."""

from random import Random

import pytest

from ludus.gdl.language import read_description
from ludus.ggp.line import Line
from ludus.ggp.messages import (
    Abort,
    BadMessage,
    Info,
    Play,
    Preview,
    Start,
    Stop,
    find_spelling,
    names_in_brackets,
    read_message,
    read_move,
    with_brackets,
    write_message,
)
from ludus.protocols.ggp_scrambling import Scrambler
from tests.protocols.ggp.ggp_help import TICTACTOE, plain_game


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("( INFO )", Info()),
        ("(info)", Info()),
        ("(Info and more)", Info()),
        ("( PLAY m1 NIL )", Play("m1", None)),
        ("(PLAY m1 nil)", Play("m1", None)),
        ("(play M.1 ())", Play("M.1", None)),
        ("( PLAY m1 (( mark  3 1 ) noop ) )", Play("m1", ("(mark 3 1)", "noop"))),
        ("(PLAY M1 ((MARK 3 1)(NOOP)))", Play("M1", ("(MARK 3 1)", "NOOP"))),
        ("( STOP m1 ((move (at 1 2) b) noop) )", Stop("m1", ("(move (at 1 2) b)", "noop"))),
        ("(STOP m1 NIL)", Stop("m1", None)),
        ("( ABORT m1 ) ; a comment", Abort("m1")),
        ("(PREVIEW ((role a) (<= terminal (true x))) 5)", Preview("(role a)\n(<= terminal (true x))", 5)),
        ("( START m1 White ((role White)) 60 10 more )", Start("m1", "White", "(role White)", 60, 10)),
        ("(START m1 ( p  1 ) ((role (p 1))) 9 1)", Start("m1", "(p 1)", "(role (p 1))", 9, 1)),
        ("(START m1 (p) ((role p)) 9 1)", Start("m1", "p", "(role p)", 9, 1)),
    ],
)
def test_a_message_is_read_in_every_layout(text, message):
    assert read_message(text) == message
    assert read_message(write_message(message)) == message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "INFO",
        "()",
        "(())",
        "((INFO))",
        "(HELLO)",
        "(INFO) (INFO)",
        "(PLAY)",
        "(PLAY m1)",
        "(PLAY (m1) NIL)",
        "(PLAY m1 move)",
        "(START m1 white rules 1 1)",
        f"(START m1 ({'p ' * 200}) (r) 1 1)",
        "(START m1 white (r) -1 1)",
        "(START m1 white (r) 1.5 1)",
        "(START m1 white (r) 1)",
        "(PREVIEW (r))",
        f"(ABORT {'m' * 1000})",
        "(PLAY m1 " + "(" * 500 + ")" * 500 + ")",
        "(PLAY m1 (noop)",
        "(PLAY m1 noop))",
    ],
)
def test_what_is_no_message_is_refused_in_one_line(text):
    with pytest.raises(BadMessage) as raised:
        read_message(text)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 300


def test_a_clock_is_bounded():
    assert read_message("(START m a (r) 99999999999999 1)").start_clock == 7 * 24 * 3600


@pytest.mark.parametrize(("text", "move"), [(" (mark 1\n1) ", "(mark 1 1)"), ("(noop)", "noop"), ("NOOP", "NOOP")])
def test_the_move_of_an_answer(text, move):
    assert read_move(text) == move


@pytest.mark.parametrize("text", ["", "a b", "(a", "a)", "<html> no </html>"])
def test_an_answer_that_is_not_one_term_is_refused(text):
    with pytest.raises(BadMessage):
        read_move(text)


def test_a_name_is_found_as_spelled_and_else_by_its_letters():
    assert find_spelling("b", ["B", "b"]) == 1
    assert find_spelling("A", ["a", "b"]) == 0
    assert find_spelling("bB", ["BB", "bb"]) is None  # two are meant
    assert find_spelling("c", ["a", "b"]) is None


def test_a_scrambled_description_is_the_same_game_in_other_words():
    scrambler = Scrambler(TICTACTOE, Random(3))
    assert "mark" not in scrambler.rules
    assert "(role " in scrambler.rules
    assert "100" in scrambler.rules
    assert read_description(scrambler.rules) != read_description(TICTACTOE)
    plain, other, random = Line(plain_game()), Line(plain_game(scrambler.rules)), Random(1)
    assert [scrambler.scramble(role) for role in plain.roles] == other.roles
    while not plain.is_over:
        joint = [random.choice(list(plain.moves(role))) for role in range(2)]
        renamed = [scrambler.scramble(move) for move in joint]
        assert [scrambler.restore(move) for move in renamed] == joint
        for role in range(2):
            assert {scrambler.scramble(move) for move in plain.moves(role)} == set(other.moves(role))
        plain.play(joint)
        other.play(renamed)
    assert plain.goals == other.goals
    assert scrambler.restore("(unheard of)") == "(unheard of)"


def test_a_name_without_arguments_is_written_as_the_rules_write_it():
    rules = "(legal a (noop)) (<= (legal a (put (x) y)) (true (free x))) (<= (next p) (does a noop)) (legal b wait) (q)"
    names = names_in_brackets(rules)
    assert names == {"noop", "x", "q"}
    assert [with_brackets(move, names) for move in ("noop", "wait", "(put x y)")] == ["(noop)", "wait", "(put (x) y)"]
