"""GDL over KIF: terms, literals and rules.

A term is a constant or a variable (text; a variable begins with `?`) or a tuple (function name, argument, ...). `(p)`
and `p` are the same. Names are kept as spelled; only the keywords of GDL are recognised in any case, and only where a
relation or a connective can stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ludus.gdl.kif import BadDescription, Expression, Group, Symbol, parse, place_of, shorten, show

Term = str | tuple
"""A constant, a variable, or (function, argument, ...)."""

KEYWORDS = {
    "role": 1,
    "init": 1,
    "true": 1,
    "does": 2,
    "next": 1,
    "legal": 2,
    "goal": 2,
    "terminal": 0,
    "base": 1,
    "input": 2,
}
"""The relations that GDL gives a meaning, with the number of their arguments."""
CONNECTIVES = ("<=", "not", "or", "distinct", "and")


@dataclass(frozen=True)
class Atom:
    """A relation and its arguments."""

    name: str
    args: tuple[Term, ...] = ()

    @property
    def key(self) -> tuple[str, int]:
        """Relations with one name and different numbers of arguments are different relations."""
        return self.name, len(self.args)

    def __str__(self) -> str:
        return show((self.name, *self.args)) if self.args else self.name


@dataclass(frozen=True)
class Literal:
    """An atom or its negation."""

    atom: Atom
    negated: bool = False

    def __str__(self) -> str:
        return f"(not {self.atom})" if self.negated else str(self.atom)


@dataclass(frozen=True)
class Distinct:
    """Two terms that must differ or, `negated`, be the same."""

    left: Term
    right: Term
    negated: bool = False

    def __str__(self) -> str:
        text = f"(distinct {show(self.left)} {show(self.right)})"
        return f"(not {text})" if self.negated else text


@dataclass(frozen=True)
class Or:
    """A disjunction of conjunctions."""

    branches: tuple[tuple[Item, ...], ...]

    def __str__(self) -> str:
        shown = (
            str(branch[0]) if len(branch) == 1 else f"(and {' '.join(map(str, branch))})" for branch in self.branches
        )
        return f"(or {' '.join(shown)})"


Item = Literal | Distinct | Or


@dataclass(frozen=True)
class Rule:
    """A head that holds if its body does."""

    head: Atom
    body: tuple[Item, ...] = ()
    offset: int = field(default=-1, compare=False)
    """Index of the rule's first character in the text."""

    def __str__(self) -> str:
        return f"(<= {self.head} {' '.join(map(str, self.body))})" if self.body else str(self.head)


@dataclass(frozen=True)
class Description:
    """A game in GDL: its rules in the order of the text."""

    rules: tuple[Rule, ...]
    text: str = field(repr=False, compare=False, default="")
    source: str = field(compare=False, default="the description")

    def place(self, offset: int) -> str:
        """Source, line and column of a character of the text."""
        return f"{self.source}, {place_of(self.text, offset)}" if offset >= 0 else self.source


def is_variable(term: Term) -> bool:
    return isinstance(term, str) and term.startswith("?")


def all_items(items: Iterable[Item]) -> Iterator[Item]:
    """The items of a body, and those inside its disjunctions."""
    for item in items:
        yield item
        if isinstance(item, Or):
            for branch in item.branches:
                yield from all_items(branch)


def literals_in(items: Iterable[Item]) -> Iterator[Literal]:
    """The literals of a body, also those inside its disjunctions."""
    return (item for item in all_items(items) if isinstance(item, Literal))


def variables_of(term: Term) -> Iterator[str]:
    """The variables of a term, from left to right, repeated as they stand."""
    if isinstance(term, tuple):
        for part in term[1:]:
            yield from variables_of(part)
    elif is_variable(term):
        yield term


def variables_in(items: Iterable[Item]) -> set[str]:
    """All variables of a body."""
    found: set[str] = set()
    for item in items:
        if isinstance(item, Literal):
            terms: tuple[Term, ...] = item.atom.args
        elif isinstance(item, Distinct):
            terms = (item.left, item.right)
        else:
            for branch in item.branches:
                found |= variables_in(branch)
            continue
        for term in terms:
            found.update(variables_of(term))
    return found


def rank(term: Term, order: dict[str, int]) -> tuple:
    """A key that sorts terms by the places of their names in the text, and numbers by their value."""
    if isinstance(term, tuple):
        return (1, order.get(term[0], 0), len(term), *(rank(part, order) for part in term[1:]))
    if term.isdecimal() and len(term) < 10:
        return (0, -1, int(term))
    return (0, order.get(term, 0), 0)


