"""GDL over KIF: terms, literals and rules.

A term is a constant or a variable (text; a variable begins with `?`) or a tuple (function name, argument, ...). `(p)`
and `p` are the same. Names are kept as spelled; only the keywords of GDL are read in any case. Relations with a meaning
are so also where they stand for something else: `(cell 1 TRUE)` and `(cell 1 true)` are one term.

Text that is no rule, but that other programs take for one, is read as by the reference prover of ggp-base, and noted as
a *slip*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ludus.gdl.kif import TOKEN, BadDescription, Expression, Group, Symbol, parse_until_stray, place_of, shorten, show

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
class Slip:
    """Text that is no rule of GDL and was read nevertheless."""

    offset: int
    message: str


@dataclass(frozen=True)
class Description:
    """A game in GDL: its rules in the order of the text."""

    rules: tuple[Rule, ...]
    text: str = field(repr=False, compare=False, default="")
    source: str = field(compare=False, default="the description")
    slips: tuple[Slip, ...] = field(repr=False, compare=False, default=())

    def roles(self, derived: Iterable[Term]) -> list[Term]:
        """The roles that are stated, in the order of the text; only if there are none, those that rules define."""
        stated = [rule.head.args[0] for rule in self.rules if rule.head.key == ("role", 1) and not rule.body]
        return list(dict.fromkeys(stated or derived))

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


def rank(term: Term, order: dict[str, int]) -> tuple[int, ...]:
    """A key that sorts terms by the places of their names in the text, and numbers by their value."""
    key: list[int] = []
    stack = [term]
    while stack:
        each = stack.pop()
        if isinstance(each, tuple):
            key += (1, order.get(each[0], 0), len(each))
            stack += reversed(each[1:])
        elif each.isdecimal() and len(each) < 10:
            key += (0, -1, int(each))
        else:
            key += (0, order.get(each, 0), 0)
    return tuple(key)


def goal_of(value: Term) -> int | None:
    """A goal value from 0 to 100; larger numbers count as 100, negative ones as 0, and what is no number is no goal."""
    if isinstance(value, str) and value.startswith("-") and goal_of(value[1:]) is not None:
        return 0
    if isinstance(value, str) and value.isdecimal() and value.isascii():
        return min(100, int(value[-9:])) if len(value.lstrip("0")) < 10 else 100
    return None


def read_description(text: str, source: str = "the description") -> Description:
    """The rules of a text; BadDescription names the place of what cannot be read as a rule."""
    expressions, stray = parse_until_stray(text, source)
    reader = _Reader(text, source)
    rules = tuple(reader.rule(each) for each in expressions)
    if stray is not None:
        more = any(token not in ("(", ")") and token[0] != ";" for token in TOKEN.findall(text, stray))
        lost = "; the rules after it are not read" if more else ""
        reader.slips.append(Slip(stray, f"')' without '(' in {place_of(text, stray).text!r}{lost}; remove it"))
    return Description(rules, text, source, tuple(reader.slips))


def fold(name: str) -> str:
    """A name as it is compared: keywords in lower case, all others as spelled."""
    folded = name.lower()
    return folded if folded in KEYWORDS else str(name)


class _Reader:
    def __init__(self, text: str, source: str):
        self.text, self.source = text, source
        self.slips: list[Slip] = []

    def note(self, expression: Expression, message: str) -> None:
        self.slips.append(Slip(expression.offset, f"{message} in {shorten(show(expression), 60)}"))

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
            if len(arguments) < 2:
                raise self.wrong(expression, f"'distinct' takes two terms, not {len(arguments)},")
            if len(arguments) > 2:
                self.note(expression, f"'distinct' takes two terms, not {len(arguments)}; the others are left out")
            return (Distinct(self.term(arguments[0]), self.term(arguments[1])),)
        if connective == "not":
            if not arguments:
                raise self.wrong(expression, "'not' takes one literal, not 0,")
            if len(arguments) > 1:
                self.note(expression, f"'not' takes one literal, not {len(arguments)}; the others are left out")
            return self.negation(self.items(arguments[0]))
        return (Literal(self.atom(expression)),)  # '<=' inside a rule

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
        if name.startswith("?") or name.lower() in CONNECTIVES:
            what = f"the variable {name}" if name.startswith("?") else f"{name!s}"
            self.note(expression, f"{what} stands where a relation must stand; it is read as a name")
        return Atom(fold(name), tuple(self.term(each) for each in arguments))

    def term(self, expression: Expression) -> Term:
        if isinstance(expression, Symbol):
            return fold(expression)
        if not expression or not isinstance(expression[0], Symbol):
            raise self.wrong(expression, "a term must begin with a name")
        name = fold(expression[0])
        if name.startswith("?") and len(expression) == 1:
            raise self.wrong(expression, f"the variable {name} stands where a function's name must stand")
        if len(expression) == 1:
            return name
        if name.startswith("?"):
            self.note(
                expression, f"the variable {name} stands where a function's name must stand; it is read as a name"
            )
        return (name, *(self.term(each) for each in expression[1:]))


def _connective(expression: Expression) -> str | None:
    if isinstance(expression, Group) and expression and isinstance(expression[0], Symbol):
        folded = expression[0].lower()
        return folded if folded in CONNECTIVES else None
    return None
