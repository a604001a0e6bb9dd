"""Rules without 'or'."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from math import prod

from ludus.gdl.language import Atom, Item, Literal, Or, Rule, variables_in, variables_of

MAX_OR = 256
"""A rule whose disjunctions multiply to more alternatives than this keeps them as relations of their own."""


def expand(rules: Iterable[Rule]) -> Iterable[Rule]:
    """Rules without 'or': one for each choice of branches or, where these are too many, through a relation."""
    for number, rule in enumerate(rules):
        yield from _expand_rule(rule, f"or {number}")


def count_alternatives(items: Iterable[Item]) -> int:
    """The number of ways to choose a branch of each 'or' in a body, nested ones included."""
    return prod(sum(map(count_alternatives, item.branches)) for item in items if isinstance(item, Or))


def _expand_rule(rule: Rule, name: str) -> Iterable[Rule]:
    ors = [item for item in rule.body if isinstance(item, Or)]
    if not ors:
        yield rule
        return
    plain = tuple(item for item in rule.body if not isinstance(item, Or))
    if count_alternatives(ors) <= MAX_OR:
        for choice in product(*(each.branches for each in ors)):
            made = Rule(rule.head, plain + tuple(item for branch in choice for item in branch), rule.offset)
            yield from _expand_rule(made, name)
        return
    body = list(plain)
    for number, each in enumerate(ors):
        rest = [item for item in rule.body if item is not each]
        outside = variables_in(rest) | {v for term in rule.head.args for v in variables_of(term)}
        shared = tuple(sorted(variables_in([each]) & outside))
        head = Atom(f"{name} {number}", shared)
        for branch in each.branches:
            bound = {
                v for item in branch if isinstance(item, Literal) and not item.negated for v in variables_in([item])
            }
            context = [
                item
                for item in plain
                if isinstance(item, Literal) and not item.negated and variables_in([item]) & (set(shared) - bound)
            ]
            yield from _expand_rule(Rule(head, (*context, *branch), rule.offset), f"{name} {number} in")
        body.append(Literal(head))
    yield Rule(rule.head, tuple(body), rule.offset)
