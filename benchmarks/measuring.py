"""Measuring on a machine with other load: both sides are measured in turn, and the median of the ratios is taken."""

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ludus.machine import cpu_count, cpu_name


class Table:
    """Prints each figure as it is measured, and a Markdown table at the end."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, str]] = []

    def __call__(self, what: str, figure: str, peer: str = "", goal: str = "") -> None:
        """Add a row: the measurement, the figure, the comparison, the goal."""
        self.rows.append((what, figure, peer, goal))
        print(f"{what:68} {figure:>28}  {peer}", flush=True)

    def finish(self, command: str) -> None:
        print("\n" + about_this_run(command) + "\n")
        print("| what | measured | against | goal |\n| --- | --- | --- | --- |")
        for row in self.rows:
            print("| " + " | ".join(row) + " |")


def first_compile(report: Table, game: str, **options: int) -> None:
    """The first move of uct with an empty cache of machine code, and in later processes."""
    code = f"import ludus; from ludus.agents import make_agent; g = ludus.make({game!r}, **{options});"
    code += "make_agent('uct:10', g).choose(g.start())"
    with tempfile.TemporaryDirectory() as folder:
        for what, goal, rounds in (("all compiled anew", "30 s", 1), ("compiled before", "1.5 s", 5)):
            times = []
            for _ in range(rounds):
                began = time.perf_counter()
                environment = {**os.environ, "LUDUS_CACHE": folder}
                subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
                times.append(time.perf_counter() - began)
            name = " ".join([game, *(f"{key}={value}" for key, value in options.items())])
            report(f"First move of uct at {name}, {what}", f"{statistics.median(times):.1f} s", "", goal)


def rate(work: Callable[[], int]) -> float:
    """The count that `work` returns, per second."""
    began = time.perf_counter()
    done = work()
    return done / (time.perf_counter() - began)


def in_turn(ours: Callable[[], int], theirs: Callable[[], int], rounds: int = 5) -> tuple[float, float, float]:
    """Both rates and the ratio, each the median over rounds in which the two are measured one after the other."""
    pairs = [(rate(ours), rate(theirs)) for _ in range(rounds)]
    return (
        statistics.median(mine for mine, _ in pairs),
        statistics.median(other for _, other in pairs),
        statistics.median(mine / other for mine, other in pairs),
    )


def about_this_run(command: str) -> str:
    """Command, commit and machine, for the caption of a table of results."""
    here = Path(__file__).parent
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True
    ).stdout.strip()
    changed = subprocess.run(
        ["git", "status", "--short", "../src"], cwd=here, capture_output=True, text=True
    ).stdout.strip()
    cores = cpu_count()
    commit += " and changes" if changed else ""
    today = time.strftime("%Y-%m-%d")
    return f"`{command}`, commit {commit}, {cpu_name()}, {cores} cores, Python {platform.python_version()}, {today}"
