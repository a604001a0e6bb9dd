"""Idioms of published descriptions, in small descriptions of our own: all ways of evaluation agree with a textbook
evaluator that shares no code with them."""

import pytest

from ludus.gdl.checks import check
from ludus.gdl.grounding import CannotGround, ways_to_ground
from ludus.gdl.language import read_description
from tests.gdl.naive import Naive
from tests.gdl.random_descriptions import ByCircuit, ByNetwork, ByReasoner, differences, usual_ways

CLOCK = """(init (step 1)) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6)
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n)) (<= terminal (true (step 6)))"""
TURNS = """(role white) (role black) (init (control white))
(<= (next (control white)) (true (control black))) (<= (next (control black)) (true (control white)))"""
ANY = "(<= (goal ?r 50) (role ?r))"

SAFE = {
    "or inside not, not inside or inside not": f"""{TURNS} {CLOCK} {ANY} (n 1) (n 2) (n 3)
        (<= (legal ?p (take ?x)) (true (control ?p)) (n ?x) (not (or (true (has ?p ?x)) (blocked ?x))))
        (<= (legal ?p noop) (role ?p) (not (and (true (control ?p)) (not (stuck ?p)))))
        (<= (blocked ?x) (succ ?y ?x) (n ?x) (true (has ?p ?y)) (not (or (true (step 1)) (not (true (step 4))))))
        (<= (stuck ?p) (role ?p) (not (canmove ?p)))
        (<= (canmove ?p) (role ?p) (n ?x) (not (or (true (has ?p ?x)) (blocked ?x))))
        (<= (next (has ?p ?x)) (or (does ?p (take ?x)) (and (true (has ?p ?x)) (not (does ?p (take ?x))))))""",
    "distinct before what binds it": f"""(role r) {CLOCK} {ANY} (cell a) (cell b) (cell c) (init (at a))
        (<= (legal r (go ?y)) (distinct ?x ?y) (cell ?y) (true (at ?x)))
        (<= (next (at ?y)) (not (true (at ?y))) (does r (go ?y)))
        (<= (next (was ?x)) (distinct ?x ?y) (does r (go ?y)) (true (at ?x)))""",
    "a game of lines with goals by negation": f"""{TURNS} (index 1) (index 2) (index 3)
        (<= (init (cell ?m ?n b)) (index ?m) (index ?n))
        (<= (next (cell ?m ?n x)) (does white (mark ?m ?n)) (true (cell ?m ?n b)))
        (<= (next (cell ?m ?n o)) (does black (mark ?m ?n)) (true (cell ?m ?n b)))
        (<= (next (cell ?m ?n ?w)) (true (cell ?m ?n ?w)) (distinct ?w b))
        (<= (next (cell ?m ?n b)) (does ?w (mark ?j ?k)) (true (cell ?m ?n b)) (or (distinct ?m ?j) (distinct ?n ?k)))
        (<= (row ?m ?x) (true (cell ?m 1 ?x)) (true (cell ?m 2 ?x)) (true (cell ?m 3 ?x)))
        (<= (line ?x) (row ?m ?x)) (<= open (true (cell ?m ?n b)))
        (<= (legal ?w (mark ?x ?y)) (true (cell ?x ?y b)) (true (control ?w)))
        (<= (legal white noop) (true (control black))) (<= (legal black noop) (true (control white)))
        (<= (goal white 100) (line x) (not (line o))) (<= (goal ?p 50) (role ?p) (not (line x)) (not (line o)))
        (<= (goal white 0) (line o) (not (line x)))
        (<= terminal (line x)) (<= terminal (line o)) (<= terminal (not open))""",
    "mutual recursion through three relations": f"""(role r) {CLOCK} {ANY} (node 1) (node 2) (node 3) (node 4)
        (init (edge 1 2)) (init (edge 2 3))
        (<= (odd ?x ?y) (true (edge ?x ?y))) (<= (odd ?x ?z) (even ?x ?y) (true (edge ?y ?z)))
        (<= (even ?x ?z) (via ?x ?z)) (<= (via ?x ?z) (odd ?x ?y) (true (edge ?y ?z)) (node ?z))
        (<= (legal r (add ?x ?y)) (node ?x) (node ?y) (not (odd ?x ?y)) (not (even ?y ?x)))
        (<= (legal r (cut ?x ?y)) (true (edge ?x ?y))) (legal r wait)
        (<= (next (edge ?x ?y)) (does r (add ?x ?y)))
        (<= (next (edge ?x ?y)) (true (edge ?x ?y)) (not (does r (cut ?x ?y))))""",
    "left recursion, right recursion and both in order relations": f"""(role r) {CLOCK}
        (<= (less ?a ?b) (succ ?a ?b)) (<= (less ?a ?c) (less ?a ?b) (succ ?b ?c))
        (<= (more ?a ?b) (succ ?b ?a)) (<= (more ?a ?c) (succ ?b ?a) (more ?b ?c))
        (<= (apart ?a ?b) (less ?a ?b)) (<= (apart ?a ?b) (apart ?b ?a))
        (<= (between ?a ?b ?c) (less ?a ?b) (less ?b ?c)) (init (low 1)) (init (high 6))
        (<= (legal r (guess ?n)) (true (low ?l)) (true (high ?h)) (between ?l ?n ?h)) (legal r stop)
        (<= (next (low ?n)) (does r (guess ?n))) (<= (next (low ?n)) (true (low ?n)) (not moved))
        (<= moved (does r (guess ?n))) (<= (next (high ?n)) (true (high ?n)))
        (<= (goal r 100) (true (low ?l)) (true (high ?h)) (not (some ?l ?h))) (<= (goal r 0) (apart 1 3))
        (<= (some ?l ?h) (between ?l ?n ?h))""",
    "sums by recursion over numbers": f"""(role r) {CLOCK}
        (succ 0 1) (num 0) (num 1) (num 2) (num 3) (num 4) (num 5) (num 6)
        (<= (sum 0 ?x ?x) (num ?x)) (<= (sum ?x ?y ?z) (succ ?p ?x) (sum ?p ?y ?q) (succ ?q ?z))
        (init (score 0)) (<= (legal r (add ?n)) (true (score ?s)) (sum ?s ?n ?t) (num ?n)) (legal r (add 0))
        (<= (next (score ?t)) (true (score ?s)) (does r (add ?n)) (sum ?s ?n ?t))
        (<= (goal r ?s) (true (score ?s)))""",
    "does through auxiliary relations, several layers, negated": f"""{TURNS} {CLOCK} {ANY} (c 1) (c 2)
        (init (on 1)) (<= (legal ?p (flip ?x)) (true (control ?p)) (c ?x))
        (<= (legal ?p noop) (role ?p) (not (true (control ?p))))
        (<= (flipped ?x) (does ?p (flip ?x))) (<= (someone ?p) (does ?p (flip ?x))) (<= quiet (not loud))
        (<= loud (someone black))
        (<= (next (on ?x)) (c ?x) (flipped ?x) (not (true (on ?x))))
        (<= (next (on ?x)) (true (on ?x)) (not (flipped ?x)))
        (<= (next (count ?p)) (role ?p) (not (someone ?p))) (<= (next calm) quiet)""",
    "terms in terms as cells, pieces and moves": f"""{TURNS} {CLOCK} {ANY}
        (init (cell (pos 1 1) (piece white (pawn 1)))) (init (cell (pos 2 2) (piece black (pawn 2))))
        (dir (vec 1 2)) (dir (vec 2 1)) (<= (to (pos ?a ?b) (vec ?a ?c) (pos ?c ?b)) (succ ?a ?c) (succ ?x ?b))
        (<= (to (pos ?a 1) (vec ?a ?c) (pos ?c 1)) (succ ?a ?c)) (<= (to (pos 2 ?b) (vec 2 1) (pos 1 ?b)) (succ ?b ?c))
        (<= (legal ?p (move ?from (step ?d))) (true (control ?p)) (true (cell ?from (piece ?p ?k))) (dir ?d)
            (to ?from ?d ?to) (not (occupied ?to)))
        (<= (occupied ?at) (true (cell ?at ?any)))
        (<= (legal ?p (pass)) (role ?p))
        (<= (next (cell ?to ?piece)) (does ?p (move ?from (step ?d))) (true (cell ?from ?piece)) (to ?from ?d ?to))
        (<= (next (cell ?c ?piece)) (true (cell ?c ?piece)) (not (left ?c))) (<= (left ?c) (does ?p (move ?c ?how)))""",
    "a frame rule over all facts": f"""(role r) {CLOCK} {ANY} (init (a)) (init (b 1)) (init c)
        (legal r (drop a)) (legal r (drop (b 1))) (legal r (drop c)) (legal r (make (b 2)))
        (<= (next ?f) (true ?f) (not (dropped ?f)) (not (isstep ?f))) (<= (dropped ?f) (does r (drop ?f)))
        (<= (isstep (step ?n)) (succ ?m ?n)) (<= (isstep (step 1))) (<= (next ?f) (does r (make ?f)))""",
    "facts as rules without a body, relations without arguments in both spellings": f"""(role r) {CLOCK}
        (<= (open)) (<= (val 3)) (<= (shut) (not open)) (<= (ready) (open) (not (shut)))
        (<= (legal r (noop)) ready) (<= (legal r (press ?v)) (val ?v) (open))
        (<= (next (lit)) (does r (press ?v))) (<= (next lit) (true lit) (does r noop))
        (<= (goal r 100) (true (lit))) (<= (goal r 0) (not (true lit)))""",
    "one fact by many rules, one move by many rules, one goal by many rules": f"""(role r) {CLOCK} (init p)
        (<= (legal r go) (true p)) (<= (legal r go) (true (step ?n))) (legal r go) (legal r stay)
        (<= (next p) (does r go)) (<= (next p) (true p)) (<= (next p) (does r stay)) (<= (next q) (true p) (does r go))
        (<= (goal r 30) (true p)) (<= (goal r 30) (true q)) (<= (goal r 30) (not (true q)))""",
    "goal from a fact, and several goals": f"""(role a) (role b) {CLOCK}
        (init (score a 0)) (init (score b 90)) (plus 0 40) (plus 40 80)
        (<= (legal ?r hit) (role ?r)) (<= (legal ?r miss) (role ?r))
        (<= (next (score a ?n)) (does a hit) (true (score a ?m)) (plus ?m ?n))
        (<= (next (score a ?m)) (true (score a ?m)) (or (does a miss) (not (more ?m)))) (<= (more ?m) (plus ?m ?n))
        (<= (next (score b ?m)) (true (score b ?m)) (does a ?any)) (<= (goal ?r ?s) (true (score ?r ?s)))
        (<= (goal b 10) (true (score a 40)))""",
    "odd names": f"""(role r-1) (role |b|) {CLOCK} {ANY} (val + 1.5) (val - a.b) (val * "q") (val / 'x') (val = <=>)
        (val $ #) (val % &) (val 007 7) (init (sign +)) (init (Sign +))
        (<= (legal r-1 (set ?op ?v)) (val ?op ?v) (true (sign ?s)) (distinct ?s ?op)) (legal |b| %)
        (<= (next (sign ?op)) (does r-1 (set ?op ?v))) (<= (next (Sign ?v)) (does r-1 (set ?op ?v)))""",
    "a relation, a function and a constant of one name, and one name with several arities": f"""(role r) {CLOCK} {ANY}
        (move a) (move a b) (init (move a)) (init (move a b)) (init move) (<= (legal r (move ?x)) (move ?x))
        (<= (legal r (move ?x ?y)) (move ?x ?y) (true (move ?x ?y))) (legal r move)
        (<= (next (move ?x)) (does r (move ?x)))
        (<= (next (move ?x ?y)) (true (move ?x ?y)) (not (does r (move ?x ?y))))
        (<= (next move) (true move) (not (does r move)))""",
    "base and input that are too small, too large or broken": f"""(role r) {CLOCK} {ANY} (base (lamp 9 9 9))
        (<= (base (lamp ?a ?b ?c)) (succ ?a ?x) (succ ?b ?y) (succ ?c ?z)) (input r (never 1)) (input ?x ?y)
        (<= (input ?r (also ?q)) (role ?r)) (<= (base ?x) (true ?x)) (base (step 1))
        (<= (legal r (light ?n)) (succ ?n ?m)) (<= (next (lit ?n)) (does r (light ?n)))
        (<= (next (lit ?n)) (true (lit ?n)))""",
    "init, roles and legal that use role": f"""(role a) (role b) (role c) {CLOCK} (<= (init (alive ?r)) (role ?r))
        (<= (legal ?r (shoot ?s)) (role ?r) (role ?s) (distinct ?r ?s) (true (alive ?r)) (true (alive ?s)))
        (<= (legal ?r hide) (role ?r)) (<= (shot ?s) (does ?r (shoot ?s)))
        (<= (next (alive ?r)) (true (alive ?r)) (not (shot ?r)))
        (<= (next (alive ?r)) (true (alive ?r)) (does ?r hide) (shot ?r) (not (two ?r)))
        (<= (two ?s) (does ?r (shoot ?s)) (does ?q (shoot ?s)) (distinct ?r ?q))
        (<= (goal ?r 100) (true (alive ?r))) (<= (goal ?r 0) (role ?r) (not (true (alive ?r))))""",
    "no init at all": """(role r) (legal r a) (legal r b) (<= (next (did ?m)) (does r ?m)) (<= terminal (true (did b)))
        (<= (goal r 1) terminal) (<= (goal r 0) (not terminal))""",
    "chance as a role": f"""(role gambler) (role random) {CLOCK} (face 1) (face 2) (face 3)
        (<= (legal random (roll ?f)) (face ?f)) (<= (legal gambler (bet ?f)) (face ?f))
        (<= (next won) (does random (roll ?f)) (does gambler (bet ?f))) (<= (next won) (true won))
        (<= (sees gambler (rolled ?f)) (does random (roll ?f)))
        (<= (goal gambler 100) (true won)) (<= (goal gambler 0) (not (true won))) (goal random 50)""",
    "comments everywhere, ends of lines of all kinds": "(role ; a (comment\r\nr)\r\n;;; )))\r(legal r a);x\n"
    "(legal r ; b\n b)"
    "(init\t(p))(<= ; head\n(next q);;\n(does r b))(<= (goal r 100)(true q))(<= (goal r 0)(not(true q)))"
    "(<= terminal(true q));",
}

