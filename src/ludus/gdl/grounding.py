"""From rules with variables to ground rules, by clingo.

Every rule is translated as it stands, and three choice rules say what may become true or be done:

    {true(X)} :- init(X).    {true(X)} :- next(X).    {does(R, M)} :- legal(R, M).

The grounder's fixpoint of possible atoms is then the domain of states and of moves, and static relations vanish. Names
are replaced by numbers, since GDL allows any character in them.

A long rule is grounded once more with variables eliminated through auxiliary relations; the smaller program is kept.
Relations are derived for the arguments with which they are asked (ludus.gdl.demand), where these are known.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import IO, TypeGuard

import numpy as np

from ludus.errors import LudusError
from ludus.gdl.alternatives import expand
from ludus.gdl.demand import PREFIX, on_demand
from ludus.gdl.grounder import ASKED, TOO_LARGE
from ludus.gdl.kif import shorten
from ludus.gdl.language import (
    KEYWORDS,
    Atom,
    Description,
    Distinct,
    Item,
    Literal,
    Rule,
    Term,
    is_variable,
    literals_in,
    variables_in,
    variables_of,
)
from ludus.gdl.limits import LIMITS
from ludus.gdl.repair import positive_variables, repair

MOST_BYTES = 32 << 20
"""Size of a ground program, at most. To make a network of it takes this process about 8 s for each 4 MiB."""
OUT_OF_TIME = -getattr(signal, "SIGXCPU", 1_000)
"""The code with which a process ends that has used up its CPU time."""
MOST_HEADS = MOST_BYTES // 12
"""Ground rules of one rule, at most: each takes twelve bytes or more."""
LONG_RULE = 5
"""Rules with at least this many variables are tried with variables eliminated."""
LOOSE_SECONDS = 10.0
"""Time for a description with relations that cannot be derived as a whole, at most: some ground to very much."""
TOO_LONG_RULE = 60
"""Rules with more variables stay as they are: the search for what to eliminate takes cubic time."""


class CannotGround(LudusError):
    """Grounding ran out of time or memory, or would not end."""


@dataclass
class Ground:
    """A ground program. Atoms are positive numbers, negated literals negative ones."""

    atoms: dict[str, dict[tuple[Term, ...], int]]
    """By relation: the arguments of each atom that may become true, and its number; 0 where it is always true."""
    rules: np.ndarray
    """int32 [n, 3]: head atom, and where the body begins and ends in `literals`."""
    literals: np.ndarray
    """int32: the bodies, one after the other."""
    seconds: float = 0.0
    way: str = "plain"

    @property
    def size(self) -> int:
        return len(self.rules) + len(self.literals)

    @cached_property
    def bodies(self) -> dict[int, list[tuple[int, ...]]]:
        """By head atom: the literals of its bodies."""
        found: dict[int, list[tuple[int, ...]]] = {}
        flat = self.literals.tolist()
        for head, begin, end in self.rules.tolist():
            found.setdefault(head, []).append(tuple(flat[begin:end]))
        return found


def ground(description: Description, seconds: float | None = None, megabytes: int | None = None) -> Ground:
    """The ground program of a valid description; CannotGround where it is too large or does not end.

    `megabytes` limits the address space of each of the two processes. The defaults are those of ludus.gdl.limits.
    """
    seconds = seconds or LIMITS.grounding_seconds
    ways = ways_to_ground(description)
    if any(loose_in_head(stated(rule)) for rule in ways["plain"] if not rule.head.name.startswith(PREFIX)):
        seconds = min(seconds, LOOSE_SECONDS)
    most = megabytes or LIMITS.grounding_megabytes
    jobs = {way: _Job(Translator(), rules, seconds, most) for way, rules in ways.items()}
    try:
        return _first_good(jobs, seconds)
    finally:
        for job in jobs.values():
            job.end()


def ways_to_ground(description: Description) -> dict[str, list[Rule]]:
    """The rules as they stand and, where some are long, with these split. CannotGround if a head has a variable without
    a value, or if a rule has too many ground heads for certain."""
    clauses = on_demand(relevant(list(expand(repair(description.rules)))))
    for rule in clauses:
        if loose := loose_in_head(rule):
            shown = shorten(min(loose), 40), shorten(str(stated(rule)), 80)
            raise CannotGround(f"the variable {shown[0]} of a head stands in no positive literal, in {shown[1]}")
        if grows(rule):
            raise CannotGround(f"the facts grow with every step, in {shorten(str(rule), 80)}")
    for rule, count in count_heads(clauses):
        if count > MOST_HEADS:
            raise CannotGround(f"there are {count:.0e} ground atoms, in {shorten(str(rule), 80)}")
    ways = {"plain": clauses}
    parts = [part for number, rule in enumerate(clauses) for part in split(rule, number)]
    if len(parts) > len(clauses):
        ways["split"] = parts
    return ways


def loose_in_head(rule: Rule) -> set[str]:
    """The variables of a head that no positive literal of the body has."""
    return {name for term in rule.head.args for name in variables_of(term)} - positive_variables(rule.body)


def grows(rule: Rule) -> bool:
    """True for a rule such as (<= (next (step (s ?n))) (true (step ?n))), which makes larger facts of a kind without
    end: the rule takes any fact of the kind, and what it makes of one it takes again."""
    made = rule.head.args[0] if rule.head.key == ("next", 1) else ""
    uses = Counter(name for item in rule.body for term in _terms_of(item) for name in variables_of(term))
    for item in rule.body:
        fact = item.atom.args[0] if _is_positive(item) and item.atom.key == ("true", 1) else ""
        if isinstance(made, tuple) and isinstance(fact, tuple) and (made[0], len(made)) == (fact[0], len(fact)):
            pairs = list(zip(made[1:], fact[1:], strict=True))
            takes_again = all(new == old or (is_variable(old) and uses[str(old)] == 1) for new, old in pairs)
            if takes_again and any(isinstance(new, tuple) and old in variables_of(new) for new, old in pairs):
                return True
    return False


def _terms_of(item: Item) -> tuple[Term, ...]:
    if isinstance(item, Literal):
        return item.atom.args
    assert isinstance(item, Distinct)
    return item.left, item.right


def stated(rule: Rule) -> Rule:
    """A rule as the description has it, without what is asked."""
    body = (item for item in rule.body if not (isinstance(item, Literal) and item.atom.name.startswith(PREFIX)))
    return Rule(rule.head, tuple(body), rule.offset)


def _first_good(jobs: dict[str, _Job], seconds: float) -> Ground:
    """The smaller program of those that are ready when the slowest has had a third more time than the fastest.

    A smaller program saves time later, but not as much as a long wait costs.
    """
    began = time.monotonic()
    deadline = began + seconds
    found: list[Ground] = []
    reasons: list[str] = []
    waiting = dict(jobs)
    while waiting and time.monotonic() < deadline:
        for way, job in list(waiting.items()):
            if not job.is_done(0.005):
                continue
            del waiting[way]
            try:
                result = job.result()
            except CannotGround as error:
                reasons.append(str(error))
                continue
            result.way = way
            found.append(result)
            deadline = min(deadline, time.monotonic() + 0.5 + (time.monotonic() - began) / 3)
    if found:
        return min(found, key=lambda each: each.size)
    raise CannotGround(reasons[0] if reasons else f"grounding took longer than {seconds:g} s")


class _Job:
    """A grounding in a child process; its output goes through a temporary file, so that no pipe can fill up."""

    def __init__(self, translator: Translator, rules: Sequence[Rule], seconds: float, megabytes: int):
        self.translator = translator
        self.began = time.monotonic()
        self.input, self.output, self.errors = (tempfile.TemporaryFile() for _ in range(3))  # noqa: SIM115
        self.input.write(translator.program(rules).encode())
        self.input.seek(0)
        # -P: modules of the current folder must not be imported; the package is found where this one was.
        self.cpu_seconds = min(seconds, LIMITS.grounding_cpu_seconds)
        limits = [str(self.cpu_seconds), str(megabytes), str(MOST_BYTES)]
        command = [sys.executable, "-P", "-m", "ludus.gdl.grounder", *limits]
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self.lifeline: int | None = None
        ends: tuple[int, ...] = ()
        if os.name == "posix":
            child_end, self.lifeline = os.pipe()
            ends, command = (child_end,), [*command, str(child_end)]
        try:
            self.process = subprocess.Popen(
                command,
                stdin=self.input,
                stdout=self.output,
                stderr=self.errors,
                env={**os.environ, "PYTHONPATH": path},
                pass_fds=ends,
            )
        finally:
            for end in ends:
                os.close(end)

    def is_done(self, wait: float) -> bool:
        try:
            self.process.wait(wait)
        except subprocess.TimeoutExpired:
            return False
        return True

    def result(self) -> Ground:
        if self.process.returncode:
            self.errors.seek(0)
            said = self.errors.read(4000).decode(errors="replace").strip().splitlines()
            if self.process.returncode == OUT_OF_TIME:
                raise CannotGround(f"grounding took longer than {self.cpu_seconds:g} s of CPU time")
            why = shorten(said[-1]) if said else f"it ended with code {self.process.returncode}"
            raise CannotGround(f"grounding failed: {why}")
        size = self.output.seek(0, os.SEEK_END)
        if size > MOST_BYTES:
            raise CannotGround(f"{TOO_LARGE}: {size >> 20:,} MiB")
        self.output.seek(0)
        made = read_ground(self.output, self.translator)
        made.seconds = time.monotonic() - self.began
        return made

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.lifeline is not None:
            os.close(self.lifeline)
            self.lifeline = None
        for file in (self.input, self.output, self.errors):
            file.close()


# --- From GDL to clauses ---------------------------------------------------------------------------------------


def relevant(rules: list[Rule]) -> list[Rule]:
    """The rules that legal, next, goal, terminal, init or role depend on."""
    by_key: dict[tuple[str, int], list[Rule]] = defaultdict(list)
    for rule in rules:
        by_key[rule.head.key].append(rule)
    queue = [(name, KEYWORDS[name]) for name in ("legal", "next", "goal", "terminal", "init", "role")]
    wanted = set(queue)
    while queue:
        for rule in by_key.get(queue.pop(), ()):
            for literal in literals_in(rule.body):
                if literal.atom.key not in wanted:
                    wanted.add(literal.atom.key)
                    queue.append(literal.atom.key)
    return [rule for rule in rules if rule.head.key in wanted]


def count_heads(rules: list[Rule]) -> Iterator[tuple[Rule, int]]:
    """Rules whose ground heads can be counted, with their number: all literals are of relations that are lists of
    facts, and no two of them share a variable, as in lists of all lengths."""
    derived = {rule.head.key for rule in rules if rule.body}
    facts: dict[tuple[str, int], list[tuple[Term, ...]]] = defaultdict(list)
    for rule in rules:
        if rule.head.key not in derived:
            facts[rule.head.key].append(rule.head.args)
    for rule in rules:
        head = {name for term in rule.head.args for name in variables_of(term)}
        literals = [item for item in rule.body if isinstance(item, Literal)]
        names = [name for item in literals for name in {each for term in item.atom.args for each in variables_of(term)}]
        are_apart = len(literals) == len(rule.body) > 1 and len(names) == len(set(names))
        if are_apart and all(item.atom.key in facts and not item.negated for item in literals):
            yield rule, prod(len(_projected(item.atom.args, facts[item.atom.key], head)) for item in literals)


def _projected(args: Sequence[Term], rows: Iterable[tuple[Term, ...]], wanted: set[str]) -> set[tuple[Term, ...]]:
    """The values that the wanted variables among the arguments take in rows of facts; none if an argument is a function
    with variables."""
    found = set()
    for row in rows:
        values: dict[str, Term] = {}
        for term, value in zip(args, row, strict=True):
            if isinstance(term, str) and term.startswith("?"):
                if values.setdefault(term, value) != value:
                    break
            elif term != value:
                break
        else:
            found.add(tuple(value for name, value in values.items() if name in wanted))
    return found


def _is_long(rule: Rule) -> bool:
    return LONG_RULE <= len(variables_in(rule.body)) <= TOO_LONG_RULE and len(rule.body) >= 3


def split(rule: Rule, number: int) -> list[Rule]:
    """A rule with variables eliminated: those that stand in few literals go into auxiliary relations, which keep only
    the variables that are needed elsewhere."""
    if not _is_long(rule):
        return [rule]
    made: list[Rule] = []
    body = list(rule.body)
    head_variables = {v for term in rule.head.args for v in variables_of(term)}
    while True:
        inner = variables_in(body) - head_variables
        best: tuple[int, int, str] | None = None
        for variable in sorted(inner):
            group = [item for item in body if variable in variables_in([item])]
            width = len(variables_in(group))
            if len(group) < len(body) and (best is None or (width, len(group), variable) < best):
                best = (width, len(group), variable)
        if best is None:
            break
        group = [item for item in body if best[2] in variables_in([item])]
        rest = [item for item in body if best[2] not in variables_in([item])]
        bound = {v for item in group if _is_positive(item) for v in variables_in([item])}
        if not variables_in(group) <= bound:  # a negation needs help from outside: take what binds it
            helpers = [
                item for item in rest if _is_positive(item) and variables_in([item]) & (variables_in(group) - bound)
            ]
            group += helpers
            bound |= variables_in(helpers)
            if not variables_in(group) <= bound or len(group) >= len(body):
                break
        shared = tuple(sorted(variables_in(group) & (variables_in(rest) | head_variables)))
        if len(shared) >= len(variables_in(group)) or len(variables_in(group)) >= len(variables_in(body)):
            break
        head = Atom(f"part {number} {len(made)}", shared)
        made.append(Rule(head, tuple(group), rule.offset))
        body = [*rest, Literal(head)]
        if len(variables_in(body)) < 3:
            break
    return [*made, Rule(rule.head, tuple(body), rule.offset)] if made else [rule]


def _is_positive(item: Item) -> TypeGuard[Literal]:
    return isinstance(item, Literal) and not item.negated


# --- From clauses to the language of clingo, and back ------------------------------------------------


@dataclass
class Translator:
    """Names of a description as names that clingo takes, and back."""

    numbers: dict[str, int] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)
    relations: dict[tuple[str, int], str] = field(default_factory=dict)

    def program(self, rules: Iterable[Rule]) -> str:
        lines = ["{true(X)} :- init(X).", "{true(X)} :- next(X).", "{does(R,M)} :- legal(R,M)."]
        lines += [self.rule(rule) for rule in rules]
        return "\n".join(lines) + "\n"

    def rule(self, rule: Rule) -> str:
        variables: dict[str, str] = {}
        head = self.atom(rule.head, variables)
        body = ", ".join(self.item(item, variables) for item in rule.body)
        return f"{head} :- {body}." if body else f"{head}."

    def item(self, item: Item, variables: dict[str, str]) -> str:
        if isinstance(item, Literal):
            return ("not " if item.negated else "") + self.atom(item.atom, variables)
        assert isinstance(item, Distinct)
        sign = "=" if item.negated else "!="
        return f"{self.term(item.left, variables)} {sign} {self.term(item.right, variables)}"

    def atom(self, atom: Atom, variables: dict[str, str]) -> str:
        name = atom.name
        if atom.key not in _KEYWORD_KEYS:
            letter = ASKED if name.startswith(PREFIX) else "r"
            name = self.relations.setdefault(atom.key, f"{letter}{len(self.relations)}")
        return f"{name}({','.join(self.term(term, variables) for term in atom.args)})" if atom.args else name

    def term(self, term: Term, variables: dict[str, str]) -> str:
        if isinstance(term, tuple):
            return f"f{self.number(term[0])}({','.join(self.term(part, variables) for part in term[1:])})"
        if term.startswith("?"):
            return variables.setdefault(term, f"V{len(variables)}")
        return f"c{self.number(term)}"

    def number(self, name: str) -> int:
        if name not in self.numbers:
            self.numbers[name] = len(self.names)
            self.names.append(name)
        return self.numbers[name]

    def read_atom(self, text: str) -> tuple[str, tuple[Term, ...]]:
        """A relation and its arguments from clingo's text, such as `true(f2(c1,c1))`."""
        name, bracket, _ = text.partition("(")
        if not bracket:
            return name, ()
        terms, _ = self._read_terms(text, len(name) + 1)
        return name, tuple(terms)

    def _read_terms(self, text: str, at: int) -> tuple[list[Term], int]:
        terms: list[Term] = []
        while True:
            end = at + 1
            while text[end].isdigit():
                end += 1
            name = self.names[int(text[at + 1 : end])]
            if text[end] == "(":
                inner, end = self._read_terms(text, end + 1)
                terms.append((name, *inner))
            else:
                terms.append(name)
            if text[end] == ")":
                return terms, end + 1
            at = end + 1


