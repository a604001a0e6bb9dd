"""Traps of published descriptions, each in a small description of our own, played alike by all ways of evaluation."""

import time
from unittest import mock

import pytest

from ludus.gdl import waiting
from ludus.gdl.checks import check
from ludus.gdl.game import IncompleteRules, SlowGame, game_of
from ludus.gdl.grounding import CannotGround, count_heads, ways_to_ground
from ludus.gdl.kif import BadDescription, show
from ludus.gdl.language import read_description
from ludus.gdl.waiting import on_slow, told_if_slow
from ludus.rules import EVERYONE
from tests.gdl.random_descriptions import differences

COUNT = """(init (step 0)) (succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4)
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (<= terminal (true (step 4)))"""
"""A clock of four plies."""

TRAPS = {
    "nested functions in facts and moves": f"""(role r) {COUNT} (init (at (pair 1 (box a)) r))
        (<= (legal r (put (pair ?x (box ?y)))) (true (at (pair ?x (box ?y)) r)))
        (<= (legal r (swap (pair ?x ?b))) (true (at (pair ?x ?b) r)))
        (<= (next (at (pair 2 ?b) r)) (does r (put (pair ?x ?b))))
        (<= (next (at (pair ?x (box b)) r)) (does r (swap (pair ?x ?b))))
        (goal r 50)""",
    "an or inside an or, with negation inside": f"""(role r) {COUNT} (init p) (legal r x) (legal r y)
        (<= (next p) (or (true p) (or (does r x) (and-like))))
        (<= (next q) (or (not (true p)) (or (does r y) (true q))))
        (<= (and-like) (true (step 3)))
        (<= (goal r 100) (true q)) (<= (goal r 0) (not (true q)))""",
    "roles that are terms": f"""(role (side 1)) (role (side 2)) (role judge) {COUNT} (init (turn (side 1)))
        (<= (legal ?r (take ?n)) (true (turn ?r)) (n ?n)) (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
        (n 1) (n 2) (<= (next (turn (side 2))) (true (turn (side 1)))) (<= (next (turn judge)) (true (turn (side 2))))
        (<= (next (turn (side 1))) (true (turn judge))) (<= (next (took ?r ?n)) (does ?r (take ?n)))
        (<= (next (took ?r ?n)) (true (took ?r ?n)))
        (<= (goal (side ?x) 100) (true (took (side ?x) 2)))
        (<= (goal (side ?x) 0) (n ?x) (not (true (took (side ?x) 2))))
        (goal judge 50)""",
    "init by rules": f"""(role r) {COUNT} (num 1) (num 2) (lit 2)
        (<= (init (cell ?n on)) (num ?n) (lit ?n)) (<= (init (cell ?n off)) (num ?n) (not (lit ?n)))
        (<= (legal r (press ?n)) (num ?n))
        (<= (next (cell ?n on)) (does r (press ?n)) (true (cell ?n off)))
        (<= (next (cell ?n off)) (does r (press ?n)) (true (cell ?n on)))
        (<= (next (cell ?n ?v)) (true (cell ?n ?v)) (does r (press ?m)) (distinct ?n ?m))
        (<= (goal r 100) (true (cell 1 on)) (true (cell 2 on))) (<= (goal r 0) (true (cell ?n off)))""",
    "one move legal by several rules": f"""(role a) (role b) {COUNT} (init (control a))
        (<= (legal a x) (true (control a))) (<= (legal a x) (true (step 0))) (<= (legal a y) (true (control a)))
        (<= (legal a noop) (true (control b))) (<= (legal b noop) (true (control a)))
        (<= (legal b x) (true (control b))) (<= (legal b y) (true (control b)))
        (<= (next (control b)) (true (control a))) (<= (next (control a)) (true (control b)))
        (<= (next (did ?r)) (does ?r x)) (<= (next (did ?r)) (true (did ?r)))
        (<= (goal ?r 100) (true (did ?r))) (<= (goal ?r 0) (role ?r) (not (true (did ?r))))""",
    "moves, next facts and goals that are plain facts": """(role r) (init p) (legal r a) (legal r b) (next q)
        (goal r 30)
        (<= (next (made ?m)) (does r ?m)) (<= terminal (true (made b)) (true q))""",
    "stratified negation in several layers": f"""(role r) {COUNT} (init (on 1)) (n 1) (n 2) (n 3)
        (<= (off ?x) (n ?x) (not (true (on ?x)))) (<= (free ?x) (n ?x) (not (off ?x)))
        (<= some (free ?x)) (<= none (not some))
        (<= (legal r (flip ?x)) (n ?x)) (<= (legal r wait) none)
        (<= (next (on ?x)) (does r (flip ?x)) (off ?x)) (<= (next (on ?x)) (free ?x) (not (does r (flip ?x))))
        (<= (goal r 100) none) (<= (goal r 0) some)""",
    "recursion": f"""(role r) {COUNT} (node a) (node b) (node c) (node d) (init (edge a b)) (init (edge b c))
        (<= (reach ?x ?y) (true (edge ?x ?y))) (<= (reach ?x ?z) (reach ?x ?y) (true (edge ?y ?z)))
        (<= (legal r (link ?x ?y)) (node ?x) (node ?y) (distinct ?x ?y) (not (true (edge ?x ?y))))
        (<= (next (edge ?x ?y)) (does r (link ?x ?y))) (<= (next (edge ?x ?y)) (true (edge ?x ?y)))
        (<= (goal r 100) (reach a a)) (<= (goal r 0) (not (reach a a)))""",
    "several goals and none": f"""(role r) (role s) {COUNT} (legal r a) (legal r b) (legal s z)
        (<= (next p) (does r a)) (<= (next p) (true p))
        (<= (goal r 10) (true p)) (<= (goal r 70) (true p)) (<= (goal s 0) (true (step 0)))""",
    "facts that are never declared, and a declared relation that nothing reaches": f"""(role r) {COUNT}
        (<= (base (huge ?a ?b ?c)) (d ?a) (d ?b) (d ?c)) (d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
        (legal r a) (legal r b) (<= (next (seen ?m)) (does r ?m)) (<= (next (seen ?m)) (true (seen ?m)))
        (<= (next (huge ?a ?a ?b)) (true (huge ?b ?a ?a)))
        (<= (goal r 100) (true (seen a)) (true (seen b))) (<= (goal r 0) (not (true (seen a))))""",
    "names that differ in case only, keywords in any case": f"""(ROLE Red) (Role red) {COUNT}
        (<= (LEGAL Red (Go ?n)) (succ ?n ?m)) (<= (Legal red (go ?n)) (succ ?n ?m)) ; a comment ( with brackets
        (<= (next (at ?n)) (DOES Red (Go ?n))) (<= (next (AT ?n)) (does red (go ?n)))
        (<= (goal Red 100) (TRUE (at 3))) (<= (goal Red 0) (Not (true (at 3))))
        (<= (goal red 100) (true (AT 3))) (<= (goal red 0) (not (true (AT 3)))) ; the last line has no end""",
    "a move that is a variable, bound to a term": f"""(role r) {COUNT} (init (can (take 1))) (init (can (take 2)))
        (init (can pass)) (<= (legal r ?m) (true (can ?m)))
        (<= (next (can ?m)) (true (can ?m)) (not (does r ?m))) (<= (next (can pass)) (true (can pass)))
        (<= (goal r 100) (not (true (can (take 1))))) (<= (goal r 0) (true (can (take 1))))""",
    "legal in the body of a rule": f"""(role r) (role s) {COUNT} (init (free 1)) (init (free 2))
        (<= (legal r (go ?n)) (true (free ?n))) (<= (legal r stop) (role r)) (<= (legal s noop) (legal r stop))
        (<= (mobile ?p) (legal ?p (go ?n)))
        (<= (next (free ?n)) (true (free ?n)) (not (does r (go ?n))))
        (<= (goal r 100) (not (mobile r))) (<= (goal r 0) (mobile r)) (goal s 50)""",
    "an atom without arguments in brackets": f"""(role r) {COUNT} (init (p)) (legal r a) (legal r (b))
        (<= (next p) (true (p)) (does r (a))) (<= (goal r 100) (true p)) (<= (goal r 0) (not (true (p))))""",
    "turns of three roles": f"""(role a) (role b) (role c) {COUNT} (init (turn a)) (after a b) (after b c) (after c a)
        (<= (legal ?r left) (true (turn ?r))) (<= (legal ?r right) (true (turn ?r)))
        (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
        (<= (next (turn ?s)) (true (turn ?r)) (after ?r ?s))
        (<= (next (went ?r ?m)) (does ?r ?m) (distinct ?m noop)) (<= (next (went ?r ?m)) (true (went ?r ?m)))
        (<= (goal ?r 100) (true (went ?r left))) (<= (goal ?r 0) (role ?r) (not (true (went ?r left))))""",
    "whose turn it is depends on the move": f"""(role a) (role b) {COUNT} (init (turn a)) (other a b) (other b a)
        (<= (legal ?r again) (true (turn ?r))) (<= (legal ?r over) (true (turn ?r)))
        (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
        (<= (next (turn ?r)) (does ?r again)) (<= (next (turn ?s)) (does ?r over) (other ?r ?s))
        (<= (goal ?r 100) (true (turn ?r))) (<= (goal ?r 0) (role ?r) (not (true (turn ?r))))""",
    "moves of two roles that meet in one fact": f"""(role a) (role b) {COUNT} (init (sum 0))
        (<= (legal ?r 0) (role ?r)) (<= (legal ?r 1) (role ?r))
        (<= (next (sum 2)) (does a 1) (does b 1)) (<= (next (sum 0)) (does a 0) (does b 0))
        (<= (next (sum 1)) (does a ?x) (does b ?y) (distinct ?x ?y))
        (<= (goal ?r 100) (role ?r) (true (sum 2))) (<= (goal ?r 40) (role ?r) (not (true (sum 2))))""",
}