FORBIDDEN = {
    "legal, goal and terminal that depend on moves": f"""{TURNS} {CLOCK} (n 1) (n 2)
        (<= (legal ?p (take ?x)) (true (control ?p)) (n ?x) (not (taken ?x)))
        (<= (legal ?p noop) (role ?p) (or (not (true (control ?p))) (taken 1)))
        (<= (taken ?x) (true (gone ?x))) (<= (taken ?x) (does ?p (take ?x))) (<= (legal white again) (taken ?x))
        (<= (next (gone ?x)) (taken ?x)) (<= terminal (taken 1) (taken 2))
        (<= (goal ?p 100) (does ?p (take 2))) (<= (goal ?p 30) (role ?p) (not (does ?p (take 1))))""",
    "terminal and legal in bodies": f"""{TURNS} {CLOCK} (init (pile 3)) (less 3 2) (less 2 1) (less 1 0)
        (<= (legal ?p take) (true (control ?p)) (not terminal)) (<= (legal ?p double) (legal ?p take) (true (pile 3)))
        (<= (legal ?p noop) (role ?p) (not (legal ?p take)))
        (<= (next (pile ?n)) (true (pile ?m)) (less ?m ?n) (someone take))
        (<= (next (pile 1)) (someone double)) (<= (someone ?m) (does ?p ?m) (legal ?p ?m) (distinct ?m noop))
        (<= (next (pile 0)) (true (pile 0))) (<= terminal (true (pile 0)))
        (<= (goal ?p 100) (true (control ?p)) (not terminal)) (<= (goal ?p 10) (role ?p) terminal)""",
    "keywords with another number of arguments": f"""(role r) {CLOCK} {ANY} (role) (role a b) (goal) (goal r) (init p 1)
        (legal r a) (legal r b) (legal r c d) (legal) (<= (next p) (does r a)) (<= (next q) (true p) (not (does r)))
        (<= (next s) (true p 1)) (<= (terminal r) (true p)) (<= (next t 1) (true p)) (<= (next u) (legal r c d))
        (<= (next o) (goal ?x))""",
    "a relation that nothing asks for and that depends on its own negation": f"""(role r) {CLOCK} {ANY} (legal r a)
        (<= yes (not no)) (<= no (not yes)) (<= (next p) (does r a))""",
    "noop for a role that only the head names": f"""{TURNS} {CLOCK} {ANY} (legal white a) (legal white b)
        (<= (legal ?p noop) (not (true (control ?p))))
        (<= (legal ?p wait) (true (step 1)) (not (true (control ?p))))""",
    "legal as a fact with a variable": f"(role a) (role b) {CLOCK} {ANY} (legal ?p noop) (legal a go) (goal ?q 10)",
    "a negation with a variable that stands nowhere else": f"""(role r) {CLOCK} {ANY}
        (init (cell 1 b)) (init (cell 2 b)) (<= (legal r (mark ?x)) (true (cell ?x b))) (legal r wait)
        (<= (next (cell ?x b)) (true (cell ?x b)) (not (does r (mark ?x)))) (<= (next (cell ?x x)) (does r (mark ?x)))
        (<= (next full) (not (true (cell ?x b)))) (<= (next (none ?y)) (succ ?y ?z) (not (true (cell ?y ?what))))
        (<= terminal (not (true (cell ?any b))))""",
    "distinct with a variable that stands nowhere else": f"""(role r) {CLOCK} {ANY} (legal r a) (legal r b)
        (<= (next p) (does r a) (distinct ?x 1)) (<= (next q) (does r b) (not (distinct ?x 1)))
        (<= (next s) (does r ?m) (or (distinct ?m a) (distinct ?m ?loose)))""",
    "a variable that only some branches of an or bind": f"""{TURNS} {CLOCK} {ANY}
        (init (on 1)) (legal white a) (legal white b)
        (<= (legal ?p noop) (or (true (control ?p)) (true (step 2)) (not (true (on 3)))))
        (<= (next (on ?x)) (succ ?x ?y) (or (true (on ?x)) (does white a)) (not (true (off ?x))))
        (<= (next hit) (or (true (on ?x)) (does white b)) (not (true (step ?x))))""",
}

