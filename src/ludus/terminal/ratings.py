"""`ludus ratings`: the table of a file of results, and its plots."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from ludus.agents.identity import labels
from ludus.arena.ratings import fit, pair_weight
from ludus.arena.store import FILE, BadResults, Store, StoredRules
from ludus.errors import BadOption
from ludus.terminal.show import new_table, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from ludus.agents.identity import Identity
    from ludus.arena.ratings import Rating, Ratings

METHODS = ("likelihood", "seed")
ENOUGH_FOR_A_LINE = 4
"""Checkpoints of a run, to draw a curve of their ratings."""
GAMES_TIMED = 5000
"""Times for moves are means over so many of the latest games."""
PLOTS = ("learning", "times", "matrix", "move-times")


def find_results(given: str | None) -> Path:
    """A file of results from what was given: the file, a run, or nothing, which is the latest run that has one."""
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


def show_ratings(
    given: str | None, method: str, anchor: str, rating: float, plot: str | None, kind: str, game: str | None
) -> None:
    if method not in METHODS:
        raise BadOption(f"--method must be one of {', '.join(METHODS)}, not {method!r}")
    if kind not in PLOTS:
        raise BadOption(f"--plot-kind must be one of {', '.join(PLOTS)}, not {kind!r}")
    file = find_results(given)
    with Store.open(file) as store:
        rules = [each for each in store.rules() if game is None or each.identity.startswith(game)]
        if not rules:
            raise BadResults(f"{file} holds no games{f' of {game}' if game else ''} yet")
        if plot is not None and len(rules) > 1:
            raise BadOption(f"{file} holds several games: say --game {rules[0].identity.partition('(')[0]} for a plot")
        for number, each in enumerate(rules):
            print(("\n" if number else "") + f"{each.identity}: {each.games:,} games in {file}")
            ratings = rate(store, each, method, anchor, rating)
            print_ratings(store, each.identity, each.players, ratings)
            print_curves(store, ratings)
            if plot is not None:
                draw(store, each, ratings, kind, plot)
                print(f"\n{plot}: {kind}")


def rate(store: Store, rules: StoredRules, method: str, anchor: str, rating: float) -> Ratings:
    from ludus.arena.seed_ratings import fit_seed

    tallies = store.tallies(rules.identity)
    played = {name for tally in tallies for name in tally[:2]}
    known = [text for text, each in store.identities().items() if text in played and anchor in (each.label, each.name)]
    if not known and anchor != "random":
        raise BadOption(f"no agent is called {anchor!r} here; --anchor takes one as the table names it")
    return (fit if method == "likelihood" else fit_seed)(tallies, known[-1] if known else None, rating)


# --- the table --------------------------------------------------------------------------------------------------------


def print_ratings(store: Store, game: str, players: int, ratings: Ratings) -> None:
    """The table, and what is to be known about it."""
    if not ratings.rows:
        print("No games between different agents yet.")
        return
    names = labels((text, each.label) for text, each in store.identities().items())
    print()
    print_table(rating_table(rating_rows(ratings, names, players)))
    print()
    if ratings.anchor is None:
        print("The anchor has not played: ratings are relative to the mean.")
    if any(math.isinf(row.low) or math.isinf(row.high) for row in ratings.rows if row.connected):
        print("∞: no game says how far from the anchor that is at most. Agents in between help, such as uct:30.")
    if players > 2:
        print(f"{players} players: a game counts as one between every two of them, won by the better result.")
    elif not math.isnan(ratings.advantage[0]):
        estimate, low, high = ratings.advantage
        print(f"Moving first is worth {estimate:+.0f} points (95 %: {_bound(low)} to {_bound(high)}).")
    failed = ", ".join(f"{names[text]} {count}" for text, count in store.failures(game))
    if failed:
        print(f"Lost by a crash, an illegal move or too much time: {failed}. ludus replay says more.")


def print_curves(store: Store, ratings: Ratings) -> None:
    """How the checkpoints of each run got stronger; where there are enough of them for a line."""
    from ludus.terminal.curve import draw_curve

    agents = store.identities()
    lines: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row in ratings.rows:
        if (checkpoint := agents[row.name].checkpoint) is not None:
            lines[_line(agents[row.name])].append((checkpoint, row.rating))
    for name, points in lines.items():
        if len(points) >= ENOUGH_FOR_A_LINE:
            iterations, rated = zip(*sorted(points), strict=True)
            print(f"\n{name}\n{draw_curve(iterations, rated, x_label='iteration', y_label='rating')}")


def rating_rows(ratings: Ratings, names: dict[str, str], players: int = 2) -> list[tuple[str, ...]]:
    """The cells of the table, best first."""
    pairs = (players - 1) * pair_weight(players)  # that a game counts as, for each of its players
    return [
        (
            str(place),
            names.get(row.name, row.name) + ("" if row.connected else " (not connected)"),
            f"{row.rating:.0f}",
            "anchor" if row.name == ratings.anchor else f"{_bound(row.low)} to {_bound(row.high)}",
            f"{row.games / pairs:,.0f}",
            f"{100 * row.score:.1f} %",
        )
        for place, row in enumerate(ratings.rows, 1)
    ]


def rating_table(rows: list[tuple[str, ...]]) -> Table:
    table = new_table()
    for heading in ("", "agent", "rating", "95 % interval", "games", "score"):
        table.add_column(heading, justify="left" if heading == "agent" else "right")
    for row in rows:
        table.add_row(*row)
    return table


def _bound(points: float) -> str:
    return f"{points:.0f}" if math.isfinite(points) else ("?" if math.isnan(points) else "-∞" if points < 0 else "∞")


# --- plots ------------------------------------------------------------------------------------------------------------


def draw(store: Store, rules: StoredRules, ratings: Ratings, kind: str, file: str) -> None:
    from ludus.arena import plots

    plots.check_file(file)
    agents = store.identities()
    names = labels((text, each.label) for text, each in agents.items())
    title = rules.identity
    if kind == "learning":
        learned = [row for row in ratings.rows if agents[row.name].checkpoint is not None]
        others = [(names[row.name], row.rating) for row in ratings.rows if agents[row.name].checkpoint is None]
        points = [
            plots.LearningPoint(
                _line(agents[row.name]), agents[row.name].checkpoint or 0, row.rating, row.low, row.high
            )
            for row in learned
        ]
        plots.plot_learning(points, file, title, others)
    elif kind == "matrix":
        order = [row.name for row in ratings.rows]
        tallies = [
            tally._replace(first=names[tally.first], second=names[tally.second])
            for tally in store.tallies(rules.identity)
        ]
        plots.plot_matrix(tallies, file, title, [names[name] for name in order])
    else:
        times = move_times(store, rules.identity)
        rows = [row for row in _without_older(ratings, agents) if times[row.name]]
        if kind == "times":
            seconds = {row.name: _mean([each for ply in times[row.name].values() for each in ply]) for row in rows}
            plots.plot_times(
                [
                    plots.TimePoint(
                        names[row.name],
                        max(1e-6, seconds[row.name]),
                        *row[1:4],
                        _line(agents[row.name]).partition(":")[0],
                    )
                    for row in rows
                ],
                file,
                title,
            )
        else:
            plots.plot_move_times(
                [
                    plots.MoveTime(names[row.name], ply, _mean(seconds))
                    for row in rows
                    for ply, seconds in sorted(times[row.name].items())
                ],
                file,
                title,
            )


def _without_older(ratings: Ratings, agents: dict[str, Identity]) -> list[Rating]:
    """Of the checkpoints of a run, the latest: all of them take the same time."""
    latest: dict[str, int] = {}
    for row in ratings.rows:
        agent = agents[row.name]
        latest[_line(agent)] = max(latest.get(_line(agent), 0), agent.checkpoint or 0)
    return [row for row in ratings.rows if (agents[row.name].checkpoint or 0) == latest[_line(agents[row.name])]]


def _line(agent: Identity) -> str:
    """What a checkpoint's line is called: the agent without its checkpoint."""
    return agent.label.replace(f"@{agent.checkpoint}", "", 1)


def move_times(store: Store, game: str) -> dict[str, dict[int, list[float]]]:
    """For each agent (its identity) and ply, from 1, the seconds that it took there in each game."""
    times: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in store.games(game, GAMES_TIMED):
        for ply, thoughts in enumerate(each.record.thoughts, each.record.opening + 1):
            for thought in thoughts:
                times[each.identities[thought.player]][ply].append(thought.seconds)
    return times


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
