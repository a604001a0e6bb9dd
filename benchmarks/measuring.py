"""Measuring on a machine that is not ours alone: peers in turn in one run, and the median of the ratios."""

import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from ludus.search.forest import threads_of_this_machine


def rate(work: Callable[[], int]) -> float:
    """What `work` says it did, per second."""
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
    """Command, commit and machine, as a results table needs them."""
    here = Path(__file__).parent
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True
    ).stdout.strip()
    changed = subprocess.run(
        ["git", "status", "--short", "../src"], cwd=here, capture_output=True, text=True
    ).stdout.strip()
    cpu = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    cores = threads_of_this_machine()
    commit += " and changes" if changed else ""
    today = time.strftime("%Y-%m-%d")
    return f"`{command}`, commit {commit}, {cpu}, {cores} cores, Python {platform.python_version()}, {today}"
