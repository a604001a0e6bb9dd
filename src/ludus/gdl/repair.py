"""Rules that are not safe, with the meaning that the reference prover of ggp-base gives them.

In a safe rule every variable of the head, of a negated literal and of `distinct` stands in a positive literal of the
body. Published descriptions break this, and are played nevertheless. With a *loose* variable, one that no positive
literal binds,

    (goal ?loose 0), (legal ?loose noop)    holds for every role
    (not (p ?x ?loose))                     holds if (p ?x ...) holds for no value
    (distinct ?x ?loose)                    holds, since the terms differ as they are written
    (not (distinct ?x ?loose))              never holds, for the same reason
    (p ?loose)                              in the head of any other rule: cannot be grounded; the reasoner asks for p
                                            only with a known argument there
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ludus.gdl.alternatives import MAX_OR, count_alternatives, expand
from ludus.gdl.language import Atom, Distinct, Item, Literal, Or, Rule, Term, is_variable, variables_in, variables_of
from ludus.gdl.resting import without_moves

ROLE_FIRST = ("goal", "legal", "input")
"""Relations whose first argument is a role."""


def repair(rules: Iterable[Rule]) -> list[Rule]:
    """The rules with loose variables of negations and `distinct` removed, loose roles bound, and no moves before any
    is made (see ludus.gdl.resting)."""
    made: list[Rule] = []
    for rule in without_moves(rules):
        # A variable may be loose in some branches of an 'or' only.
        several = _is_loose(rule) and count_alternatives(rule.body) <= MAX_OR
        for part in expand([rule]) if several else [rule]:
            made += _Repair(len(made)).rule(part)
    return made


def _is_loose(rule: Rule) -> bool:
    """True if a variable of the head, of a negation or of distinct is loose, or one that joins items of the body."""
    bound = positive_variables(rule.body)
    uses = Counter(name for item in rule.body for name in variables_in([item]))
    uses.update({name for term in rule.head.args for name in variables_of(term)})
    uses.update(loose_variables(rule.body, bound))
    has_or = any(isinstance(item, Or) for item in rule.body)
    return has_or and any(count > 1 and name not in bound for name, count in uses.items())


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


class _Repair:
    """The repair of one rule; negations with loose variables become relations of their own."""

    def __init__(self, number: int):
        self.number = number
        self.parts: list[Rule] = []

    def rule(self, rule: Rule) -> list[Rule]:
        body, head = rule.body, rule.head
        if head.name in ROLE_FIRST and head.args and is_variable(head.args[0]):
            role = head.args[0]
            if role not in positive_variables(body):
                body = (Literal(Atom("role", (role,))), *body)
        given = {name for term in head.args for name in variables_of(term)}
        repaired = self.body(body, given | positive_variables(body))
        if repaired is None:
            return self.parts
        return [*self.parts, Rule(head, repaired, rule.offset) if repaired != rule.body else rule]

    def body(self, items: Sequence[Item], bound: set[str]) -> tuple[Item, ...] | None:
        """A conjunction without loose variables; None if it never holds."""
        kept: list[Item] = []
        for item in items:
            if isinstance(item, Or):
                inner = (self.body(branch, bound | positive_variables(branch)) for branch in item.branches)
                kept.append(Or(tuple(branch for branch in inner if branch is not None)))
            elif isinstance(item, Literal):
                kept.append(self.negation(item, bound) if item.negated else item)
            elif variables_in([item]) <= bound:
                kept.append(item)
            elif item.negated != (item.left == item.right):
                return None
        return tuple(kept)

    def negation(self, literal: Literal, bound: set[str]) -> Literal:
        names = list(dict.fromkeys(name for term in literal.atom.args for name in variables_of(term)))
        if bound.issuperset(names):
            return literal
        shared: tuple[Term, ...] = tuple(name for name in names if name in bound)
        some = Atom(f"some {self.number} {len(self.parts)}", shared)
        self.parts.append(Rule(some, (Literal(literal.atom),)))
        return Literal(some, negated=True)
