"""Counting games for the ratings, so that repeated games do not pass for new evidence.

Two deterministic agents that meet twice from the same start play the same game twice. The second game says nothing new,
and counting it would make intervals too narrow. So the games of two agents, in the same seats and with equally long
openings, have a total weight equal to the number of different games among them. Two games are the same if their moves
and their results are the same.

The weight is shared equally by all games, repeated or not. Keeping one game of each kind instead would distort the
score: agents that play at random repeat short games more often than long ones, and each of those games is a fair
sample. docs/arena.md has the figures.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ludus.arena.ratings import Tally, pair_weight


class Result(NamedTuple):
    """A recorded game, as far as the ratings need it."""

    number: int
    """The number of the game in its file."""
    agents: tuple[str, ...]
    """The identity of the agent in each seat."""
    opening: int
    """Number of random plies at the start."""
    actions: str
    """All actions, as text."""
    values: tuple[float, ...]
    """The result of each seat."""
    failed: bool = False
    """True if the loser lost by a crash, an illegal move or a timeout."""


@dataclass
class _Group:
    """Games of the same agents in the same seats, with equally long openings."""

    games: int = 0
    lines: set[int] = field(default_factory=set)
    """Hashes of the different games."""
    outcomes: Counter[tuple[float, ...]] = field(default_factory=Counter)
    """Number of games by their results."""

    @property
    def weight(self) -> float:
        """The weight of each game: 1 where all games differ."""
        return len(self.lines) / self.games


class GameCounts:
    """The games of one file and one kind of game, counted. New games can be added at any time."""

    def __init__(self) -> None:
        self.groups: dict[tuple[tuple[str, ...], int], _Group] = {}
        self.last = 0
        """The number of the last game added."""
        self.failures: Counter[str] = Counter()
        """Number of games that each agent lost by a crash, an illegal move or a timeout."""

    def add(self, results: Iterable[Result]) -> None:
        """Count games."""
        for result in results:
            group = self.groups.setdefault((result.agents, result.opening), _Group())
            group.games += 1
            group.lines.add(hash((result.actions, result.values)))
            group.outcomes[result.values] += 1
            self.last = max(self.last, result.number)
            if result.failed:
                self.failures[result.agents[result.values.index(min(result.values))]] += 1

    @property
    def agents(self) -> set[str]:
        """The identities of all agents that have played."""
        return {agent for agents, _ in self.groups for agent in agents}

    @property
    def games(self) -> int:
        """Number of games, repeated ones included."""
        return sum(group.games for group in self.groups.values())

    @property
    def repeated(self) -> int:
        """Number of games that repeat another one and are not counted."""
        return sum(group.games - len(group.lines) for group in self.groups.values())

    def tallies(self, repeats: bool = False) -> list[Tally]:
        """Wins, draws and losses of every two agents; with `repeats`, every game counts in full.

        With two players, the first agent of a tally is the one in the first seat. With more players, each game counts
        as one between every two of them, won by the better result, and no seat is the first.
        """
        sums: dict[tuple[str, str, bool], list[float]] = {}
        for (agents, _), group in self.groups.items():
            unit = pair_weight(len(agents)) * (1.0 if repeats else group.weight)
            for one, other in itertools.combinations(range(len(agents)), 2):
                if agents[one] == agents[other]:
                    continue  # an agent against itself says nothing about its strength
                into = sums.setdefault((agents[one], agents[other], len(agents) == 2), [0.0, 0.0, 0.0])
                for values, count in group.outcomes.items():
                    into[(values[one] <= values[other]) + (values[one] < values[other])] += unit * count
        return [
            Tally(one, other, wins, draws, losses, seated)
            for (one, other, seated), (wins, draws, losses) in sorted(sums.items())
        ]

    def novelty(self, opening: int) -> dict[frozenset[str], float]:
        """For every two agents that met after an opening of this length, the share of their games that were new.

        The arena divides the cost of a pair by this share.
        """
        games: Counter[frozenset[str]] = Counter()
        lines: Counter[frozenset[str]] = Counter()
        for (agents, plies), group in self.groups.items():
            if plies == opening:
                for pair in {frozenset(pair) for pair in itertools.combinations(agents, 2)}:
                    games[pair] += group.games
                    lines[pair] += len(group.lines)
        return {pair: (lines[pair] + 1) / (games[pair] + 1) for pair in games}
