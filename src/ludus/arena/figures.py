"""The data behind each plot of a file of results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.arena import plots
from ludus.arena.report import line_of
from ludus.errors import BadOption
from ludus.registry import title_of

if TYPE_CHECKING:
    from ludus.arena.ratings import Tally
    from ludus.arena.report import Standings
    from ludus.arena.store import Store, StoredGame

KINDS = ("learning", "times", "matrix", "move-times")
GAMES_TIMED = 5000
"""Number of latest games that mean times for moves are taken from."""
LEAST_SECONDS = 1e-6
"""Shortest time that a logarithmic axis shows."""

MoveTimes = dict[str, dict[int, list[float]]]
"""Seconds for a move by the identity of the agent and the ply, counted from 1: one entry for each game."""


def check_kind(kind: str) -> str:
    """A kind of plot that a user gave; BadOption if there is none of that name."""
    if kind not in KINDS:
        raise BadOption(f"the kind of plot must be one of {', '.join(KINDS)}, not {kind!r}")
    return kind


def move_times(games: Iterable[StoredGame]) -> MoveTimes:
    """The time that each agent took for its move at each ply."""
    times: MoveTimes = defaultdict(lambda: defaultdict(list))
    for each in games:
        for ply, thoughts in enumerate(each.record.thoughts, each.record.opening + 1):
            for thought in thoughts:
                times[each.identities[thought.player]][ply].append(thought.seconds)
    return times


def learning_points(standings: Standings) -> list[plots.LearningPoint]:
    """The rating of each checkpoint."""
    found = [(standings.agents[row.name], row) for row in standings.ratings.rows]
    return [
        plots.LearningPoint(line_of(agent), agent.checkpoint, row.rating, row.low, row.high)
        for agent, row in found
        if agent.checkpoint is not None
    ]


def references(standings: Standings) -> list[tuple[str, float]]:
    """Labels and ratings of the agents that are not checkpoints."""
    return [
        (standings.label(row.name), row.rating)
        for row in standings.ratings.rows
        if standings.agents[row.name].checkpoint is None
    ]


def time_points(standings: Standings, times: MoveTimes) -> list[plots.TimePoint]:
    """The rating of each agent with its mean time for a move."""
    points = []
    for row in standings.latest():
        seconds = [each for ply in times.get(row.name, {}).values() for each in ply]
        if seconds:
            series = line_of(standings.agents[row.name]).partition(":")[0]
            mean = max(LEAST_SECONDS, sum(seconds) / len(seconds))
            points.append(plots.TimePoint(standings.label(row.name), mean, row.rating, row.low, row.high, series))
    return points


def move_time_points(standings: Standings, times: MoveTimes) -> list[plots.MoveTime]:
    """The mean time of each agent for its move at each ply."""
    return [
        plots.MoveTime(standings.label(row.name), ply, sum(seconds) / len(seconds))
        for row in standings.latest()
        for ply, seconds in sorted(times.get(row.name, {}).items())
    ]


def named_tallies(standings: Standings, tallies: Iterable[Tally]) -> list[Tally]:
    """Tallies with labels instead of identities."""
    return [
        tally._replace(first=standings.label(tally.first), second=standings.label(tally.second)) for tally in tallies
    ]


def draw(store: Store, standings: Standings, kind: str, file: Path | str) -> None:
    """Draw a plot of one of `KINDS` into a file that ends in .png or .svg."""
    check_kind(kind)
    plots.check_file(file)
    title = title_of(standings.game)
    if kind == "learning":
        plots.plot_learning(learning_points(standings), file, title, references(standings))
        return
    if kind == "matrix":
        tallies = named_tallies(standings, store.tallies(standings.game))
        plots.plot_matrix(tallies, file, title, [row.label for row in standings.rows])
        return
    times = move_times(store.games(standings.game, GAMES_TIMED))
    if kind == "times":
        plots.plot_times(time_points(standings, times), file, title)
    else:
        plots.plot_move_times(move_time_points(standings, times), file, title)