@pytest.mark.parametrize("trap", TRAPS)
def test_all_ways_of_evaluation_agree(trap):
    description = read_description(TRAPS[trap])
    assert not [problem for problem in check(description) if problem.is_error]
    for seed in range(4):
        assert differences(description, seed, plies=6) is None


def playable(text):
    return game_of(read_description(text)).start()


def test_a_game_that_is_over_at_the_start_has_its_goals():
    position = playable("(role r) (legal r a) (init p) (<= terminal (true p)) (<= (goal r 75) (true p))")
    assert (position.is_over, position.values) == (True, (0.5,))


def test_a_game_without_facts_and_one_without_moves_are_games():
    endless = game_of(read_description("(role r) (legal r a) (<= terminal (true p)) (goal r 50)"), "x", None, longest=2)
    assert endless.start().play("a").play("a").is_over
    stuck = playable("(role r) (<= (legal r a) (true q)) (init p) (<= terminal (true q)) (goal r 50)")
    assert (stuck.is_over, stuck.values) == (True, (0.0,))


@pytest.mark.parametrize("reasoner", [False, True])
def test_a_role_that_is_a_term_is_written_as_in_the_rules(reasoner):
    game = game_of(read_description(TRAPS["roles that are terms"]), "terms", None, reasoner=reasoner)
    assert [game.player_name(player) for player in range(game.players)] == ["(side 1)", "(side 2)", "judge"]
    assert game.start().play("(take 2)").play("(take 1)").play("(take 1)").play("(take 1)").values == (1.0, -1.0, 0.0)


