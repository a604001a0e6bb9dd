"""Structure that the text of a description shows: ordered constants, boards, and where facts and moves lie on them.

A relation such as (succ 1 2) (succ 2 3) orders constants. Where two arguments of a fact take ordered values, the fact
lies on a cell of a grid: `(cell 2 3 white)` is the plane "cell white" at row 2, column 3. So facts become planes for
convolutions, and a move such as `(move 2 2 3 3)` is a kind, "move by (1, 1)", at the cell that it names first.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ludus.gdl.language import Description, Term

MIN_CELLS = 4
"""A grid has at least this many cells."""
MAX_SIDE = 32
MAX_PLANES = 256
MAX_KINDS = 512


@dataclass(frozen=True)
class Spot:
    """Where a fact or a move lies: the number of its plane or kind, and a cell; -1 for no row or column."""

    kind: int
    row: int
    column: int


@dataclass
class Grid:
    """A board that facts lie on."""

    rows: tuple[str, ...]
    """The constants of the rows, in their order."""
    columns: tuple[str, ...]
    planes: list[tuple] = field(default_factory=list)
    """Names of the planes: the fact with its coordinates replaced by None."""
    facts: list[Spot] = field(default_factory=list)
    """One for each base."""
    kinds: list[tuple] = field(default_factory=list)
    """Names of the kinds of moves."""
    moves: list[Spot] = field(default_factory=list)
    """One for each action term."""


def chains(description: Description) -> list[tuple[str, ...]]:
    """Constants that a binary relation puts in a line, the longest first."""
    pairs: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for rule in description.rules:
        args = rule.head.args
        if not rule.body and len(args) == 2 and isinstance(args[0], str) and isinstance(args[1], str):
            pairs[rule.head.name].add((args[0], args[1]))
    found = {chain for each in pairs.values() if (chain := _chain(each)) is not None}
    return sorted(found, key=lambda chain: (-len(chain), chain))


def _chain(pairs: set[tuple[str, str]]) -> tuple[str, ...] | None:
    """The line that pairs (a, b), "b comes after a", form; None where they branch, circle or fall apart."""
    after, before = dict(pairs), {b: a for a, b in pairs}
    if len(after) != len(pairs) or len(before) != len(pairs):
        return None
    starts = [a for a in after if a not in before]
    if len(starts) != 1:
        return None
    line = [starts[0]]
    while line[-1] in after:
        line.append(after[line[-1]])
    return tuple(line) if len(line) == len(pairs) + 1 else None


def find_grid(description: Description, bases: Sequence[Term], moves: Sequence[Term]) -> Grid | None:
    """The board of a game, by the facts that fill the largest grid; None where no two arguments are ordered."""
    orders = ordered_arguments(chains(description), bases)
    best: tuple[int, tuple[str, ...], tuple[str, ...]] | None = None
    for (name, arity), facts in _by_relation(bases).items():
        ordered = [i for i in range(arity) if (name, arity, i) in orders]
        for a in range(len(ordered)):
            for b in range(a + 1, len(ordered)):
                one, other = orders[name, arity, ordered[a]], orders[name, arity, ordered[b]]
                cells = {(fact[ordered[a] + 1], fact[ordered[b] + 1]) for fact in facts}
                size = len(one) * len(other)
                if size >= MIN_CELLS and max(len(one), len(other)) <= MAX_SIDE and 2 * len(cells) >= size:
                    best = max(best, (len(cells), one, other)) if best else (len(cells), one, other)
    if best is None:
        return None
    grid = Grid(best[1], best[2])
    return grid if _place_facts(grid, bases) and _place_moves(grid, moves) else None


def ordered_arguments(
    known: list[tuple[str, ...]], bases: Sequence[Term]
) -> dict[tuple[str, int, int], tuple[str, ...]]:
    """By name, number of arguments and argument: the values of arguments that take ordered values, in their order."""
    orders: dict[tuple[str, int, int], tuple[str, ...]] = {}
    for (name, arity), facts in _by_relation(bases).items():
        for i in range(arity):
            values = {fact[i + 1] for fact in facts}
            if len(values) < 2 or not all(isinstance(value, str) for value in values):
                continue
            for chain in known:
                if values <= set(chain):
                    inside = [index for index, value in enumerate(chain) if value in values]
                    if inside[-1] - inside[0] + 1 == len(inside):  # a stretch of the chain
                        orders[name, arity, i] = chain[inside[0] : inside[-1] + 1]
                        break
            else:
                if all(value.isdecimal() for value in values):
                    numbers = sorted(values, key=int)
                    if int(numbers[-1]) - int(numbers[0]) + 1 == len(numbers):
                        orders[name, arity, i] = tuple(numbers)
    return orders


def _by_relation(bases: Iterable[Term]) -> dict[tuple[str, int], list[tuple]]:
    groups: dict[tuple[str, int], list[tuple]] = defaultdict(list)
    for base in bases:
        if isinstance(base, tuple):
            groups[base[0], len(base) - 1].append(base)
    return groups


def coordinates(grid: Grid, term: tuple) -> list[int]:
    """The places of arguments that come in pairs (row, column), one after the other."""
    found: list[int] = []
    i = 1
    while i + 1 < len(term):
        if term[i] in grid.rows and term[i + 1] in grid.columns:
            found += [i, i + 1]
            i += 2
        else:
            i += 1
    return found


def _place_facts(grid: Grid, bases: Sequence[Term]) -> bool:
    numbers: dict[tuple, int] = {}
    for base in bases:
        row = column = -1
        name: tuple = base if isinstance(base, tuple) else (base,)
        places = coordinates(grid, base) if isinstance(base, tuple) else []
        if places:
            row, column = grid.rows.index(base[places[0]]), grid.columns.index(base[places[1]])
            name = tuple(None if i in places[:2] else part for i, part in enumerate(name))
        grid.facts.append(Spot(numbers.setdefault(name, len(numbers)), row, column))
    grid.planes = list(numbers)
    return len(numbers) <= MAX_PLANES


def _place_moves(grid: Grid, moves: Sequence[Term]) -> bool:
    numbers: dict[tuple, int] = {}
    for move in moves:
        row = column = -1
        name: tuple = move if isinstance(move, tuple) else (move,)
        places = coordinates(grid, move) if isinstance(move, tuple) else []
        if places:
            row, column = grid.rows.index(move[places[0]]), grid.columns.index(move[places[1]])
            parts = list(name)
            for i in range(0, len(places), 2):  # later cells by their distance from the first
                parts[places[i]] = grid.rows.index(move[places[i]]) - row if i else None
                parts[places[i + 1]] = grid.columns.index(move[places[i + 1]]) - column if i else None
            name = tuple(parts)
        elif isinstance(move, tuple):
            lines = [i for i in range(1, len(move)) if move[i] in grid.rows or move[i] in grid.columns]
            if len(lines) == 1:  # a whole row or column, as in (drop 3)
                i = lines[0]
                if names_row(grid, move[i]):
                    row = grid.rows.index(move[i])
                else:
                    column = grid.columns.index(move[i])
                name = tuple(None if i == j else part for j, part in enumerate(name))
        grid.moves.append(Spot(numbers.setdefault(name, len(numbers)), row, column))
    grid.kinds = list(numbers)
    return len(numbers) <= MAX_KINDS


def names_row(grid: Grid, name: str) -> bool:
    """True if a single coordinate in a move means a row, False if it means a column."""
    return name in grid.rows and (name not in grid.columns or len(grid.rows) >= len(grid.columns))


def unique(spots: Iterable[Spot]) -> bool:
    """True if no two lie at the same place of the same kind."""
    return max(Counter(spots).values(), default=1) == 1


def words_of(moves: Sequence[Term]) -> np.ndarray:
    """The words of each move, int32 [moves, most] (see Game.words): its name, and every argument at its place."""
    numbers: dict[tuple, int] = {}
    found = []
    for move in moves:
        parts = move if isinstance(move, tuple) else (move,)
        words = [(parts[0], len(parts)), *((parts[0], len(parts), i, part) for i, part in enumerate(parts) if i)]
        found.append([numbers.setdefault(word, len(numbers)) for word in words])
    most = max(map(len, found), default=1)
    return np.array([words + [-1] * (most - len(words)) for words in found], np.int32).reshape(-1, most)
