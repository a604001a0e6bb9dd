"""What the generated code of the reasoner works on: facts of a state, tables of answers, indexes, and limits.

Tables and indexes live as long as what they depend on: those of static relations stay, those of a state are emptied
when another state is loaded, those of its moves when other moves are made.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat
from operator import length_hint
from typing import Any

from ludus.errors import LudusError
from ludus.gdl.checks import Key
from ludus.gdl.clauses import MOVES, STATE, STATIC, Row
from ludus.gdl.kif import BadDescription
from ludus.gdl.language import Term

TICKS = 2048
"""Ticks between two checks of the clock. The generated code makes them in nested loops and for every new goal."""
MEMORY_SECONDS = 0.2
"""Seconds between two checks of the memory in use."""
MAX_NESTING = 2_000
"""Levels of a term that rules build. A list of cells, such as a search through a board keeps, may have hundreds, and
so has a number that is counted as (s (s zero))."""
MAX_PARTS = 10_000
"""Functions in a term that rules build: one that is put into itself twice doubles with every level."""
MAX_STATIC = 2_000_000
"""Answers of static relations that are kept."""


class TooLarge(LudusError):
    """A query took too much time or memory, or builds terms without end."""


class Circle(Exception):
    """A goal needs its own answer."""


class Component:
    """Relations that depend on each other. If their goals form a circle, an agenda is worked off to the fixpoint."""

    def __init__(self, tables: Tables, negative: bool = False):
        self.owner, self.negative = tables, negative
        """negative: some of the relations depend on the negation of others, which an agenda cannot find."""
        self.tables: list[dict] = []
        self.waiting: list[dict] = []
        """For each table, by goal: what is to be done with its answers; goals that are complete are not in it."""
        self.agenda: list[tuple[Callable, Any, Any]] = []
        """What is to be done: a function of two arguments, and these."""
        self.has_circle = False
        """True once goals of these relations have formed a circle."""

    def use_agenda(self) -> None:
        """The goals that are under way have run into a circle."""
        if self.negative:
            raise BadDescription(
                "a relation depends on its own negation (ludus gdl check shows where): no meaning is defined"
            )
        self.has_circle = True
        for table in self.tables:
            for place in [place for place, found in table.items() if found is ACTIVE]:
                del table[place]

    def ask(self, table: dict, waiting: dict, make_goal: Callable, place: Any, after: Callable, env: Any) -> None:
        """Call after(env, answer) for every answer of a goal, those that come later too."""
        found = table.get(place)
        if found is None:
            found = make_goal(place)
        consumers = waiting.get(place)
        if consumers is not None:
            consumers.append((after, env))
        elif found is True:
            found = ((),)
        if found:
            self.agenda += [(after, env, answer) for answer in found]

    def answer(self, goal: tuple[dict, list], value: Any) -> None:
        """Add an answer to a goal and hand it to all that wait for it."""
        found, consumers = goal
        if value not in found:
            found[value] = None
            for after, env in consumers:
                self.agenda.append((after, env, value))

    def run(self) -> None:
        """Work off the agenda; all goals are complete then."""
        agenda, ticks = self.agenda, self.owner.names["TICKS"]
        try:
            while agenda:
                next(ticks)
                function, env, answer = agenda.pop()
                function(env, answer)
        except BaseException:
            agenda.clear()
            for table, waiting in zip(self.tables, self.waiting, strict=True):
                for place in waiting:
                    del table[place]
            raise
        finally:
            for waiting in self.waiting:
                waiting.clear()


ACTIVE: Any = object()
"""In place of a goal's answers while they are being found."""


def shallow(term: Term) -> Term:
    """The same term; TooLarge if it is so deep or so large that it may grow without end."""
    level, depth, parts = [term], 0, 0
    while level:
        depth, parts = depth + 1, parts + len(level)
        if depth > MAX_NESTING:
            raise TooLarge(f"the rules build terms that are nested deeper than {MAX_NESTING:,} levels")
        if parts > MAX_PARTS:
            raise TooLarge(f"the rules build terms of more than {MAX_PARTS:,} parts")
        level = [part for each in level if isinstance(each, tuple) for part in each[1:] if isinstance(part, tuple)]
    return term


