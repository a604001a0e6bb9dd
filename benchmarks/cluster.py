"""What Ray costs, and where a cluster saturates: python -m benchmarks.cluster (about three minutes on two cores)

Self-play of Connect-4 with the default network, 16 simulations a move: rows/s of 1, 2 and 4 threads of this process,
and of 1, 2 and 4 actor processes of one thread each on a Ray of this machine, in turn. Then the sizes and the times of
what travels: weights, rows, calls. From these, a calculation for 10, 100 and 1,000 nodes of 8 cores.

Speeds are measured in simulations, which are counted when they happen, and given as the rows that these simulations
make. Rows are counted when their games end. Games that begin together end in waves of many seconds, so the rows of a
short measurement depend on its place in a wave.
"""

from __future__ import annotations

import os
import pickle
import statistics
import time
from typing import Any, NamedTuple

import numpy as np

import ludus
from benchmarks.measuring import Table
from ludus.cluster import placement
from ludus.cluster.connection import start_alone
from ludus.cluster.fleet import Fleet
from ludus.nets.rows import Rows
from ludus.runs.config import Config, with_settings
from ludus.stopping import Deadline
from ludus.training import preflight
from ludus.training.cluster_actor import weights_of
from ludus.training.cluster_play import DEPTH, MOST_CALLS, SECONDS, ClusterSelfPlay
from ludus.training.selfplay import LocalSelfPlay

COUNTS = (1, 2, 4)
ROUNDS = 3
LENGTH = 8.0
"""Seconds of one measurement."""
GAMES = 64
"""Games side by side of each thread."""
CORES = 8
"""Cores of a node in the calculation."""
REUSE = 4.0
"""Times that each row is learned from."""
NETWORK = 125e6
"""Bytes per second of a network of 1 Gbit/s."""
GPU_LEARNER = 400_000.0
"""Rows/s learned on one H200, the lower figure in docs/methods.md."""


class Sizes(NamedTuple):
    """What the calculation is made from."""

    rows_per_core: float
    """Rows/s that one thread plays."""
    row_bytes: float
    """Bytes of a row on the network."""
    weight_bytes: int
    learned: float
    """Rows/s that the learner of this machine takes in."""
    calls: float
    """Batches/s that the learner's process can hand out and take in."""


class Idle:
    """An actor that does nothing: what remains is the cost of a call."""

    def __init__(self, slot: Any, number: int, batch: Any):
        self.batch = batch

    def play(self) -> Any:
        return self.batch


def settings() -> Config:
    return with_settings(Config(), {"engine": "onnx", "parallel_games": GAMES, "workers": 1, "learner_threads": 1})


def threads_rate(count: int) -> float:
    """Simulations/s of threads of this process, after the first games have ended."""
    game, config = ludus.make("connect4").compile(), settings()
    play = LocalSelfPlay(game, config, config.make_network(game), games=GAMES * count, workers=count, seed=0)
    play.play(GAMES * count, config.simulations)
    counts = play.play(1 << 40, config.simulations, Deadline(LENGTH)).counts
    return counts.simulations / counts.seconds


def all_play(fleet: Fleet | None, count: int) -> bool:
    """True if each of `count` actors has returned its first jobs. Until then, some still load their libraries."""
    return (
        fleet is not None
        and len(fleet.members) == count
        and all(min(list(member.jobs.values()), default=0) >= DEPTH * count for member in list(fleet.members))
    )


def actors_rate(count: int) -> float:
    """Simulations/s of actor processes of one thread each, after the first games have ended."""
    game, config = ludus.make("connect4").compile(), settings()
    network = config.make_network(game)
    with start_alone(count + 1) as connection:  # one core is left to the learner
        play = ClusterSelfPlay(connection, game, config, network, games=GAMES, workers=1, seed=0)
        try:
            while not all_play(play.fleet, count):
                play.play(1 << 40, config.simulations, Deadline(SECONDS))
            counts = play.play(1 << 40, config.simulations, Deadline(LENGTH)).counts
            return counts.simulations / counts.seconds
        finally:
            play.close()


def call_rate(batch: Any) -> float:
    """Calls of actors per second that this process can hand out and take in, if each returns `batch`."""
    with start_alone(2) as connection:
        fleet = Fleet(connection, Idle, (batch,), placement.place_single_threads)
        fleet.refresh()
        done, began = 0, 0.0
        while not began or time.perf_counter() < began + LENGTH:
            for member in fleet.members:
                while len(member.jobs) < 2:
                    fleet.submit(member, done, "play")
            done += len(fleet.collect(1.0))
            if not began and done >= 20:
                began, done = time.perf_counter(), 0
        return done / (time.perf_counter() - began)


