"""The gain of each method: python -m benchmarks.methods [--minutes 6] [--cores 2] [NAME ...]

Trains Connect-4 with one setting changed at a time. Runs go side by side, each on CPU cores of its own. Then measures
mistakes as in benchmarks.grading: fewer are better.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue

VARIANTS = {
    "default": {},
    "float32 in self-play": {"engine": "onnx"},
    "each row learned from twice": {"reuse": 2},
    "32 simulations": {"simulations": 32},
    "32 simulations, each row twice": {"simulations": 32, "reuse": 2},
    "a soft policy beside": {"soft_policy_weight": 1.0},
    "the next move guessed beside": {"reply_policy_weight": 0.25},
    "results alone as values": {"outcome_fraction": 1.0},
    "simulations from 8 to 64": {"simulations": 8, "simulations_end": 64},
    "PUCT, playout cap 96/24": {
        "search": "puct",
        "simulations": 96,
        "full_search_fraction": 0.25,
        "fast_simulations": 24,
    },
    "a lower rate": {"learning_rate": 0.002, "learning_rate_end": 0.0002},
    "weights by surprise": {"surprise_weight": 0.5},
    "no symmetric images": {"augment": False},
    "no averaged weights": {"ema_decay": 0.0},
    "no random openings": {"opening_plies": 0},
    "gating at 55 %": {"gating": 0.55},
    "PUCT, 50 simulations": {"search": "puct", "simulations": 50},
    "PUCT, 50, nothing forced": {"search": "puct", "simulations": 50, "forced_playouts": 0.0},
}
CLASSES = ("begin-hard", "begin-medium", "middle-medium")
BUDGETS = (1, 100)


def train_and_grade(settings: dict[str, object], minutes: float) -> None:
    """Train and grade, in a process of its own; prints one line of JSON."""
    import ludus
    from benchmarks.grading import mistakes, read_positions
    from ludus.nets.evaluator import make_evaluator

    game = ludus.make("connect4").compile()
    with tempfile.TemporaryDirectory() as folder:
        run = ludus.train(game, minutes=minutes, run=f"{folder}/run", settings=settings)
        network, facts = run.load_player()
        positions = read_positions(game)
        evaluator = make_evaluator(game, network)
        rates = {
            f"{name} {budget}": mistakes(game, evaluator, positions[name], budget)
            for budget in BUDGETS
            for name in CLASSES
        }
    print(json.dumps({"rates": rates, "facts": facts}), flush=True)


def measure(name: str, minutes: float, cores: list[int]) -> dict:
    command = [
        sys.executable,
        "-m",
        "benchmarks.methods",
        "--one",
        json.dumps(VARIANTS[name]),
        "--minutes",
        str(minutes),
    ]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[])
    parser.add_argument("--minutes", type=float, default=6.0)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--one")
    given = parser.parse_args()
    if given.one is not None:
        train_and_grade(json.loads(given.one), given.minutes)
        return
    available = sorted(os.sched_getaffinity(0))
    free: SimpleQueue[list[int]] = SimpleQueue()
    places = len(available) // given.cores
    for i in range(places):
        free.put(available[i * given.cores : (i + 1) * given.cores])
    measure("default", 0.05, available)  # compiles
    print(f"{places} runs side by side, {given.minutes:g} minutes on {given.cores} cores each", flush=True)
    print(
        "| | games | rows | "
        + " | ".join(f"{c}, {'raw' if b == 1 else b}" for b in BUDGETS for c in CLASSES)
        + " | mean |"
    )
    print("| --- " * (4 + len(BUDGETS) * len(CLASSES)) + "|", flush=True)

    def run(name: str) -> None:
        cores = free.get()
        try:
            found = measure(name, given.minutes, cores)
        finally:
            free.put(cores)
        rates = list(found["rates"].values())
        figures = " | ".join(f"{100 * rate:.1f} %" for rate in [*rates, sum(rates) / len(rates)])
        print(f"| {name} | {found['facts']['games']:,} | {found['facts']['rows']:,} | {figures} |", flush=True)

    with ThreadPoolExecutor(places) as threads:
        began = time.perf_counter()
        list(threads.map(run, given.names or list(VARIANTS)))
        print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