def test_a_role_without_a_legal_move_ends_the_game():
    position = playable(
        """(role a) (role b) (init p) (legal a x) (legal a y) (<= (legal b z) (true p)) (<= (next q) (does b z))
        (<= terminal (true never)) (<= (next never) (true never)) (goal a 100) (goal b 0)"""
    )
    assert not position.is_over
    after = position.play("x")
    assert (after.is_over, after.values) == (True, (0.0, 0.0))


def test_a_single_role_that_chooses_moves_alone_also_where_others_move_at_once_elsewhere():
    position = playable(
        """(role a) (role b) (init (phase 1)) (<= (legal ?r left) (role ?r) (true (phase 1)))
        (<= (legal ?r right) (role ?r) (true (phase 1))) (<= (legal a wait) (true (phase 2)))
        (<= (legal b up) (true (phase 2))) (<= (legal b down) (true (phase 2)))
        (<= (legal ?r end) (role ?r) (true (phase 3)))
        (<= (next (phase 2)) (true (phase 1))) (<= (next (phase 3)) (true (phase 2))) (<= (next done) (true (phase 3)))
        (<= terminal (true done)) (<= (goal ?r 50) (role ?r))"""
    )
    assert position.game.simultaneous
    assert position.to_move == EVERYONE
    alone = position.play("left,right")
    assert (alone.to_move, alone.moves) == (1, ["up", "down"])
    nobody = alone.play("down")
    assert (nobody.to_move, nobody.moves) == (0, ["end"])
    assert nobody.play("end").is_over