def one_batch(rows: int) -> tuple[Rows, Any, float]:
    """Rows of finished games, the network that played them, and the simulations that a row takes."""
    game, config = ludus.make("connect4").compile(), settings()
    network = config.make_network(game)
    play = LocalSelfPlay(game, config, network, games=GAMES, workers=1, seed=0)
    found = play.play(rows, config.simulations).rows
    worker = play.workers[0]
    return found, network, worker.simulations / (worker.moves * worker.games)  # each move of each game is a row


def calculate(report: Table, sizes: Sizes) -> None:
    """What a cluster offers, and what the learner and its network take in."""
    cpu, gpu = sizes.learned / REUSE, GPU_LEARNER / REUSE
    wire = NETWORK / sizes.row_bytes
    report(
        "A learner on this machine takes in", f"{cpu:,.0f} rows/s", f"{cpu / sizes.rows_per_core:,.0f} cores play them"
    )
    report("A learner on one H200 takes in", f"{gpu:,.0f} rows/s", f"{gpu / sizes.rows_per_core:,.0f} cores play them")
    report("1 Gbit/s carries", f"{wire:,.0f} rows/s", f"{wire / sizes.rows_per_core:,.0f} cores play them")
    for nodes in (10, 100, 1000):
        rows = nodes * CORES * sizes.rows_per_core
        actors = nodes * -(-CORES // placement.MOST_THREADS)
        calls = min(actors / SECONDS, MOST_CALLS)
        limit = min(
            ("learner of this machine", cpu), ("1 Gbit/s", wire), ("H200 learner", gpu), key=lambda each: each[1]
        )
        full = [
            f"{name} full"
            for name, most in (("this learner", cpu), ("H200 learner", gpu), ("1 Gbit/s", wire))
            if rows > most
        ]
        full += ["calls full"] if calls > sizes.calls else []
        report(
            f"{nodes:,} nodes of {CORES} cores",
            f"{rows:,.0f} rows/s",
            f"{rows * sizes.row_bytes / 1e6:,.1f} MB/s of rows, "
            f"{nodes * sizes.weight_bytes / 1e6:,.0f} MB of weights for each version, "
            f"{calls:,.0f} of {sizes.calls:,.0f} calls/s; {', '.join(full) or 'nothing full'}",
            f"least: {limit[0]}",
        )


def run(report: Table) -> None:
    placement.MOST_THREADS = 1
    rates: dict[tuple[str, int], list[float]] = {}
    for _ in range(ROUNDS):
        for count in COUNTS:
            rates.setdefault(("thread", count), []).append(threads_rate(count))
            rates.setdefault(("actor", count), []).append(actors_rate(count))
    placement.MOST_THREADS = 4
    rows, network, per_row = one_batch(2000)
    middle = {key: statistics.median(found) / per_row for key, found in rates.items()}
    for count in COUNTS:
        threads, actors = middle["thread", count], middle["actor", count]
        report(f"{count} thread{'s' * (count > 1)} of one process", f"{threads:,.0f} rows/s")
        each = statistics.median(a / t for a, t in zip(rates["actor", count], rates["thread", count], strict=True))
        report(
            f"{count} actor process{'es' * (count > 1)} of one thread",
            f"{actors:,.0f} rows/s",
            f"{each:.2f} times threads",
        )
    arrays = weights_of(network)
    weight_bytes = len(pickle.dumps(arrays, protocol=5))
    row_bytes = len(pickle.dumps(rows, protocol=5)) / len(rows)
    calls = call_rate(rows)
    empty = call_rate(None)
    preflight.SECONDS = 3.0
    learned = preflight.measure(ludus.make("connect4"), settings()).learned
    report("Weights, 4 blocks of 32", f"{weight_bytes / 1e3:,.0f} kB")
    report("A row of Connect-4", f"{row_bytes:,.0f} bytes", f"{rows.bytes / len(rows):,.0f} bytes in memory")
    report(f"Calls that return {len(rows):,} rows", f"{calls:,.0f} calls/s", f"{calls * len(rows):,.0f} rows/s")
    report("Calls that return nothing", f"{empty:,.0f} calls/s")
    report(
        "The learner, one thread",
        f"{learned:,.0f} rows/s",
        f"{learned / REUSE:,.0f} new rows/s at a reuse of {REUSE:g}",
    )
    calculate(report, Sizes(middle["thread", 1], row_bytes, weight_bytes, learned, calls))


if __name__ == "__main__":
    before = os.getloadavg() if hasattr(os, "getloadavg") else (0.0, 0.0, 0.0)
    table = Table()
    run(table)
    table.finish("python -m benchmarks.cluster")
    print(f"\nLoad average of the machine before: {np.round(before, 2).tolist()}")
