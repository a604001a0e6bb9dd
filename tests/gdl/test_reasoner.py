"""The reasoner, which evaluates rules as they stand, gives the answers of the grounded network."""

from pathlib import Path
from random import Random

import pytest

import ludus
from ludus.gdl.game import GdlGame, make, make_file, networks_of
from ludus.gdl.grounding import CannotGround, ways_to_ground
from ludus.gdl.kif import show
from ludus.gdl.language import read_description
from ludus.gdl.reasoned import ReasonedGame
from ludus.gdl.reasoner import Reasoner
from ludus.gdl.sheets import names
from ludus.gdl.tables import TooLarge
from ludus.rules import EVERYONE
from tests.gdl.naive import Naive
from tests.gdl.random_descriptions import ByReasoner, Writer, differences, usual_ways

SHEETS = Path(__file__).parent / "sheets"
LARGE = ("othello",)
"""Rule sheets that take long to ground."""


@pytest.mark.parametrize("name", [name for name in names() if name not in LARGE])
def test_both_ways_play_the_rule_sheets_alike(name):
    grounded, reasoned, random = make(name), make(name, reasoner=True), Random(3)
    assert isinstance(grounded, GdlGame)
    assert isinstance(reasoned, ReasonedGame)
    mine, other = grounded.start(), reasoned.start()
    for _ in range(60):
        assert (mine.is_over, mine.values, mine.to_move) == (other.is_over, other.values, other.to_move)
        assert set(grounded.facts(mine.state)) == set(reasoned.facts(other.state))
        if mine.is_over:
            break
        players = range(mine.game.players) if mine.to_move == EVERYONE else [mine.to_move]
        moves = []
        for player in players:
            legal = [grounded.write_move(mine.state, player, id) for id in mine.actions_of(player)]
            assert legal == [reasoned.write_move(other.state, player, id) for id in other.actions_of(player)]
            moves.append(random.choice(legal))
        mine, other = mine.play(",".join(moves)), other.play(",".join(moves))
    else:
        assert name not in ("tictactoe", "connect4", "babel")


@pytest.mark.parametrize("seed", range(25))
def test_random_descriptions_have_one_meaning(seed):
    text = Writer(seed).text()
    assert differences(read_description(text), seed) is None, text


@pytest.mark.parametrize("seed", range(5))
def test_wild_descriptions_have_the_meaning_of_the_textbook(seed):
    text = Writer(seed, wild=True).text()
    description = read_description(text)
    assert differences(description, seed, ways=[*usual_ways(description, seed), Naive(text)]) is None, text


def test_chess_is_played_without_grounding():
    reasoner = Reasoner(read_description((SHEETS / "chess.kif").read_text()))
    facts = reasoner.initial
    assert len(reasoner.legal(facts, reasoner.roles[0])) == 20
    assert not reasoner.is_terminal(facts)


def test_names_that_are_python_code_are_only_names(tmp_path):
    names = ["'''", "x=__import__('os')._exit(3)", "\\", "a\\'b", '"', "a0", "found", "lambda:0", "{0}", "#", "é\u2028"]
    facts = "".join(f"(thing {name}) (init (holds {name}))\n" for name in names)
    text = (
        (
            f"(role r{names[1]})\n{facts}"
            f"(<= (legal r{names[1]} (take ?{names[1]})) (true (holds ?{names[1]})) (thing ?{names[1]}))\n"
            f"(<= (next (holds ?x)) (true (holds ?x)) (not (does r{names[1]} (take ?x))))\n"
            f"(<= (goal ?r 100) (role ?r)) (<= some{names[1]} (true (holds ?x))) (<= terminal (not some{names[1]}))"
        )
        .replace("(role rx=__import__('os')._exit(3))", "(role r)")
        .replace("rx=__import__('os')._exit(3)", "r")
    )
    text = text.replace("(", " ( ").replace(")", " ) ").replace("__import__ ( 'os' ) ._exit ( 3 )", "__import__'os'")
    (tmp_path / "names.kif").write_text(text, encoding="utf-8")
    for options in ({}, {"reasoner": True}):
        position = make_file(tmp_path / "names.kif", **options).start()
        while not position.is_over:
            assert len(position.moves) == len(set(position.moves))
            position = position.play(position.moves[-1])
        assert position.values == (1.0,)
        assert len(position.played) >= len(names) - 1