NEEDY = {
    "different cells": f"""(role r) {CLOCK} {ANY} (init (at 1 1)) (n 1) (n 2)
        (<= (differ ?a ?b ?c ?d) (distinct ?a ?c)) (<= (differ ?a ?b ?c ?d) (distinct ?b ?d))
        (<= (legal r (to ?c ?d)) (true (at ?a ?b)) (n ?c) (n ?d) (differ ?a ?b ?c ?d))
        (<= (next (at ?c ?d)) (does r (to ?c ?d)))""",
    "sums of which two numbers are known": f"""(role a) (role b) {CLOCK} (init (purse a 3)) (init (purse b 5))
        (succ 0 1) (n 0) (n 1) (n 2) (n 3) (n 4) (n 5)
        (<= (plus ?x 0 ?x) (succ 0 1)) (<= (plus ?x ?y ?z) (succ ?v ?y) (succ ?w ?z) (plus ?x ?v ?w))
        (<= (least ?x ?x ?x) (succ 0 1)) (<= (least ?x ?y ?x) (over ?y ?x)) (<= (least ?y ?x ?x) (over ?y ?x))
        (<= (over ?x ?y) (n ?d) (not (succ ?d 1)) (plus ?y ?d ?x)) (<= (reach ?x ?y) (n ?d) (plus ?y ?d ?x))
        (<= (legal ?r (bid ?b)) (true (purse ?r ?m)) (reach ?m ?b))
        (<= (next (purse ?r ?left)) (true (purse ?r ?m)) (does a (bid ?x)) (does b (bid ?y)) (least ?x ?y ?price)
            (plus ?left ?price ?m))
        (<= (goal ?r ?m) (true (purse ?r ?m)))""",
    "the same": f"""(role r) {CLOCK} {ANY} (same ?x ?x) (init (at 1)) (n 1) (n 2) (n 3)
        (<= (legal r (go ?y)) (n ?y) (true (at ?x)) (not (same ?x ?y)))
        (<= (next (at ?y)) (does r (go ?y))) (<= (next (stayed ?y)) (n ?y) (true (at ?x)) (same ?x ?y))""",
    "an absent fact": f"""(role r) {CLOCK} {ANY} (n 1) (n 2) (n 3) (<= (empty ?x) (not (true (stone ?x))))
        (<= (free ?x) (empty ?x)) (<= (legal r (put ?x)) (n ?x) (free ?x)) (legal r wait)
        (<= (next (stone ?x)) (does r (put ?x))) (<= (next (stone ?x)) (true (stone ?x)))""",
}


