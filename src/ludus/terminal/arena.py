"""`ludus arena`: the table of ratings, kept up to date while agents play."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from ludus.api.matches import rate
from ludus.arena.events import ArenaEvent, ArenaFinished, ArenaProgress, ArenaStarted, EntrantLeftOut, GameLost
from ludus.cluster.events import ActorLost, ClusterChanged
from ludus.terminal.cluster import cluster_line
from ludus.terminal.compiling import compiling_into
from ludus.terminal.interrupt import ctrl_c_stops
from ludus.terminal.ratings import print_standings, rating_table
from ludus.terminal.show import command, complain, counted, describe, plain, terminal
from ludus.terminal.trust import with_trust

if TYPE_CHECKING:
    from ludus.game import Game

EVERY = 10.0
"""Seconds between two lines if there is no terminal for a table."""


def run_arena(entrants: Sequence[str], game: Game | None, trust: bool = False, **options: Any) -> None:
    """Rate agents until the budget is spent or Ctrl-C is pressed, then show the ratings.

    With `trust`, Python code that comes with a run is used without asking. `options` are passed to `ludus.rate`.
    """

    def play(trust: bool) -> ArenaFinished:
        console = terminal()
        live = Live(console=console, auto_refresh=console.is_terminal, refresh_per_second=4, transient=True)
        view = ArenaView(live, options.get("cluster") is not None)
        with live, compiling_into(view.compiling) if console.is_terminal else nullcontext(), ctrl_c_stops() as stop:
            rate(entrants, game, trust=trust, on_event=view.show, stop=stop, **options)
        assert view.finished is not None
        return view.finished

    finished = with_trust(trust, play)
    if finished.stopped:
        print("Stopped.")
    print_standings(finished.standings)
    again = command("ludus", "ratings", plain(finished.standings.file))
    print(f"\n{counted(finished.games, 'game')} more. The same command continues; {again} shows the ratings again.")


class ArenaView:
    """Shows the events of an arena."""

    def __init__(self, live: Live, on_cluster: bool = False):
        self.live, self.console, self.on_cluster = live, live.console, on_cluster
        self.last: float | None = None
        """The time of the last line; the first event only starts the clock."""
        self.lost: GameLost | None = None
        self.finished: ArenaFinished | None = None
        self.table: RenderableType = Spinner("line", "Starting the agents")
        """What the terminal shows, apart from what is compiled; the ratings from the first progress on."""
        self.compiling()

    def compiling(self, text: str | None = None) -> None:
        """Show what is compiled below the ratings; None removes it."""
        self.live.update(Group(self.table, Text(text)) if text else self.table)

    def show(self, event: ArenaEvent) -> None:
        """Show an event."""
        match event:
            case ArenaStarted():
                self.begin(event)
            case ArenaProgress():
                self.progress(event)
            case EntrantLeftOut(name, reason):
                complain(f"{name} is left out: {reason}")
            case GameLost():
                self.lost = event
            case ClusterChanged() | ActorLost():
                complain(cluster_line(event))
            case ArenaFinished():
                self.finished = event

    def begin(self, event: ArenaStarted) -> None:
        file = plain(event.file)
        at_once = f"{'up to ' * self.on_cluster}{counted(event.parallel, 'game')} at once"
        print(f"{describe(event.game)}: {counted(len(event.agents), 'agent')}, {at_once}, results in {file}")
        if event.games:
            are, them = ("is", "it") if event.games == 1 else ("are", "them")
            print(f"{counted(event.games, 'game')} {are} there already; going on from {them}.")
        if event.other_rules:
            source = plain(event.game.spec.source)
            print(f"{event.other_rules:,} games there do not count: {source} had other rules when they were played.")

    def progress(self, event: ArenaProgress) -> None:
        if self.console.is_terminal:
            table = rating_table(event.standings.rows[: max(5, self.console.height - 4)])
            self.table = Group(Text(self.line(event), no_wrap=True, overflow="ellipsis"), table)
            self.live.update(self.table, refresh=True)
        elif self.last is None:
            self.last = time.monotonic()
        elif time.monotonic() - self.last > EVERY:
            self.last = time.monotonic()
            print(self.line(event), file=sys.stderr, flush=True)

    def line(self, event: ArenaProgress) -> str:
        """The state of the arena in one line."""
        text = f"{counted(event.games, 'game')}, {event.games_per_minute:,.0f} a minute"
        if event.standings.rows:
            best = event.standings.rows[0]
            text += f"; best: {best.label} at {best.rating:.0f}"
        if event.pairs:
            text += f"; now {', '.join(' - '.join(pair) for pair in event.pairs)}"
        return plain(text + (f"; last lost by failing: {self.lost.label} {self.lost.reason}" if self.lost else ""))