@pytest.mark.parametrize("reasoner", [False, True])
def test_a_relation_that_needs_its_own_negation_is_refused(reasoner):
    text = "(role r) (legal r a) (init p) (<= (q ?x) (true ?x) (not (s ?x))) (<= (s ?x) (q ?x)) (goal r 0)"
    with pytest.raises(BadDescription, match="depends on its own negation"):
        game_of(read_description(f"{text} (<= terminal (q p))"), "circle", None, reasoner=reasoner)


def test_what_nothing_binds_is_left_out_as_in_the_prover_of_ggp_base():
    """With (not (does r (take ?any ?x))) a fact would end with the move; left out, it stays. A role is no exception."""
    text = f"""(role r) (role s) {COUNT} (goal r 50) (goal s 50) (thing 1) (thing 2) (init (held 1)) (init (held 2))
        (<= (legal r (take quickly ?x)) (true (held ?x))) (<= (legal s go) (true (held 1)))
        (<= (legal ?p rest) (not (true (held ?p)))) (<= (legal ?p wait) (true (step 0)) (not (sleeps ?p))) (sleeps s)
        (<= (next (held ?x)) (true (held ?x)) (not (does r (take ?how ?x))))
        (<= (next (lost ?x)) (thing ?x) (or (does r (take quickly ?x)) (not (true (held ?other)))))
        (<= (next (same ?x)) (thing ?x) (not (distinct ?x ?y)))"""
    description = read_description(text)
    assert [str(problem) for problem in check(description) if problem.is_error and "left out" in str(problem)]
    for seed in range(2):
        assert differences(description, seed, plies=4) is None
    for reasoner in (False, True):
        game = game_of(description, "loose", None, reasoner=reasoner)
        position = game.start()
        moves = {game.write_move(position.state, 1, action) for action in position.actions_of(1)}
        assert moves == {"go", "rest", "wait"}
        after = position.play("(take quickly 1),rest")
        facts = "(held 1) (held 2) (lost 1) (lost 2) (same 1) (same 2) (step 1)"
        assert set(map(show, game.facts(after.state))) == {f"{fact})" for fact in facts[:-1].split(") ")}


def facts_after(text, *moves):
    """The facts after some moves of the only role that chooses, alike on the network and by the reasoner."""
    found = []
    for reasoner in (False, True):
        game = game_of(read_description(text), "trap", None, reasoner=reasoner)
        position = game.start()
        for move in moves:
            position = position.play(move)
        found.append({show(fact) for fact in game.facts(position.state)} - {f"(step {len(moves)})"})
    assert found[0] == found[1]
    return found[0]


