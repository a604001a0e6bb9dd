"""Static checks of a description: what GDL forbids is an error, what looks like a slip is a warning.

Every problem names the rule, its place and what to do. Published descriptions break the rules of GDL in ways that do
not matter for play (such as malformed `base` facts), so an error is fatal only if the game has no meaning with it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ludus.gdl.components import component_of
from ludus.gdl.kif import BadDescription, shorten
from ludus.gdl.language import (
    KEYWORDS,
    Atom,
    Description,
    Item,
    Or,
    Rule,
    Term,
    all_items,
    literals_in,
    variables_of,
)
from ludus.gdl.repair import loose_variables, positive_variables, unknown_in_head

Key = tuple[str, int]
NEVER_IN_HEADS = ("role", "true", "does")
NEVER_IN_BODIES = ("init", "next", "base", "input")
STATIC = (("init", 1), ("base", 1), ("input", 2))
SEES = ("sees", 2)
STATE_ONLY = (("legal", 2), ("goal", 2), ("terminal", 0))
ASKED = (("role", 1), ("init", 1), ("next", 1), *STATE_ONLY)
"""Relations that a game asks for."""


@dataclass(frozen=True)
class Problem:
    """One finding about a description."""

    message: str
    is_error: bool
    is_fatal: bool = False
    """True if the description cannot be played."""
    offset: int = -1
    is_loss: bool = False
    """True if a part of the text is missing or is left out, so that the game may be another than the one meant."""

    def __str__(self) -> str:
        return self.message


def check(description: Description) -> list[Problem]:
    """All problems, errors first, each group in the order of the text."""
    found = list(_Checker(description).problems())
    return sorted(found, key=lambda problem: (not problem.is_error, problem.offset))


def require_valid(description: Description) -> list[Problem]:
    """All problems, none of them fatal; BadDescription names the first fatal one, and how many there are."""
    problems = check(description)
    fatal = [problem for problem in problems if problem.is_fatal]
    if fatal:
        more = f" (and {len(fatal) - 1} more: ludus gdl check lists them)" if len(fatal) > 1 else ""
        raise BadDescription(f"{fatal[0]}{more}")
    return problems


class _Checker:
    def __init__(self, description: Description):
        self.description = description
        self.rules = description.rules
        self.shown: dict[int, tuple[str, str]] = {}
        """By the id of a rule: its place, and its text."""
        self.heads: dict[Key, list[Rule]] = defaultdict(list)
        for rule in self.rules:
            self.heads[rule.head.key].append(rule)
        self.edges = {key: list(_body_edges(rules)) for key, rules in self.heads.items()}
        self.component = component_of({key: [used for used, _, _ in edges] for key, edges in self.edges.items()})

    def problem(
        self, rule: Rule | None, message: str, is_error: bool = True, is_fatal: bool = False, is_loss: bool = False
    ) -> Problem:
        if rule is None:
            return Problem(f"{self.description.source}: {message}", is_error, is_fatal, is_loss=is_loss)
        known = self.shown.get(id(rule))
        if known is None:  # a rule may be long and have many problems
            known = self.shown[id(rule)] = self.description.place(rule.offset), shorten(str(rule), 100)
        text = f"{known[0]}: {message}; in {known[1]}"
        return Problem(text, is_error, is_fatal, rule.offset, is_loss)

    def problems(self) -> Iterator[Problem]:
        for slip in self.description.slips:
            yield Problem(
                f"{self.description.place(slip.offset)}: {slip.message}", True, offset=slip.offset, is_loss=True
            )
        if ("role", 1) not in self.heads and any(":-" in name for name, _ in self.heads):
            message = "rules in infix form, such as head :- body, are not read; write (<= head body) and (role white)"
            yield self.problem(None, message, is_fatal=True)
        for name, needed in (("role", 1), ("legal", 2), ("goal", 2), ("terminal", 0)):
            if (name, needed) not in self.heads:
                message = f"there is no {name}: every game must define it"
                yield self.problem(None, message, is_fatal=name in ("role", "legal"), is_loss=True)
        for rule in self.rules:
            yield from self.of_rule(rule)
        yield from self.dependencies()
        yield from self.names()

    def of_rule(self, rule: Rule) -> Iterator[Problem]:
        for atom in (rule.head, *(literal.atom for literal in literals_in(rule.body))):
            if atom.name in KEYWORDS and len(atom.args) != KEYWORDS[atom.name]:
                wanted = KEYWORDS[atom.name]
                message = f"{atom.name} takes {wanted} argument{'s' * (wanted != 1)}, not {len(atom.args)}"
                is_loss = rule.head.name not in ("base", "input")  # nothing asks for those
                yield self.problem(rule, f"{message}; it is read as another relation", is_loss=is_loss)
            for term in atom.args:
                for function in _functions(term):
                    if function.lower() in KEYWORDS:
                        yield self.problem(rule, f"the keyword {function} is used as a function; rename it")
        if rule.body and rule.head.name in NEVER_IN_HEADS:
            yield self.problem(rule, f"{rule.head.name} must not be the head of a rule")
        elif not rule.body and rule.head.name in ("true", "does"):
            message = f"{rule.head.name} must not be stated as a fact; use init for the first position"
            yield self.problem(rule, message, is_loss=True)
        for literal in literals_in(rule.body):
            if literal.atom.name in NEVER_IN_BODIES:
                yield self.problem(rule, f"{literal.atom.name} must not stand in a body")
        yield from self.safety(rule)
        if _has_nested_or(rule.body):
            yield self.problem(rule, "an 'or' inside an 'or'; merge them", is_error=False)
        if any(isinstance(item, Or) and not item.branches for item in all_items(rule.body)):
            yield self.problem(rule, "an empty 'or' is never true; remove the rule", is_error=False)
        if rule.head.name == "goal" and len(rule.head.args) == 2:
            value = rule.head.args[1]
            if isinstance(value, str) and not value.startswith("?") and not _is_goal(value):
                yield self.problem(rule, f"a goal is a whole number from 0 to 100, not {shorten(value, 20)}")

    def safety(self, rule: Rule) -> Iterator[Problem]:
        """Every variable of the head, of a negated literal and of distinct must stand in a positive literal.

        Rules that break this are played as ludus.gdl.repair says.
        """
        bound = positive_variables(rule.body)
        needed = {name for term in rule.head.args for name in variables_of(term)}
        unknown = unknown_in_head(rule)
        for name in sorted(needed - bound):
            shown = shorten(name, 40)
            message = (
                f"the variable {shown} of the head stands in no positive literal of the body"
                if rule.body
                else f"the variable {shown} stands in a fact; only rules have variables"
            )
            lost = ", so the rule is left out" if name in unknown else ""
            yield self.problem(rule, message + lost, is_loss=name in unknown)
        for name in sorted(loose_variables(rule.body, bound) - (needed - bound)):
            yield self.problem(
                rule,
                f"the variable {shorten(name, 40)} of a negation or distinct stands in no positive literal, so that"
                " negation or distinct is left out",
            )

    def dependencies(self) -> Iterator[Problem]:
        reach = {key: self.reachable(key) for key in (*STATIC, *STATE_ONLY) if key in self.heads}
        for heads, names in ((STATIC, ("true", "does")), (STATE_ONLY, ("does",))):
            for head in heads:
                for name in names:
                    target = name, KEYWORDS[name]
                    if head in reach and target in reach[head]:
                        edges = self.edges[head]
                        rule = next(rule for used, _, rule in edges if used == target or target in self.reachable(used))
                        yield self.problem(rule, f"{head[0]} must not depend on {name}, and does through its body")
        asked = set().union(*map(self.reachable, ASKED))
        for key, edges in self.edges.items():
            for used, negated, rule in edges:
                if self.component.get(used) != self.component[key] or used not in self.heads:
                    continue
                if negated:
                    # With arguments the atoms may have an order, as in (<= (legal ?r noop) (not (legal ?r go))).
                    message = f"{key[0]} depends on its own negation through {used[0]}"
                    yield self.problem(rule, message, is_fatal=key[1] == used[1] == 0 and key in asked)
        for key, edges in self.edges.items():
            for rule in {id(rule): rule for used, _, rule in edges if self.in_cycle(key, used)}.values():
                yield from self.recursion(key, rule)

    def in_cycle(self, key: Key, used: Key) -> bool:
        return used in self.heads and self.component.get(used) == self.component[key]

    def recursion(self, key: Key, rule: Rule) -> Iterator[Problem]:
        """In a cycle each argument is ground, an argument of the head, or in a positive literal outside of it."""
        outside = {
            name
            for literal in literals_in(rule.body)
            if not literal.negated and not self.in_cycle(key, literal.atom.key)
            for term in literal.atom.args
            for name in variables_of(term)
        }
        for literal in literals_in(rule.body):
            if literal.negated or not self.in_cycle(key, literal.atom.key):
                continue
            for term in literal.atom.args:
                names = set(variables_of(term))
                if names and term not in rule.head.args and not names <= outside:
                    yield self.problem(rule, f"recursion through {literal.atom.name} may build terms without end")
                    return
        # A head that wraps one of its own variables in a function grows with every application.
        for term in rule.head.args:
            if isinstance(term, tuple) and set(variables_of(term)) - outside:
                yield self.problem(rule, f"recursion of {key[0]} may build terms without end")
                return

    def reachable(self, start: Key) -> set[Key]:
        seen, queue = set(), [start]
        while queue:
            key = queue.pop()
            for used, _, _ in self.edges.get(key, ()):
                if used not in seen:
                    seen.add(used)
                    queue.append(used)
        return seen

    def names(self) -> Iterator[Problem]:
        for rule in self.heads.get(("role", 1), ()):
            if rule.head.args == ("random",):
                message = "the role random belongs to GDL-II; here it chooses its moves as other roles do"
                yield self.problem(rule, message, is_error=False)
        for rule in self.heads.get(SEES, ())[:1]:
            yield self.problem(rule, "sees belongs to GDL-II; here every role sees everything", is_error=False)
        used: dict[Key, Rule] = {}
        for edges in self.edges.values():
            for key, _, rule in edges:
                used.setdefault(key, rule)
        given = {("true", 1), ("does", 2)}
        for key, rule in used.items():
            if key not in self.heads and key not in given:
                yield self.problem(rule, f"{key[0]} is never true: no rule or fact defines it", is_error=False)
        for key, rules in self.heads.items():
            if key not in used and key[0] not in KEYWORDS and key != SEES:
                yield self.problem(rules[0], f"{key[0]} is defined and never used", is_error=False)
        arities: dict[str, dict[int, Rule]] = defaultdict(dict)
        for (name, count), rule in (*((key, rules[0]) for key, rules in self.heads.items()), *used.items()):
            arities[name].setdefault(count, rule)
        for name, counts in arities.items():
            if len(counts) > 1 and name not in KEYWORDS:
                shown = " and ".join(map(str, sorted(counts)))
                rule = next(iter(counts.values()))
                yield self.problem(rule, f"{shorten(name, 40)} is used with {shown} arguments", is_error=False)


def _is_goal(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) < 10 and int(text) <= 100


def _has_nested_or(items: Iterable[Item]) -> bool:
    return any(
        isinstance(inner, Or) for item in items if isinstance(item, Or) for branch in item.branches for inner in branch
    )


def _functions(term: Term) -> Iterator[str]:
    if isinstance(term, tuple):
        yield term[0]
        for part in term[1:]:
            yield from _functions(part)


def _body_edges(rules: Iterable[Rule]) -> Iterator[tuple[Key, bool, Rule]]:
    for rule in rules:
        for literal in literals_in(rule.body):
            yield literal.atom.key, literal.negated, rule


__all__ = ["Atom", "Problem", "check", "require_valid"]
