"""`ludus grade`: progress while positions are solved and answered, then the tables of grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludus.api.matches import grade
from ludus.grading.events import GradingEvent, PositionAnswered, PositionSolved
from ludus.grading.grades import ALL
from ludus.terminal.bar import Bar
from ludus.terminal.interrupt import ctrl_c_stops
from ludus.terminal.show import counted, describe, new_table, plain, print_table, wrapped

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.grading.grades import Grade, Mean
    from ludus.grading.report import GradeReport


def show_grades(agent: str, game: Game, file: str | None, count: int | None, seed: int, limit: float) -> None:
    """Grade an agent with live progress, then show its grades; if Ctrl-C is pressed, those so far."""
    with ctrl_c_stops() as stop, GradingView(agent) as view:
        report = grade(agent, game, positions=file, count=count, seed=seed, limit=limit, on_event=view.show, stop=stop)
    if report.known:
        show_report(game, report)
    if report.stopped:
        raise KeyboardInterrupt


class GradingView:
    """One bar while positions are drawn and solved, another while the agent answers them."""

    def __init__(self, agent: str):
        self.agent = agent
        self.bar: Bar | None = None
        self.what = ""

    def __enter__(self) -> GradingView:
        return self

    def __exit__(self, *failure: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self, event: GradingEvent) -> None:
        """Show an event."""
        match event:
            case PositionSolved(found, wanted, left_out):
                note = f"{left_out} not solved in time" if left_out else ""
                self.update("Drawing and solving position", found, wanted, note)
            case PositionAnswered(answered, positions):
                self.update(f"{self.agent}: position", answered, positions)

    def update(self, what: str, done: int, total: int, note: str = "") -> None:
        if self.bar is None or self.what != what:
            if self.bar is not None:
                self.bar.stop()
            self.what, self.bar = what, Bar(what)
            self.bar.start()
        self.bar.update(done, total, note)


def show_report(game: Game, report: GradeReport) -> None:
    """The tables of grades, and how the positions were made."""
    where = f" of {report.file}" if report.file else ""
    text = (
        f"{describe(game)}: {report.agent} on {counted(len(report.known), 'position')}{where} in {report.seconds:.1f} s"
    )
    print(plain(f"{text}, seed {report.seed}"))
    print(wrapped(told(report)))
    print("\nIn all positions, with 95 % intervals:\n")
    show_table(report.grades, report.only_outcomes)
    positions = report.where_it_matters[ALL].positions
    print(f"\nIn positions whose moves are not all equally good: {positions} positions\n")
    if positions:
        show_table(report.where_it_matters, report.only_outcomes)
    if report.file is None:
        print("\n--positions FILE keeps these positions, for other agents and for ludus train.")


def told(report: GradeReport) -> str:
    """How the positions were made, in a few sentences."""
    about = report.positions.about
    text = (
        f"Positions are from play, half of it random, solved exactly by {about.get('solved_by', 'an unknown solver')}"
    )
    if phases := about.get("phases"):
        text += f"; {phases}"
    if left_out := about.get("left_out"):
        each = ", ".join(f"{phase} {count}" for phase, count in left_out.items())
        text += f". Left out, as not solved within {about.get('limit', 0):g} s: {each}"
    if len(report.positions.known) < about.get("wanted", 0):
        text += f". There were no more within reach: {len(report.positions.known)} of {about['wanted']} wanted"
    return f"{text}."


def show_table(grades: dict[str, Grade], only_outcomes: bool) -> None:
    """A table with a row for each phase. `only_outcomes`: both rates are the same, and share one column."""
    table = new_table()
    rates = ["kept the outcome = best possible"] if only_outcomes else ["kept the outcome", "best possible"]
    for heading in ("", "positions", *rates, "mean loss"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, each in grades.items():
        shown = [f"{_figure(mean, 100)} %" for mean in (each.kept, each.best)[: len(rates)]]
        table.add_row(name, f"{each.positions}", *shown, _figure(each.loss, 1, 3))
    print_table(table)


def _figure(mean: Mean, times: float, digits: int = 1) -> str:
    middle, low, high = (f"{times * each:.{digits}f}" for each in mean)
    return f"{middle} ({low} to {high})"
