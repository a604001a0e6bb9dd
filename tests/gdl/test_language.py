"""Descriptions as text: mistakes are named with line and column, slips are warnings, digests ignore layout."""

import pytest

from ludus.gdl.checks import check, require_valid
from ludus.gdl.kif import MAX_DEPTH, BadDescription, decode, parse, show
from ludus.gdl.language import read_description
from ludus.gdl.sheets import names, rule_sheets
from ludus.sources import Source

SMALL = """(role a) (role b) (init (p 1)) (legal a x) (legal b x)
(<= (next (p 1)) (true (p 1)))
(<= (goal ?r 50) (role ?r))
(<= terminal (true (p 2)))
"""


def problems(text):
    return check(read_description(text, "rules.kif"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("(p", "line 5, column 1: '(' is never closed, in '(p'; add a ')'"),
        ("; (\n(<=)", "line 6, column 1: '<=' needs a head in (<=)"),
        ("()", "line 5, column 1: a relation must begin with its name in ()"),
        ("(<= p (not))", "line 5, column 7: 'not' takes one literal, not 0, in (not)"),
        ("(<= p (distinct a))", "line 5, column 7: 'distinct' takes two terms, not 1, in (distinct a)"),
        ("(p (?f))", "line 5, column 4: the variable ?f stands where a function's name must stand in (?f)"),
        ("(" * (MAX_DEPTH + 1), f"line 5, column {MAX_DEPTH + 1}: nested deeper than {MAX_DEPTH} levels"),
    ],
)
def test_text_that_is_no_description_is_named_with_its_place(text, told):
    with pytest.raises(BadDescription) as raised:
        read_description(SMALL + text, "rules.kif")
    assert str(raised.value) == f"rules.kif, {told}"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("p)", "line 5, column 2: ')' without '(' in 'p)'; remove it"),
        ("p) (q ; )", "line 5, column 2: ')' without '(' in 'p) (q ; )'; the rules after it are not read; remove it"),
        (
            "(<= p (?x a))",
            "line 5, column 7: the variable ?x stands where a relation must stand; it is read as a name in",
        ),
        (
            "(<= (or p q) r)",
            "line 5, column 5: or stands where a relation must stand; it is read as a name in (or p q)",
        ),
        (
            "(<= p (<= q r))",
            "line 5, column 7: <= stands where a relation must stand; it is read as a name in (<= q r)",
        ),
        ("(<= p (not a b))", "line 5, column 7: 'not' takes one literal, not 2; the others are left out in (not a b)"),
        ("(<= p (distinct a b c))", "line 5, column 7: 'distinct' takes two terms, not 3; the others are left out in"),
        ("(p (?f 1))", "line 5, column 4: the variable ?f stands where a function's name must stand; it is read as"),
    ],
)
def test_text_that_other_programs_read_is_an_error_that_does_not_prevent_play(text, told):
    description = read_description(SMALL + text, "rules.kif")
    first = next(problem for problem in check(description) if problem.is_error)
    assert str(first).startswith(f"rules.kif, {told}")
    assert (first.is_fatal, first.is_loss) == (False, True)


