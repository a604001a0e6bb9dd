"""Relations that are derived only for what is asked (ludus.gdl.demand)."""

import pytest

from ludus.gdl.demand import PREFIX, on_demand
from ludus.gdl.game import GdlGame, game_of
from ludus.gdl.grounding import ground, ways_to_ground
from ludus.gdl.language import read_description
from tests.gdl.naive import Naive
from tests.gdl.random_descriptions import ByAnyPlan, ByNetwork, ByReasoner, differences, usual_ways

TURNS = """(role r) (init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
    (<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (<= terminal (true (step 4))) (n 0) (n 1) (n 2) (n 3)
    (legal r (put 1)) (legal r (put 2)) (legal r (put 3))
    (<= (next (at ?x)) (does r (put ?x))) (<= (next (at ?x)) (true (at ?x)))"""

IDIOMS = {
    "constants": """(<= (goal r ?v) (pair 1 3 ?v)) (<= (pair ?x ?y 9) (true (at ?x)) (true (at ?y)))
        (<= (pair ?x ?y 0) (n ?y) (n ?x) (not (true (at ?x))))""",
    "negated": """(<= (goal r 5) (not (far 2 ?x)) (n ?x)) (<= (goal r 3) (not (far 3 1)))
        (<= (far ?x ?y) (true (at ?x)) (true (at ?y)) (distinct ?x ?y)) (<= (far ?x ?y) (n ?x) (n ?y) (succ ?y ?x))""",
    "through another": """(<= (goal r ?v) (both 1 2 ?v)) (<= (both ?x ?y 9) (one ?x) (n ?y) (not (one ?y)))
        (<= (both ?x ?y 4) (one ?y) (n ?x)) (<= (one ?z) (true (at ?z)))""",
    "a loop along the board": """(<= (goal r ?v) (count 0 0 ?v)) (<= (count 3 ?k ?v) (add 3 ?k ?v))
        (<= (count ?x ?k ?v) (add ?x ?k ?l) (succ ?x ?y) (distinct ?x 3) (count ?y ?l ?v))
        (<= (add ?x ?k ?l) (true (at ?x)) (succ ?k ?l)) (<= (add ?x ?k ?k) (n ?k) (n ?x) (not (true (at ?x))))""",
    "the loop first": """(<= (goal r 7) (sum 2 0)) (<= (sum ?x 0) (true (at ?x)))
        (<= (sum ?x ?y) (sum ?z ?y) (true (at ?z)) (succ ?z ?x)) (<= (goal r 1) (not (sum 3 0)))""",
    "two that ask for each other": """(<= (goal r 8) (even 3)) (<= (goal r 2) (odd 3)) (<= (even 0) (n 0))
        (<= (even ?x) (succ ?y ?x) (odd ?y) (true (at ?x)))
        (<= (odd ?x) (succ ?y ?x) (even ?y) (not (true (at ?y))))""",
    "one who knows nothing": """(<= (goal r 6) (near 1 2)) (<= (goal r ?x) (near ?x 2))
        (<= (near ?x ?y) (true (at ?x)) (succ ?x ?y))""",
}


@pytest.mark.parametrize("idiom", IDIOMS)
def test_all_ways_of_evaluation_agree(idiom):
    text = TURNS + IDIOMS[idiom]
    description = read_description(text)
    for seed in range(3):
        assert differences(description, seed, 5, [*usual_ways(description, seed), Naive(text)]) is None


def test_loops_inside_a_loop_count_with_a_number_that_only_who_asks_knows():
    text = (
        TURNS
        + """(<= (goal r ?v) (total ?v))
        (<= (total ?v) (rows 1 0 ?v)) (<= (rows 2 ?k ?v) (cells 2 0 ?k ?v))
        (<= (rows ?x ?k ?v) (succ ?x ?y) (cells ?x 0 ?k ?l) (rows ?y ?l ?v)) (<= (cells ?x 1 ?k ?v) (add ?x 1 ?k ?v))
        (<= (cells ?x ?z ?k ?v) (succ ?z ?y) (add ?x ?z ?k ?l) (cells ?x ?y ?l ?v))
        (<= (add ?x ?z ?k ?k) (n ?x) (n ?z) (not (true (at ?x)))) (<= (add ?x ?z ?k ?l) (true (at ?x)) (succ ?k ?l))"""
    )
    description = read_description(text)
    for seed in range(3):
        ways = [ByReasoner(description), ByAnyPlan(description, seed), ByNetwork(description), Naive(text)]
        assert differences(description, seed, 5, ways) is None
    assert isinstance(game_of(description), GdlGame)