@pytest.mark.filterwarnings("ignore::ludus.gdl.game.IncompleteRules")
@pytest.mark.parametrize(
    ("text", "facts"),
    [
        pytest.param("(init (at NEXT)) (<= (next at-next) (true (at Next)))", "at-next", id="keywords in terms"),
        pytest.param("(<= (next p) (does r a) (not (true q) (true p)))", "p", id="not with two literals"),
        pytest.param("(<= (next p) (does r ?m) (distinct ?m b a))", "p", id="distinct with three terms"),
        pytest.param("(<= (next p) (does r a)) ) (<= (next q) (does r a))", "p", id="a bracket too many"),
        pytest.param("(<= (next p) ?x) (<= (next q) (not (?y r)))", "q", id="a variable in place of a relation"),
        pytest.param("(<= (next p) (<= q)) (<= (distinct q) (does r a)) (next s)", "s", id="connectives as relations"),
        pytest.param("(<= (next (p ?x)) (does r b)) (<= (next q) (does r a))", "q", id="a fact with a loose variable"),
        pytest.param("(<= (next (p ?x)) (or (succ ?x 1) (does r a)))", "(p 0)", id="loose in one branch"),
        pytest.param("(<= (true q) (does r a)) (<= (next p) (true q))", "p", id="a rule for true"),
        pytest.param(
            "(true q) (<= (next p) (true q)) (<= (next s) (true ?f) (kept ?f)) (kept q)", "p s", id="a true fact"
        ),
        pytest.param(
            "(<= (does r c) (does r a)) (<= (next (did ?m)) (does r ?m))", "(did a) (did c)", id="a rule for does"
        ),
    ],
)
def test_what_gdl_forbids_is_read_as_by_the_prover_of_ggp_base(text, facts):
    # The text comes last: after a bracket too many nothing is read.
    found = facts_after(f"(role r) {COUNT} (legal r a) (legal r b) (goal r 50) {text}", "a")
    assert found == set(facts.replace(") (", "),(").split("," if "(" in facts else " "))


@pytest.mark.parametrize("arrow", [" :- ", ":-"])
def test_the_infix_form_is_named(arrow):
    with pytest.raises(
        BadDescription, match=r"^the description: rules in infix form, such as head :- body, are not read"
    ):
        game_of(read_description(f"role(r)\ninit(p)\nlegal(r,x){arrow}true(p)\ngoal(r,100)\n"))


def test_nothing_is_true_before_the_first_position():
    text = """(role r) (init p) (<= (init q) (true p)) (<= (init s) (not (true p))) (<= (init t) (not (seen p)))
    (<= (seen ?f) (true ?f)) (<= (init u) (seen ?f)) (legal r a) (legal r b) (<= (next ?f) (seen ?f)) (goal r 1)
    (<= terminal (true never))"""
    assert facts_after(text) == {"p", "s", "t"}
    assert facts_after(text, "a") == {"p", "s", "t"}


def test_a_role_is_known_in_its_own_moves_and_goals():
    game = game_of(read_description(f"(role r) (role s) {COUNT} (<= (legal ?p (stay ?p)) (succ 0 1)) (goal ?p 50)"))
    assert [game.terms[action] for action in game.start().actions_of(0)] == [("stay", "r")]


@pytest.mark.parametrize("reasoner", [False, True])
def test_roles_are_those_that_are_stated_and_only_without_any_those_of_rules(reasoner):
    rules = f"{COUNT} (<= (role ?x) (extra ?x)) (extra b) (<= (legal ?p go) (role ?p)) (<= (next (has ?p)) (role ?p))"
    for stated, roles in (("(role a)", ["a"]), ("", ["b"])):
        game = game_of(
            read_description(f"{stated} {rules} (<= (goal ?p 50) (role ?p))"), "roles", None, reasoner=reasoner
        )
        assert [game.player_name(player) for player in range(game.players)] == roles
        facts = {show(fact) for fact in game.facts(game.start().play("go").state)}
        assert facts == {"(step 1)", "(has b)", *(f"(has {role})" for role in roles)}


@pytest.mark.parametrize("reasoner", [False, True])
def test_a_game_without_an_end_goes_on_to_the_longest_and_says_so(reasoner):
    text = "(role r) (legal r a) (legal r b) (init p) (<= (next p) (true p)) (goal r 100)"
    with pytest.warns(IncompleteRules, match="there is no terminal: every game must define it"):
        game = game_of(read_description(text), "endless", None, reasoner=reasoner, longest=2)
    after = game.start().play("a")
    assert not after.is_over
    assert (after.play("b").is_over, after.play("b").values) == (True, (0.0,))


