"""The output of `ludus new` and `ludus check`."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ludus.errors import place_of
from ludus.machine import cpu_count
from ludus.terminal.compiling import compiling_into
from ludus.terminal.interrupt import ctrl_c_stops
from ludus.terminal.show import command, complain, terminal
from ludus.testing.events import CheckEvent, CodeChecked, FirstVerdict

if TYPE_CHECKING:
    from ludus.api.ahead import CompileAhead
    from ludus.game import Game

PATIENCE = 5.0
"""Seconds after which a check without a first verdict says where it is."""

AHEAD_LIMIT = 600.0
"""Seconds after which the rest of the compiling is left to the commands that need it."""


def show_new(file: str, kind: str) -> None:
    """Write a game to start from, and show the commands that come next."""
    from ludus.templates import GUIDES, new_game

    path = str(new_game(file, kind))
    print(f"{path} is a working game. Edit it, then:\n")
    for words in (
        ("check", path),
        ("play", path, "--against", "uct:1s"),
        ("train", path, "--minutes", "5"),
    ):
        print(f"  {command('ludus', *words)}")
    print(
        f"\nThe comments in the file explain it, and python -m pydoc {GUIDES[kind]} lists all that a game may define."
    )


class CheckView:
    """Shows the events of a check: a status line on a terminal, and the first verdict everywhere."""

    def __init__(self, compiles_ahead: bool) -> None:
        """With `compiles_ahead`, free cores compile the game for other commands meanwhile."""
        self.compiles_ahead = compiles_ahead
        self.ahead: CompileAhead | None = None
        self.console = terminal()
        self.opened = ExitStack()
        self.text = "Checking"
        self.status: Any = None
        self.waiting = threading.Timer(PATIENCE, self._show_place, [threading.get_ident()])
        self.waiting.daemon = True

    def __enter__(self) -> CheckView:
        self.waiting.start()
        if self.console.is_terminal:
            self.status = self.opened.enter_context(self.console.status(self.text))
        self.opened.enter_context(compiling_into(self._show_compiling))
        return self

    def __exit__(self, *failure: object) -> None:
        self.waiting.cancel()
        self.opened.close()

    def _show_place(self, thread: int) -> None:
        """Say which line of the game runs in a thread that has given no verdict: it may never end."""
        place = place_of(traceback.extract_stack(sys._current_frames()[thread]))
        print(
            f"Still checking in plain Python{place}. Ctrl-C ends it and names a function that does not return.",
            flush=True,
        )

    def _show_compiling(self, text: str | None) -> None:
        """Show what is compiled, until the next event: kernels follow each other, and the line would flicker."""
        if text is not None:
            self._show(text)

    def _show(self, text: str) -> None:
        """Show a text in the status line, if there is one."""
        if self.status is not None:
            self.status.update(text)

    def __call__(self, event: CheckEvent) -> None:
        if isinstance(event, FirstVerdict):
            self.waiting.cancel()
            print(
                f"{event.game}: no broken promise in plain Python ({event.positions} positions, "
                f"{event.seconds:.1f} s). Now the machine code.",
                flush=True,
            )
            self.text = "Checking the machine code"
        elif isinstance(event, CodeChecked):
            if self.compiles_ahead:
                from ludus.api.ahead import CompileAhead

                self.ahead = CompileAhead(event.game)
        else:
            self.text = f"Checking: {event.what}" + (f", {event.done} of {event.total}" if event.total > 1 else "")
        if self.ahead is not None:
            self.ahead.advance(cpu_count() - 1)
        self._show(self.text)


def show_check(game: Game | str, games: int, seed: int, compiles_ahead: bool = True) -> bool:
    """Check a game and show the outcome: a summary, or the promise that it breaks. Returns True if it breaks none.

    With `compiles_ahead`, a game that breaks none is then compiled for other commands.
    """
    view = CheckView(compiles_ahead)
    try:
        if not _show_verdict(view, game, games, seed):
            return False
        if view.ahead is not None:
            show_ahead(view.ahead)
        return True
    finally:
        if view.ahead is not None:
            view.ahead.end()


def _show_verdict(view: CheckView, game: Game | str, games: int, seed: int) -> bool:
    with view:
        from ludus.testing import BrokenPromise, check_game

        try:
            report = check_game(game, games, seed, on_event=view)
        except BrokenPromise as broken:
            print(f"Broken promise: {broken}")
            return False
    print(report, flush=True)
    return True


def show_ahead(ahead: CompileAhead) -> None:
    """Show that a game is compiled on all cores, until it is done or Ctrl-C skips the rest."""
    if not ahead.busy:
        return
    console, began = Console(stderr=True), time.monotonic()
    text = f"Compiling {ahead.game.title} for match and training, once"
    with ctrl_c_stops() as stop, ExitStack() as opened:
        if console.is_terminal:
            status = opened.enter_context(console.status(text))
        else:
            print(f"{text} ...", file=sys.stderr, flush=True)
        while ahead.busy and not stop.is_set() and time.monotonic() - began < AHEAD_LIMIT:
            ahead.advance(cpu_count())
            if console.is_terminal:
                status.update(f"{text}: {time.monotonic() - began:.0f} s (Ctrl-C to skip)")
            ahead.wait(0.2)
    if ahead.busy:
        print("Skipped: what is not compiled yet is compiled when it is first used.")
    for job, why in ahead.failed.items():
        complain(f"ludus: the game could not be compiled ahead for {job}: {why}")
