"""Symmetries of a game in GDL: turns and mirrors of its board, and exchanges of its roles, under which the rules stay.

A candidate renames facts and moves: it moves cells of the board, permutes the roles, and may exchange two more names,
such as the pieces of two roles. It is a symmetry if it maps the propositional network to itself: terminal, legal, next
and goal of the renamed network have the same normal forms as those of the original. This is a proof, not a test.
Symmetries that the normal forms do not show are not found.

The first position need not stay the same. If roles are exchanged, it usually becomes one with the other role to move.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np

from ludus.gdl.language import Term
from ludus.gdl.network import OR, Network
from ludus.gdl.structure import Grid, coordinates, names_row

SECONDS = 2.0
"""The time for all candidates together."""
MOST_ROLES = 4
"""Roles are exchanged in games with at most this many."""
MOST_GATES = 5_000
"""Symmetries of larger networks are not searched for."""
LONGEST_FORM = 256
"""A longer normal form is not merged into others, and sums are multiplied out to at most this many terms."""
MOST_NAMES = 12
"""Names that may be exchanged together with roles, at most."""

Turn = Callable[[int, int, int, int], tuple[int, int]]
"""The image of a cell: (row, column, rows, columns of the board) to (row, column)."""

TURNS: dict[str, Turn] = {
    "": lambda row, column, rows, columns: (row, column),
    "columns mirrored": lambda row, column, rows, columns: (row, columns - 1 - column),
    "rows mirrored": lambda row, column, rows, columns: (rows - 1 - row, column),
    "half turn": lambda row, column, rows, columns: (rows - 1 - row, columns - 1 - column),
}
SQUARE_TURNS: dict[str, Turn] = {
    "transposed": lambda row, column, rows, columns: (column, row),
    "quarter turn": lambda row, column, rows, columns: (column, rows - 1 - row),
    "quarter turn back": lambda row, column, rows, columns: (columns - 1 - column, row),
    "transposed the other way": lambda row, column, rows, columns: (columns - 1 - column, rows - 1 - row),
}
"""Only for boards whose rows and columns have the same names."""


@dataclass(frozen=True)
class Symmetry:
    """A way to rename facts, moves and roles under which the rules stay the same."""

    turn: str
    """What happens to the board: a key of TURNS or SQUARE_TURNS; empty if nothing."""
    roles: tuple[int, ...]
    """For each role, the one that it becomes."""
    names: dict[str, str]
    """The names that are exchanged, roles included."""
    bases: np.ndarray
    """int32 [bases]: the fact that each becomes."""
    inputs: np.ndarray
    """int32 [inputs]: the move that each becomes, role after role."""

    def __str__(self) -> str:
        pairs = ", ".join(f"{a} for {b}" for a, b in self.names.items() if a < b or self.names[b] != a)
        return " with ".join(part for part in (self.turn, pairs) if part)


def find_symmetries(
    network: Network, grid: Grid | None, seconds: float = SECONDS, turns_only: bool = False
) -> list[Symmetry]:
    """The symmetries of a game besides the identity, as far as candidates are tried within the time.

    `turns_only`: those that turn or mirror the board and exchange no names.
    """
    if len(network.loops) or len(network.kinds) > MOST_GATES or (turns_only and grid is None):
        return []
    found: list[Symmetry] = []
    with contextlib.suppress(_OutOfTime):
        forms = _Forms(network, time.monotonic() + seconds)
        for turn, roles, names in _turns(network, grid) if turns_only else _candidates(network, grid):
            renamed = _rename(network, grid, turn, roles, names)
            if renamed is not None and forms.are_kept(*renamed, roles):
                found.append(Symmetry(turn, roles, names, *renamed))
    return found


class _OutOfTime(Exception):
    """The time for all candidates is up."""


def _candidates(network: Network, grid: Grid | None) -> Iterator[tuple[str, tuple[int, ...], dict[str, str]]]:
    """Turn, roles and names of all candidates but the identity."""
    count, words = len(network.roles), [role for role in network.roles if isinstance(role, str)]
    can_exchange = count <= MOST_ROLES and len(words) == count
    orders = list(permutations(range(count))) if can_exchange else [tuple(range(count))]
    others = list(combinations(_free_names(network, grid), 2))
    for turn in ["", *(turn for turn, _, _ in _turns(network, grid))]:
        for roles in orders:
            names = {words[a]: words[b] for a, b in enumerate(roles) if a != b}
            if turn or names:
                yield turn, roles, names
            for a, b in others:  # such as the pieces of two roles
                yield turn, roles, {**names, a: b, b: a}


def _turns(network: Network, grid: Grid | None) -> Iterator[tuple[str, tuple[int, ...], dict[str, str]]]:
    """The candidates that exchange no names."""
    if grid is not None:
        for turn in [*list(TURNS)[1:], *(SQUARE_TURNS if grid.rows == grid.columns else ())]:
            yield turn, tuple(range(len(network.roles))), {}


def _free_names(network: Network, grid: Grid | None) -> list[str]:
    """Constants in facts and moves that are no roles, no coordinates and no numbers; none if there are too many."""
    names: dict[str, None] = {}
    for term in (*network.bases, *(move for moves in network.inputs for move in moves)):
        if isinstance(term, tuple):
            places = coordinates(grid, term) if grid is not None else []
            for place, part in enumerate(term):
                if place and place not in places and isinstance(part, str) and not part.isdecimal():
                    names[part] = None
    free = [name for name in names if name not in network.roles]
    return free if len(free) <= MOST_NAMES else []


def _rename(
    network: Network, grid: Grid | None, turn: str, roles: Sequence[int], names: dict[str, str]
) -> tuple[np.ndarray, np.ndarray] | None:
    """What each fact and each move becomes; None if one of them becomes nothing that the game has."""
    move_cell = _cell_mover(grid, turn)
    base_numbers = {base: number for number, base in enumerate(network.bases)}
    bases = [base_numbers.get(move_cell(base, names)) for base in network.bases]
    starts = network.input_starts
    inputs: list[int | None] = []
    for role, moves in enumerate(network.inputs):
        other = {move: starts[roles[role]] + number for number, move in enumerate(network.inputs[roles[role]])}
        inputs += [other.get(move_cell(move, names)) for move in moves]
    if None in bases or None in inputs or len(set(bases)) < len(bases) or len(set(inputs)) < len(inputs):
        return None
    return np.array(bases, np.int32), np.array(inputs, np.int32)


def _cell_mover(grid: Grid | None, turn: str) -> Callable[[Term, dict[str, str]], Term]:
    """A function that renames a term: its coordinates by the turn of the board, all else by the exchange of names."""

    def rename(term: Term, names: dict[str, str]) -> Term:
        if not isinstance(term, tuple):
            return names.get(term, term)
        parts = list(term)
        places = coordinates(grid, term) if grid is not None else []
        for i in range(1, len(parts)):
            if i not in places:
                parts[i] = rename(parts[i], names)
        if grid is not None and turn:
            turned = {**TURNS, **SQUARE_TURNS}[turn]
            size = len(grid.rows), len(grid.columns)
            for i in range(0, len(places), 2):
                at = grid.rows.index(term[places[i]]), grid.columns.index(term[places[i + 1]])
                row, column = turned(*at, *size)
                parts[places[i]], parts[places[i + 1]] = grid.rows[row], grid.columns[column]
            lines = [i for i in range(1, len(term)) if term[i] in grid.rows or term[i] in grid.columns]
            if not places and len(lines) == 1 and turn in TURNS:
                parts[lines[0]] = turn_line(grid, turned, term[lines[0]])
        return tuple(parts)

    def turn_line(grid: Grid, turned: Turn, name: str) -> str:
        """A whole row or column, as in (drop 3), after a turn that keeps rows and columns."""
        if names_row(grid, name):
            return grid.rows[turned(grid.rows.index(name), 0, len(grid.rows), len(grid.columns))[0]]
        return grid.columns[turned(0, grid.columns.index(name), len(grid.rows), len(grid.columns))[1]]

    return rename


class _Forms:
    """Normal forms of a network's nodes, by which equal ones are found however their gates are nested.

    A form is a set of literals that are all true, so an OR is a negated form of negated literals. Forms within forms
    are merged, and products of sums are multiplied out. Facts and moves are numbered first, then the forms.
    """

    def __init__(self, network: Network, until: float):
        self.network, self.until = network, until
        self.leaves = len(network.bases) + int(network.input_starts[-1])
        self.numbers: dict[frozenset[int], int] = {}
        self.sets: list[frozenset[int]] = []
        starts, literals = network.starts.tolist(), network.literals.tolist()
        self.gates = [
            (kind == OR, literals[starts[gate] : starts[gate + 1]]) for gate, kind in enumerate(network.kinds.tolist())
        ]
        self.own = self.of(range(self.leaves))

    def of(self, leaves: Sequence[int]) -> list[int]:
        """The literal of each node's form, if facts and moves are renamed to `leaves`."""
        forms = [2 * leaf for leaf in leaves]
        for is_or, body in self.gates:
            if time.monotonic() > self.until:
                raise _OutOfTime
            merged: set[int] = set()
            for literal in body:
                form = _form(forms, literal) ^ is_or
                inner = self._parts(form)
                merged |= inner if len(inner) <= LONGEST_FORM else {form}
            forms.append(self._literal(self._distributed(merged) if is_or else merged) ^ is_or)
        return forms

    def _literal(self, merged: set[int]) -> int:
        """The literal of a form; one that holds a single literal is that literal."""
        if len(merged) == 1:
            return next(iter(merged))
        content = frozenset(merged)
        number = self.numbers.get(content)
        if number is None:
            number = self.numbers[content] = self.leaves + len(self.sets)
            self.sets.append(content)
        return 2 * number

    def _parts(self, literal: int) -> frozenset[int] | set[int]:
        """The literals of a form that all must be true; the literal itself if it has no such form."""
        is_form = literal >= 2 * self.leaves and not literal & 1
        return self.sets[(literal >> 1) - self.leaves] if is_form else {literal}

    def _distributed(self, merged: set[int]) -> set[int]:
        """The negated terms of an OR, with a(b + c) written as ab + ac: the network has factors taken out, some way."""
        made: set[int] = set()
        for negated in merged:
            parts = self._parts(negated ^ 1)
            sums = [each for each in parts if each >= 2 * self.leaves and each & 1]
            if len(sums) != 1:
                made.add(negated)
                continue
            factors = set(parts) - set(sums)
            made |= {self._literal(factors | self._parts(term ^ 1)) ^ 1 for term in self._parts(sums[0] ^ 1)}
            if len(made) > LONGEST_FORM:
                return merged
        return made

    def are_kept(self, bases: np.ndarray, inputs: np.ndarray, roles: Sequence[int]) -> bool:
        """True if all results stay the same when facts, moves and roles are renamed so."""
        network, own = self.network, self.own
        new = self.of([*bases.tolist(), *(len(bases) + inputs).tolist()])
        legal, following = network.legal.tolist(), network.next.tolist()
        return (
            _form(new, int(network.terminal)) == _form(own, int(network.terminal))
            and all(_form(new, each) == _form(own, legal[inputs[i]]) for i, each in enumerate(legal))
            and all(_form(new, each) == _form(own, following[bases[i]]) for i, each in enumerate(following))
            and all(
                sorted((value, _form(new, literal)) for value, literal in goals)
                == sorted((value, _form(own, literal)) for value, literal in network.goals[roles[role]])
                for role, goals in enumerate(network.goals)
            )
        )


def _form(forms: list[int], literal: int) -> int:
    """The form of a literal; FALSE and TRUE, which are negative, stay."""
    return literal if literal < 0 else forms[literal >> 1] ^ (literal & 1)
