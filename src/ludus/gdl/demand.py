"""Relations derived only for the arguments with which they are asked.

A grounder derives whole relations, from the bottom up. Many descriptions are written for a prover, which works from the
top down: a relation that counts the stones of three cells is asked for one triple, but would be derived for all.

    (<= (goal red ?n) (count h1 h2 i1 red ?n))       (<= (count ?x ?y ?z ?player 100) (true (cell ?x ?player)) ...)

If all that ask for a relation know some of its arguments, each of its rules gets a literal for these, and the literal
is true for what is asked (magic sets):

    (<= (count ?x ?y ?z ?player 100) (asked ?x ?y ?z ?player) (true (cell ?x ?player)) ...)       (asked h1 h2 i1 red)

An argument is known if it is a constant or if it is known in the head of the rule that asks. Other literals of the body
may give its value, too, where a relation asks for itself, directly or not, and for relations that need it: those with
a rule like `(<= (differ ?a ?b) (distinct ?a ?b))`, which cannot be derived as a whole.

What is asked may depend on the state. Then the ground program has atoms for it, and they are taken for true: that
derives an atom also in states where nobody asks for it, which does no harm.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ludus.gdl.components import component_of
from ludus.gdl.language import KEYWORDS, Atom, Distinct, Item, Literal, Rule, Term, variables_in, variables_of
from ludus.gdl.repair import positive_variables

Key = tuple[str, int]
PREFIX = "asked "
"""Begins the names of the relations that say what is asked; no name of a description has a space."""


def on_demand(rules: list[Rule]) -> list[Rule]:
    """Rules without 'or' that define the same legal, next, goal, terminal, init and role, with fewer atoms."""
    return _Demand(rules).rewritten()


class _Demand:
    def __init__(self, rules: list[Rule]):
        self.rules = rules
        keywords = set(KEYWORDS.items())
        self.derived = {rule.head.key for rule in rules if _is_derived(rule)} - keywords
        self.needy = _needy(rules) & self.derived
        graph: dict[Key, set[Key]] = defaultdict(set)
        for rule in rules:
            graph[rule.head.key].update(item.atom.key for item in rule.body if isinstance(item, Literal))
        self.component = component_of(graph)
        self.known = {key: set(range(key[1])) for key in self.derived}
        """By relation: the places of arguments that all who ask for it know."""
        while sum(self._narrow(rule, at) for rule in rules for at in self._questions(rule)):
            pass

    def _questions(self, rule: Rule) -> Iterator[int]:
        """The places in a body of literals whose relation has known arguments."""
        for at, item in enumerate(rule.body):
            if isinstance(item, Literal) and self.known.get(item.atom.key):
                yield at

    def _narrow(self, rule: Rule, at: int) -> bool:
        """Removes arguments that a literal of a body does not know from those that are known; True if there are any."""
        atom = _literal(rule.body[at]).atom
        bound = self._known_variables(rule.head)
        is_circle = self.component[rule.head.key] == self.component[atom.key]
        if is_circle or atom.key in self.needy:
            bound |= variables_in(list(self._helpers(rule, at)))
        unknown = {
            place
            for place in self.known[atom.key]
            if not set(variables_of(atom.args[place])) <= bound
            or (is_circle and isinstance(atom.args[place], tuple) and any(variables_of(atom.args[place])))
        }  # a function of a variable could grow without end in a circle
        self.known[atom.key] -= unknown
        return bool(unknown)

    def _known_variables(self, head: Atom) -> set[str]:
        return {name for term in self._known_args(head) for name in variables_of(term)}

    def _known_args(self, atom: Atom) -> tuple[Term, ...]:
        return tuple(atom.args[place] for place in sorted(self.known.get(atom.key, ())))

    def _helpers(self, rule: Rule, at: int) -> Iterator[Literal]:
        """Positive literals that can give values to the one at this place: none that needs these values itself."""
        for place, item in enumerate(rule.body):
            if not isinstance(item, Literal) or item.negated or place == at:
                continue
            if place < at or item.atom.key not in self.derived:
                yield item

    def rewritten(self) -> list[Rule]:
        made: dict[Rule, None] = {}
        for rule in self.rules:
            asked = self._asked(rule.head) if _is_derived(rule) else None
            made[Rule(rule.head, (asked, *rule.body), rule.offset) if asked else rule] = None
            for at in self._questions(rule):
                made[self._question(rule, at, asked)] = None
        return list(made)

    def _asked(self, atom: Atom) -> Literal | None:
        args = self._known_args(atom)
        return Literal(Atom(f"{PREFIX}{atom.name} {len(atom.args)}", args)) if args else None

    def _question(self, rule: Rule, at: int, asked: Literal | None) -> Rule:
        """The rule that a literal of a body is asked for if the head is, under conditions that cost little."""
        head = self._asked(_literal(rule.body[at]).atom)
        assert head is not None
        body: list[Item] = [asked] if asked else []
        bound = variables_in(body)
        wanted = variables_in([head])
        helpers = list(self._helpers(rule, at))
        for helper in helpers:
            if (wanted - bound) & variables_in([helper]):
                body.append(helper)
                bound |= variables_in([helper])
        listed = [item for item in helpers if item.atom.key not in self.derived and item.atom.name not in KEYWORDS]
        conditions: list[Item] = [*listed, *(item for item in rule.body if isinstance(item, Distinct))]
        body += [item for item in conditions if item not in body and set() < variables_in([item]) <= bound]
        return Rule(head.atom, tuple(body), rule.offset)


def _is_derived(rule: Rule) -> bool:
    return bool(rule.body) or any(True for term in rule.head.args for _ in variables_of(term))


def _needy(rules: list[Rule]) -> set[Key]:
    """Relations with a rule whose head has a variable that only needy relations, or none, give a value."""
    needy: set[Key] = set()
    while True:
        found = {
            rule.head.key
            for rule in rules
            if not {name for term in rule.head.args for name in variables_of(term)}
            <= positive_variables(
                item for item in rule.body if isinstance(item, Literal) and item.atom.key not in needy
            )
        }
        if found <= needy:
            return needy
        needy |= found


def _literal(item: Item) -> Literal:
    assert isinstance(item, Literal)
    return item
