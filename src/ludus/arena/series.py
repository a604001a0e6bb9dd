"""Series: the games that the checkpoints of a run play in the arena, described in one line.

    before:1,10 nearest:uct:2

means: every checkpoint plays the one before it, the one ten before it, and the two `uct` agents nearest in rating. Both
parts are optional. "Ten before" counts the checkpoints that take part.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludus.agents.naming import KINDS
from ludus.errors import BadOption

if TYPE_CHECKING:
    from ludus.arena.ratings import Ratings, Tally
    from ludus.arena.roster import Roster


NUMBER = re.compile("[1-9][0-9]{0,8}")
"""A whole number from 1 on, below a thousand million."""


@dataclass(frozen=True)
class Series:
    """The opponents of every checkpoint."""

    before: tuple[int, ...] = ()
    """Distances to earlier checkpoints that each checkpoint plays."""
    nearest: tuple[tuple[str, int], ...] = ()
    """Kinds of agents with the number of them, nearest in rating, that each checkpoint plays."""

    def pairs(self, roster: Roster, ratings: Ratings) -> list[tuple[str, str]]:
        """All pairs that the series asks for now; pairs of the latest checkpoints come first."""
        pairs = []
        for checkpoints in roster.series.values():
            rated = [ratings[text].rating if text in ratings.places else None for text in checkpoints]
            for place in reversed(range(len(checkpoints))):
                mine = checkpoints[place]
                pairs += [(mine, checkpoints[place - back]) for back in self.before if back <= place]
                # A new checkpoint is about as strong as the one before.
                guess = next((each for each in rated[place::-1] if each is not None), None)
                for kind, count in self.nearest:
                    others = [text for text, each in roster.entrants.items() if each.kind == kind and text != mine]
                    if guess is not None:
                        others.sort(key=lambda text: _apart(ratings, text, guess))
                    pairs += [(mine, other) for other in others[:count]]
        return [pair for pair in dict.fromkeys(pairs) if set(pair) <= roster.entrants.keys()]

    def next_pairing(
        self, roster: Roster, tallies: Iterable[Tally], ratings: Ratings, pending: Collection[tuple[str, str]]
    ) -> tuple[str, str] | None:
        """The pair of the series that was played least; None if there is no pair yet."""
        games: Counter[frozenset[str]] = Counter()
        for tally in tallies:
            games[frozenset((tally.first, tally.second))] += int(tally.wins + tally.draws + tally.losses)
        for pair in pending:
            games[frozenset(pair)] += 2
        return min(self.pairs(roster, ratings), key=lambda pair: games[frozenset(pair)], default=None)


def _apart(ratings: Ratings, text: str, rating: float) -> float:
    return abs(ratings[text].rating - rating) if text in ratings.places else float("inf")


def read_series(text: str) -> Series:
    """Read a series from its line; BadOption says how to write one."""
    before: list[int] = []
    nearest: list[tuple[str, int]] = []
    for part in text.split():
        word, *rest = part.split(":")
        if word == "before" and len(rest) == 1 and all(NUMBER.fullmatch(each) for each in rest[0].split(",")):
            before += [int(each) for each in rest[0].split(",")]
        elif word == "nearest" and len(rest) == 2 and rest[0] in KINDS and NUMBER.fullmatch(rest[1]):
            nearest.append((rest[0], int(rest[1])))
        else:
            raise BadOption(f"{part!r} is no part of a series; write it like: before:1,10 nearest:uct:2")
    if not before and not nearest:
        raise BadOption("a series is written like: before:1,10 nearest:uct:2")
    return Series(tuple(before), tuple(nearest))