@pytest.mark.parametrize("idiom", SAFE | FORBIDDEN)
def test_all_ways_of_evaluation_agree_with_the_textbook(idiom):
    text = (SAFE | FORBIDDEN)[idiom]
    description = read_description(text)
    found = [str(problem) for problem in check(description) if problem.is_error]
    assert bool(found) == (idiom in FORBIDDEN) or idiom.startswith("base"), found
    for seed in range(2):
        assert differences(description, seed, 7, [*usual_ways(description, seed), Naive(text)]) is None


@pytest.mark.parametrize("idiom", NEEDY)
def test_a_relation_that_needs_known_arguments_is_asked_with_them(idiom):
    text = NEEDY[idiom]
    description = read_description(text)
    assert any(problem.is_error for problem in check(description))
    for seed in range(2):
        ways = [
            ByReasoner(description),
            ByNetwork(description),
            ByNetwork(description, "split"),
            ByCircuit(description),
        ]
        assert differences(description, seed, 7, [*ways, Naive(text)]) is None


def test_a_relation_that_needs_known_arguments_and_is_asked_without_cannot_be_grounded():
    description = read_description("(role r) (p ?x) (<= (legal r a) (p ?y)) (<= (legal r b) (p 1)) (goal r 1)")
    with pytest.raises(CannotGround, match=r"the variable \?x of a head stands in no positive literal, in \(p \?x\)"):
        ways_to_ground(description)
