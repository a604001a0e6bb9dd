"""The table of ratings and the curves of runs, as plain data for any front end."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ludus.agents.identity import Identity, labels
from ludus.arena.ratings import Rating, Ratings, pair_weight
from ludus.arena.tallies import GameCounts
from ludus.displays import html_table

ENOUGH_FOR_A_CURVE = 4
"""Number of checkpoints from which a run has a curve."""


class Row(NamedTuple):
    """One line of the table of ratings."""

    place: int
    """From 1, the best."""
    label: str
    """The short name of the agent, different for every agent of the table."""
    rating: float
    low: float
    """Lower end of the 95 % interval; minus infinity where the games set no bound."""
    high: float
    """Upper end of the 95 % interval; infinity where the games set no bound."""
    games: float
    """Number of games. Repeated games count once."""
    score: float
    """Points per game, from 0 to 1."""
    connected: bool
    """False if no chain of games leads to the anchor: the rating is then relative to the mean of its own group."""
    is_anchor: bool
    name: str
    """The identity of the agent."""


class Curve(NamedTuple):
    """The ratings of the checkpoints of one run, in order."""

    label: str
    iterations: tuple[int, ...]
    ratings: tuple[float, ...]


@dataclass(frozen=True, repr=False)
class Standings:
    """The ratings of all agents of a game in a file of results, with everything that a table shows about them."""

    game: str
    """The identity of the game."""
    players: int
    ratings: Ratings
    agents: Mapping[str, Identity]
    """The agents of the file, by the text of their identity."""
    games: int
    """Number of games, repeated ones included."""
    repeated: int
    """Number of games that repeat another one and are not counted."""
    failed: Mapping[str, int]
    """Number of games that agents lost by a crash, an illegal move or a timeout, by the identity of the agent."""
    file: Path

    @staticmethod
    def of(
        game: str, players: int, ratings: Ratings, agents: Mapping[str, Identity], counts: GameCounts, file: Path
    ) -> Standings:
        """The standings by these counts, which may change afterwards."""
        return Standings(
            game, players, ratings, agents, counts.games, counts.repeated, dict(counts.failures.most_common()), file
        )

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label of each agent, by the text of its identity."""
        return labels((text, each.label) for text, each in self.agents.items())

    @cached_property
    def rows(self) -> list[Row]:
        """The table, best first; agents without a connection to the anchor come last."""
        pairs = (self.players - 1) * pair_weight(self.players)  # the weight of a game for each of its players
        return [
            Row(
                place,
                self.label(row.name),
                row.rating,
                row.low,
                row.high,
                row.games / pairs,
                row.score,
                row.connected,
                row.name == self.ratings.anchor,
                row.name,
            )
            for place, row in enumerate(self.ratings.rows, 1)
        ]

    def label(self, name: str) -> str:
        """The label of an agent."""
        return self.labels.get(name, name)

    @property
    def failures(self) -> list[tuple[str, int]]:
        """Labels of agents that lost games by failing, with the number of games, most games first."""
        return [(self.label(name), count) for name, count in self.failed.items()]

    @property
    def is_anchored(self) -> bool:
        """False if the anchor has not played: ratings are then relative to the mean."""
        return self.ratings.anchor is not None

    @property
    def is_unbounded(self) -> bool:
        """True if the games leave a rating without a bound on one side."""
        return any(math.isinf(row.low) or math.isinf(row.high) for row in self.ratings.rows if row.connected)

    @property
    def advantage(self) -> tuple[float, float, float] | None:
        """The value of moving first in points, with its 95 % interval; None for other than two players."""
        found = self.ratings.advantage
        return found if self.players == 2 and not math.isnan(found[0]) else None

    def __repr__(self) -> str:
        return f"<ratings of {len(self.rows)} agents in {self.games} games of {self.game}>"

    def _repr_html_(self) -> str:
        """The table of ratings, which a notebook shows."""
        rows = [
            (
                f"{row.place}. {row.label}",
                f"{row.rating:.0f}",
                _end(row.low),
                _end(row.high),
                f"{row.games:.0f}",
                f"{100 * row.score:.0f} %",
            )
            for row in self.rows
        ]
        return html_table(("agent", "rating", "from", "to", "games", "score"), rows, f"{self.game}: 95 % intervals")

    def curves(self) -> list[Curve]:
        """The curve of every run with enough checkpoints among the agents."""
        points: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for row in self.ratings.rows:
            agent = self.agents[row.name]
            if agent.checkpoint is not None:
                points[line_of(agent)].append((agent.checkpoint, row.rating))
        return [
            Curve(name, *zip(*sorted(found), strict=True))
            for name, found in points.items()
            if len(found) >= ENOUGH_FOR_A_CURVE
        ]

    def latest(self) -> list[Rating]:
        """The ratings without the older checkpoints of runs, which take the same time for a move as the latest."""
        newest: dict[str, int] = {}
        for row in self.ratings.rows:
            agent = self.agents[row.name]
            newest[line_of(agent)] = max(newest.get(line_of(agent), 0), agent.checkpoint or 0)
        return [
            row
            for row in self.ratings.rows
            if (self.agents[row.name].checkpoint or 0) == newest[line_of(self.agents[row.name])]
        ]


def _end(rating: float) -> str:
    """The end of an interval; a dash where the games set no bound."""
    return f"{rating:.0f}" if math.isfinite(rating) else "–"  # noqa: RUF001


def line_of(agent: Identity) -> str:
    """The name of the curve that a checkpoint belongs to: the label of the agent without its checkpoint."""
    return agent.label.replace(f"@{agent.checkpoint}", "", 1)