def test_positions_of_the_reasoner_are_read_again():
    game = make("tictactoe", reasoner=True)
    position = game.start().play("(mark 2 2)").play("(mark 1 1)")
    again = game.parse(position.text)
    assert again.moves == position.moves
    assert again.text == position.text
    bare = game.parse(position.text.partition(" ;")[0])
    assert bare.moves == position.moves
    assert ludus.from_json(position.json).text == position.text
    assert show(("cell", "2", "2", "x")) in str(position)


SHOTS = f"""(role r) (init (at 6 6)) (init (at 8 5)) (init (hole 2 2)) {" ".join(f"(index {i})" for i in range(1, 13))}
    {" ".join(f"(succ {i} {i + 1})" for i in range(1, 12))} (<= (cell ?x ?y) (index ?x) (index ?y))
    (<= (free ?x ?y) (cell ?x ?y) (not (true (at ?x ?y))) (not (true (hole ?x ?y))) (not (true (shot ?x ?y))))
    (<= (way row ?x ?y ?z ?y) (succ ?x ?z) (index ?y)) (<= (way column ?x ?y ?x ?z) (succ ?y ?z) (index ?x))
    (<= (way up ?x ?y ?z ?w) (succ ?x ?z) (succ ?y ?w)) (<= (way down ?x ?y ?z ?w) (succ ?x ?z) (succ ?w ?y))
    (<= (ray ?d ?x ?y ?z ?w) (way ?d ?x ?y ?z ?w))
    (<= (ray ?d ?x ?y ?z ?w) (way ?d ?x ?y ?u ?v) (free ?u ?v) (ray ?d ?u ?v ?z ?w))
    (<= (line ?a ?b ?c ?d) (ray ?way ?a ?b ?c ?d)) (<= (line ?a ?b ?c ?d) (ray ?way ?c ?d ?a ?b))
    (<= (legal r (go ?a ?b ?x ?y ?c ?d)) (true (at ?a ?b)) (line ?a ?b ?x ?y) (free ?x ?y) (line ?x ?y ?c ?d)
        (free ?c ?d))
    (<= (legal r wait) (index 1)) (<= (next (at ?x ?y)) (does r (go ?a ?b ?x ?y ?c ?d)))
    (<= (next (at ?x ?y)) (true (at ?x ?y)) (not (left ?x ?y))) (<= (left ?a ?b) (does r (go ?a ?b ?x ?y ?c ?d)))
    (<= (next (shot ?c ?d)) (does r (go ?a ?b ?x ?y ?c ?d))) (<= (next (shot ?x ?y)) (true (shot ?x ?y)))
    (<= (next (hole ?x ?y)) (true (hole ?x ?y))) (goal r 50) (<= terminal (not (index 1)))"""
"""There are about 140 free cells, and 30 in a line with one."""


def test_plans_made_with_a_bad_guess_are_replaced_by_others():
    bad = Reasoner(read_description(SHOTS))
    samples, legal = bad.planner.samples, bad.legal(bad.initial, "r")

    def guess() -> None:
        bad.planner.measured = {(("line", 4), "bbff"): 30.0, (("free", 2), "ff"): 2.0}
        bad._compile(samples)

    guess()
    _, cost = bad._play()  # looks for all free cells, and tests each
    guess()
    bad._try_other_plans()
    assert bad._play()[1] < cost / 2
    assert bad.legal(bad.initial, "r") == legal


def test_a_role_may_have_tens_of_thousands_of_moves_in_one_position():
    letters = "abcdefghijklmnopqrstuvwxyz"
    text = f"""(role r) {" ".join(f"(letter {letter})" for letter in letters)} (init start)
        (<= (legal r (orders ?a ?b ?c)) (letter ?a) (letter ?b) (letter ?c))
        (<= (next (given ?a ?b ?c)) (does r (orders ?a ?b ?c))) (<= terminal (true (given ?a ?b ?c))) (goal r 100)"""
    game = ReasonedGame(read_description(text))
    position = game.start()
    assert len(position.actions) == 26**3
    assert position.play("(orders z y x)").values == (1.0,)


