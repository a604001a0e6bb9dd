"""Python source for the clauses of a relation (see ludus.gdl.compiling): nested loops and conditions, in the order of a
plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ludus.gdl.clauses import DOES, TRUE, Clause
from ludus.gdl.kif import shorten
from ludus.gdl.language import Distinct, Literal, Term, is_variable, variables_of
from ludus.gdl.plans import CALL, SCAN, Exists, Plan, Shape, Step, Steps, leaves_of, letters_of, variables_of_item

if TYPE_CHECKING:
    from ludus.gdl.compiling import Compiler

ARGUMENT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\ba\d+\b""")
"""A constant, or an argument of a generated function."""
MAX_LOOPS = 12
"""Loops nested deeper go on in a function of their own: Python allows twenty."""


@dataclass
class Function:
    """The source of a function while it is written."""

    name: str
    is_test: bool
    """True if the function returns True or False; otherwise it adds to its answers."""
    lines: list[str] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    """What must hold from here on and is not written yet."""
    loops: int = 0

    def require(self, condition: str) -> None:
        self.conditions.append(condition)

    def line(self, text: str) -> None:
        if self.conditions:
            give_up = "continue" if self.loops else "return False" if self.is_test else "return"
            self.lines.append(f"{self._indent}if not ({self.taken()}): {give_up}")
        self.lines.append(self._indent + text)

    def loop(self, targets: str, source: str) -> None:
        if self.loops:
            self.line("next(TICKS)")
        self.line(f"for {targets} in {source}:")
        self.loops += 1

    def finish(self, success: str = "return True") -> None:
        """The last statement, for where all conditions hold; a test is False where they do not."""
        if self.is_test and not self.loops and success == "return True":
            self.line(f"return {self.taken() or 'True'}")
            return
        self.lines.append(f"{self._indent}if {self.taken()}: {success}" if self.conditions else self._indent + success)
        if self.is_test:
            self.lines.append("    return False")

    def taken(self) -> str:
        """The conditions as one expression; they count as written."""
        text = " and ".join(self.conditions)
        self.conditions.clear()
        return text

    @property
    def _indent(self) -> str:
        return "    " * (1 + self.loops)


