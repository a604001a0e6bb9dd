"""`ludus grade`: positions are drawn or read, the agent answers, and its grades are shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ludus.errors import BadAgent, BadOption
from ludus.grading.grades import ALL, Grade, Mean, grade_moves, moves_of
from ludus.grading.positions import Positions, at_most, read_positions, write_positions
from ludus.terminal.show import describe, new_table, print_table, terminal, wrapped

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.grading.positions import Known

EVERY = 10.0
"""Seconds between two lines of progress, where there is no terminal for a bar."""


def show_grades(name: str, game: Game, file: str | None, count: int | None, seed: int, limit: float) -> None:
    from ludus.agents import make_agent
    from ludus.agents.identity import identify
    from ludus.agents.naming import parse
    from ludus.search.solver import check_suitable

    check_suitable(game)
    if count is not None and count < 1:
        raise BadOption(f"--count must be at least 1, not {count}")
    if parse(name).kind == "human":
        raise BadAgent("people are not graded: nobody wants to answer hundreds of positions; name another agent")
    agent = make_agent(name, game)  # or refuse it, before anything takes long
    label = identify(name, game).label
    positions = find_positions(game, file, count, seed, limit)
    known = positions.known if count is None else at_most(positions.known, count)
    agent.new_game(seed)  # compiles before the bar begins
    began = time.perf_counter()
    with bar(f"{label}: position") as report:
        actions = moves_of(agent, known, seed, lambda done: report(done, len(known), ""))
    spent = time.perf_counter() - began
    where = f" of {file}" if file else ""
    print(f"{describe(game)}: {label} on {len(known)} positions{where} in {spent:.1f} s, seed {seed}")
    print(wrapped(told(positions)))
    show_tables(known, actions)
    if file is None:
        print("\n--positions FILE keeps these positions, for other agents and for ludus train.")


def find_positions(game: Game, file: str | None, count: int | None, seed: int, limit: float) -> Positions:
    """Those of a file; if there is none yet, new ones, which are put there."""
    from ludus.grading.drawing import COUNT, draw_positions

    if file is not None and Path(file).exists():
        return read_positions(Path(file), game)
    if file is not None and not Path(file).absolute().parent.is_dir():
        raise BadOption(f"there is no folder {Path(file).parent} to put {Path(file).name} into")
    with bar("Drawing and solving position") as report:

        def tell(found: int, wanted: int, left_out: int) -> None:
            report(found, wanted, f"{left_out} not solved in time" if left_out else "")

        positions = draw_positions(game, COUNT if count is None else count, seed, limit, tell)
    if file is not None:
        write_positions(Path(file), positions)
    return positions


def told(positions: Positions) -> str:
    """What is to be known about the positions."""
    about = positions.about
    text = f"Positions are from play, half of it random, solved exactly by {about.get('solved_by', 'somebody')}"
    if phases := about.get("phases"):
        text += f"; {phases}"
    left_out: dict[str, int] = about.get("left_out") or {}
    if left_out:
        each = ", ".join(f"{phase} {count}" for phase, count in left_out.items())
        text += f". Left out, as not solved within {about.get('limit', 0):g} s: {each}"
    if len(positions.known) < about.get("wanted", 0):
        text += f". There were no more within reach: {len(positions.known)} of {about['wanted']} wanted"
    return f"{text}."


# --- the tables -------------------------------------------------------------------------------------------------------


def show_tables(known: Sequence[Known], actions: Sequence[int]) -> None:
    # Where games are only won, drawn or lost, to keep the outcome is the best possible: one column says both.
    alike = all(value in (-1.0, 0.0, 1.0) for each in known for value in each.values.values())
    print("\nIn all positions, with 95 % intervals:\n")
    _show(grade_moves(known, actions), alike)
    matters = grade_moves(known, actions, where_it_matters=True)
    print(f"\nWhere it matters, as not all moves are equally good: {matters[ALL].positions} positions\n")
    if matters[ALL].positions:
        _show(matters, alike)


def _show(grades: dict[str, Grade], alike: bool) -> None:
    table = new_table()
    rates = ["kept the outcome = best possible"] if alike else ["kept the outcome", "best possible"]
    for heading in ("", "positions", *rates, "mean loss"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, grade in grades.items():
        shown = [f"{_figure(mean, 100)} %" for mean in (grade.kept, grade.best)[: len(rates)]]
        table.add_row(name, f"{grade.positions}", *shown, _figure(grade.loss, 1, 3))
    print_table(table)


def _figure(mean: Mean, times: float, digits: int = 1) -> str:
    middle, low, high = (f"{times * each:.{digits}f}" for each in mean)
    return f"{middle} ({low} to {high})"


# --- progress ---------------------------------------------------------------------------------------------------------


@contextmanager
def bar(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """A bar on a terminal, elsewhere a line now and then: call it with how many are done, of how many, and a note."""
    console = terminal()
    if console.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            MofNCompleteColumn(),
            BarColumn(30),
            TextColumn("{task.fields[note]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task(what, total=None, note="")
            yield lambda done, total, note: progress.update(task, completed=done, total=total, note=note)
        return
    last = time.perf_counter()

    def line(done: int, total: int, note: str) -> None:
        nonlocal last
        if time.perf_counter() - last > EVERY:
            last = time.perf_counter()
            print(f"{what} {done} of {total}{f', {note}' if note else ''}", file=sys.stderr, flush=True)

    yield line
