"""The output of `ludus new` and `ludus check`."""

from __future__ import annotations

import sys
import threading
import traceback
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ludus.errors import place_of
from ludus.terminal.compiling import compiling_into
from ludus.terminal.show import command, terminal
from ludus.testing.events import CheckEvent, Checking, FirstVerdict

if TYPE_CHECKING:
    from ludus.game import Game

PATIENCE = 5.0
"""Seconds after which a check without a first verdict says where it is."""


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

    def __init__(self) -> None:
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
        elif isinstance(event, Checking):
            self.text = f"Checking: {event.what}" + (f", {event.done} of {event.total}" if event.total > 1 else "")
        self._show(self.text)


def show_check(game: Game | str, games: int, seed: int) -> bool:
    """Check a game and show the outcome: a summary, or the promise that it breaks. Returns True if it breaks none."""
    with CheckView() as view:
        from ludus.testing import BrokenPromise, check_game

        try:
            report = check_game(game, games, seed, on_event=view)
        except BrokenPromise as broken:
            print(f"Broken promise: {broken}")
            return False
    print(report)
    return True
