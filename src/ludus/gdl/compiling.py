"""Python source for plans: a function for each relation and pattern, and one for each of its clauses.

    def r3_legal_bf(a0):                        # (legal a0 ?free): a dictionary of moves, from the table if it is there
    def r3_legal_bf_1(found, a0):               # one clause of it: nested loops that add to `found`

A function without a free argument returns True or False. Relations that depend on themselves have two sets of
functions. The plain ones call each other; where that runs into a circle, the others are used: they put their goals and
answers on an agenda, until nothing new comes (see ludus.gdl.tables).

All names of the generated code that are not local are upper case, or begin with r and a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ludus.gdl.checks import Key
from ludus.gdl.clauses import STATE, STATIC, TRUE, Program
from ludus.gdl.plans import Plan, Planner, Shape, letters_of
from ludus.gdl.tables import Component, Tables
from ludus.gdl.writing import ClauseWriter, clean_name, has_form, joined

LONGEST_INLINE = 200
"""Tests with longer source are called."""


class Compiler:
    """Makes functions on demand and defines them in `tables.names`."""

    def __init__(self, program: Program, planner: Planner, tables: Tables):
        self.program, self.planner, self.tables = program, planner, tables
        self.functions: dict[tuple[Key, str], str] = {}
        self.answers: dict[tuple[Key, str], str] = {}
        """The names of the tables."""
        self.indexes: dict[tuple, str] = {}
        self.components: dict[int, str] = {}
        self.tests: dict[str, str] = {}
        """Functions that are one expression."""
        self.written: set[str] = set()
        self.queue: list[tuple[Key, str, str]] = []
        self.source: list[str] = []

    def forget(self) -> None:
        """Compile anew, from new plans."""
        self.functions.clear()
        self.answers.clear()
        self.indexes.clear()
        self.components.clear()
        self.tests.clear()
        self.written.clear()
        self.tables.drop_compiled()

    def function(self, key: Key, pattern: str) -> Callable[..., Any]:
        """The function of a relation for a pattern, with all that it calls."""
        name = self.functions.get((key, pattern))
        if name is None:
            name = self.name_of(key, pattern)
            self.define()
        return self.tables.names[name]

    def name_of(self, key: Key, pattern: str) -> str:
        """The name of a relation's function; its source is written by and by."""
        name = self.functions.get((key, pattern))
        if name is None:
            name = f"r{len(self.functions)}_{clean_name(key[0])}_{pattern}"
            self.functions[key, pattern] = name
            self.queue.append((key, pattern, name))
        return name

    def define(self) -> None:
        """Write and define the functions that were asked for."""
        while self.queue:
            self._relation(*self.queue.pop())
        if self.source:
            text, self.source = "\n".join(self.source), []
            exec(compile(text, "<rules>", "exec"), self.tables.names)

    # --- functions of a relation ------------------------------------------------------------------------------------

    def test_of(self, key: Key, pattern: str) -> str | None:
        """A relation that takes look-ups only, as an expression of a0, a1, ...; None for others."""
        name = self.name_of(key, pattern)
        if key not in self.program.recursive:
            self._relation(key, pattern, name)
        return self.tests.get(name)

    def _relation(self, key: Key, pattern: str, name: str) -> None:
        if name in self.written:
            return
        self.written.add(name)
        plans = self.planner.plans(key, pattern)
        inputs = [f"a{i}" for i, letter in enumerate(pattern) if letter == "b"]
        is_recursive = key in self.program.recursive
        writers = [ClauseWriter(self, plan, f"{name}_{number}", False) for number, plan in enumerate(plans, 1)]
        calls = [writer.write(inputs) for writer in writers]
        boolean = "f" not in pattern
        any_call = " or ".join(calls) or "False"
        if boolean and not is_recursive and not any(writer.is_long for writer in writers):
            if all(writer.is_inline for writer in writers) and len(any_call) < LONGEST_INLINE:
                self.tests[name] = f"({any_call})"
            self._define(name, inputs, [f"return {any_call}"])
            return
        table = self.answers[key, pattern] = self.tables.new_table(self.program.depends.get(key, STATIC))
        place = joined(inputs, "()")
        if is_recursive:
            self._recursive(key, name, table, inputs, plans, calls, boolean)
            return
        lines = [f"found = {table}.get({place})", "if found is None:", "    next(TICKS)"]
        if boolean:
            lines += [f"    found = {table}[{place}] = {any_call}"]
        else:
            lines += ["    found = {}", *(f"    {call}" for call in calls), f"    {table}[{place}] = found"]
        self._define(name, inputs, [*lines, "return found"])

    def _recursive(
        self,
        key: Key,
        name: str,
        table: str,
        inputs: Sequence[str],
        plans: Sequence[Plan],
        calls: Sequence[str],
        boolean: bool,
    ) -> None:
        """The entry `name`, which others call; `name_in`, which the component's own clauses call; `name_goal`, which
        puts the same on the agenda."""
        component, waiting = self.component_of(key), self.tables.new_waiting(table)
        arguments, place = ", ".join(inputs), joined(inputs, "()")
        queued = [ClauseWriter(self, plan, f"{name}_{number}q", True) for number, plan in enumerate(plans, 1)]
        steps = [writer.write(inputs) for writer in queued]
        self._define(
            name,
            inputs,
            [
                f"found = {table}.get({place})",
                "if found is None:",
                f"    if not {component}.has_circle:",
                f"        try: return {name}_in({arguments})",
                f"        except (CIRCLE, RecursionError): {component}.use_agenda()",
                f"    found = {name}_goal({place})",
                f"    {component}.run()",
                "return found",
            ],
        )
        result = f"found = {' or '.join(calls) or 'False'}" if boolean else "found = {}"
        self._define(
            f"{name}_in",
            inputs,
            [
                f"found = {table}.get({place})",
                "if found is not None:",
                "    if found is ACTIVE: raise CIRCLE",
                "    return found",
                "next(TICKS)",
                f"{table}[{place}] = ACTIVE",
                result,
                *([] if boolean else calls),
                f"{table}[{place}] = found",
                "return found",
            ],
        )
        self._define(
            f"{name}_goal",
            ["place"],
            [
                f"{table}[place] = found = {{}}",
                f"{waiting}[place] = consumers = []",
                f"{component}.agenda.append(({name}_all, (found, consumers), place))",
                "return found",
            ],
        )
        self._define(
            f"{name}_ask",
            ["place", "after", "env"],
            [f"{component}.ask({table}, {waiting}, {name}_goal, place, after, env)"],
        )
        unpack = [] if not inputs else [f"{', '.join(inputs)} = place"]
        self._define(f"{name}_all", ["goal", "place"], [*unpack, *(steps or ["pass"])])
        members = self.tables.components[component]
        members.tables.append(self.tables.names[table])
        members.waiting.append(self.tables.names[waiting])

    def _define(self, name: str, parameters: Sequence[str], lines: Iterable[str]) -> None:
        self.source += [f"def {name}({', '.join(parameters)}):", *(f"    {line}" for line in lines), ""]

    def component_of(self, key: Key) -> str:
        number = self.program.component[key]
        if number not in self.components:
            name = f"C{len(self.components)}"
            self.components[number] = name
            self.tables.names[name] = self.tables.components[name] = Component(
                self.tables, number in self.program.negative
            )
        return self.components[number]

    # --- indexes ----------------------------------------------------------------------------------------------------

    def index(self, source: tuple, shapes: tuple[Shape, ...]) -> str:
        """The name of an index of rows by their bound parts; `source` names the rows (see rows_of)."""
        known = self.indexes.get((source, shapes))
        if known is not None:
            return known
        rows, depends = self.rows_of(source)
        name = self.tables.new_index(depends)
        self.indexes[source, shapes] = f"({name} or {name}_MADE())"
        lines: list[str] = []
        bound: list[str] = []
        free: list[str] = []

        def unpack(value: str, shape: Shape, part: str) -> None:
            if shape == "b":
                bound.append(value)
            elif shape == "f":
                free.append(value)
            elif isinstance(shape, tuple):
                lines.append(f"if not ({has_form(value, shape)}): continue")
                for i, inner in enumerate(shape[1:], 1):
                    unpack(f"{value}[{i}]", inner, f"{part}_{i}")

        names = [f"a{i}" for i in range(len(shapes))]
        for value, shape in zip(names, shapes, strict=True):
            unpack(value, shape, value)
        if source[0] == TRUE:
            targets = ", ".join(["_", *names])
        else:
            targets = names[0] if len(names) == 1 else ", ".join(names)
        place, value = joined(bound, "()"), joined(free, "None")
        if not free:
            lines.append(f"{name}[{place}] = None")
        elif any("n" in letters_of(shape) for shape in shapes):
            lines.append(f"{name}.setdefault({place}, {{}})[{value}] = None")
        else:
            lines.append(f"{name}.setdefault({place}, []).append({value})")
        body = [f"for {targets} in {rows}:", *(f"    {line}" for line in lines), f"return {name}"]
        self._define(f"{name}_MADE", [], body)
        return self.indexes[source, shapes]

    def rows_of(self, source: tuple) -> tuple[str, int]:
        """An expression for all rows of a source, and what they depend on: (TRUE, function, length) are the facts of a
        state that begin with a function, (relation,) the answers of a relation."""
        if source[0] == TRUE:
            return f"GROUPS.get({source[1:]!r}, NONE)", STATE
        (key,) = source
        if key in self.planner.rows or key not in self.program.clauses:
            return self.tables.rows_name(key, self.planner.rows.get(key, {})), STATIC
        return f"{self.name_of(key, 'f' * key[1])}()", self.program.depends[key]
