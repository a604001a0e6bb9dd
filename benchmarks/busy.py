"""The speed of search on a busy machine: python -m benchmarks.busy (about a minute)

Measures 64 trees of Connect-4 on one and on two threads, alone and beside a process that keeps one core busy. Search
and neighbour share two cores, whatever the machine has. The speed of one thread alone is 100 %.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import ludus
from benchmarks.measuring import Table
from ludus.search.forest import Forest, Uniform
from ludus.search.puct import Puct

ROUNDS = 9
SECONDS = 0.4
"""The length of one measurement: many time slices of the operating system."""
THREADS = (1, 2)
GOAL = "60 %"


@contextlib.contextmanager
def busy_neighbour() -> Iterator[None]:
    """Keep one core busy with a process that computes nothing."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            time.sleep(0.2)  # until it has started
            yield
        finally:
            process.kill()


def tree_operations(threads: int) -> Callable[[], int]:
    """Rounds with a null evaluator, as in `ludus bench`: threads meet after every 30 microseconds."""
    game = ludus.make("connect4")
    forest = Forest(game, Puct(), trees=64, nodes=257, threads=threads)

    def run() -> int:
        forest.plant(game.start())
        return forest.search(Uniform(), simulations=256)

    return run


def playouts(threads: int) -> Callable[[], int]:
    """Search with random playouts: threads meet after some milliseconds."""
    game = ludus.make("connect4")
    forest = Forest(game, trees=64, nodes=1001, threads=threads)

    def run() -> int:
        forest.plant(game.start())
        return forest.search(simulations=1000)

    return run


def rate(run: Callable[[], int]) -> float:
    """Simulations per second, over SECONDS."""
    done, began = 0, time.perf_counter()
    while time.perf_counter() < began + SECONDS:
        done += run()
    return done / (time.perf_counter() - began)


def measure(report: Table, name: str, make: Callable[[int], Callable[[], int]]) -> None:
    """Measure all combinations in turn, in each of the rounds; report the medians."""
    runs = {threads: make(threads) for threads in THREADS}
    for run in runs.values():
        run()  # compiles
    rates: dict[tuple[int, bool], list[float]] = {(threads, busy): [] for threads in THREADS for busy in (False, True)}
    for _ in range(ROUNDS):
        for busy in (False, True):
            with busy_neighbour() if busy else contextlib.nullcontext():
                for threads, run in runs.items():
                    rates[threads, busy].append(rate(run))
    alone = rates[1, False]
    for (threads, busy), found in rates.items():
        shares = sorted(100 * mine / one for mine, one in zip(found, alone, strict=True))
        report(
            f"{name}, {threads} {'thread' if threads == 1 else 'threads'}, {'busy neighbour' if busy else 'alone'}",
            f"{statistics.median(found):,.0f} simulations/s",
            f"{statistics.median(shares):.0f} % of one thread alone ({shares[0]:.0f} to {shares[-1]:.0f})",
            GOAL if threads > 1 and busy else "",
        )


def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: max(THREADS)])
    report = Table()
    measure(report, "Null evaluator, 64 trees, connect4", tree_operations)
    measure(report, "UCT, 64 trees, connect4", playouts)
    report.finish("python -m benchmarks.busy")


if __name__ == "__main__":
    main()
