"""Python source for plans: a function for each relation and pattern, and one for each of its clauses.

    def r3_legal_bf(a0):                        # (legal a0 ?free): a dictionary of moves, from the table if it is there
    def r3_legal_bf_1(found, a0):               # one clause of it: nested loops that add to `found`

A function without a free argument returns True or False. Relations that depend on themselves have two sets of
functions. The plain ones call each other; where that runs into a circle, the others are used: they put their goals and
answers on an agenda, until nothing new comes (see ludus.gdl.tables).

All names of the generated code that are not local are upper case, or begin with r and a number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ludus.gdl.checks import Key
from ludus.gdl.clauses import DOES, TRUE, Clause, Program
from ludus.gdl.kif import shorten
from ludus.gdl.language import Distinct, Literal, Term, is_variable, variables_of
from ludus.gdl.plans import SCAN, Exists, Plan, Planner, Shape, Step, Steps, leaves_of, letters_of, variables_of_item
from ludus.gdl.tables import Component, Tables

MAX_LOOPS = 12
"""Loops nested deeper go on in a function of their own: Python allows twenty."""


@dataclass
class Function:
    """The source of a function while it is written."""

    name: str
    fail: str
    """The statement that gives up: `return`, `return False`, or `continue` inside a loop."""
    lines: list[str] = field(default_factory=list)
    loops: int = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * (1 + self.loops) + text)

    def require(self, condition: str) -> None:
        self.line(f"if not ({condition}): {self.fail}")

    def loop(self, targets: str, source: str) -> None:
        if self.loops:
            self.line("next(TICKS)")
        self.line(f"for {targets} in {source}:")
        self.loops += 1
        self.fail = "continue"


class Compiler:
    """Makes functions on demand and defines them in `tables.names`."""

    def __init__(self, program: Program, planner: Planner, tables: Tables):
        self.program, self.planner, self.tables = program, planner, tables
        self.functions: dict[tuple[Key, str], str] = {}
        self.indexes: dict[tuple, str] = {}
        self.components: dict[int, str] = {}
        self.queue: list[tuple[Key, str, str]] = []
        self.source: list[str] = []

    def forget(self) -> None:
        """Compile anew, from new plans."""
        self.functions.clear()
        self.indexes.clear()
        self.components.clear()
        self.tables.drop_compiled()

    def function(self, key: Key, pattern: str) -> Callable[..., Any]:
        """The function of a relation for a pattern, with all that it calls."""
        name = self.name_of(key, pattern)
        self.define()
        return self.tables.names[name]

    def name_of(self, key: Key, pattern: str) -> str:
        """The name of a relation's function; its source is written by and by."""
        name = self.functions.get((key, pattern))
        if name is None:
            name = f"r{len(self.functions)}_{_clean(key[0])}_{pattern}"
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

    # --- functions of a relation -----------------------------------------------------------------------------------

    def _relation(self, key: Key, pattern: str, name: str) -> None:
        plans = self.planner.plans(key, pattern)
        inputs = [f"a{i}" for i, letter in enumerate(pattern) if letter == "b"]
        is_recursive = key in self.program.recursive
        writers = [_ClauseWriter(self, plan, f"{name}_{number}", False) for number, plan in enumerate(plans, 1)]
        calls = [writer.write(inputs) for writer in writers]
        boolean = "f" not in pattern
        if boolean and not is_recursive and not any(writer.is_long for writer in writers):
            self._define(name, inputs, [f"return {' or '.join(calls) or 'False'}"])
            return
        table = self.tables.new_table(self.program.depends[key])
        place = _tuple(inputs, "()")
        if is_recursive:
            self._recursive(key, name, table, inputs, plans, calls, boolean)
            return
        lines = [f"found = {table}.get({place})", "if found is None:", "    next(TICKS)"]
        if boolean:
            lines += [f"    found = {table}[{place}] = {' or '.join(calls) or 'False'}"]
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
        arguments, place = ", ".join(inputs), _tuple(inputs, "()")
        queued = [_ClauseWriter(self, plan, f"{name}_{number}q", True) for number, plan in enumerate(plans, 1)]
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
            self.tables.names[name] = self.tables.components[name] = Component(self.tables)
        return self.components[number]

    # --- indexes -----------------------------------------------------------------------------------------------------

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
                lines.append(
                    f"if type({value}) is not tuple or len({value}) != {len(shape)} or {value}[0] != {shape[0]!r}: continue"
                )
                for i, inner in enumerate(shape[1:], 1):
                    unpack(f"{value}[{i}]", inner, f"{part}_{i}")

        names = [f"a{i}" for i in range(len(shapes))]
        for value, shape in zip(names, shapes, strict=True):
            unpack(value, shape, value)
        if source[0] == TRUE:
            targets = ", ".join(["_", *names])
        else:
            targets = names[0] if len(names) == 1 else ", ".join(names)
        place, value = _tuple(bound, "()"), _tuple(free, "None")
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
            return f"GROUPS.get({source[1:]!r}, NONE)", self.program.depends.get(TRUE, 1)
        (key,) = source
        if key in self.planner.rows or key not in self.program.clauses:
            return self.tables.rows_name(key, self.planner.rows.get(key, {})), 0
        return f"{self.name_of(key, 'f' * key[1])}()", self.program.depends[key]


