"""Rules that are not safe, with the meaning that the reference prover of ggp-base gives them.

In a safe rule every variable of the head, of a negated literal and of `distinct` stands in a positive literal of the
body. Published descriptions break this, and are played nevertheless. The prover of ggp-base first writes a rule with
`or` as several rules, then moves each negation and each `distinct` behind the positive literals that bind its
variables, and drops those for which there are none. A game manager that uses this prover decides by it which moves are
legal, so the same holds here. With a *loose* variable, one that no positive literal binds,

    (not (p ?x ?loose))                 is left out
    (distinct ?x ?loose)                is left out
    (goal ?loose 0), (legal ?loose x)   holds for every role
    (next (p ?loose))                   in the head of a rule: the rule is left out, and so for `init`, moves and goals;
                                        the prover fails, but only where the rule applies
    (p ?loose)                          in the head of any other rule: p is asked only with a known argument there, and
                                        derived for these (ludus.gdl.demand); without one it cannot be grounded

GDL forbids rules for `true` and `does` as well. The prover adds what they say to the facts of a state and to the moves,
for the bodies of rules only: the state does not keep it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ludus.gdl.alternatives import MAX_OR, count_alternatives, expand
from ludus.gdl.language import Atom, Distinct, Item, Literal, Or, Rule, is_variable, variables_in, variables_of
from ludus.gdl.resting import without_moves

ROLE_FIRST = ("goal", "legal", "input")
"""Relations whose first argument is a role."""
GIVEN = {"true": 1, "does": 2}
"""Relations that the state and the moves define, with the number of their arguments."""


def repair(rules: Iterable[Rule]) -> list[Rule]:
    """The rules without what loose variables forbid, with loose roles bound, without moves before any is made (see
    ludus.gdl.resting), and with relations of their own for rules about `true` and `does`."""
    made: list[Rule] = []
    for rule in without_moves(_with_derived(list(rules))):
        # A variable may be loose in some branches of an 'or' only.
        several = _is_loose(rule) and count_alternatives(rule.body) <= MAX_OR
        for each in map(_repaired, expand([rule]) if several else [rule]):
            if not unknown_in_head(each):
                made.append(each)
    return made


def unknown_in_head(rule: Rule) -> set[str]:
    """The loose variables of a head that nothing can give a value from outside: in facts, moves and goals. Roles are
    known."""
    head = rule.head
    known = 1 if head.name in ROLE_FIRST else 0
    if head.name not in ("role", "init", "next", "legal", "goal", *GIVEN):
        return set()
    given = {name for term in head.args[:known] for name in variables_of(term)}
    wanted = {name for term in head.args[known:] for name in variables_of(term)}
    return wanted - given - positive_variables(rule.body)


def _with_derived(rules: list[Rule]) -> list[Rule]:
    """The rules, where those for `true` or `does` define another relation, in place of these in all bodies."""
    derived = {rule.head.name for rule in rules if GIVEN.get(rule.head.name) == len(rule.head.args)}
    if not derived:
        return rules

    def renamed(atom: Atom) -> Atom:
        is_derived = atom.name in derived and len(atom.args) == GIVEN[atom.name]
        return Atom(f"{atom.name} or derived", atom.args) if is_derived else atom

    def renamed_items(items: Iterable[Item]) -> tuple[Item, ...]:
        return tuple(
            Literal(renamed(item.atom), item.negated)
            if isinstance(item, Literal)
            else Or(tuple(map(renamed_items, item.branches)))
            if isinstance(item, Or)
            else item
            for item in items
        )

    made = [Rule(renamed(rule.head), renamed_items(rule.body), rule.offset) for rule in rules]
    for name in sorted(derived):
        given = Atom(name, tuple(f"?{i}" for i in range(GIVEN[name])))
        made.append(Rule(renamed(given), (Literal(given),)))
    return made


def _is_loose(rule: Rule) -> bool:
    """True if a variable of the head, of a negation or of distinct is loose, or one that joins items of the body."""
    bound = positive_variables(rule.body)
    uses = Counter(name for item in rule.body for name in variables_in([item]))
    uses.update({name for term in rule.head.args for name in variables_of(term)})
    uses.update(loose_variables(rule.body, bound))
    has_or = any(isinstance(item, Or) for item in rule.body)
    return has_or and any(count > 1 and name not in bound for name, count in uses.items())


def _repaired(rule: Rule) -> Rule:
    bound = positive_variables(rule.body)
    body = _without_loose(rule.body, bound)
    if rule.head.name in ROLE_FIRST and rule.head.args and is_variable(rule.head.args[0]):
        role = rule.head.args[0]
        if role not in bound:
            body = (Literal(Atom("role", (role,))), *body)
    return Rule(rule.head, body, rule.offset) if body != rule.body else rule


def _without_loose(items: Sequence[Item], bound: set[str]) -> tuple[Item, ...]:
    kept: list[Item] = []
    for item in items:
        if isinstance(item, Or):
            branches = (_without_loose(branch, bound | positive_variables(branch)) for branch in item.branches)
            kept.append(Or(tuple(branches)))
        elif not (isinstance(item, Distinct) or item.negated) or variables_in([item]) <= bound:
            kept.append(item)
    return tuple(kept)


def loose_variables(items: Iterable[Item], bound: set[str]) -> set[str]:
    """Variables of negations and distinct that nothing binds."""
    loose: set[str] = set()
    for item in items:
        if isinstance(item, Or):
            for branch in item.branches:
                loose |= loose_variables(branch, bound | positive_variables(branch))
        elif isinstance(item, Distinct) or item.negated:
            loose |= variables_in([item]) - bound
    return loose


def positive_variables(items: Iterable[Item]) -> set[str]:
    """The variables that positive literals bind; of an 'or', those that all its branches bind."""
    bound: set[str] = set()
    for item in items:
        if isinstance(item, Literal) and not item.negated:
            bound |= {name for term in item.atom.args for name in variables_of(term)}
        elif isinstance(item, Or) and item.branches:
            bound |= set.intersection(*(positive_variables(branch) for branch in item.branches))
    return bound
