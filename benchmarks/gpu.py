"""Self-play on one GPU: python -m benchmarks.gpu [--peer PYTHON] [--compiled] [--plain]

Connect-4, a 6 x 64 network in bfloat16, 32 simulations a move. PYTHON is an interpreter with jax, mctx and pgx, whose
self-play is then measured in the same run. For scale, mctx + pgx on one H200: 1.6, 4.0 and 6.6 million simulations/s
with 1,024, 4,096 and 16,384 games.
"""

import argparse
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

import ludus
from benchmarks.selfplay import peer
from ludus.gpu.engine import CudaEngine
from ludus.machine import cpu_count
from ludus.nets.engines import TorchEngine
from ludus.nets.evaluator import PlaneEvaluator
from ludus.nets.families import make_network
from ludus.runs.config import Config, with_settings
from ludus.training.worker import Worker

BLOCKS, WIDTH = 6, 64
SIMULATIONS = 32
FORESTS = (1, 2, 3)
"""Number of forests that the games are split into."""


def network_alone(engines: list[CudaEngine], batch: int, seconds: float) -> float:
    """Evaluations a second, including copies, with further batches always queued on the GPU."""
    captured = [engine.batch((batch, 2, 6, 7)) for engine in engines]
    for each in captured:
        each.launch()
    count, began = 0, time.perf_counter()
    while time.perf_counter() < began + seconds:
        for each in captured:
            each.wait()
            each.launch()
            count += batch
    for each in captured:
        each.wait()
    return count / (time.perf_counter() - began)


def apart(network: Any, how: dict[str, bool]) -> float:
    """The largest difference to PyTorch's answers on the CPU, over logits and values of random planes."""
    planes = np.random.default_rng(0).integers(0, 2, (256, 2, 6, 7)).astype(np.float32)
    answers = []
    for engine in (CudaEngine(**how), TorchEngine()):
        engine.load(network)
        answers.append([array.copy() for array in engine.run(planes)])
    return max(float(np.abs(mine - theirs).max()) for mine, theirs in zip(*answers, strict=True))


def self_play(workers: list[Worker], moves: int) -> float:
    """Simulations a second over `moves` moves of every game."""

    def play(worker: Worker, count: int) -> None:
        for _ in range(count):
            worker.play_move(SIMULATIONS)
        worker.take_rows()

    def play_all(count: int) -> None:
        with ThreadPoolExecutor(len(workers)) as threads:
            list(threads.map(lambda worker: play(worker, count), workers))

    play_all(8)
    before, began = sum(worker.simulations for worker in workers), time.perf_counter()
    play_all(moves)
    return (sum(worker.simulations for worker in workers) - before) / (time.perf_counter() - began)


def main() -> None:
    logging.disable()
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", help="a Python that has jax, mctx and pgx")
    parser.add_argument("--compiled", action="store_true", help="apply torch.compile to the network")
    parser.add_argument("--plain", action="store_true", help="join no layers of the network")
    given = parser.parse_args()
    how = {"fuse": not given.plain, "compiled": given.compiled}
    game = ludus.make("connect4").compile()
    print(f"{torch.cuda.get_device_name()}, {cpu_count()} cores, torch {torch.__version__}, {how}", flush=True)
    network = make_network("residual", game, blocks=BLOCKS, width=WIDTH)
    first = CudaEngine(**how)
    first.load(network)
    if first.unfused:
        print(f"Not fused: {'; '.join(first.unfused)}", flush=True)
    print(f"Policy and value differ from PyTorch in float32 by at most {apart(network, how):.4f}", flush=True)
    config = with_settings(Config(), {"simulations": SIMULATIONS, "considered_moves": 7})
    for games in (1024, 4096, 16384):
        theirs = peer(given.peer, BLOCKS, WIDTH, games, "bfloat16") if given.peer else 0.0
        if theirs:
            print(f"{games:6} games, mctx + pgx: {theirs / 1e6:.2f} million simulations/s", flush=True)
        for forests in FORESTS:
            engines = [first, *(first.share() for _ in range(forests - 1))]
            alone = network_alone(engines, games // forests, 1.0)
            workers = [
                Worker(game, config, PlaneEvaluator(game, engine), games // forests, seed)
                for seed, engine in enumerate(engines)
            ]
            rate = self_play(workers, max(20, 163840 // games))
            compared = f", {rate / theirs:.2f} times mctx + pgx" if theirs else ""
            print(
                f"{games:6} games in {forests} forests: {rate / 1e6:.2f} million simulations/s{compared}, "
                f"the network alone {alone / 1e6:.2f} million evaluations/s: {100 * rate / alone:.0f} %",
                flush=True,
            )


if __name__ == "__main__":
    main()
