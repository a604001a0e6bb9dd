"""What is true of all positions of a game: proofs about the network by clingo's solver.

A proof is an induction over plies. The network is laid out for a position that is not over and satisfies what is known
already, for one legal joint move, and for the position after it; the solver looks for a counterexample. Where it finds
none the property holds for every position that can be reached from the start. What is not proven within the limits is
taken not to hold. The solver's limit is a number of conflicts, so that all processes come to the same answer.

Known from the beginning are the modes (ludus.gdl.modes): the states of facts that follow a fixed cycle, such as
`control`. Then groups of facts are found of which at most one is true: all groups that random games do not refute are
assumed, those that a counterexample breaks are given up, and so on until there is no counterexample.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ludus.gdl.limits import LIMITS
from ludus.gdl.modes import find_modes
from ludus.gdl.network import AND, FALSE, Network

CONFLICTS = 1000
"""Conflicts that the solver may meet in one proof; those that succeed on the rule sheets take fewer than 500."""
SECONDS = 20.0
"""Time for all proofs about one game."""
MOST_LINES = 100_000
"""Lines of a program that the solver is asked about: it takes more than ten seconds for larger ones, mostly in vain."""
MOST_FAILURES = 20
"""Groups of facts with one name that may fail; then the others are given up: each takes the solver another search."""
SOLVER = f"""
import clingo, sys
from collections import Counter
from ludus.gdl.grounder import limit
limit(float(sys.argv[1]), int(sys.argv[2]))
control = clingo.Control(["--warn=none", "--parallel-mode=1", "--solve-limit={CONFLICTS}"])
control.add("base", [], sys.stdin.read())
control.ground([("base", [])])
"""
HOLDS = f"""{SOLVER}
print("proven" if control.solve().unsatisfiable else "refuted")
"""
FIND_GROUPS = f"""{SOLVER}
def atoms(name):
    return [clingo.Function(name, [clingo.Number(number)]) for number in range(int(sys.argv[3]))]

used, broken = atoms("used"), atoms("broken")
family = sys.argv[4].split(",")
failed = Counter()

def counterexample(groups):
    models = []
    assumed = [(atom, number in groups) for number, atom in enumerate(used)]
    found = control.solve(assumptions=assumed, on_model=lambda model: models.append(set(model.symbols(atoms=True))))
    return None if found.unsatisfiable else {{number for number in groups if models and broken[number] in models[0]}}

def promising(groups):
    return {{number for number in groups if failed[family[number]] < {MOST_FAILURES}}}

groups = set(range(len(used)))
alone = set()
while groups:
    given_up = counterexample(groups)
    if given_up is None:
        break
    if not given_up:  # the limit is reached: some may still hold by themselves
        while groups := promising(groups):
            number = min(groups)
            groups.discard(number)
            if counterexample({{number}}) is None:
                alone.add(number)
            else:
                failed[family[number]] += 1
        break
    failed.update(family[number] for number in given_up)
    groups = promising(groups - given_up)
