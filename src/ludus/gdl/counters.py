"""Facts that count, such as (step 7) or (score white 12), as numbers in a network's input.

With a plane for each value a network must learn every value by itself. A counter is an argument with ordered values, of
which at most one is true at a time, and which only rises or only falls during a game: a place on a line is none. Three
numbers show its value: its place in the order from 0 to 1, and its distance from either end up to NEAR steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ludus.gdl.language import Description, Term
from ludus.gdl.proofs import Samples
from ludus.gdl.structure import Grid, chains, ordered_arguments

FEWEST = 5
"""A counter has at least this many values."""
NEAR = 4
"""Steps from an end of the order within which the distance to it is exact."""
NUMBERS = 3
"""Numbers in the input for each counter."""


@dataclass(frozen=True)
class Counter:
    """Facts that differ in one argument, of which at most one is true."""

    name: tuple
    """The fact with the argument replaced by None."""
    facts: tuple[int, ...]
    """The numbers of the facts, in the order of their values."""

    def shown(self, place: int) -> tuple[float, float, float]:
        """The numbers that show the value at this place of the order."""
        last = len(self.facts) - 1
        return place / last, min(1.0, place / NEAR), min(1.0, (last - place) / NEAR)


def find_counters(
    description: Description, bases: Sequence[Term], grid: Grid | None, samples: Samples
) -> list[Counter]:
    """The counters among facts that lie on no cell of the board, as far as the samples do not refute them."""
    orders = ordered_arguments(chains(description), bases)
    groups: dict[tuple, list[int]] = defaultdict(list)
    for number, base in enumerate(bases):
        if isinstance(base, tuple) and (grid is None or grid.facts[number].row < 0):
            places = [i for i in range(1, len(base)) if (base[0], len(base) - 1, i - 1) in orders]
            if places:  # of several ordered arguments the last one counts, as in (score 2 17)
                groups[tuple(None if i == places[-1] else part for i, part in enumerate(base))].append(number)
    found = []
    for name, facts in groups.items():
        argument = name.index(None)
        order = orders[name[0], len(name) - 1, argument - 1]
        ordered = sorted(facts, key=lambda fact: order.index(bases[fact][argument]))
        if len(facts) >= FEWEST and counts_one_way(samples.facts[:, ordered], samples.games):
            found.append(Counter(name, tuple(ordered)))
    return found


def counts_one_way(facts: np.ndarray, games: np.ndarray) -> bool:
    """True if at most one of the facts bool [n, k] is true in each position, and later ones of a game are all higher or
    equal, or all lower or equal; games int [n] has the game of each position."""
    totals = facts.sum(1)
    if totals.max(initial=0) > 1:
        return False
    values, owners = np.argmax(facts, axis=1)[totals == 1], games[totals == 1]
    steps = np.diff(values)[np.diff(owners) == 0]
    return bool(steps.any()) and bool((steps >= 0).all() or (steps <= 0).all())