@pytest.mark.parametrize(
    ("rule", "told", "is_fatal"),
    [
        ("(<= (q ?x) (not (r ?x)))", "the variable ?x of the head stands in no positive literal of the body", False),
        ("(<= (q ?x) (or (r ?x) (s ?y)))", "the variable ?x of the head stands in no positive literal", False),
        ("(<= q (distinct ?x 1))", "the variable ?x of a negation or distinct stands in no positive literal", False),
        ("(q ?x)", "the variable ?x stands in a fact; only rules have variables", False),
        ("(<= (next (q ?x)) (not (r ?x)))", "no positive literal of the body, so the rule is left out", False),
        ("(<= (legal a (go ?x)) (r))", "no positive literal of the body, so the rule is left out", False),
        ("(init (q ?x))", "a fact; only rules have variables, so the rule is left out", False),
        ("(goal a 101)", "a goal is a whole number from 0 to 100, not 101", False),
        ("(next 1 2)", "next takes 1 argument, not 2; it is read as another relation", False),
        ("(<= q (not q))", "q depends on its own negation", False),
        ("(<= q (not q)) (<= terminal q)", "q depends on its own negation", True),
        ("(<= (role c) (true (p 1)))", "role must not be the head of a rule", False),
        ("(<= (true (p 2)) (true (p 1)))", "true must not be the head of a rule", False),
        ("(<= q (init (p 1)))", "init must not stand in a body", False),
        ("(q (true 1))", "the keyword true is used as a function; rename it", False),
        ("(n 0) (<= (n (s ?x)) (n ?x))", "recursion through n may build terms without end", False),
    ],
)
def test_a_rule_that_gdl_forbids_is_an_error_at_its_place(rule, told, is_fatal):
    found = [problem for problem in problems(SMALL + rule) if problem.is_error]
    assert [problem.is_fatal for problem in found] == [is_fatal]
    assert told in str(found[0])
    assert str(found[0]).startswith("rules.kif, line 5, column")
    if is_fatal:
        with pytest.raises(BadDescription, match=r"rules\.kif, line 5"):
            require_valid(read_description(SMALL + rule, "rules.kif"))


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("(<= (legal a y) (does a x))", "legal must not depend on does"),
        ("(<= (init (p 3)) (true (p 1)))", "init must not depend on true"),
        ("(<= terminal q) (<= q (does a x))", "terminal must not depend on does"),
    ],
)
def test_what_belongs_to_a_state_does_not_depend_on_moves(rule, told):
    found = [problem for problem in problems(SMALL + rule) if problem.is_error]
    assert [problem.is_fatal for problem in found] == [False]
    assert str(found[0]).startswith(f"rules.kif, line 5, column 1: {told}")


@pytest.mark.parametrize("name", ["role", "legal", "goal", "terminal"])
def test_what_every_game_needs_is_missed(name):
    text = SMALL.replace(name, f"other-{name}")
    assert f"rules.kif: there is no {name}: every game must define it" in map(str, problems(text))


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("(<= terminal (or))", "an empty 'or' is never true"),
        ("(<= terminal (q 1))", "q is never true: no rule or fact defines it"),
        ("(q 1)", "q is defined and never used"),
        ("(<= terminal (q 1)) (q 1) (q 1 2)", "q is used with 1 and 2 arguments"),
        ("(role random)", "the role random belongs to GDL-II"),
        ("(<= (sees a ?m) (does b ?m))", "sees belongs to GDL-II; here every role sees everything"),
    ],
)
def test_a_slip_is_a_warning(rule, told):
    found = problems(SMALL + rule)
    assert any(told in str(problem) for problem in found)
    assert not any(problem.is_error for problem in found)


def test_keywords_are_read_in_any_case_and_other_names_as_spelled():
    text = "(ROLE Red) (<= TERMINAL (True (step++ 3)) (NOT (Or a b)) (DISTINCT a A)) (p (INIT TRUE) (Or NOT))"
    assert [str(rule) for rule in read_description(text).rules] == [
        "(role Red)",
        "(<= terminal (true (step++ 3)) (not a) (not b) (distinct a A))",
        "(p (init true) (Or NOT))",
    ]


def test_a_comment_ends_with_its_line_and_bytes_that_are_no_utf_8_are_read():
    text = decode("(p ; ) (\n\u00e9) ; no end".encode("latin-1"))
    assert [show(each) for each in parse(text)] == ["(p \u00e9)"]


def test_the_digest_of_a_description_ignores_comments_and_layout(tmp_path):
    def digest(text):
        return Source(tmp_path / "r.kif", {"r.kif": text.encode()}).digest

    assert digest("(role a)(p  1)") == digest("; roles\n( role a )\n(p 1) ; a fact")
    assert digest("(role a)(p 1)") != digest("(role a)(p 2)")
    assert digest("(role a) (p 1)") != digest("(role a) (P 1)")


@pytest.mark.parametrize("sheet", rule_sheets(), ids=lambda sheet: sheet.name)
def test_rule_sheets_have_a_title_and_no_errors(sheet):
    from ludus.gdl.described import GAMES

    assert sheet.title
    assert sheet.about.endswith(".")
    assert sheet.roles > 0
    text = (GAMES / f"{sheet.name}.kif").read_text()
    assert not [str(problem) for problem in problems(text) if problem.is_error]


def test_the_rule_sheets_are_listed_by_name():
    assert {"tictactoe", "connect4", "connect4-8x6", "breakthrough-6x6", "babel", "pacman"} <= set(names())
