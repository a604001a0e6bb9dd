"""The result of a match: counts, scores and comparisons, kept up to date game by game."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ludus.arena.score import Score, score_of
from ludus.arena.sequential import p_value

if TYPE_CHECKING:
    from ludus.arena.record import GameRecord
    from ludus.arena.sequential import Sequential

KEPT = 100_000
"""Number of records that a result keeps; longer matches only count the rest, so that memory stays bounded."""
ENOUGH_TO_WARN = 10
"""Number of games from which a match is checked for games that repeat each other."""

Ending = Literal["under way", "finished", "decided", "stopped", "left"]
"""Why a match ended: all games were played, the test was decided, it was stopped, or a person left."""


@dataclass
class MatchResult:
    """A match, finished or under way. All figures count the games that have ended."""

    game: str
    """The identity of the game."""
    agents: list[str]
    """The names of the agents. Methods take the index of an agent in this list."""
    players: int
    planned: int
    """Number of games planned."""
    seed: int
    test: Sequential | None = None
    """The sequential test that ends the match, if there is one. `test.verdict` is its verdict."""
    games: list[GameRecord] = field(default_factory=list)
    """The records of the first 100,000 games, in order."""
    played: int = 0
    """Number of games that have ended."""
    seconds: float = 0.0
    ending: Ending = "under way"
    recorded: int | None = None
    """Number of games added to the file of results; None without such a file."""
    known: int = 0
    """Number of games that the file of results held already, from an earlier match with the same seed."""
    failures: Counter[str] = field(default_factory=Counter)
    """Why games were lost by failing, with the number of games."""

    def __post_init__(self) -> None:
        self._outcomes: Counter[tuple[int, int, int]] = Counter()
        """Number of games by (agent, seat, sign of the result)."""
        self._values = [0.0] * self.players
        """The sum of the results of each agent."""
        self._pairs: Counter[float] = Counter()
        """Number of starts by the points of the first agent, of two."""
        self._lines: set[int] = set()
        """Hashes of the different games among the records kept."""
        self._starts: dict[int, list[GameRecord]] = {}
        """Records of starts that not all seats have played yet, by the seed of the start."""

    def add(self, record: GameRecord) -> list[GameRecord]:
        """Add a game. Returns all games of its start once every seat has played it, else an empty list."""
        self.played += 1
        if len(self.games) < KEPT:
            self.games.append(record)
            self._lines.add(hash((record.actions, record.values)))
        if record.is_forfeit:
            self.failures[record.reason] += 1
        for player, value in enumerate(record.values):
            agent = record.seats[player]
            self._outcomes[agent, player, (value > 0) - (value < 0)] += 1
            self._values[agent] += value
        start = self._starts.setdefault(record.seed, [])
        start.append(record)
        if len(start) < self.players:
            return []
        del self._starts[record.seed]
        if self.players == 2:
            self._pairs[pair_points(start)] += 1
        return start

    @property
    def labels(self) -> list[str]:
        """The names of the agents, numbered where two are equal."""
        return [f"{name} #{i + 1}" if self.agents.count(name) > 1 else name for i, name in enumerate(self.agents)]

    def tally(self, agent: int, seat: int | None = None) -> tuple[int, int, int]:
        """Wins, draws and losses of an agent (results above, equal to and below 0), from one seat or from all."""
        seats = range(self.players) if seat is None else [seat]
        wins, draws, losses = (sum(self._outcomes[agent, each, sign] for each in seats) for sign in (1, 0, -1))
        return wins, draws, losses

    def points(self, agent: int) -> float:
        """A win counts 1 and a draw 1/2. Without exactly two players, a result from -1 to 1 counts 0 to 1."""
        if self.players != 2:
            return (self._values[agent] + self.played) / 2
        wins, draws, _ = self.tally(agent)
        return wins + draws / 2

    def score(self, agent: int) -> Score:
        """Points per game, with the 95 % interval."""
        return score_of(self.points(agent), self.played)

    @property
    def verdict(self) -> str | None:
        """The verdict of the sequential test: "better", "not better", or None without a test or a decision."""
        return None if self.test is None else self.test.verdict

    @property
    def pairs(self) -> int:
        """Number of starts that both agents played from both seats."""
        return self._pairs.total()

    @property
    def p_value(self) -> float | None:
        """The probability of such a result if the first agent were not better.

        None without two players and a whole pair of games. None also for a match with a sequential test: a p-value is
        for a match whose length was fixed before, and would be too small.
        """
        return p_value(self._pairs.elements()) if self.pairs and self.test is None else None

    @property
    def different(self) -> int:
        """Number of different games, by moves and result, among the records kept."""
        return len(self._lines)

    @property
    def repeats(self) -> bool:
        """True if at most half of the games are different ones: then intervals and p-values promise too much."""
        return self.played >= ENOUGH_TO_WARN and self.different <= len(self.games) // 2


def pair_points(start: list[GameRecord]) -> float:
    """Points of the first agent in the games of a start."""
    values = [record.values[record.seats.index(0)] for record in start]
    return sum(((value > 0) - (value < 0) + 1) / 2 for value in values)
