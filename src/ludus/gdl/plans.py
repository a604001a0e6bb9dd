"""The order in which the literals of a clause are evaluated, and how each of them is.

A relation is asked for with a *pattern*, a letter for each argument: `b` bound (its value is known), `f` free (its
values are wanted), `n` not wanted (any value will do). For each clause and pattern the planner puts the literals in
order, greedily: tests first, then the literal with the fewest answers. Literals that share no unknown variable with
what is wanted become a test of their own (`Exists`), which ends at the first answer.

The number of answers is known for facts that the description lists. For others it comes from play: from the facts of
some states, and from the answers that relations had there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import frexp
from operator import itemgetter
from typing import Any

from ludus.gdl.checks import Key
from ludus.gdl.clauses import DOES, STATIC, TRUE, Clause, Program, Row, Simple, can_ask
from ludus.gdl.kif import BadDescription, shorten
from ludus.gdl.language import Distinct, Literal, Term, is_variable, variables_of

Shape = str | tuple
"""How a term is matched: `b`, `f` or `n`, or (function, shape, ...) where its parts are matched one by one."""

TEST, CALL, SCAN = "test", "call", "scan"
"""Look up facts or compare terms; ask a relation with a pattern; look up the answers of a relation as a whole."""

CALL_COST = 3.0
"""Of a call whose answer is in the table, where the look-up of a fact costs 1."""
LARGEST_SCAN = 3000.0
"""A relation with more answers than this, by estimate, is not evaluated as a whole."""
LONG_BODY = 40
"""Bodies with more literals are not searched for independent groups."""


@dataclass(frozen=True)
class Step:
    """One literal in its place."""

    item: Simple
    way: str
    """TEST, CALL or SCAN."""
    shapes: tuple[Shape, ...]
    """For each argument; for CALL they are letters."""
    fan: float
    """Expected number of answers."""
    cost: float

    @property
    def is_loop(self) -> bool:
        return any("f" in letters_of(shape) for shape in self.shapes)


@dataclass(frozen=True)
class Exists:
    """A test whether some steps together have an answer."""

    steps: tuple[Step | Exists, ...]
    fan: float
    cost: float
    is_loop = False


Steps = tuple[Step | Exists, ...]


@dataclass(frozen=True)
class Plan:
    """The steps of a clause for a pattern."""

    clause: Clause
    pattern: str
    steps: Steps
    fan: float
    cost: float


def letters_of(shape: Shape) -> str:
    """The letters of a shape from left to right."""
    return shape if isinstance(shape, str) else "".join(letters_of(part) for part in shape[1:])


def leaves_of(term: Term, shape: Shape) -> Iterator[tuple[str, Term]]:
    """The letters of a shape, each with the part of the term that it is for."""
    if isinstance(shape, str):
        yield shape, term
    else:
        for part, inner in zip(term[1:], shape[1:], strict=True):
            yield from leaves_of(part, inner)


def variables_of_item(item: Simple) -> Iterator[str]:
    for term in item.atom.args if isinstance(item, Literal) else (item.left, item.right):
        yield from variables_of(term)


class Planner:
    """Plans for all clauses of a program."""

    def __init__(self, program: Program):
        self.program = program
        self.rows: dict[Key, Sequence[Row] | dict[Row, None]] = dict(program.facts)
        """The answers of relations that are known as a whole."""
        self.samples: list[list[Term]] = []
        """Facts of states."""
        self.measured: dict[tuple[Key, str], float] = {}
        """Average number of answers of relations and patterns, where it is known from play."""
        self._plans: dict[tuple[Key, str], list[Plan]] = {}
        self._estimates: dict[tuple[Key, str], tuple[float, float]] = {}
        self._counts: dict[tuple, float] = {}

    def forget(self) -> None:
        """Plan anew, from new samples."""
        self._plans.clear()
        self._estimates.clear()
        self._counts.clear()

    def plans(self, key: Key, pattern: str) -> list[Plan]:
        """A plan for each clause of a relation."""
        found = self._plans.get((key, pattern))
        if found is None:
            # What the relation costs is not known while it is planned: a relation that asks itself takes a guess.
            free = pattern.count("f")
            self._estimates[key, pattern] = (3.0**free if free else 0.5), 10.0
            found = [self._plan(clause, pattern) for clause in self.program.clauses.get(key, ())]
            self._plans[key, pattern] = found
            fan, cost = sum(plan.fan for plan in found), CALL_COST + sum(plan.cost for plan in found)
            if not free:
                fan = min(fan, 0.5)
            fan = self.measured.get((key, pattern), fan)
            if self.program.depends.get(key, STATIC) == STATIC:  # the table is kept from state to state
                cost = CALL_COST
            self._estimates[key, pattern] = fan, cost
        return found

    def estimate(self, key: Key, pattern: str) -> tuple[float, float]:
        """Expected answers and cost of one call."""
        if (key, pattern) not in self._estimates:
            self.plans(key, pattern)
        return self._estimates[key, pattern]

    def _plan(self, clause: Clause, pattern: str) -> Plan:
        bound: set[str] = set()
        wanted: set[str] = set()
        for letter, term in zip(pattern, clause.head.args, strict=True):
            if letter != "n":
                (bound if letter == "b" else wanted).update(variables_of(term))
        order = _Order(self, clause, wanted - bound)
        steps, fan, cost = order.run(order.items(), bound, collects="f" in pattern)
        return Plan(clause, pattern, steps, fan, 1.0 + cost)

    # --- answers of one literal ------------------------------------------------------------------------------------

    def step(self, item: Simple, bound: set[str], used: set[str], times: float, component: int) -> Step | None:
        """The literal as the next step where the variables in `bound` are known and those in `used` are needed later;
        None if it cannot be evaluated yet. It is evaluated `times` times, in a clause of the relations in `component`.
        """
        if isinstance(item, Distinct):
            ready = bound.issuperset(variables_of_item(item))
            return Step(item, TEST, ("b", "b"), 0.8, 0.5) if ready else None
        key, args = item.atom.key, item.atom.args
        names = list(variables_of_item(item))
        if item.negated and not bound.issuperset(names):
            return None
        single = {name for name in names if name not in used and names.count(name) == 1}
        shapes = tuple(_shape(term, bound, single) for term in args)
        if key == TRUE:
            return self._true_step(item, shapes)
        if key == DOES:
            fan = 1.0 if shapes[0] == "b" else 2.0
            return Step(item, TEST, shapes, fan if _has_free(shapes) else 0.5, 1.0)
        if key in self.rows or key not in self.program.clauses:
            fan = self._count(key, self.rows.get(key, ()), args, shapes)
            return Step(item, TEST, shapes, fan, 1.0)
        letters = [shape if isinstance(shape, str) else "f" for shape in shapes]
        needs = self.program.needs.get(key, frozenset())
        if not can_ask(needs, [letter == "b" for letter in letters]):
            return None
        is_recursive = self.program.component[key] == component
        if is_recursive:  # a goal with a larger argument than the last one: such goals would never end
            letters = [
                "f"
                if isinstance(term, tuple)
                and letter == "b"
                and any(variables_of(term))
                and not any(i in group for group in needs)
                else letter
                for i, (term, letter) in enumerate(zip(args, letters, strict=True))
            ]
        fan, cost = self.estimate(key, "".join(letters))
        if not is_recursive and self._should_scan(key, cost, times):
            return Step(item, SCAN, shapes, fan, 2.0)
        return Step(item, CALL, tuple(letters), fan, cost)

    def may_scan(self, key: Key) -> bool:
        """True if a relation can be evaluated as a whole. One with growing terms might have no end."""
        return self.program.depends[key] != STATIC and key not in self.program.needs and key not in self.program.growing

    def _should_scan(self, key: Key, cost: float, times: float) -> bool:
        """True if evaluating a relation as a whole costs less than asking it `times` times at this cost."""
        if times < 2 or not self.may_scan(key):
            return False
        fan, whole = self.estimate(key, "f" * key[1])
        return fan < LARGEST_SCAN and whole + 2 * times < 0.7 * times * cost

    def _true_step(self, item: Literal, shapes: tuple[Shape, ...]) -> Step:
        (term,) = item.atom.args
        if shapes[0] == "b":
            return Step(item, TEST, shapes, 0.5, 1.0)
        samples = self.samples or [[]]
        if isinstance(shapes[0], str):
            return Step(item, TEST, shapes, max(1.0, sum(map(len, samples)) / len(samples)), 1.0)
        fans = [
            self._count(
                (TRUE, number, term[0], len(term)),
                [
                    fact[1:]
                    for fact in facts
                    if isinstance(fact, tuple) and (fact[0], len(fact)) == (term[0], len(term))
                ],
                term[1:],
                shapes[0][1:],
            )
            for number, facts in enumerate(samples)
        ]
        return Step(item, TEST, shapes, max(0.3, sum(fans) / len(fans)), 1.0)

    def _count(self, source: tuple, rows: Iterable[Row], args: Sequence[Term], shapes: Sequence[Shape]) -> float:
        """Average number of answers in `rows`, over the values that the bound variables take there."""
        pairs = [leaf for term, shape in zip(args, shapes, strict=True) for leaf in leaves_of(term, shape)]
        constants = tuple(term if letter == "b" and not is_variable(term) else None for letter, term in pairs)
        name = source, tuple(shapes), constants
        if name in self._counts:
            return self._counts[name]
        given = [(place, constant) for place, constant in enumerate(constants) if constant is not None]
        key_of = _picker([i for i, (letter, term) in enumerate(pairs) if letter == "b" and is_variable(term)])
        answer_of = _picker([i for i, (letter, _) in enumerate(pairs) if letter == "f"])
        is_flat = all(isinstance(shape, str) for shape in shapes)
        keys: set[Any] = set()
        answers: set[Any] = set()
        for row in rows:
            values = row if is_flat else _values(row, shapes)
            if values is not None and all(values[place] == constant for place, constant in given):
                key = key_of(values)
                keys.add(key)
                answers.add((key, answer_of(values)))
        fan = len(answers) / len(keys) if keys else 0.0
        if not _has_free(shapes):  # a test: of variables nothing is known
            fan = min(fan, 0.5) if any(letter == "b" and is_variable(term) for letter, term in pairs) else fan
        self._counts[name] = fan
        return fan


class _Item:
    """A literal of a clause, with its variables."""

    def __init__(self, item: Simple, is_recursive: bool):
        self.item, self.is_recursive = item, is_recursive
        self.is_positive = isinstance(item, Literal) and not item.negated
        self.names = frozenset(variables_of_item(item))
        self.steps: dict[tuple, Step | None] = {}
        """By the names that are bound, those that are used later, and the power of two of the times: the step."""


class _Order:
    """Puts the literals of one clause in order."""

    def __init__(self, planner: Planner, clause: Clause, wanted: set[str]):
        self.planner, self.clause, self.wanted = planner, clause, wanted
        self.component = planner.program.component[clause.head.key]

    def items(self) -> list[_Item]:
        # A literal of the clause's own component may have to wait for answers.
        component = self.planner.program.component
        return [
            _Item(item, isinstance(item, Literal) and component.get(item.atom.key) == self.component)
            for item in self.clause.body
        ]

    def run(
        self, items: list[_Item], bound: set[str], collects: bool, times: float = 1.0
    ) -> tuple[Steps, float, float]:
        """The steps, with their number of answers and cost. `collects`: all answers are wanted, not only the first."""
        steps: list[Step | Exists] = []
        bound = set(bound)
        fan, cost = 1.0, 0.0
        while items:
            chosen, taken = self._next(items, bound, collects, times * fan)
            steps.append(chosen)
            cost += fan * chosen.cost
            fan *= chosen.fan
            cost += fan
            items = [item for item in items if item not in taken]
            if isinstance(chosen, Step):
                bound |= taken[0].names
        return tuple(steps), fan, cost

    def _next(
        self, items: list[_Item], bound: set[str], collects: bool, times: float
    ) -> tuple[Step | Exists, list[_Item]]:
        candidates: list[tuple[Step | Exists, list[_Item]]] = []
        endless: list[tuple[Step | Exists, list[_Item]]] = []
        groups = _groups(items, bound) if len(items) <= LONG_BODY else [items]
        wanted = self.wanted if collects else set()
        for group in groups:
            is_test = all((item.names - bound).isdisjoint(wanted) and not item.is_recursive for item in group)
            if len(group) > 1 and is_test and (collects or len(groups) > 1):
                candidates.append((self._exists(group, bound, times), group))
                continue
            counts = Counter(name for item in group for name in item.names)
            for item in group:
                used = wanted | {name for name in item.names if counts[name] > 1}
                step = self._step(item, bound, used, times)
                if step is None:
                    continue
                is_early = self._is_early(item, step, items, bound)
                is_single = step.is_loop and is_test and collects  # such as (p ?x ?x)
                chosen = Exists((step,), min(0.5, step.fan), step.cost) if is_single else step
                (endless if is_early else candidates).append((chosen, [item]))
        candidates = candidates or endless
        if not candidates:
            raise BadDescription(
                f"a variable of {shorten(str(self.clause), 80)} cannot be found: it stands in no positive literal"
            )
        return min(candidates, key=lambda each: _merit(each[0]))

    def _is_early(self, item: _Item, step: Step, items: list[_Item], bound: set[str]) -> bool:
        """True for a literal that may have answers without end if it is asked before those that stand before it and
        give values to its variables: rules over lists, such as (append ?front ?back ?all), count on their order."""
        literal = step.item
        if not isinstance(literal, Literal) or literal.atom.key not in self.planner.program.growing:
            return False
        unknown = item.names - bound
        before = takewhile(lambda other: other is not item, items)
        return any(not unknown.isdisjoint(other.names) for other in before if other.is_positive)

    def _step(self, item: _Item, bound: set[str], used: set[str], times: float) -> Step | None:
        known = item.names & bound, item.names & used, frexp(times)[1]
        if known not in item.steps:
            item.steps[known] = self.planner.step(item.item, bound, used, times, self.component)
        return item.steps[known]

    def _exists(self, group: list[_Item], bound: set[str], times: float) -> Exists:
        steps, fan, cost = self.run(group, bound, collects=False, times=times)
        return Exists(steps, min(0.5, fan), cost + CALL_COST)


def _merit(step: Step | Exists) -> tuple[float, ...]:
    """What comes first: tests, those first that reject most for their cost; then the fewest answers."""
    if step.fan < 1.0:
        return 0.0, (step.fan - 1.0) / max(step.cost, 0.1)
    return 1.0, step.fan, step.cost


def _groups(items: list[_Item], bound: set[str]) -> list[list[_Item]]:
    """Items that unknown variables connect."""
    groups: list[tuple[set[str], list[_Item]]] = []
    for item in items:
        names = set(item.names - bound)
        joined: list[_Item] = []
        apart: list[tuple[set[str], list[_Item]]] = []
        for other, members in groups:
            if names.isdisjoint(other):
                apart.append((other, members))
            else:
                names |= other
                joined += members
        groups = [*apart, (names, [*joined, item])]
    return [members for _, members in groups]


def _shape(term: Term, bound: set[str], single: set[str]) -> Shape:
    names = list(variables_of(term))
    if bound.issuperset(names):
        return "b"
    if isinstance(term, str):
        return "n" if term in single else "f"
    return (term[0], *(_shape(part, bound, single) for part in term[1:]))


def _has_free(shapes: Sequence[Shape]) -> bool:
    return any("f" in letters_of(shape) for shape in shapes)


def _picker(places: Sequence[int]) -> Callable[[Sequence[Term]], Any]:
    """A function that takes the terms in these places out of a row."""
    return itemgetter(*places) if places else lambda values: None


def _values(row: Row, shapes: Sequence[Shape]) -> list[Term] | None:
    """The parts of a row at the letters of its shapes; None if it has another form."""
    values: list[Term] = []
    for term, shape in zip(row, shapes, strict=True):
        if isinstance(shape, str):
            values.append(term)
        elif isinstance(term, tuple) and len(term) == len(shape) and term[0] == shape[0]:
            inner = _values(term[1:], shape[1:])
            if inner is None:
                return None
            values += inner
        else:
            return None
    return values
