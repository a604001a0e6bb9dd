"""A textbook evaluator of descriptions, which shares no code with Ludus: slow, and made to be compared with.

Goals are proved from top to bottom. The answers of all goals that a proof needs are kept in tables, and the clauses
are tried again until no table grows. A negated literal is proved apart, to the end. In a body positive literals come
first, then `distinct` and negations; those with a variable that no positive literal has are left out, as the reference
prover of ggp-base does.
"""

from __future__ import annotations

from itertools import chain, count, product

KEYWORDS = {"role", "init", "true", "does", "next", "legal", "goal", "terminal", "base", "input"}


def read(text):
    """Nested lists of words."""
    lines = text.replace("\r", "\n").split("\n")
    words = " ".join(line.partition(";")[0] for line in lines).replace("(", " ( ").replace(")", " ) ").split()
    stack = [[]]
    for word in words:
        if word == "(":
            stack.append([])
        elif word == ")":
            stack[-2].append(stack.pop())
        else:
            stack[-1].append(word)
    return stack[0]


def term_of(given):
    if isinstance(given, str):
        return given
    return (given[0], *map(term_of, given[1:])) if len(given) > 1 else given[0]


def atom_of(given):
    """(name, argument, ...)"""
    name, *arguments = [given] if isinstance(given, str) else given
    return (name.lower() if name.lower() in KEYWORDS else name, *map(term_of, arguments))


def bodies_of(given, negated=False):
    """A literal as alternatives, each a list of (kind, atom)."""
    name = given[0].lower() if isinstance(given, list) and isinstance(given[0], str) else ""
    if name == "not":
        return bodies_of(given[1], not negated)
    if name in ("and", "or"):
        parts = [bodies_of(each, negated) for each in given[1:]]
        if (name == "or") != negated:
            return [body for part in parts for body in part]
        return [list(chain.from_iterable(choice)) for choice in product(*parts)]
    if name == "distinct":
        return [[("same" if negated else "distinct", ("", *map(term_of, given[1:])))]]
    return [[("not" if negated else "is", atom_of(given))]]


def variables(term):
    if isinstance(term, tuple):
        return {name for part in term[1:] for name in variables(part)}
    return {term} if term[:1] == "?" else set()


def ordered(body):
    """A body with what can be proved."""
    positive = [item for item in body if item[0] == "is"]
    known = {name for _, atom in positive for name in variables(atom)}
    return positive + [item for item in body if item[0] != "is" and variables(item[1]) <= known]


def substitute(term, bound):
    if isinstance(term, tuple):
        return (term[0], *(substitute(part, bound) for part in term[1:]))
    while term[:1] == "?" and term in bound:
        term = bound[term]
        if isinstance(term, tuple):
            return substitute(term, bound)
    return term


def occurs(name, term):
    return term == name or (isinstance(term, tuple) and any(occurs(name, part) for part in term[1:]))


def unify(a, b, bound):
    """`bound` extended so that both are the same; None where that is impossible."""
    a, b = substitute(a, bound), substitute(b, bound)
    if a == b:
        return bound
    for one, other in ((a, b), (b, a)):
        if isinstance(one, str) and one[:1] == "?":
            return None if occurs(one, other) else {**bound, one: other}
    if isinstance(a, str) or isinstance(b, str) or a[0] != b[0] or len(a) != len(b):
        return None
    for one, other in zip(a[1:], b[1:], strict=True):
        bound = unify(one, other, bound)
        if bound is None:
            return None
    return bound


def renamed(parts, numbers):
    """The parts of a clause with fresh variables."""
    names = {}

    def rename(term):
        if isinstance(term, tuple):
            return (term[0], *map(rename, term[1:]))
        if term[:1] != "?":
            return term
        return names.setdefault(term, f"?{next(numbers)}")

    return [rename(part) for part in parts]


class Naive:
    """Answers to queries about one description; `given` are the facts of a state and the moves made in it."""

    def __init__(self, text):
        self.clauses = {}
        self.numbers = count()
        for each in read(text):
            is_rule = isinstance(each, list) and each[:1] == ["<="]
            head = atom_of(each[1] if is_rule else each)
            parts = [bodies_of(literal) for literal in (each[2:] if is_rule else [])]
            for choice in product(*parts):
                body = ordered(list(chain.from_iterable(choice)))
                self.clauses.setdefault((head[0], len(head)), []).append((head, body))
        self.roles = [head[1] for head, body in self.clauses["role", 2] if not body]
        self.load([])

    def load(self, given):
        self.given = {}
        for atom in given:
            self.given.setdefault((atom[0], len(atom)), []).append((atom, []))
        self.done = {}

    def ask(self, query):
        """All answers: instances of the query."""
        (goal,) = renamed([query], count())
        if goal not in self.done:
            tables, size = {goal: set()}, -1
            while size != (size := len(tables) + sum(map(len, tables.values()))):
                for each in list(tables):
                    self.step(each, tables)
            self.done.update(tables)
        return self.done[goal]

    def step(self, goal, tables):
        key = goal[0], len(goal)
        for head, body in (*self.clauses.get(key, ()), *self.given.get(key, ())):
            terms = renamed([head, *(atom for _, atom in body)], self.numbers)
            (asked,) = renamed([goal], self.numbers)
            bound = unify(terms[0], asked, {})
            if bound is not None:
                items = [(kind, term) for (kind, _), term in zip(body, terms[1:], strict=True)]
                for found in self.prove(items, bound, tables):
                    tables[goal] |= {*renamed([substitute(terms[0], found)], count())}

    def prove(self, items, bound, tables):
        if not items:
            yield bound
            return
        (kind, atom), rest = items[0], items[1:]
        if kind in ("distinct", "same"):
            _, a, b = substitute(atom, bound)
            if (a == b) == (kind == "same"):
                yield from self.prove(rest, bound, tables)
            return
        (goal,) = renamed([substitute(atom, bound)], count())
        if kind == "not":
            if not self.ask(goal):
                yield from self.prove(rest, bound, tables)
            return
        for row in list(self.done[goal] if goal in self.done else tables.setdefault(goal, set())):
            (answer,) = renamed([row], self.numbers)
            found = unify(atom, answer, bound)
            if found is not None:
                yield from self.prove(rest, found, tables)

    # --- the questions of a game ------------------------------------------------------------------------------------

    def initial(self):
        self.load([])
        return frozenset(row[1] for row in self.ask(("init", "?f")))

    def inspect(self, facts):
        """(over, by role the legal moves, by role the goals)"""
        self.load([("true", fact) for fact in facts])
        return (
            bool(self.ask(("terminal",))),
            [frozenset(row[2] for row in self.ask(("legal", role, "?m"))) for role in self.roles],
            [frozenset(row[2] for row in self.ask(("goal", role, "?v"))) for role in self.roles],
        )

    def next(self, facts, joint):
        does = [("does", role, move) for role, move in zip(self.roles, joint, strict=True)]
        self.load([*(("true", fact) for fact in facts), *does])
        return frozenset(row[1] for row in self.ask(("next", "?f")))