def test_turns_that_follow_a_fixed_cycle_and_groups_that_some_others_break_are_proven():
    """Only the cycle of control excludes that nobody or both have it; (at 1 ...) holds two facts after a move."""
    game = game_of(
        read_description(
            f"""(role a) (role b) {COUNT} (init (control a)) (init (at 1 x)) (init (at 2 x)) (init (on x))
            (<= (next (control ?r)) (role ?r) (not (true (control ?r))))
            (<= (legal ?r go) (true (control ?r))) (<= (legal ?r stay) (true (control ?r)))
            (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
            (<= (next (at ?n ?v)) (true (at ?n ?v))) (<= (next (at 1 y)) (does b go) (true (on y)))
            (<= (next (on y)) (does a go) (true (on x))) (<= (next (on ?v)) (true (on ?v)) (not (does a go)))
            (<= (next (at 2 y)) (true (at 1 y)) (true (at 2 z))) (<= (goal ?r 50) (role ?r))"""
        )
    )
    assert not game.simultaneous
    groups = {frozenset(map(show, (game.network.bases[base] for base in group))) for group in game.proven.exclusive}
    assert frozenset({"(on x)", "(on y)"}) in groups
    assert not any("(at 1 x)" in group for group in groups)


def test_rules_with_too_many_ground_heads_are_left_to_the_reasoner_at_once():
    names = [f"?{letter}" for letter in "abcdefghijkl"]
    word = f"(word {' '.join(names)})"
    text = f"""(role r) {COUNT} (goal r 50) {" ".join(f"(letter {i})" for i in range(10))}
        (<= (is-word {word}) {" ".join(f"(letter {name})" for name in names)}) (init (text (word{" 7" * 12})))
        (<= (legal r (say ?w)) (true (text ?w)) (is-word ?w)) (legal r nothing)
        (<= (next (text ?w)) (true (text ?w))) (<= (next (said ?w)) (does r (say ?w)))"""
    description = read_description(text)
    with pytest.raises(CannotGround, match=r"there are 1e\+12 ground atoms, in \(<= \(is-word \(word"):
        ways_to_ground(description)
    with pytest.warns(SlowGame):
        position = game_of(description).start()
    assert position.moves == ["nothing", "(say (word 7 7 7 7 7 7 7 7 7 7 7 7))"]


def test_ground_heads_are_counted_only_where_literals_are_facts_and_share_nothing():
    rules = """(n 1) (n 2) (n 3) (p a 1) (p b 1) (p b 2) (<= (m ?x) (n ?x)) (<= (all ?x ?y) (n ?x) (n ?y))
        (<= (some ?x ?y) (n ?x) (p ?y ?z)) (<= (one ?x) (n ?x) (p b 2)) (<= (joined ?x ?y) (n ?x) (p ?y ?x))
        (<= (derived ?x ?y) (n ?x) (m ?y)) (<= (but ?x ?y) (n ?x) (n ?y) (distinct ?x ?y))"""
    counted = count_heads(list(read_description(rules).rules))
    assert {rule.head.name: count for rule, count in counted} == {"all": 9, "some": 6, "one": 3}


def test_a_description_that_loads_long_is_announced(capsys):
    heard = []
    before = on_slow(heard.append)
    try:
        with mock.patch.object(waiting, "PATIENCE", 0.0), told_if_slow("a.kif"):
            while not heard:
                time.sleep(0.01)
        with told_if_slow("b.kif"):
            pass
    finally:
        on_slow(before)
    assert heard == ["a.kif"]
    waiting.write_line("c.kif")
    assert capsys.readouterr().err.startswith("Loading c.kif (")


def test_an_unbound_variable_in_distinct_is_an_error_with_its_place():
    problems = check(
        read_description("(role r) (legal r a) (<= terminal (distinct ?x a)) (goal r 0)", source="rules.kif")
    )
    assert any(problem.is_error and "?x" in str(problem) for problem in problems)
