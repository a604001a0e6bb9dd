"""Small pieces that several commands show: tables, what an agent thought, a bar while it thinks."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

if TYPE_CHECKING:
    from ludus.agents import Choice
    from ludus.agents.snapshot import Snapshot
    from ludus.api.solving import Counted
    from ludus.game import Game

MOST_OF_A_LINE = 10
"""How many moves of a principal variation are shown."""


def terminal() -> Console:
    """Standard output; where it is not a terminal, wide enough that no table is cut."""
    console = Console(highlight=False, markup=False)
    return console if console.is_terminal else Console(highlight=False, markup=False, width=240)


def complain(message: object) -> None:
    """One line on standard error, in order with what stands on standard output."""
    sys.stdout.flush()
    print(one_line(message), file=sys.stderr, flush=True)


def one_line(message: object) -> str:
    return " ".join(str(message).split())


def wrapped(text: str) -> str:
    """A line, broken between words to fit the terminal."""
    console = terminal()
    if not console.is_terminal:
        return text
    return textwrap.fill(text, console.width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def new_table(**options: object) -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold", **options)  # type: ignore[arg-type]


def print_table(table: Table) -> None:
    """Without the blanks that fill up its last column."""
    console = terminal()
    with console.capture() as capture:
        console.print(table)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


def describe(game: Game) -> str:
    """A game's title, with its options where it has any."""
    options = ", ".join(f"{name}={value}" for name, value in options_of(game).items())
    return f"{game.title} ({options})" if options else game.title


def options_of(game: Game) -> dict[str, object]:
    settings = getattr(game, "settings", None)
    return dict(vars(settings)) if settings is not None else game.options_in_use()


def in_a_row(moves: Sequence[str]) -> str:
    """Moves one after the other, told apart where they hold spaces."""
    return ("; " if any(" " in move for move in moves) else " ").join(moves)


def confidence(game: Game, choice: Choice) -> str:
    """What the agent expects, in words; empty where it has no idea."""
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
    """The same with the line that the agent foresees, and the work that it took."""
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
    """A bar that fills with the snapshots of an agent's thinking, and goes when it is done; on a terminal only."""
    if not console.is_terminal:
        yield None
        return
    columns = TextColumn("{task.description}"), BarColumn(30), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)  # before the first snapshot, it only goes to and fro
        yield lambda snapshot: bar.update(task, total=1.0, completed=snapshot.fraction or 0.0)


@contextmanager
def counting(console: Console, what: str) -> Iterator[Callable[[Counted], None] | None]:
    """A count of positions that runs while they are searched; on a terminal only."""
    if not console.is_terminal:
        yield None
        return
    with console.status(what) as status:
        yield lambda counted: status.update(f"{what}: {counted.positions:,} positions")
