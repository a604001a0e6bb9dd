"""A description evaluated as it stands, without grounding: slower than the network, and for rules of any size.

Relations are asked for top down: a query is a goal, its clauses ask for further goals, and every goal's answers are
kept in a table, those of static relations for good, the others for one state. Clauses are Python functions, generated
when they are first needed (see ludus.gdl.compiling), with their literals in a good order (see ludus.gdl.plans).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import itemgetter
from random import Random
from threading import RLock
from typing import Any

from ludus.gdl.checks import Key
from ludus.gdl.clauses import STATIC, make_program
from ludus.gdl.compiling import Compiler
from ludus.gdl.kif import names_of
from ludus.gdl.language import KEYWORDS, Description, Literal, Term, rank
from ludus.gdl.limits import LIMITS
from ludus.gdl.plans import Planner
from ludus.gdl.tables import ACTIVE, MAX_NESTING, Tables, TooLarge, shallow

STATIC_TICKS, ALL_STATIC_TICKS = 20_000, 400_000
"""Ticks (see Tables) for evaluating one static relation as a whole, and for all of them."""
SAMPLE_TICKS, SAMPLE_PLIES, SAMPLES = 200_000, 60, 8
"""Limits for the random game that shows what states are like, and the number of its states that are looked at."""
CHEAP_TICKS = 200
"""Where a ply takes fewer ticks, the first plans are good enough."""
MAX_KNOWN = 500_000
"""Facts and moves that are remembered with their place in the order of the text."""
ROLE, INIT, TERMINAL, GOAL, LEGAL, NEXT = (
    (name, KEYWORDS[name]) for name in ["role", "init", "terminal", "goal", "legal", "next"]
)
QUESTIONS: dict[Key, str] = {ROLE: "f", INIT: "f", TERMINAL: "", GOAL: "bf", LEGAL: "bf", NEXT: "f"}
"""What a game asks for, with the pattern (see ludus.gdl.plans)."""
FRAMES = 6
"""Python calls, at most, from a relation to one that it uses."""


class Reasoner:
    """Answers the questions of a game about a state, which is a collection of facts. Threads may share a reasoner."""

    def __init__(self, description: Description, seconds: float | None = None, megabytes: int | None = None):
        """Of a valid description. `seconds` and `megabytes` limit each query; TooLarge is raised beyond them.

        By default they are those of ludus.gdl.limits.
        """
        self.description = description
        self.seconds, self.megabytes = seconds or LIMITS.query_seconds, megabytes or LIMITS.query_megabytes
        self.program = make_program(description.rules)
        self.tables = Tables(self.program.recursive, guard_all=_total_nesting(self.program.clauses) > 400)
        self.planner = Planner(self.program)
        self.compiler = Compiler(self.program, self.planner, self.tables)
        self._lock = RLock()
        self._order = names_of(description.text)
        self._known: dict[Term, tuple[tuple, Term]] = {}
        """Facts and moves, each with what sorts it."""
        self._loaded: Any = None
        order = self._in_order()
        self._frames = 500 + FRAMES * _longest_chain(order) + MAX_NESTING  # to compare terms takes a frame a level
        self._evaluate_static(order)
        with self._query():
            self.initial: tuple[Term, ...] = self._facts(self._ask(INIT)())
            roles = self._ask(ROLE)()
        self.roles = description.roles(self.sorted(roles))
        self.planner.rows[ROLE] = [(name,) for name in roles]
        self._compile([self.initial])
        samples, _ = self._play()
        self._compile(samples)
        self._try_other_plans()

    def _compile(self, samples: Iterable[Iterable[Term]]) -> None:
        """Generate the code for all questions, with plans for states like these."""
        self.planner.samples = [list(facts) for facts in samples]
        self.planner.forget()
        self.compiler.forget()
        self._loaded = None
        with self._query():
            for key, pattern in QUESTIONS.items():
                self.compiler.name_of(key, pattern)
            self.compiler.define()

    def _try_other_plans(self) -> None:
        """Plan once more with what the plans show of relations that were not asked so before, and keep what costs less
        in the same random game."""
        samples, measured = self.planner.samples, self.planner.measured
        _, cost = self._play()
        if cost < CHEAP_TICKS:
            return
        self.planner.measured = measured | self.planner.measured
        self._compile(samples)
        if self._play()[1] >= cost:
            self.planner.measured = measured
            self._compile(samples)

    def _play(self) -> tuple[list[tuple[Term, ...]], float]:
        """Some states of a random game, and the ticks that a ply takes on average; what relations answer there is noted
        for the planner."""
        random, states, facts = Random(0), [], self.initial
        counts: dict[tuple[Key, str], list[int]] = defaultdict(lambda: [0, 0])
        with self._query():
            unused = self.tables.start_budget(SAMPLE_TICKS)
            try:
                for _ in range(SAMPLE_PLIES):
                    self.tables.load(facts)
                    states.append(facts)
                    legal = [self.sorted(self._ask(LEGAL)(role)) for role in self.roles]
                    if self._ask(TERMINAL)() or not all(legal):
                        break
                    self.tables.set_moves(dict(zip(self.roles, map(random.choice, legal), strict=True)))
                    facts = self._facts(self._ask(NEXT)())
                    self._note_answers(counts)
            except (TooLarge, RecursionError):
                self._note_answers(counts)
                self.tables.clear()
        self.planner.measured = {asked: answers / goals for asked, (goals, answers) in counts.items()}
        kept = states[:: max(1, len(states) // SAMPLES)] or [self.initial]
        return kept, (SAMPLE_TICKS - unused()) / max(1, len(states))

    def _note_answers(self, counts: dict[tuple[Key, str], list[int]]) -> None:
        for asked, name in self.compiler.answers.items():
            found = [each for each in self.tables.names[name].values() if each is not ACTIVE]
            if found:
                counts[asked][0] += len(found)
                counts[asked][1] += sum(len(each) if isinstance(each, dict) else each for each in found)

    # --- questions --------------------------------------------------------------------------------------------------

    def inspect(self, facts: Iterable[Term]) -> tuple[bool, list[list[Term]], list[list[Term]]]:
        """True if the state is terminal; by role, its legal moves if it is not, and its goals if it is.

        Both are in the order of the text.
        """
        with self._query(facts):
            if self._ask(TERMINAL)():
                return True, [], [self.sorted(self._ask(GOAL)(role)) for role in self.roles]
            return False, [self.sorted(self._ask(LEGAL)(role)) for role in self.roles], []

    def is_terminal(self, facts: Iterable[Term]) -> bool:
        with self._query(facts):
            return bool(self._ask(TERMINAL)())

    def legal(self, facts: Iterable[Term], role: str) -> list[Term]:
        """The legal moves of a role, in the order of the text."""
        with self._query(facts):
            return self.sorted(self._ask(LEGAL)(role))

    def goals(self, facts: Iterable[Term], role: Term) -> list[Term]:
        """All goal values of a role, as they are written."""
        with self._query(facts):
            return self.sorted(self._ask(GOAL)(role))

    def next(self, facts: Iterable[Term], moves: dict[Term, Term]) -> tuple[Term, ...]:
        """The facts after the moves of all roles."""
        with self._query(facts):
            self.tables.set_moves(moves)
            return self._facts(self._ask(NEXT)())

    def sorted(self, terms: Iterable[Term]) -> list[Term]:
        """Terms in the order of the text; equal terms are one object each."""
        known = [self._known.get(term) or self._learn(term) for term in terms]
        return [term for _, term in sorted(known, key=itemgetter(0))]

    # --- how --------------------------------------------------------------------------------------------------------

    def _ask(self, key: Key) -> Callable[..., Any]:
        """The function of a question, or for another relation the one that gives all of its answers."""
        return self.compiler.function(key, QUESTIONS.get(key, "f" * key[1]))

    def _learn(self, term: Term) -> tuple[tuple, Term]:
        if len(self._known) > MAX_KNOWN:
            self._known.clear()
        known = self._known[shallow(term)] = rank(term, self._order), term
        return known

    def _facts(self, found: Iterable[Term]) -> tuple[Term, ...]:
        """Facts, one object for all that are equal."""
        return tuple((self._known.get(fact) or self._learn(fact))[1] for fact in found)

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
            if key in self.program.growing:  # it may have no end
                continue
            budget = min(STATIC_TICKS, left)
            with self._query():
                unused = self.tables.start_budget(budget)
                try:
                    found = self._ask(key)()
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
