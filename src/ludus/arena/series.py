"""Series: which games a run's arena plays, as one line.

    before:1,10 nearest:uct:2

reads "every checkpoint against the one before and the one ten before, and against the two nearest `uct` agents". Both
parts are optional. Checkpoints are counted among those that take part; the nearest are so by their ratings so far.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludus.agents.naming import KINDS
from ludus.errors import BadOption

if TYPE_CHECKING:
    from ludus.arena.ratings import Ratings, Tally
    from ludus.arena.roster import Roster


@dataclass(frozen=True)
class Series:
    before: tuple[int, ...] = ()
    """Against the checkpoint so many before."""
    nearest: tuple[tuple[str, int], ...] = ()
    """Against so many agents of a kind, those nearest in rating."""

    def pairs(self, roster: Roster, ratings: Ratings) -> list[tuple[str, str]]:
        """All pairings that the series asks for now, those of the latest checkpoints first."""
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
        """Of those pairings, one that was played least; None where there is none yet."""
        games: Counter[frozenset[str]] = Counter()
        for tally in tallies:
            games[frozenset((tally.first, tally.second))] += int(tally.wins + tally.draws + tally.losses)
        for pair in pending:
            games[frozenset(pair)] += 2
        return min(self.pairs(roster, ratings), key=lambda pair: games[frozenset(pair)], default=None)


def _apart(ratings: Ratings, text: str, rating: float) -> float:
    return abs(ratings[text].rating - rating) if text in ratings.places else float("inf")


def read_series(text: str) -> Series:
    """A series from its line."""
    before: list[int] = []
    nearest: list[tuple[str, int]] = []
    for part in text.split():
        word, *rest = part.split(":")
        if word == "before" and len(rest) == 1 and all(each.isdecimal() and int(each) for each in rest[0].split(",")):
            before += [int(each) for each in rest[0].split(",")]
        elif word == "nearest" and len(rest) == 2 and rest[0] in KINDS and rest[1].isdecimal() and int(rest[1]):
            nearest.append((rest[0], int(rest[1])))
        else:
            raise BadOption(f"{part!r} is no part of a series; write it like: before:1,10 nearest:uct:2")
    if not before and not nearest:
        raise BadOption("a series is written like: before:1,10 nearest:uct:2")
    return Series(tuple(before), tuple(nearest))