print(*sorted(groups | alone))
"""


@dataclass(frozen=True)
class Samples:
    """What random games have shown."""

    facts: np.ndarray
    """bool [n, bases]: positions, in the order of play."""
    games: np.ndarray
    """int32 [n]: the number of the game of each position."""
    in_turn: bool
    """In no position had two roles a choice."""
    zero_sum: bool
    """The values cancelled wherever a game was over."""


@dataclass(frozen=True)
class Proven:
    """Properties of all positions that can be reached."""

    in_turn: bool
    """In no position have two roles a choice."""
    zero_sum: bool
    """Two roles whose goals add up to 100 wherever the game is over."""
    exclusive: tuple[tuple[int, ...], ...]
    """Groups of facts of which at most one is true, as far as the other proofs needed them."""


def prove(network: Network, samples: Samples, seconds: float = SECONDS) -> Proven:
    """What can be proven of a game, apart from what the samples refute."""
    alone = len(network.roles) == 1
    may_cancel = len(network.roles) == 2 and samples.zero_sum
    if alone or not (samples.in_turn or may_cancel):
        return Proven(alone, False, ())
    program = _Program(network, time.monotonic() + seconds)
    groups = [group for group in candidate_groups(network) if samples.facts[:, group].sum(1).max(initial=0) <= 1]
    with ThreadPoolExecutor(1) as executor:  # each proof has a process of its own, and two run at a time
        early = executor.submit(program.is_in_turn, []) if samples.in_turn else None
        proven = program.exclusive(groups)
        in_turn = executor.submit(lambda: early is not None and (early.result() or program.is_in_turn(proven)))
        zero_sum = may_cancel and program.holds(_goals_differ(network), proven, [*program.after, *program.end])
        return Proven(in_turn.result(), zero_sum, tuple(proven))


def candidate_groups(network: Network) -> list[tuple[int, ...]]:
    """Facts with the same name that differ in their last argument, and all facts of a name with one argument."""
    groups: dict[tuple, list[int]] = defaultdict(list)
    for number, base in enumerate(network.bases):
        if isinstance(base, tuple):
            groups[base[:-1]].append(number)
    return [tuple(group) for group in groups.values() if len(group) > 1]


class _Names:
    """The names of a network's literals in clingo's language."""

    def __init__(self, network: Network):
        self.network = network
        self.bases = len(network.bases)
        self.first_gate = self.bases + int(network.input_starts[-1])

    def literal(self, literal: int, prefix: str = "") -> str:
        """A literal of the position, or with the prefix n of the one after it."""
        if literal < 0:
            return "#false" if literal == FALSE else "#true"
        node = literal >> 1
        if node < self.bases:
            name = f"{'c' if prefix else 'b'}{node}"
        elif node < self.first_gate:
            name = f"m{node - self.bases}"
        else:
            name = f"{prefix}g{node - self.first_gate}"
        return f"not {name}" if literal & 1 else name


class _Program(_Names):
    """A network in clingo's language, for a position and for the one after it."""

    def __init__(self, network: Network, deadline: float):
        super().__init__(network)
        self.deadline = deadline
        lines = [f"{{b{base}}}." for base in range(len(network.bases))]
        starts = network.input_starts
        for role in range(len(network.roles)):
            moves = range(starts[role], starts[role + 1])
            lines.append("1 {" + "; ".join(f"m{move}" for move in moves) + "} 1.")
            lines += [f":- m{move}, not {self.literal(network.legal[move])}." for move in moves]
        lines.append(f":- {self.literal(network.terminal)}.")
        lines += _modes(network)
        terminal, legal, following, goal, end = network.stretches.tolist()
        self.moves = [*lines, *self.gates(terminal, following, "")]
        """A position that is not over, and a legal joint move."""
        self.after = [*self.moves, *self.gates(following, goal, "")]
        """The same, and the facts after the move."""
        self.after += [f"c{base} :- {self.literal(network.next[base])}." for base in range(len(network.bases))]
        self.end = [*self.gates(terminal, legal, "n"), *self.gates(goal, end, "n")]
        """Whether the game is over then, and the goals."""

    def gates(self, begin: int, end: int, prefix: str) -> list[str]:
        lines = []
        kinds, starts = self.network.kinds.tolist(), self.network.starts.tolist()
        literals = self.network.literals.tolist()
        for gate in range(begin, end):
            parts = [self.literal(each, prefix) for each in literals[starts[gate] : starts[gate + 1]]]
            if kinds[gate] == AND:
                lines.append(f"{prefix}g{gate} :- {', '.join(parts)}.")
            else:
                lines += [f"{prefix}g{gate} :- {part}." for part in parts]
        return lines

    def holds(self, violation: Iterable[str], groups: Sequence[Sequence[int]], lines: Iterable[str]) -> bool:
        """True if no position and move, as in `lines`, lead to a violation, where at most one fact of each group is
        true before."""
        exclusive = [":- 2 {" + "; ".join(f"b{base}" for base in group) + "}." for group in groups]
        return self._ask(HOLDS, [*lines, *exclusive, *violation]) == "proven"

    def is_in_turn(self, groups: Sequence[Sequence[int]]) -> bool:
        """True if two roles never choose at once, where at most one fact of each group is true."""
        return self.holds(_two_choose(self.network), groups, self.moves)

    def exclusive(self, groups: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The groups of which at most one fact is true in each position, as far as they are proven."""
        lines = list(self.after)
        for number, group in enumerate(groups):
            before, after = ("; ".join(f"{name}{base}" for base in group) for name in "bc")
            lines.append(f"{{used({number})}}. :- used({number}), 2 {{{before}}}.")
            lines.append(f"broken({number}) :- used({number}), 2 {{{after}}}.")
        lines.append("violation :- broken(Number).")
        names = [self.network.bases[group[0]][0] for group in groups]
        families = ",".join(str(names.index(name)) for name in names)
        found = self._ask(FIND_GROUPS, lines, str(len(groups)), families) if groups else ""
        return [groups[int(number)] for number in found.split()]

    def _ask(self, script: str, lines: Iterable[str], *arguments: str) -> str:
        """What a script prints about a program in which there is a violation; nothing if it takes too long."""
        program = [*lines, ":- not violation."]
        if len(program) > MOST_LINES:
            return ""
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", script, str(SECONDS), str(LIMITS.grounding_megabytes), *arguments],
                input="\n".join(program),
                capture_output=True,
                text=True,
                timeout=max(0.01, self.deadline - time.monotonic()),
                env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
            )
        except subprocess.TimeoutExpired:
            return ""
        return done.stdout.strip()


def _modes(network: Network) -> list[str]:
    """The facts that follow a fixed cycle are in one of its states."""
    modes, _ = find_modes(network)
    lines = ["1 {" + "; ".join(f"mode({number})" for number in range(len(modes))) + "} 1."]
    for number, mode in enumerate(modes):
        lines += [f":- mode({number}), {'not ' * is_true}b{base}." for base, is_true in mode.items()]
    return lines


def _two_choose(network: Network) -> list[str]:
    """Two roles have two legal moves each."""
    program = _Names(network)
    starts, lines = network.input_starts, []
    for role in range(len(network.roles)):
        moves = range(starts[role], starts[role + 1])
        lines += [f"l{move} :- {program.literal(network.legal[move])}." for move in moves]
        lines.append(f"chooses({role}) :- 2 {{{'; '.join(f'l{move}' for move in moves)}}}.")
    return [*lines, "violation :- 2 {chooses(R)}."]


def _goals_differ(network: Network) -> list[str]:
    """The game is over after the move, and the goals do not add up to 100."""
    program = _Names(network)
    lines = []
    for role, goals in enumerate(network.goals):
        lines += [f"goal({role},{value}) :- {program.literal(literal, 'n')}." for value, literal in goals]
    lines += [
        f"over :- {program.literal(network.terminal, 'n')}.",
        "violation :- over, goal(0,V), goal(1,U), V + U != 100.",
        "violation :- over, not goal(0,V) : V = 0..100.",
        "violation :- over, not goal(1,V) : V = 0..100.",
    ]
    return lines