def goal_of(value: Term) -> int | None:
    """A goal value from 0 to 100; larger numbers count as 100, negative ones as 0, and what is no number is no goal."""
    if isinstance(value, str) and value.startswith("-") and goal_of(value[1:]) is not None:
        return 0
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return min(100, int(value[-9:])) if len(value.lstrip("0")) < 10 else 100
    return None


def read_description(text: str, source: str = "the description") -> Description:
    """The rules of a text; BadDescription names the place of what is no rule."""
    return to_description(parse(text, source), text, source)


def to_description(expressions: Iterable[Expression], text: str, source: str) -> Description:
    """Expressions as rules; `text` is what they were read from."""
    reader = _Reader(text, source)
    return Description(tuple(reader.rule(each) for each in expressions), text, source)


class _Reader:
    def __init__(self, text: str, source: str):
        self.text, self.source = text, source

    def wrong(self, expression: Expression, message: str) -> BadDescription:
        where = place_of(self.text, expression.offset) if expression.offset >= 0 else "somewhere"
        return BadDescription(f"{self.source}, {where}: {message} in {shorten(show(expression), 60)}")

    def rule(self, expression: Expression) -> Rule:
        if isinstance(expression, Group) and expression and expression[0] == "<=":
            if len(expression) < 2:
                raise self.wrong(expression, "'<=' needs a head")
            body = tuple(item for each in expression[2:] for item in self.items(each))
            return Rule(self.atom(expression[1]), body, expression.offset)
        return Rule(self.atom(expression), (), expression.offset)

    def items(self, expression: Expression) -> tuple[Item, ...]:
        """A literal of a body, as the conjunction that it stands for."""
        connective = _connective(expression)
        if connective is None:
            return (Literal(self.atom(expression)),)
        assert isinstance(expression, Group)
        arguments = expression[1:]
        if connective == "and":
            return tuple(item for each in arguments for item in self.items(each))
        if connective == "or":
            return (Or(tuple(self.items(each) for each in arguments)),)
        if connective == "distinct":
            if len(arguments) != 2:
                raise self.wrong(expression, f"'distinct' takes two terms, not {len(arguments)},")
            return (Distinct(self.term(arguments[0]), self.term(arguments[1])),)
        if connective == "not":
            if len(arguments) != 1:
                raise self.wrong(expression, f"'not' takes one literal, not {len(arguments)},")
            return self.negation(self.items(arguments[0]))
        raise self.wrong(expression, "'<=' inside a rule")

    def negation(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        """The negation of a conjunction."""
        branches: list[tuple[Item, ...]] = []
        for item in items:
            if isinstance(item, Literal):
                branches.append((Literal(item.atom, not item.negated),))
            elif isinstance(item, Distinct):
                branches.append((Distinct(item.left, item.right, not item.negated),))
            else:  # no branch holds: the conjunction of the branches' negations
                branches.append(tuple(part for branch in item.branches for part in self.negation(branch)))
        return branches[0] if len(branches) == 1 else (Or(tuple(branches)),)

    def atom(self, expression: Expression) -> Atom:
        name, arguments = (
            (expression[0], expression[1:]) if isinstance(expression, Group) and expression else (expression, [])
        )
        if not isinstance(name, Symbol):
            raise self.wrong(expression, "a relation must begin with its name")
        if name.startswith("?"):
            raise self.wrong(expression, f"the variable {name} stands where a relation must stand")
        folded = name.lower()
        if folded in CONNECTIVES:
            raise self.wrong(expression, f"{name!s} stands where a relation must stand")
        return Atom(folded if folded in KEYWORDS else str(name), tuple(self.term(each) for each in arguments))

    def term(self, expression: Expression) -> Term:
        if isinstance(expression, Symbol):
            return str(expression)
        if not expression or not isinstance(expression[0], Symbol):
            raise self.wrong(expression, "a term must begin with a name")
        if expression[0].startswith("?"):
            raise self.wrong(expression, f"the variable {expression[0]} stands where a function's name must stand")
        if len(expression) == 1:
            return str(expression[0])
        return (str(expression[0]), *(self.term(each) for each in expression[1:]))


def _connective(expression: Expression) -> str | None:
    if isinstance(expression, Group) and expression and isinstance(expression[0], Symbol):
        folded = expression[0].lower()
        return folded if folded in CONNECTIVES else None
    return None