class Tables:
    """The namespace of the generated code."""

    def __init__(self, recursive: set[Key], guard_all: bool):
        self.recursive, self.guard_all = recursive, guard_all
        self.names: dict[str, Any] = {
            "FACTS": {},
            "GROUPS": {},
            "DOES": {},
            "NONE": (),
            "TICKS": repeat(None),
            "ACTIVE": ACTIVE,
            "CIRCLE": Circle,
            "SHALLOW": shallow,
        }
        self.by_depends: dict[int, list[dict]] = {STATIC: [], STATE: [], MOVES: []}
        self.components: dict[str, Component] = {}
        self.rows: dict[Key, str] = {}
        self.count = 0

    def guards(self, key: Key) -> bool:
        """True if terms in the answers of this relation must be checked for endless nesting."""
        return self.guard_all or key in self.recursive

    # --- names ------------------------------------------------------------------------------------------------------

    def new_table(self, depends: int) -> str:
        return self._new("T", depends)

    def new_index(self, depends: int) -> str:
        return self._new("I", depends)

    def new_waiting(self, table: str) -> str:
        name = f"W{table}"
        self.names[name] = {}
        return name

    def _new(self, letter: str, depends: int) -> str:
        self.count += 1
        name = f"{letter}{self.count}"
        self.names[name] = {}
        self.by_depends[depends].append(self.names[name])
        return name

    def rows_name(self, key: Key, rows: Iterable[Row]) -> str:
        """The name of a relation that is known as a whole; rows with one argument are that argument."""
        if key not in self.rows:
            self.rows[key] = name = f"F{len(self.rows)}"
            self.names[name] = dict.fromkeys(row[0] if len(row) == 1 else row for row in rows)
        return self.rows[key]

    def drop_compiled(self) -> None:
        """Forget all tables, but not the rows."""
        for kind in self.by_depends.values():
            kind.clear()
        self.components.clear()

    # --- states -----------------------------------------------------------------------------------------------------

    def load(self, facts: Iterable[Term]) -> None:
        """Make these the facts of the state."""
        groups = defaultdict(list)
        known = dict.fromkeys(facts)
        for fact in known:
            if type(fact) is tuple:
                groups[fact[0], len(fact)].append(fact)
        self.names["FACTS"], self.names["GROUPS"] = known, groups
        for table in self.by_depends[STATE]:
            table.clear()
        self.set_moves({})

    def set_moves(self, moves: dict[Term, Term]) -> None:
        """Make these the moves of the roles."""
        self.names["DOES"] = moves
        for table in self.by_depends[MOVES]:
            table.clear()

    def clear(self) -> None:
        """Empty all tables, after an error."""
        for tables in self.by_depends.values():
            for table in tables:
                table.clear()
        for component in self.components.values():
            component.agenda.clear()
            for waiting in component.waiting:
                waiting.clear()

    def trim(self) -> None:
        """Empty the tables of static relations if they have grown too large."""
        if sum(map(len, self.by_depends[STATIC])) > MAX_STATIC:
            for table in self.by_depends[STATIC]:
                table.clear()

    # --- limits -----------------------------------------------------------------------------------------------------

    def start_clock(self, seconds: float, megabytes: int) -> None:
        """Raise TooLarge when the time is up, or when memory has grown by so much."""
        self.names["TICKS"] = chain.from_iterable(_watch(seconds, megabytes))

    def start_budget(self, ticks: int) -> Callable[[], int]:
        """Raise TooLarge after `ticks` ticks; returns a function that says how many are left."""
        budget = repeat(None, ticks)
        self.names["TICKS"] = chain.from_iterable(_use_up(budget))
        return lambda: length_hint(budget)


def _use_up(budget: Iterable[None]) -> Iterator[Iterable[None]]:
    yield budget
    raise TooLarge("the rules take too long to evaluate")


def _watch(seconds: float, megabytes: int) -> Iterator[Iterable[None]]:
    """Chunks of ticks, until the time is up or memory has grown too much."""
    began = time.monotonic()
    before, looked = 0, began
    while True:
        yield repeat(None, TICKS)
        now = time.monotonic()
        if now - began > seconds:
            raise TooLarge(f"the rules take longer than {seconds:g} s to evaluate")
        if now - looked > MEMORY_SECONDS:  # to ask the operating system takes up to a millisecond
            looked, used = now, _peak_memory()
            before = before or used
            if used - before > megabytes:
                raise TooLarge(f"the rules take more than {megabytes} MB to evaluate")


def _peak_memory() -> int:
    """The most megabytes that this process has used; 0 where the operating system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used >> (20 if sys.platform == "darwin" else 10)
