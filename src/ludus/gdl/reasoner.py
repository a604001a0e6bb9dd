"""A description evaluated as it stands, without grounding: slower than the network, and for rules of any size.

Relations are asked for top down: a query is a goal, its clauses ask for further goals, and every goal's answers are kept
in a table, those of static relations for good, the others for one state. Clauses are Python functions that are generated
when they are first needed (see ludus.gdl.compiling), with their literals in a good order (see ludus.gdl.plans).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

from ludus.gdl.checks import Key
from ludus.gdl.clauses import STATIC, make_program
from ludus.gdl.compiling import Compiler
from ludus.gdl.kif import BadDescription, shorten, show
from ludus.gdl.language import KEYWORDS, Description, Literal, Term, order_of_names, rank
from ludus.gdl.plans import Planner
from ludus.gdl.tables import Tables, TooLarge, shallow

SECONDS = 30.0
"""For one query."""
MEGABYTES = 2048
"""Memory that one query may add."""
STATIC_TICKS, ALL_STATIC_TICKS = 20_000, 400_000
"""Ticks (see Tables) for evaluating one static relation as a whole, and for all of them."""
MAX_KNOWN = 500_000
"""Facts and moves whose place in the order of the text is remembered."""
QUESTIONS: dict[Key, str] = {
    ("role", 1): "f",
    ("init", 1): "f",
    ("terminal", 0): "",
    ("goal", 2): "bf",
    ("legal", 2): "bf",
    ("next", 1): "f",
}
"""What a game asks for, with the pattern (see ludus.gdl.plans)."""
FRAMES = 6
"""Python calls, at most, from a relation to one that it uses."""


class Reasoner:
    """Answers the questions of a game about a state, which is a collection of facts. Threads may share a reasoner."""

    def __init__(self, description: Description, seconds: float = SECONDS, megabytes: int = MEGABYTES):
        """Of a valid description. `seconds` and `megabytes` limit each query; TooLarge is raised beyond them."""
        self.description, self.seconds, self.megabytes = description, seconds, megabytes
        self.program = make_program(description.rules)
        self.tables = Tables(self.program.recursive, guard_all=_total_nesting(self.program.clauses) > 400)
        self.planner = Planner(self.program)
        self.compiler = Compiler(self.program, self.planner, self.tables)
        self._lock = RLock()
        self._order = order_of_names(description)
        self._ranks: dict[Term, tuple] = {}
        self._loaded: Any = None
        order = self._in_order()
        self._frames = 500 + FRAMES * _longest_chain(order)
        self._evaluate_static(order)
        with self._query():
            self.initial: tuple[Term, ...] = self._facts(self._ask(("init", 1), "f")())
            roles = self._ask(("role", 1), "f")()
        self.roles = [name for name in roles if isinstance(name, str)]
        self.planner.samples = [list(self.initial)]
        self.planner.forget()
        self.compiler.forget()
        with self._query():
            for key, pattern in QUESTIONS.items():
                self.compiler.name_of(key, pattern)
            self.compiler.define()

    # --- questions -----------------------------------------------------------------------------------------------------

    def is_terminal(self, facts: Iterable[Term]) -> bool:
        with self._query(facts):
            return bool(self._ask(("terminal", 0), "")())

    def legal(self, facts: Iterable[Term], role: str) -> list[Term]:
        """The legal moves of a role, in the order of the text."""
        with self._query(facts):
            return self.sorted(self._ask(("legal", 2), "bf")(role))

    def goals(self, facts: Iterable[Term], role: str) -> list[Term]:
        """All goal values of a role, as they are written."""
        with self._query(facts):
            return self.sorted(self._ask(("goal", 2), "bf")(role))

    def next(self, facts: Iterable[Term], moves: dict[str, Term]) -> tuple[Term, ...]:
        """The facts after the moves of all roles."""
        with self._query(facts):
            self.tables.set_moves(moves)
            return self._facts(self._ask(("next", 1), "f")())

    def answers(self, name: str, count: int) -> list[tuple[Term, ...]]:
        """All rows of a relation that depends on no state."""
        with self._query():
            found = self._ask((name, count), "f" * count)()
            return [row if count > 1 else (row,) for row in found] if count else [()] * bool(found)

    def sorted(self, terms: Iterable[Term]) -> list[Term]:
        """Terms in the order of the text."""
        return sorted(terms, key=self._rank)

    # --- how -------------------------------------------------------------------------------------------------------------

    def _ask(self, key: Key, pattern: str) -> Callable[..., Any]:
        return self.compiler.function(key, pattern)

    def _rank(self, term: Term) -> tuple:
        known = self._ranks.get(term)
        if known is None:
            if len(self._ranks) > MAX_KNOWN:
                self._ranks.clear()
            known = self._ranks[shallow(term)] = rank(term, self._order)
        return known

    def _facts(self, found: Iterable[Term]) -> tuple[Term, ...]:
        facts = tuple(found)
        for fact in facts:
            if fact not in self._ranks:
                self._rank(fact)
        return facts

    @contextmanager
    def _query(self, facts: Iterable[Term] | None = None) -> Iterator[None]:
        """Load a state, and see to it that the query ends."""
        with self._lock:
            before = sys.getrecursionlimit()
            if before < self._frames:
                sys.setrecursionlimit(self._frames)
            try:
                if facts is not None and facts is not self._loaded:
                    self.tables.load(facts)
                    self._loaded = facts
                    self.tables.trim()
                self.tables.start_clock(self.seconds, self.megabytes)
                yield
            except BaseException as error:
                self.tables.clear()
                if isinstance(error, RecursionError):
                    raise TooLarge("the rules are nested too deeply to evaluate") from None
                raise
            finally:
                sys.setrecursionlimit(before)

    def _in_order(self) -> dict[Key, int]:
        """The relations that a question needs, those that others use first, and how long the longest chain of uses is
        below each of them."""
        uses = {
            key: {item.atom.key for clause in clauses for item in clause.body if isinstance(item, Literal)}
            for key, clauses in self.program.clauses.items()
        }
        depth: dict[Key, int] = {}
        begun: set[Key] = set()
        for root in QUESTIONS:
            stack = [root] if root in uses else []
            while stack:
                key = stack[-1]
                missing = [each for each in sorted(uses[key]) if each in uses and each not in begun]
                if key not in begun and missing:
                    begun.add(key)
                    stack += missing
                    continue
                begun.add(key)
                if key not in depth:
                    depth[key] = 1 + max((depth.get(each, 0) for each in uses[key]), default=0)
                stack.pop()
        return depth

    def _evaluate_static(self, order: Iterable[Key]) -> None:
        """Evaluate static relations as a whole where that is cheap: then they are lists of facts like others."""
        left = ALL_STATIC_TICKS
        for key in order:
            if self.program.depends[key] != STATIC or key in self.program.needs or key in QUESTIONS or left <= 0:
                continue
            budget = min(STATIC_TICKS, left)
            with self._query():
                unused = self.tables.start_budget(budget)
                try:
                    found = self._ask(key, "f" * key[1])()
                except (TooLarge, RecursionError):
                    self.tables.clear()
                    continue
                finally:
                    left -= budget - unused()
            if key[1] == 0:
                found = [()] * bool(found)
            self.planner.rows[key] = [row if key[1] > 1 else (row,) if key[1] else () for row in found]


def _longest_chain(depth: dict[Key, int]) -> int:
    return max(depth.values(), default=0)


def _total_nesting(clauses: dict) -> int:
    """The levels that all heads together add to the terms that they are made of."""

    def levels(term: Term) -> int:
        return 1 + max(map(levels, term[1:])) if isinstance(term, tuple) else 0

    return sum(
        max((levels(term) for term in clause.head.args), default=0)
        for (name, _), each in clauses.items()
        if name not in KEYWORDS
        for clause in each
    )


__all__ = ["BadDescription", "Reasoner", "TooLarge", "shorten", "show"]
