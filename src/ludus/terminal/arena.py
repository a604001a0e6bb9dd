"""`ludus arena`: who takes part, where results go, and the table that is kept up to date."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.live import Live
from rich.text import Text

from ludus.agents.identity import labels
from ludus.arena.loop import Arena
from ludus.arena.roster import Roster, is_agent, read_plan
from ludus.arena.series import read_series
from ludus.arena.store import FILE, Store
from ludus.arena.workers import warm_up
from ludus.errors import BadOption
from ludus.runs.run import Run
from ludus.terminal.ratings import print_ratings, rating_rows, rating_table
from ludus.terminal.show import complain, describe, terminal
from ludus.terminal.trust import with_trust

if TYPE_CHECKING:
    from ludus.game import Game

EVERY = 10.0
"""Seconds between two lines, where there is no terminal to keep a table on."""


def run_arena(
    given: Sequence[str],
    game: Game | None,
    results: str | None,
    minutes: float | None,
    games: int | None,
    parallel: int,
    anchor: str,
    anchor_rating: float,
    move_limit: float,
    opening: int,
    trust: bool = False,
    **plan: Any,
) -> None:
    """Play until a budget is spent, or somebody presses Ctrl-C; then show the ratings."""
    for name, value in (("--minutes", minutes), ("--games", games), ("--move-limit", move_limit)):
        if value is not None and value <= 0:
            raise BadOption(f"{name} must be above 0, not {value:g}")
    agents = [text for text in given if is_agent(text)]
    runs: list[Run] = []
    for text in given:
        if not is_agent(text):
            runs.append(_open(text, game, trust))
            game = runs[-1].game
    if game is None:
        raise BadOption("name the game of these agents: --game connect4")
    plans = [(run, read_plan(run.folder, **plan)) for run in runs]
    line = next((each.series for _, each in plans if each.series), plan.get("series") or "")
    if line and not runs:
        raise BadOption("--series is about the checkpoints of a run: name one")
    series = read_series(line) if line else None
    roster = Roster(game, anchor, agents, plans)
    file = Path(results) if results else runs[0].folder / FILE if len(runs) == 1 else Path(FILE)
    with Store(file) as store:
        arena = Arena(
            game,
            store,
            roster,
            parallel=parallel,
            anchor_rating=anchor_rating,
            series=series,
            move_limit=move_limit,
            opening=opening,
            complain=complain,
        )
        known = store.count(game.identity)
        print(f"{describe(game)}: {len(roster.entrants)} agents, {parallel} games at once, results in {file}")
        if known:
            print(f"{known:,} games are there already; going on from them.")
        if others := store.count_other_rules(game.identity):
            print(f"{others:,} games there do not count: {game.spec.source} had other rules when they were played.")
        warm_up([each.name for each in roster.entrants.values()], game)
        play(arena, None if minutes is None else 60 * minutes, games)
        arena.rate()
        print_ratings(store, game.identity, game.players, arena.ratings)
        print(f"\n{arena.games:,} games more. Go on with the same command; ludus ratings {file} shows them again.")


def _open(folder: str, game: Game | None, trust: bool) -> Run:
    return with_trust(trust, lambda trust: Run.open(Path(folder), game, any_size=True, trust=trust))


def play(arena: Arena, seconds: float | None, games: int | None) -> None:
    interrupted = False

    def interrupt(*_: Any) -> None:
        nonlocal interrupted
        interrupted = True

    console = terminal()
    began = last = time.monotonic()
    before = signal.signal(signal.SIGINT, interrupt)

    def go_on() -> bool:
        return not interrupted and (seconds is None or time.monotonic() - began < seconds)

    try:
        with Live(console=console, auto_refresh=False, transient=True) as live:

            def report(arena: Arena) -> None:
                nonlocal last
                if time.monotonic() - last < (0.5 if console.is_terminal else EVERY):
                    return
                last = time.monotonic()
                line = standing(arena, last - began)
                if not console.is_terminal:
                    print(line, file=sys.stderr, flush=True)
                    return
                rows = rating_rows(arena.ratings, told_apart(arena), arena.game.players)
                table = rating_table(rows[: max(5, console.height - 4)])
                live.update(Group(Text(line, no_wrap=True, overflow="ellipsis"), table), refresh=True)

            arena.run(go_on, report, games)
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        print("Stopped.")


def told_apart(arena: Arena) -> dict[str, str]:
    """A label for everybody who takes part or has played."""
    known = {**arena.store.identities(), **arena.roster.entrants}
    return labels((text, each.label) for text, each in known.items())


def standing(arena: Arena, seconds: float) -> str:
    """How far it is, in a line."""
    text = f"{arena.games:,} games, {60 * arena.games / max(seconds, 1e-9):,.0f} a minute"
    names = told_apart(arena)
    if arena.ratings.rows:
        best = arena.ratings.rows[0]
        text += f"; best: {names.get(best.name, best.name)} at {best.rating:.0f}"
    on = [" - ".join(names.get(each, each) for each in group.pair) for group in arena.groups.values()]
    text += f"; now {', '.join(on)}" if on else ""
    return text + (f"; last lost by failing: {arena.lost[-1]}" if arena.lost else "")