LISTS = f"""(role r) {" ".join(f"(place {i})" for i in range(1, 8))} (init (bridge 1 2)) (init (bridge 2 3))
    (init (bridge 3 7)) (init (bridge 1 4)) (init (bridge 4 5)) (init (bridge 5 6)) (init (bridge 6 7))
    (init (bridge 5 2))
    (<= (legal r (burn ?x ?y)) (true (bridge ?x ?y)) (way (cons 1 nil) 7 nil))
    (<= (next (bridge ?x ?y)) (true (bridge ?x ?y)) (not (does r (burn ?x ?y))))
    (<= terminal (not open)) (<= open (way (cons 1 nil) 7 nil)) (<= (goal r 100) (not (true (bridge 1 2))))
    (<= (way (cons ?end ?rest) ?end ?seen))
    (<= (way (cons ?x ?rest) ?end ?seen) (ends ?x ?all) (fresh ?all ?seen ?some) (append ?some ?rest ?more)
        (way ?more ?end (cons ?x ?seen)))
    (<= (ends ?x (cons ?y nil)) (true (bridge ?x ?y))) (<= (ends ?x nil) (place ?x))
    (<= (ends ?x (cons ?y (cons ?z nil))) (true (bridge ?x ?y)) (true (bridge ?x ?z)) (distinct ?y ?z))
    (<= (append nil ?l ?l)) (<= (append (cons ?x ?k) ?l (cons ?x ?m)) (append ?k ?l ?m))
    (<= (member ?x (cons ?x ?l))) (<= (member ?x (cons ?y ?l)) (member ?x ?l))
    (<= (fresh nil ?seen nil)) (<= (fresh (cons ?x ?l) ?seen ?m) (member ?x ?seen) (fresh ?l ?seen ?m))
    (<= (fresh (cons ?x ?l) ?seen (cons ?x ?m)) (place ?x) (not (member ?x ?seen)) (fresh ?l ?seen ?m))"""
"""A search through a graph with lists: it ends if the literals are asked in their order, with the lists known."""


def test_a_search_with_lists_ends_as_it_does_for_a_prover_that_works_from_left_to_right():
    description = read_description(LISTS)
    for seed in range(3):
        assert differences(description, seed, 8, [ByReasoner(description), Naive(LISTS)]) is None


def test_lists_may_have_hundreds_of_elements():
    count = 400
    text = f"""(role r) (goal r 100) (init start) (<= terminal (true over)) (<= (next over) (true start))
        {" ".join(f"(succ {i} {i + 1})" for i in range(count))} (<= (upto {count} nil))
        (<= (upto ?i (cons ?i ?l)) (succ ?i ?j) (upto ?j ?l)) (<= (last (cons ?x nil) ?x))
        (<= (last (cons ?x ?l) ?y) (last ?l ?y)) (<= (legal r ?x) (upto 0 ?l) (last ?l ?x))"""
    reasoner = Reasoner(read_description(text))
    assert reasoner.legal(reasoner.initial, "r") == [str(count - 1)]


@pytest.mark.parametrize("plies", [0, 40])
def test_terms_that_double_with_every_step_are_given_up_at_once(plies):
    text = """(role r) (p a) (<= (p (f ?x ?x)) (p ?x)) (<= (legal r (go ?x)) (p ?x)) (legal r stay) (goal r 100)
        (<= terminal (p b)) (init (q a)) (<= (next (q (f ?x ?x))) (true (q ?x)))"""
    reasoner = Reasoner(read_description(text))

    def play() -> None:
        facts = reasoner.initial
        for _ in range(plies):
            facts = reasoner.next(facts, {"r": "stay"})
        reasoner.legal(facts, "r")

    with pytest.raises(TooLarge, match="the rules build terms of more than 10,000 parts"):
        play()


COUNTS = """(role r) (init (step zero)) (legal r a) (legal r b) (<= (next (step (s ?n))) (true (step ?n)) {})
    (<= (next on) (does r a)) (goal r 50) (<= terminal (true never)) (go zero) (go (s zero)) (top (s zero))"""


def test_facts_that_grow_with_every_step_are_left_to_the_reasoner_and_played_to_the_longest_game():
    description = read_description(COUNTS.format(""))
    with pytest.raises(CannotGround, match="the facts grow with every step"):
        ways_to_ground(description)
    position = ReasonedGame(description).start()
    while not position.is_over:
        position = position.play("a")
    assert len(position.played) == 1000
    assert position.text.count("(s ") == 1000


@pytest.mark.parametrize("bound", ["(go ?n)", "(not (top ?n))", "(distinct ?n (s zero))", "(true (step zero)) (go ?n)"])
def test_facts_that_grow_to_a_bound_are_grounded(bound):
    assert len(networks_of(read_description(COUNTS.format(bound)))[0].bases) in (3, 4)