_KEYWORD_KEYS = set(KEYWORDS.items())


def read_ground(file: IO[bytes], translator: Translator) -> Ground:
    """What a grounder wrote."""
    header = json.loads(file.readline())
    numbers = np.frombuffer(file.read(), np.int32)
    atoms: dict[str, dict[tuple[Term, ...], int]] = {name: {} for name in KEYWORDS}
    for text, number in header["atoms"]:
        name, arguments = translator.read_atom(text)
        atoms[name][arguments] = number
    for text in header["facts"]:
        name, arguments = translator.read_atom(text)
        atoms[name][arguments] = 0
    count = header["rules"]
    heads, lengths, literals = numbers[:count], numbers[count : 2 * count], numbers[2 * count :]
    if header["asked"]:
        heads, lengths, literals = _without(np.array(header["asked"]), heads, lengths, literals)
    ends = np.cumsum(lengths, dtype=np.int64)
    return Ground(atoms, np.stack([heads, ends - lengths, ends], axis=1).astype(np.int32), literals)


def _without(
    atoms: np.ndarray, heads: np.ndarray, lengths: np.ndarray, literals: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rules, as the heads, the lengths of the bodies and all literals, where these atoms are taken for true."""
    most = max(int(atoms.max()), int(np.abs(literals).max(initial=0)), int(heads.max(initial=0)))
    is_left_out = np.zeros(most + 1, np.bool_)
    is_left_out[atoms] = True
    rule_of = np.repeat(np.arange(len(heads)), lengths)
    keeps_rule = ~is_left_out[heads]
    keeps = ~is_left_out[np.abs(literals)] & keeps_rule[rule_of]
    counts = np.bincount(rule_of[keeps], minlength=len(heads))
    return heads[keeps_rule], counts[keeps_rule].astype(np.int32), literals[keeps]
