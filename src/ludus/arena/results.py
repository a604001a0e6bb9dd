"""A file of results with its figures: ratings, curves and plots."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ludus.arena import figures
from ludus.arena.plots import score_matrix
from ludus.arena.ratings import check_anchor_rating, fit
from ludus.arena.report import Standings
from ludus.arena.seed_ratings import fit_seed
from ludus.arena.store import FILE, BadResults, Store, StoredGame, StoredRules
from ludus.arena.tallies import GameCounts
from ludus.errors import BadOption

METHODS = {"likelihood": fit, "seed": fit_seed}
"""Estimators of ratings: maximum likelihood, and the older estimator for comparison."""


class Results(Store):
    """A file of results. Use it in a `with` statement, or close it."""

    def played(self, game: str | None = None) -> list[StoredRules]:
        """The games that the file holds, the one with most records first; with `game`, those whose identity begins so.

        BadResults if there are none.
        """
        found = [each for each in self.rules() if game is None or each.identity.startswith(game)]
        if not found:
            raise BadResults(f"{self.path} holds no games{f' of {game}' if game else ''} yet")
        return found

    def ratings(
        self,
        game: str | None = None,
        *,
        method: str = "likelihood",
        anchor: str = "random",
        anchor_rating: float = 500.0,
    ) -> Standings:
        """The ratings of all agents of one game, by default the game with most records.

        `anchor` is the label or the name of the agent whose rating is fixed. If "random" has not played, ratings are
        relative to the mean; any other anchor must have played.
        """
        if method not in METHODS:
            raise BadOption(f"method must be one of {', '.join(METHODS)}, not {method!r}")
        check_anchor_rating(anchor_rating)
        rules = self.played(game)[0]
        counts = GameCounts()
        counts.add(self.results(rules.identity))
        agents, played = self.identities(), counts.agents
        known = [text for text, each in agents.items() if text in played and anchor in (each.label, each.name)]
        if not known and anchor != "random":
            raise BadOption(f"no agent is called {anchor!r} here; the anchor is named as in the table of ratings")
        ratings = METHODS[method](counts.tallies(), known[-1] if known else None, anchor_rating)
        return Standings.of(rules.identity, rules.players, ratings, agents, counts, self.path)

    def matrix(self, standings: Standings) -> tuple[np.ndarray, np.ndarray]:
        """The games and the scores between all agents, in the order of `standings.rows` (see plots.score_matrix)."""
        tallies = figures.named_tallies(standings, self.tallies(standings.game))
        return score_matrix(tallies, [row.label for row in standings.rows])

    def rules_of(self, stored: StoredGame) -> StoredRules:
        """The game that a recorded game was played in."""
        found = [each for each in self.rules() if each.identity == stored.rules]
        if not found:
            raise BadResults(f"{self.path} is damaged: it does not say what game {stored.number} was played in")
        return found[0]

    def plot(self, standings: Standings, kind: str, file: Path | str) -> None:
        """Draw a plot of `kind` learning, times, matrix or move-times into a file that ends in .png or .svg."""
        figures.draw(self, standings, kind, file)


def open_results(path: Path | str | None = None) -> Results:
    """Open a file of results: the file itself, the folder of a run, or by default the newest below this folder."""
    return Results.open(find_results(path))


def find_results(given: Path | str | None) -> Path:
    """The file of results of a file or a run; without either, the newest here or in a folder of runs/."""
    if given is None:
        found = [path for path in (Path(FILE), *Path("runs").glob(f"*/{FILE}")) if path.is_file()]
        if not found:
            raise BadResults(f"name a RUN or a FILE of results: there is no {FILE} here, nor in a folder of runs/")
        return max(found, key=lambda path: path.stat().st_mtime)
    path = Path(given)
    if path.is_dir():
        path = path / FILE
    if not path.is_file():
        raise BadResults(f"there are no results at {path} yet: ludus arena {given} plays games and records them")
    return path
