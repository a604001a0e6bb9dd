"""`ludus ratings`: the table of a file of results, the curves of its runs, and plots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ludus.arena.figures import check_kind
from ludus.arena.plots import check_file
from ludus.arena.results import open_results
from ludus.errors import BadOption
from ludus.terminal.curve import draw_curve
from ludus.terminal.show import counted, new_table, plain, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from ludus.arena.report import Row, Standings


def show_ratings(
    given: str | None,
    method: str,
    anchor: str,
    anchor_rating: float,
    plot: str | None,
    kind: str,
    game: str | None,
) -> None:
    """Show the ratings of every game in a file of results, and draw a plot."""
    check_kind(kind)
    if plot is not None:
        check_file(plot)
    with open_results(given) as results:
        played = results.played(game)
        if plot is not None and len(played) > 1:
            name = plain(played[0].identity.partition("(")[0])
            raise BadOption(f"{results.path} holds several games: say --game {name} for a plot")
        for number, each in enumerate(played):
            print(("\n" if number else "") + plain(f"{each.identity}: {counted(each.games, 'game')} in {results.path}"))
            standings = results.ratings(each.identity, method=method, anchor=anchor, anchor_rating=anchor_rating)
            print_standings(standings)
            print_curves(standings)
            if plot is not None:
                results.plot(standings, kind, plot)
                print(f"\n{plot}: {kind}")


def print_standings(standings: Standings) -> None:
    """Show the table of ratings, with notes on how to read it."""
    if not standings.rows:
        print("No games between different agents yet.")
        return
    print()
    print_table(rating_table(standings.rows))
    print()
    if not standings.is_anchored:
        print("The anchor has not played: ratings are relative to the mean.")
    if standings.is_unbounded:
        print("∞: the games set no bound on that side. More games may, or agents of a strength in between.")
    if standings.players > 2:
        print(f"{standings.players} players: a game counts as one between every two of them, won by the better result.")
    if standings.advantage is not None:
        estimate, low, high = standings.advantage
        print(f"Moving first is worth {estimate:+.0f} points (95 %: {_bound(low)} to {_bound(high)}).")
    if standings.repeated:
        print(f"{standings.repeated:,} of {standings.games:,} games repeat others move for move; each counts once.")
    failed = ", ".join(f"{label} {count}" for label, count in standings.failures)
    if failed:
        print(plain(f"Lost by a crash, an illegal move or too much time: {failed}. ludus replay says more."))


def print_curves(standings: Standings) -> None:
    """The curve of every run with enough checkpoints."""
    for curve in standings.curves():
        chart = draw_curve(curve.iterations, curve.ratings, x_label="iteration", y_label="rating")
        print(f"\n{plain(curve.label)}\n{chart}")


def rating_table(rows: Sequence[Row]) -> Table:
    """The table of ratings, best first."""
    table = new_table()
    for heading in ("", "agent", "rating", "95 % interval", "games", "score"):
        table.add_column(heading, justify="left" if heading == "agent" else "right")
    for row in rows:
        table.add_row(
            str(row.place),
            row.label + ("" if row.connected else " (not connected)"),
            f"{row.rating:.0f}",
            "anchor" if row.is_anchor else f"{_bound(row.low)} to {_bound(row.high)}",
            f"{row.games:,.0f}",
            f"{100 * row.score:.1f} %",
        )
    return table


def _bound(points: float) -> str:
    return f"{points:.0f}" if math.isfinite(points) else ("?" if math.isnan(points) else "-∞" if points < 0 else "∞")