class _ClauseWriter:
    """Writes the functions of one clause for one pattern: plain, or for the agenda."""

    def __init__(self, compiler: Compiler, plan: Plan, name: str, queued: bool):
        self.compiler, self.plan, self.name, self.queued = compiler, plan, name, queued
        self.clause: Clause = plan.clause
        self.collects = "f" in plan.pattern
        self.variables: dict[str, str] = {}
        self.parts = 0
        self.is_long = False
        """Does it take more than look-ups? Then its answers are worth a table."""

    def write(self, inputs: Sequence[str]) -> str:
        """Write all functions of the clause; the expression or statement that calls it."""
        function = Function(self.name, "return False" if self.is_boolean else "return")
        function.lines.append(f"    # {shorten(ascii(str(self.clause))[1:-1], 110)}")
        known: set[str] = set()
        heads = [term for letter, term in zip(self.plan.pattern, self.clause.head.args, strict=True) if letter == "b"]
        for name, term in zip(inputs, heads, strict=True):
            self._match(function, term, name, known)
        self._steps(function, self.plan.steps, known)
        return self._finish(function, self._parameters(inputs))

    @property
    def is_boolean(self) -> bool:
        return not self.collects and not self.queued

    def _parameters(self, names: Sequence[str]) -> list[str]:
        if self.queued:
            return ["goal", *names]
        return ["found", *names] if self.collects else list(names)

    def _finish(self, function: Function, parameters: Sequence[str]) -> str:
        if self.is_boolean:
            function.loops = 0
            function.line("return False")
        call = f"{function.name}({', '.join(parameters)})"
        self.compiler.source += [f"def {call}:", *function.lines, ""]
        return call

    # --- steps ---------------------------------------------------------------------------------------------------------

    def _steps(self, function: Function, steps: Steps, known: set[str], in_test: bool = False) -> None:
        """Write steps and what follows after the last of them: an answer, or in a test, success."""
        for place, step in enumerate(steps):
            if isinstance(step, Exists):
                self._exists(function, step, known)
            elif self.queued and self._is_recursive(step):
                self._ask(function, step, steps[place + 1 :], known)
                return
            else:
                if step.is_loop and function.loops >= MAX_LOOPS:
                    self._continue(function, steps[place:], known, in_test)
                    return
                self._step(function, step, known)
        if in_test or self.is_boolean:
            function.line("return True")
        elif self.queued:
            function.line(f"{self.compiler.component_of(self.clause.head.key)}.answer(goal, {self._answer()})")
        else:
            function.line(f"found[{self._answer()}] = None")

    def _is_recursive(self, step: Step) -> bool:
        component = self.compiler.program.component
        return isinstance(step.item, Literal) and component.get(step.item.atom.key) == component[self.clause.head.key]

    def _answer(self) -> str:
        terms = [t for letter, t in zip(self.plan.pattern, self.clause.head.args, strict=True) if letter == "f"]
        return _tuple([self._term(term, grows=True) for term in terms], "()")

    def _live(self, steps: Steps, known: set[str], in_test: bool) -> list[str]:
        """The variables that later steps need, or the answer."""
        needed: set[str] = set()
        queue = list(steps)
        while queue:
            step = queue.pop()
            if isinstance(step, Exists):
                queue += step.steps
            else:
                needed.update(variables_of_item(step.item))
        if not in_test:
            for letter, term in zip(self.plan.pattern, self.clause.head.args, strict=True):
                if letter == "f":
                    needed.update(variables_of(term))
        return sorted(self.variables[name] for name in needed & known)

    def _part(self) -> str:
        self.parts += 1
        return f"{self.name}_{self.parts}"

    def _exists(self, function: Function, step: Exists, known: set[str]) -> None:
        self.is_long = True
        live = self._live(step.steps, known, in_test=True)
        part = Function(self._part(), "return False")
        self._steps(part, step.steps, set(known), in_test=True)
        part.loops = 0
        part.line("return False")
        call = f"{part.name}({', '.join(live)})"
        self.compiler.source += [f"def {call}:", *part.lines, ""]
        function.require(call)

    def _continue(self, function: Function, steps: Steps, known: set[str], in_test: bool) -> None:
        """Go on in a function of its own, as loops cannot be nested further."""
        live = self._live(steps, known, in_test)
        gives = in_test or self.is_boolean
        part = Function(self._part(), "return False" if gives else "return")
        self._steps(part, steps, set(known), in_test)
        parameters = live if gives else self._parameters(live)
        call = f"{part.name}({', '.join(parameters)})"
        if gives:
            part.loops = 0
            part.line("return False")
            function.line(f"if {call}: return True")
        else:
            function.line(call)
        self.compiler.source += [f"def {call}:", *part.lines, ""]

    def _ask(self, function: Function, step: Step, rest: Steps, known: set[str]) -> None:
        """Put a goal of the same component on the agenda; each of its answers goes on in a function of its own."""
        assert isinstance(step.item, Literal)
        key, pattern = step.item.atom.key, "".join(letters_of(shape) for shape in step.shapes)
        asked = self.compiler.name_of(key, pattern)
        place = _tuple([self._term(t) for s, t in zip(step.shapes, step.item.atom.args, strict=True) if s == "b"], "()")
        free = [t for s, t in zip(step.shapes, step.item.atom.args, strict=True) if s == "f"]
        after = {name for term in free for name in variables_of(term)}
        live = self._live(rest, known, in_test=False)
        # Variables of the asked literal itself that are known already are compared with the answer.
        live = sorted({*live, *(self.variables[name] for name in after & known)})
        part = Function(self._part(), "return")
        part.line(_targets(["goal", *live]) + " = env")
        inside = set(known)
        targets = [f"x{i}" for i in range(len(free))]
        if targets:
            part.line(f"{', '.join(targets)} = answer")
        for target, term in zip(targets, free, strict=True):
            self._match(part, term, target, inside)
        self._steps(part, rest, inside)
        self.compiler.source += [f"def {part.name}(env, answer):", *part.lines, ""]
        function.line(f"{asked}_ask({place}, {part.name}, {_tuple(['goal', *live], '')})")

    def _step(self, function: Function, step: Step, known: set[str]) -> None:
        item = step.item
        if isinstance(item, Distinct):
            sign = "==" if item.negated else "!="
            function.require(f"{self._term(item.left)} {sign} {self._term(item.right)}")
            return
        if item.atom.key == TRUE:
            self._true(function, item, step.shapes[0], known)
        elif item.atom.key == DOES:
            self._does(function, item, step.shapes, known)
        elif step.way == "call":
            self._call(function, item, step.shapes, known)
        else:
            self.is_long |= step.way == SCAN
            self._rows(function, item, (item.atom.key,), item.atom.args, step.shapes, known)

    def _true(self, function: Function, item: Literal, shape: Shape, known: set[str]) -> None:
        (term,) = item.atom.args
        if shape == "b":
            function.require(f"{self._term(term)} {'not in' if item.negated else 'in'} FACTS")
        elif shape == "n":
            function.require("FACTS")
        elif shape == "f":
            self.is_long = True
            function.loop(self._new(str(term), known), "FACTS")
        else:
            self._rows(function, item, (TRUE, term[0], len(term)), term[1:], shape[1:], known)

    def _does(self, function: Function, item: Literal, shapes: tuple[Shape, ...], known: set[str]) -> None:
        role, move = item.atom.args
        if shapes[0] == "b":
            value = self._term(role)
            if shapes[1] == "b":
                function.require(f"DOES.get({value}) {'!=' if item.negated else '=='} {self._term(move)}")
            elif shapes[1] == "n":
                function.require(f"{value} in DOES")
            else:
                made = self._temporary()
                function.line(f"{made} = DOES.get({value})")
                function.require(f"{made} is not None")
                self._match(function, move, made, known, shapes[1])
            return
        made, by = self._temporary(), self._temporary()
        function.loop(f"{by}, {made}", "DOES.items()")
        self._match(function, role, by, known, shapes[0])
        self._match(function, move, made, known, shapes[1])

    def _call(self, function: Function, item: Literal, shapes: tuple[Shape, ...], known: set[str]) -> None:
        self.is_long = True
        pattern = "".join(letters_of(shape) for shape in shapes)
        name = self.compiler.name_of(item.atom.key, pattern)
        component = self.compiler.program.component
        if component.get(item.atom.key) == component[self.clause.head.key]:
            name += "_in"
        pairs = list(zip(shapes, item.atom.args, strict=True))
        call = f"{name}({', '.join(self._term(term) for shape, term in pairs if shape == 'b')})"
        free = [term for shape, term in pairs if shape == "f"]
        if not free:
            function.require(f"not {call}" if item.negated else call)
        else:
            self._loop(function, free, call, known)

    def _rows(
        self,
        function: Function,
        item: Literal,
        source: tuple,
        args: Sequence[Term],
        shapes: Sequence[Shape],
        known: set[str],
    ) -> None:
        """Look up rows of facts, of a state or of a relation, through an index where parts of them are bound."""
        leaves = [leaf for term, shape in zip(args, shapes, strict=True) for leaf in leaves_of(term, shape)]
        letters = {letter for letter, _ in leaves}
        free = [term for letter, term in leaves if letter == "f"]
        flat = all(isinstance(shape, str) for shape in shapes)
        rows, _ = self.compiler.rows_of(source)
        if not leaves:
            function.require(f"not {rows}" if item.negated else rows)
        elif letters == {"b"} and flat and source[0] != TRUE:
            row = _tuple([self._term(term) for term in args], "()")
            function.require(f"{row} {'not in' if item.negated else 'in'} {rows}")
        elif letters == {"f"} and flat and source[0] != TRUE:
            self._loop(function, free, rows, known)
        else:
            index = self.compiler.index(source, tuple(shapes))
            place = _tuple([self._term(term) for letter, term in leaves if letter == "b"], "()")
            if not free:
                function.require(f"{place} {'not in' if item.negated else 'in'} {index}")
            else:
                self._loop(function, free, f"{index}.get({place}, NONE)", known)

    def _loop(self, function: Function, terms: Sequence[Term], source: str, known: set[str]) -> None:
        """A loop over answers, whose parts are matched with terms."""
        self.is_long = True
        targets: list[str] = []
        later: list[tuple[Term, str]] = []
        for term in terms:
            if is_variable(term) and term not in known:
                targets.append(self._new(str(term), known))
            else:
                targets.append(self._temporary())
                later.append((term, targets[-1]))
        function.loop(", ".join(targets), source)
        for term, target in later:
            self._match(function, term, target, known)

    # --- terms -----------------------------------------------------------------------------------------------------------

    def _new(self, variable: str, known: set[str]) -> str:
        """The local name of a variable that becomes known."""
        known.add(variable)
        if variable not in self.variables:
            self.variables[variable] = f"v{len(self.variables)}_{_clean(variable)}"
        return self.variables[variable]

    def _temporary(self) -> str:
        self.variables[f" {len(self.variables)}"] = name = f"v{len(self.variables)}"
        return name

    def _term(self, term: Term, grows: bool = False) -> str:
        """An expression that makes a term. `grows`: it may be put into itself again and again."""
        if isinstance(term, tuple):
            made = f"({term[0]!r}, {', '.join(self._term(part) for part in term[1:])})"
            deepens = grows and any(True for _ in variables_of(term))
            return f"SHALLOW({made})" if deepens and self.compiler.tables.guards(self.clause.head.key) else made
        return self.variables[term] if is_variable(term) else repr(term)

    def _match(self, function: Function, term: Term, value: str, known: set[str], shape: Shape = "f") -> None:
        """Compare a value with a term; variables of the term that are not known become known."""
        if shape == "n":
            return
        if is_variable(term):
            if term in known:
                function.require(f"{value} == {self.variables[str(term)]}")
            else:
                function.line(f"{self._new(str(term), known)} = {value}")
        elif not any(True for name in variables_of(term) if name not in known):
            function.require(f"{value} == {self._term(term)}")
        else:
            function.require(f"type({value}) is tuple and len({value}) == {len(term)} and {value}[0] == {term[0]!r}")
            for i, part in enumerate(term[1:], 1):
                inner = shape[i] if isinstance(shape, tuple) else "f"
                self._match(function, part, f"{value}[{i}]", known, inner)


def _tuple(parts: Sequence[str], empty: str) -> str:
    if not parts:
        return empty
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _targets(names: Sequence[str]) -> str:
    return ", ".join(names)


def _clean(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z]", "_", name.lstrip("?"))[:24]
