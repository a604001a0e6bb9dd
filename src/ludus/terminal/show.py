"""Pieces that several commands show: tables, one-line messages, the thoughts of an agent, progress bars."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ludus.terminal.compiling import compiling_into

if TYPE_CHECKING:
    from ludus.agents import Choice
    from ludus.agents.snapshot import Snapshot
    from ludus.api.solving import Counted
    from ludus.game import Game

MOST_OF_A_LINE = 10
"""Number of moves of a principal variation that are shown."""
LONGEST_CELL = 500
"""Number of characters of a table cell that are shown."""
LONGEST_MESSAGE = 1000
"""Number of characters of a one-line message that are shown."""
LONGEST_TEXT = 100_000
"""Number of characters of a longer text that are shown."""


def plain(text: object, most: int = LONGEST_TEXT) -> str:
    """Text from a file or an agent, safe to print in one line.

    Control characters, such as the escape codes of terminals, are shown as \\x1b and the like. Longer text is cut.
    """
    given = str(text)
    shown = given if len(given) <= most else f"{given[:most]} ..."
    if shown.isprintable():
        return shown
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in shown)


def counted(number: int, noun: str) -> str:
    """A number and what it counts, such as 1 game or 1,200 games."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def terminal() -> Console:
    """Standard output. If it is not a terminal, it is wide enough that no table is cut."""
    console = Console(highlight=False, markup=False)
    return console if console.is_terminal else Console(highlight=False, markup=False, width=240)


def complain(message: object) -> None:
    """Print one line on standard error, in order with standard output."""
    sys.stdout.flush()
    print(one_line(message), file=sys.stderr, flush=True)


def one_line(message: object) -> str:
    """A message without line breaks and control characters, cut if it is long."""
    return plain(" ".join(str(message).split()), LONGEST_MESSAGE)


def wrapped(text: str, indent: str = "  ") -> str:
    """One line of text, broken between words to fit the terminal; further lines begin with `indent`."""
    console, text = terminal(), plain(text)
    if not console.is_terminal:
        return text
    return textwrap.fill(text, console.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


class PlainTable(Table):
    """A table whose cells may hold text from files."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        super().add_row(*(plain(each, LONGEST_CELL) if isinstance(each, str) else each for each in cells), **options)


def new_table(**options: object) -> Table:
    """A table without lines."""
    return PlainTable(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold", **options)  # type: ignore[arg-type]


def print_table(table: Table) -> None:
    """Print a table without the blanks that fill its last column."""
    console = terminal()
    with console.capture() as capture:
        console.print(table)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


def option_words(options: Mapping[str, object]) -> list[str]:
    """Options of a game as name=value; an empty text is shown as ''."""
    return [f"{name}={repr('') if value == '' else option_value(value)}" for name, value in options.items()]


def option_value(value: object) -> object:
    """The value of an option as it is typed: yes or no for a boolean."""
    return ("no", "yes")[value] if isinstance(value, bool) else value


def describe(game: Game) -> str:
    """The title of a game, with its options."""
    options = ", ".join(option_words(game.options_in_use()))
    return f"{game.title} ({options})" if options else game.title


def typed(game: Game) -> str:
    """A game as it is typed on the command line: its source, and the options that are not the default."""
    spec, usual = game.spec, type(game).options()
    options = [
        f"--option={name}={option_value(value)}" for name, value in spec.options.items() if value != usual.get(name)
    ]
    return command(spec.source, *options)


def command(*words: object) -> str:
    """The words of a command as one line to paste into the shell of this system."""
    texts = [str(word) for word in words]
    return subprocess.list2cmdline(texts) if os.name == "nt" else shlex.join(texts)


def in_a_row(moves: Sequence[str]) -> str:
    """Moves in one line, separated by semicolons if they contain spaces."""
    return ("; " if any(" " in move for move in moves) else " ").join(moves)


def confidence(game: Game, choice: Choice) -> str:
    """The result that an agent expects, in words; empty if it expects none."""
    value = choice.value
    if value is None:
        return ""
    if choice.solved and game.players == 2 and game.zero_sum:
        words = {1.0: "a proven win", 0.0: "a proven draw", -1.0: "a proven loss"}
        return words.get(value, f"proven to be worth {value:+.2f}")
    if choice.solved:
        return f"proven to be worth {value:+.2f}"
    if game.players == 2 and game.zero_sum:
        return f"expects {50 * (value + 1):.0f} %"
    return f"expects {value:+.2f}"


def thoughts(game: Game, choice: Choice) -> str:
    """The result that an agent expects, its principal variation, and the work that they took."""
    parts = [confidence(game, choice)] if choice.value is not None else []
    if len(choice.line) > 1:
        more = " ..." if len(choice.line) > MOST_OF_A_LINE else ""
        parts.append(f"line {in_a_row(choice.line[:MOST_OF_A_LINE])}{more}")
    text = ", ".join(parts)
    if choice.simulations:
        what = "positions" if choice.visits is None else "simulations"
        text += f" ({choice.simulations:,} {what}, {choice.seconds:.2f} s)"
    return text.strip()


@contextmanager
def thinking(console: Console, what: str) -> Iterator[Callable[[Snapshot], None] | None]:
    """A bar that fills with the snapshots of a thinking agent; None if there is no terminal."""
    if not console.is_terminal:
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(30), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)  # before the first snapshot, the total is unknown
        with compiling_into(lambda text: bar.update(task, description=text or what)):
            yield lambda snapshot: bar.update(task, total=1.0, completed=snapshot.fraction or 0.0)


@contextmanager
def counting(console: Console, what: str) -> Iterator[Callable[[Counted], None] | None]:
    """A running count of positions during a search; None if there is no terminal."""
    if not console.is_terminal:
        yield None
        return
    with console.status(what) as status, compiling_into(lambda text: status.update(text or what)):
        yield lambda counted: status.update(f"{what}: {counted.positions:,} positions")
