"""The output of `ludus gdl check` and `ludus gdl info`."""

from __future__ import annotations

import time
from pathlib import Path

from ludus.gdl.checks import check
from ludus.gdl.described import GAMES
from ludus.gdl.game import GdlGame, make, make_file
from ludus.gdl.kif import decode, show
from ludus.gdl.language import Term, read_description
from ludus.gdl.reasoned import ReasonedGame
from ludus.gdl.summary import Playouts, count_by_name, play_randomly
from ludus.gdl.symmetries import find_symmetries
from ludus.sources import DESCRIPTION, read_source
from ludus.terminal.show import counted, new_table, plain, print_table

MOST_NAMES = 12
"""Names of facts and moves that are shown."""
MOST_SYMMETRIES = 6
"""Symmetries that are shown."""


def show_problems(name: str) -> bool:
    """All problems of a description, each in one line. Returns True if none of them is an error."""
    path = GAMES / f"{name.removeprefix('gdl:')}{DESCRIPTION}" if name.startswith("gdl:") else Path(name)
    source = read_source(path)
    description = read_description(decode(source.files[source.path.name]), source.path.name)
    problems = check(description)
    for problem in problems:
        print(plain(f"{'error' if problem.is_error else 'warning'}: {problem}"))
    errors = sum(problem.is_error for problem in problems)
    fatal = sum(problem.is_fatal for problem in problems)
    warnings = counted(len(problems) - errors, "warning")
    counts = f"{counted(len(description.rules), 'rule')}, {counted(errors, 'error')}, {warnings}"
    print(counts + (": it cannot be played" if fatal else ": it can be played"))
    return not errors


def show_info(name: str) -> None:
    """What Ludus knows about a game in GDL."""
    began = time.perf_counter()
    game = make(name.removeprefix("gdl:")) if name.startswith("gdl:") else make_file(name)
    game.start()
    loaded = time.perf_counter() - began
    table = new_table(show_header=False)
    table.add_row("roles", " ".join(game.player_name(player) for player in range(game.players)))
    for row in _of_network(game) if isinstance(game, GdlGame) else _of_reasoner(game):
        table.add_row(*row)
    figures = play_randomly(game)
    if figures.games:
        table.add_row("length", f"{figures.length:.1f} plies on average of {counted(figures.games, 'random game')}")
        values = (f"{game.player_name(player)} {value:+.2f}" for player, value in enumerate(figures.values))
        table.add_row("values", f"{', '.join(values)} on average")
    for row in _of_ends(game, figures):
        table.add_row(*row)
    table.add_row(
        "branching", f"{figures.branching:.1f} moves of a role that has a choice, at most {figures.most_moves}"
    )
    table.add_row("at once", f"several roles have a choice in {figures.at_once:.0%} of the positions")
    table.add_row("warnings", f"{len(game.warnings)}" + ("; ludus gdl check lists them" if game.warnings else ""))
    table.add_row("loaded in", f"{loaded:.2f} s")
    print_table(table)


def _of_ends(game: GdlGame | ReasonedGame, figures: Playouts) -> list[tuple[str, str]]:
    """What is unusual about the ends of random games."""
    lines = []
    if figures.cut:
        lines.append(f"{figures.cut} of them cut off after {game.longest} plies, with the value 0 for everyone")
    for counts, told in (
        (figures.stuck, "has no legal move at the end of {}, with the value 0 for everyone"),
        (figures.without_goal, "has no goal at the end of {}, which counts as 50"),
        (figures.several_goals, "has several goals at the end of {}; the highest counts"),
    ):
        for player, count in enumerate(counts):
            if count:
                lines.append(f"{game.player_name(player)} {told.format(counted(count, 'game'))}")
    return [("" if number else "ends", line) for number, line in enumerate(lines)]


def _of_network(game: GdlGame) -> list[tuple[str, str]]:
    network, grid, proven = game.network, game.grid, game.proven
    moves = (f"{show(role)} {len(each)}" for role, each in zip(network.roles, network.inputs, strict=True))
    rows = [
        ("facts", f"{len(network.bases)}: {_by_name(network.bases)}"),
        ("moves", f"{', '.join(moves)}; together {len(game.terms)}: {_by_name(game.terms)}"),
        ("network", f"{counted(len(network.kinds), 'gate')}, {counted(len(network.loops), 'loop')}"),
        ("proven", "in turn" if proven.in_turn else "not proven to be in turn"),
    ]
    if game.players == 2:
        rows.append(("", "zero sum" if proven.zero_sum else "not proven to be zero sum"))
    if proven.exclusive:
        rows.append(("", f"{counted(len(proven.exclusive), 'group')} of facts of which at most one is true"))
    if game.counters:
        rows.append(("counters", ", ".join(_with_stars(counter.name) for counter in game.counters[:MOST_NAMES])))
    rows.append(("symmetry", _symmetries(game)))
    if grid is None:
        return [*rows, ("board", "none found")]
    on_cells = list(dict.fromkeys(grid.planes[spot.kind] for spot in grid.facts if spot.row >= 0))
    planes = ", ".join(map(_with_stars, on_cells[:4])) + " ..." * (len(on_cells) > 4)
    size = f"{len(grid.rows)} x {len(grid.columns)}"
    kinds = f"{counted(len(grid.kinds), 'kind')} of moves"
    seen = f"{counted((game.observation or (0,))[0], 'plane')} for a network"
    return [*rows, ("board", f"{size}: {planes}; {seen}; {kinds}")]


def _with_stars(name: tuple) -> str:
    """The name of facts that differ in some arguments."""
    return show(tuple("*" if part is None else part for part in name))


def _symmetries(game: GdlGame) -> str:
    found = [str(each) for each in find_symmetries(game.network, game.grid)]
    shown = "; ".join(found[:MOST_SYMMETRIES]) + (" ..." if len(found) > MOST_SYMMETRIES else "")
    return f"{len(found)} proven: {shown}" if found else "none found"


def _of_reasoner(game: ReasonedGame) -> list[tuple[str, str]]:
    initial = game.reasoner.initial
    return [
        ("facts", f"{len(initial)} in the first position: {_by_name(initial)}"),
        ("network", "none: the rules are too large to ground, and the reasoner evaluates them"),
    ]


def _by_name(terms: list[Term] | tuple[Term, ...]) -> str:
    counts = [f"{count} {name}" for name, count in count_by_name(terms).items()]
    return ", ".join(counts[:MOST_NAMES]) + (" ..." if len(counts) > MOST_NAMES else "")
