"""Rules as the reasoner takes them: clauses without 'or', facts apart, and what depends on what."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ludus.gdl.checks import Key
from ludus.gdl.components import component_of
from ludus.gdl.language import KEYWORDS, Atom, Distinct, Item, Literal, Or, Rule, Term, variables_in, variables_of
from ludus.gdl.repair import repair

TRUE, DOES = ("true", 1), ("does", 2)
STATIC, STATE, MOVES = 0, 1, 2
"""What a relation depends on: on nothing, on the facts of a state, or on the moves made in it as well."""

Simple = Literal | Distinct
Row = tuple[Term, ...]
Needs = frozenset[frozenset[int]]

MOST_PLACES = 10
"""Arguments of a clause that must be known, of which all sets are tried."""


@dataclass(frozen=True)
class Clause:
    """A head that holds if all of its body does."""

    head: Atom
    body: tuple[Simple, ...]

    def __str__(self) -> str:
        return str(Rule(self.head, self.body))


@dataclass
class Program:
    """The clauses of a description by relation."""

    clauses: dict[Key, list[Clause]] = field(default_factory=lambda: defaultdict(list))
    """Relations that have bodies."""
    facts: dict[Key, dict[Row, None]] = field(default_factory=lambda: defaultdict(dict))
    """Relations that are lists of facts: the arguments of each, in the order of the text."""
    needs: dict[Key, Needs] = field(default_factory=dict)
    """What must be known before a relation can be asked for, since its clauses cannot find it: groups of arguments, and
    of each group one argument at least. Relations that need nothing are not listed."""
    depends: dict[Key, int] = field(default_factory=dict)
    """By relation: STATIC, STATE or MOVES."""
    component: dict[Key, int] = field(default_factory=dict)
    """By relation: the number of its strongly connected component."""
    recursive: set[Key] = field(default_factory=set)
    """Relations that depend on themselves."""
    negative: set[int] = field(default_factory=set)
    """Components in which a relation depends on the negation of another, or of itself."""
    growing: set[Key] = field(default_factory=set)
    """Relations that may build terms without end, and those that depend on them."""


def make_program(rules: Iterable[Rule]) -> Program:
    """The clauses of valid rules."""
    program = Program()
    splitter = _Splitter()
    for rule in repair(rules):
        splitter.add(rule)
    for clause in splitter.clauses:
        if clause.body or any(True for term in clause.head.args for _ in variables_of(term)):
            program.clauses[clause.head.key].append(clause)
        else:
            program.facts[clause.head.key][clause.head.args] = None
    for key in list(program.facts):
        if key in program.clauses or key[0] in KEYWORDS:  # facts beside rules become a relation of their own
            name, count = key
            plain = Atom(f"facts of {name}", tuple(f"?{i}" for i in range(count)))
            program.facts[plain.key] = program.facts.pop(key)
            program.clauses[key].insert(0, Clause(Atom(name, plain.args), (Literal(plain),)))
    _find_needs(program)
    _find_dependencies(program)
    return program


class _Splitter:
    """Takes rules apart: each 'or' becomes a relation over the variables that it shares with the rest of its rule."""

    def __init__(self) -> None:
        self.clauses: list[Clause] = []
        self.ors = 0

    def add(self, rule: Rule) -> None:
        head_variables = [name for term in rule.head.args for name in variables_of(term)]
        body = self.conjunction(rule.body, head_variables)
        self.clauses.append(Clause(_intern(rule.head), body))

    def conjunction(self, items: Sequence[Item], outside: Iterable[str]) -> tuple[Simple, ...]:
        body: list[Simple] = []
        for item in items:
            if isinstance(item, Literal):
                body.append(Literal(_intern(item.atom), item.negated))
            elif isinstance(item, Distinct):
                body.append(Distinct(_intern_term(item.left), _intern_term(item.right), item.negated))
            elif len(item.branches) == 1:
                others = variables_in([each for each in items if each is not item]) | set(outside)
                body += self.conjunction(item.branches[0], others)
            else:
                others = variables_in([each for each in items if each is not item]) | set(outside)
                body.append(Literal(self.disjunction(item, others)))
        return tuple(body)

    def disjunction(self, item: Or, outside: set[str]) -> Atom:
        self.ors += 1
        shared = tuple(sorted(variables_in([item]) & outside))
        head = _intern(Atom(f"or {self.ors}", shared))
        for branch in item.branches:
            self.clauses.append(Clause(head, self.conjunction(branch, shared)))
        return head


def _intern(atom: Atom) -> Atom:
    return Atom(sys.intern(atom.name), tuple(_intern_term(term) for term in atom.args))


def _intern_term(term: Term) -> Term:
    """A term whose names are the same objects wherever they stand: comparing them is then a comparison of pointers."""
    if isinstance(term, tuple):
        return tuple(_intern_term(part) for part in term)
    return sys.intern(str(term))


def _find_needs(program: Program) -> None:
    """Find what relations need to be asked for, from those that they use; recursion is tried until nothing changes."""
    users: dict[Key, set[Key]] = defaultdict(set)
    for key, clauses in program.clauses.items():
        for clause in clauses:
            for item in clause.body:
                if isinstance(item, Literal):
                    users[item.atom.key].add(key)
    queue = list(program.clauses)
    while queue:
        key = queue.pop()
        found = frozenset(
            group for clause in program.clauses[key] for group in _needs_of(clause, program.needs) if group
        )
        if not found <= program.needs.get(key, frozenset()):
            program.needs[key] = program.needs.get(key, frozenset()) | found
            queue += sorted(users[key])


def _needs_of(clause: Clause, needs: dict[Key, Needs]) -> Iterator[frozenset[int]]:
    """What a clause needs. It finds a variable if it can ask for a positive literal with it. Each group is a smallest
    set of arguments without which it does not find all: the first and the third of (sum ?x 0 ?x); in a clause that
    counts row by row, the number before and after a row; and what a recursive clause finds from some of its arguments
    together, or from another alone."""
    all_found = _found(clause, needs, range(len(clause.head.args)))
    found, _ = alone = _found(clause, needs, ())
    if alone == all_found:
        return
    places = [i for i, term in enumerate(clause.head.args) if not found.issuperset(variables_of(term))]
    groups: list[frozenset[int]] = []
    for size in range(1, len(places) + 1 if len(places) <= MOST_PLACES else 2):
        for group in map(frozenset, combinations(places, size)):
            known = [i for i in places if i not in group]
            if not any(other <= group for other in groups) and _found(clause, needs, known) != all_found:
                groups.append(group)
    yield from groups
    if len(places) > MOST_PLACES and _found(clause, needs, [i for group in groups for i in group]) != all_found:
        yield from _needs_of_literals(clause, needs)


def _found(clause: Clause, needs: dict[Key, Needs], known: Iterable[int]) -> tuple[set[str], int]:
    """The variables that a clause finds where these arguments of its head are known, and the number of positive
    literals that it cannot ask for."""
    bound = {name for i in known for name in variables_of(clause.head.args[i])}
    waiting = _ask(clause, needs, bound)
    return bound, len(waiting)


def _ask(clause: Clause, needs: dict[Key, Needs], bound: set[str]) -> list[Atom]:
    """Adds the variables to `bound` that a clause finds by asking for positive literals, in any order. Returns the
    literals that it cannot ask for."""
    waiting = [item.atom for item in clause.body if isinstance(item, Literal) and not item.negated]
    asked: list[Atom] | None = None
    while asked is None or asked:
        asked = [
            atom
            for atom in waiting
            if can_ask(needs.get(atom.key, frozenset()), [bound.issuperset(variables_of(term)) for term in atom.args])
        ]
        waiting = [atom for atom in waiting if atom not in asked]
        bound |= {name for atom in asked for term in atom.args for name in variables_of(term)}
    return waiting


def _needs_of_literals(clause: Clause, needs: dict[Key, Needs]) -> Iterator[frozenset[int]]:
    """What a clause needs at most: for each literal that it cannot ask for, and for each variable that it does not
    find, one place in the head."""
    bound: set[str] = set()
    for atom in _ask(clause, needs, bound):
        for group in needs[atom.key]:
            # A term of several variables is known if all are: then one of its variables is asked for, which is enough
            # in a group of one argument only. It is a rare case, and planning tells if it fails.
            names = {name for i in group for name in list(variables_of(atom.args[i]))[:1]}
            yield _places(clause.head, names)
        bound |= {name for term in atom.args for name in variables_of(term)}
    for name in variables_in(clause.body) | {name for term in clause.head.args for name in variables_of(term)}:
        if name not in bound:
            yield _places(clause.head, {name})


def _places(head: Atom, names: set[str]) -> frozenset[int]:
    """The arguments of a head that have one of these variables."""
    return frozenset(i for i, term in enumerate(head.args) if not names.isdisjoint(variables_of(term)))


def can_ask(needs: Needs, known: Sequence[bool]) -> bool:
    """Can a relation be asked for where these arguments are known?"""
    return all(any(known[i] for i in group) for group in needs)


def _find_dependencies(program: Program) -> None:
    uses: dict[Key, set[Key]] = {key: set() for key in program.clauses}
    users: dict[Key, set[Key]] = defaultdict(set)
    for key, clauses in program.clauses.items():
        for clause in clauses:
            for item in clause.body:
                if isinstance(item, Literal):
                    uses[key].add(item.atom.key)
                    users[item.atom.key].add(key)
    program.component = component_of({key: sorted(used) for key, used in uses.items()})
    members = Counter(program.component.values())
    program.recursive = {key for key in uses if key in uses[key] or members[program.component[key]] > 1}
    program.negative = {
        program.component[key]
        for key, clauses in program.clauses.items()
        for clause in clauses
        for item in clause.body
        if isinstance(item, Literal) and item.negated and program.component.get(item.atom.key) == program.component[key]
    }
    program.depends = dict.fromkeys((*program.facts, *program.clauses), STATIC)
    program.depends.update(dict.fromkeys(_reached([TRUE], users), STATE))
    program.depends.update(dict.fromkeys(_reached([DOES], users), MOVES))
    program.growing = _reached(
        [
            key
            for key in program.recursive
            if any(isinstance(term, tuple) for clause in program.clauses[key] for term in clause.head.args)
        ],
        users,
    )


def _reached(starts: list[Key], users: dict[Key, set[Key]]) -> set[Key]:
    """These relations and all that use them."""
    queue, reached = list(starts), set(starts)
    while queue:
        for user in users[queue.pop()] - reached:
            reached.add(user)
            queue.append(user)
    return reached