class ClauseWriter:
    """Writes the functions of one clause for one pattern: plain, or for the agenda."""

    def __init__(self, compiler: Compiler, plan: Plan, name: str, queued: bool):
        self.compiler, self.plan, self.name, self.queued = compiler, plan, name, queued
        self.clause: Clause = plan.clause
        self.collects = "f" in plan.pattern
        self.variables: dict[str, str] = {}
        self.parts = 0
        self.is_long = False
        """True if the clause takes more than look-ups: its answers are then kept in a table."""
        self.is_inline = False
        """True if the clause is a single expression."""

    def write(self, inputs: Sequence[str]) -> str:
        """Write all functions of the clause; the expression or statement that evaluates it."""
        function = Function(self.name, self.is_boolean)
        function.lines.append(f"    # {shorten(ascii(str(self.clause))[1:-1], 110)}")
        known: set[str] = set()
        heads = [term for letter, term in zip(self.plan.pattern, self.clause.head.args, strict=True) if letter == "b"]
        for name, term in zip(inputs, heads, strict=True):
            if is_variable(term) and term not in known:
                known.add(str(term))
                self.variables[str(term)] = name
            else:
                self._match(function, term, name, known)
        self._steps(function, self.plan.steps, known)
        if self.is_boolean and len(function.lines) == 2:
            self.is_inline = True
            return f"({function.lines[1].strip().removeprefix('return ')})"
        call = f"{self.name}({', '.join(self._parameters(inputs))})"
        self._define(function, self._parameters(inputs))
        return call

    def _define(self, function: Function, parameters: Sequence[str]) -> None:
        self.compiler.source += [f"def {function.name}({', '.join(parameters)}):", *function.lines, ""]

    @property
    def is_boolean(self) -> bool:
        return not self.collects and not self.queued

    def _parameters(self, names: Sequence[str]) -> list[str]:
        if self.queued:
            return ["goal", *names]
        return ["found", *names] if self.collects else list(names)

    # --- steps ------------------------------------------------------------------------------------------------------

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
        if function.is_test:
            function.finish()
        elif self.queued:
            function.finish(f"{self.compiler.component_of(self.clause.head.key)}.answer(goal, {self._answer()})")
        else:
            function.finish(f"found[{self._answer()}] = None")

    def _is_recursive(self, step: Step) -> bool:
        component = self.compiler.program.component
        return isinstance(step.item, Literal) and component.get(step.item.atom.key) == component[self.clause.head.key]

    def _answer(self) -> str:
        terms = [t for letter, t in zip(self.plan.pattern, self.clause.head.args, strict=True) if letter == "f"]
        return joined([self._term(term, grows=True) for term in terms], "()")

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
        part = Function(self._part(), is_test=True)
        self._steps(part, step.steps, set(known), in_test=True)
        self._define(part, live)
        function.require(f"{part.name}({', '.join(live)})")

    def _continue(self, function: Function, steps: Steps, known: set[str], in_test: bool) -> None:
        """Go on in a function of its own, as loops cannot be nested further."""
        live = self._live(steps, known, in_test)
        part = Function(self._part(), function.is_test)
        self._steps(part, steps, set(known), in_test)
        parameters = live if part.is_test else self._parameters(live)
        self._define(part, parameters)
        call = f"{part.name}({', '.join(parameters)})"
        if part.is_test:
            function.require(call)
            function.finish()
        else:
            function.finish(call)

    def _ask(self, function: Function, step: Step, rest: Steps, known: set[str]) -> None:
        """Put a goal of the same component on the agenda; each of its answers goes on in a function of its own."""
        assert isinstance(step.item, Literal)
        key, pattern = step.item.atom.key, "".join(letters_of(shape) for shape in step.shapes)
        asked = self.compiler.name_of(key, pattern)
        place = joined([self._term(t) for s, t in zip(step.shapes, step.item.atom.args, strict=True) if s == "b"], "()")
        free = [t for s, t in zip(step.shapes, step.item.atom.args, strict=True) if s == "f"]
        after = {name for term in free for name in variables_of(term)}
        live = self._live(rest, known, in_test=False)
        # Variables of the asked literal itself that are known already are compared with the answer.
        live = sorted({*live, *(self.variables[name] for name in after & known)})
        part = Function(self._part(), is_test=False)
        part.line(f"{', '.join(['goal', *live])} = env")
        inside = set(known)
        targets = [f"x{i}" for i in range(len(free))]
        if targets:
            part.line(f"{', '.join(targets)} = answer")
        for target, term in zip(targets, free, strict=True):
            self._match(part, term, target, inside)
        self._steps(part, rest, inside)
        self._define(part, ["env", "answer"])
        function.finish(f"{asked}_ask({place}, {part.name}, {joined(['goal', *live], '')})")

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
        elif step.way == CALL:
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
        made = self._temporary()
        if shapes[0] == "n":
            function.loop(made, "DOES.values()")
        else:
            function.loop(f"{self._new(str(role), known)}, {made}", "DOES.items()")
        self._match(function, move, made, known, shapes[1])

    def _call(self, function: Function, item: Literal, shapes: tuple[Shape, ...], known: set[str]) -> None:
        key, pattern = item.atom.key, "".join(letters_of(shape) for shape in shapes)
        pairs = list(zip(shapes, item.atom.args, strict=True))
        inputs = [self._term(term) for shape, term in pairs if shape == "b"]
        free = [term for shape, term in pairs if shape == "f"]
        component = self.compiler.program.component
        is_recursive = component[key] == component[self.clause.head.key]
        test = None if free or is_recursive else self.compiler.test_of(key, pattern)
        if test is not None:
            names = [i for i, letter in enumerate(pattern) if letter == "b"]
            values = dict(zip((f"a{i}" for i in names), inputs, strict=True))
            call = ARGUMENT.sub(lambda found: values.get(found.group(), found.group()), test)
        else:
            self.is_long = True
            call = f"{self.compiler.name_of(key, pattern)}{'_in' * is_recursive}({', '.join(inputs)})"
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
            row = joined([self._term(term) for term in args], "()")
            function.require(f"{row} {'not in' if item.negated else 'in'} {rows}")
        elif letters == {"f"} and flat:
            self._loop(function, free, rows, known, skip=source[0] == TRUE)
        else:
            index = self.compiler.index(source, tuple(shapes))
            place = joined([self._term(term) for letter, term in leaves if letter == "b"], "()")
            if not free:
                function.require(f"{place} {'not in' if item.negated else 'in'} {index}")
            else:
                self._loop(function, free, f"{index}.get({place}, NONE)", known)

    def _loop(
        self, function: Function, terms: Sequence[Term], source: str, known: set[str], skip: bool = False
    ) -> None:
        """A loop over answers, whose parts are matched with terms; `skip`: a name comes before them."""
        self.is_long = True
        targets: list[str] = ["_"] * skip
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

    # --- terms ------------------------------------------------------------------------------------------------------

    def _new(self, variable: str, known: set[str]) -> str:
        """The local name of a variable that becomes known."""
        known.add(variable)
        if variable not in self.variables:
            self.variables[variable] = f"v{len(self.variables)}_{clean_name(variable)}"
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
            assert isinstance(term, tuple)
            function.require(has_form(value, term))
            for i, part in enumerate(term[1:], 1):
                inner = shape[i] if isinstance(shape, tuple) else "f"
                self._match(function, part, f"{value}[{i}]", known, inner)


def joined(parts: Sequence[str], empty: str) -> str:
    if not parts:
        return empty
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def has_form(value: str, term: tuple) -> str:
    """A condition: the value is a term with this function and this number of arguments."""
    return f"type({value}) is tuple and len({value}) == {len(term)} and {value}[0] == {term[0]!r}"


def clean_name(name: str) -> str:
    return re.sub(r"[^0-9A-Za-z]", "_", name.lstrip("?"))[:24]