def asked(text: str) -> set[str]:
    return {str(rule) for rule in on_demand(list(read_description(text).rules)) if rule.head.name.startswith(PREFIX)}


def test_rules_say_what_is_asked():
    text = """(<= (goal r 1) (p a b ?z)) (<= (goal r 2) (not (p a c d))) (<= (p ?x ?y ?z) (q ?z ?y) (t ?x) (p ?y ?z ?x))
        (<= (q ?z ?y) (true ?z) (true ?y)) (t a)"""
    assert asked(text) == {
        "(asked p 3 a b)",
        "(asked p 3 a c)",
        "(<= (asked p 3 ?y ?z) (asked p 3 ?x ?y) (q ?z ?y) (t ?x))",
        "(<= (asked q 2 ?y) (asked p 3 ?x ?y) (t ?x))",
    }


def test_a_relation_is_asked_for_everything_if_one_who_asks_knows_nothing():
    assert asked("(<= (goal r 1) (p a)) (<= (goal r 2) (true ?x) (p ?x)) (<= (p ?x) (true ?x))") == set()


def test_no_question_grows_in_a_circle():
    assert asked("(<= (goal r 1) (p a)) (<= (p ?x) (true ?x) (p (s ?x)))") == set()


def test_lists_of_facts_stay_as_they_are():
    assert asked("(<= (goal r 1) (p a)) (p a) (p b)") == set()


@pytest.mark.parametrize(
    "rules",
    [
        pytest.param(
            f"""(<= (goal r 1) (some {" ".join("3" for _ in range(6))}))
            (<= (some ?a ?b ?c ?d ?e ?f) (lamp ?a) (lamp ?b) (lamp ?c) (lamp ?d) (lamp ?e) (lamp ?f))""",
            id="asked for one",
        ),
        pytest.param(
            """(<= (goal r ?v) (count 0 0 0 ?v ?w)) (<= (count 20 ?k ?l ?k ?l) (number ?k) (number ?l))
            (<= (count ?x ?k ?l ?v ?w) (succ ?x ?y) (lamp ?x) (succ ?k ?m) (count ?y ?m ?l ?v ?w))
            (<= (count ?x ?k ?l ?v ?w) (succ ?x ?y) (not (lamp ?x)) (succ ?l ?m) (count ?y ?k ?m ?v ?w))""",
            id="a counting loop",
        ),
    ],
)
def test_what_is_too_large_as_a_whole_is_grounded_for_what_is_asked(rules):
    numbers = " ".join(f"(number {i}) (succ {i} {i + 1})" for i in range(60))
    text = f"""(role r) {numbers} (init (on 3)) (<= (legal r (switch ?x)) (number ?x))
        (<= (next (on ?x)) (does r (switch ?x))) (<= (lamp ?x) (true (on ?x))) (<= terminal (true (on 7))) {rules}"""
    description = read_description(text)
    assert ground(description, seconds=20).size < 60_000
    assert isinstance(game_of(description), GdlGame)


@pytest.mark.parametrize(("head", "ways"), [("(all ?a ?b ?c ?d ?e)", ["plain"]), ("(all ?a)", ["plain", "split"])])
def test_a_description_is_grounded_twice_only_if_a_long_rule_can_be_split(head, ways):
    text = f"""(role r) (bit 0) (bit 1) (legal r a) (goal r 0) (<= terminal {head.replace("?", "")})
        (<= {head} (bit ?a) (bit ?b) (bit ?c) (bit ?d) (bit ?e) (true (p ?a ?b)) (true (q ?c ?d)) (true (q ?b ?e)))"""
    assert list(ways_to_ground(read_description(text))) == ways
