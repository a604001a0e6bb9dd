"""Self-play on one GPU: python -m benchmarks.gpu [--compiled]

Connect-4, a 6 x 64 network in bfloat16, 32 simulations a move.
"""

import itertools
import logging
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

import ludus
from ludus.nets import make_network, sizes_of
from ludus.nets.cuda import CudaEngine
from ludus.nets.evaluator import NetworkEvaluator
from ludus.train.config import Config, with_settings
from ludus.train.selfplay import SelfPlay
from ludus.train.trainer import cores

SIMULATIONS = 32
FORESTS = (2, 4, 8)
"""Into how many forests, each on its own thread, the games are split."""


def network_alone(engines: list[CudaEngine], batch: int, seconds: float) -> float:
    """Evaluations a second, with the copies, by threads in turn."""

    def run(engine: CudaEngine) -> int:
        planes = np.zeros((batch, 2, 6, 7), np.float32)
        engine.run(planes)
        count, deadline = 0, time.perf_counter() + seconds
        while time.perf_counter() < deadline:
            engine.run(planes)
            count += batch
        return count

    with ThreadPoolExecutor(len(engines)) as threads:
        return sum(threads.map(run, engines)) / seconds


def self_play(workers: list[SelfPlay], moves: int) -> float:
    """Simulations a second over so many moves of every game."""

    def run(worker: SelfPlay) -> None:
        for _ in range(moves):
            worker._step(SIMULATIONS)
        worker._take_known()

    with ThreadPoolExecutor(len(workers)) as threads:
        list(threads.map(run, workers))
        before, began = sum(worker.simulations for worker in workers), time.perf_counter()
        list(threads.map(run, workers))
        return (sum(worker.simulations for worker in workers) - before) / (time.perf_counter() - began)


def main() -> None:
    compiled = "--compiled" in sys.argv
    logging.disable()
    game = ludus.make("connect4").compile()
    print(
        f"{torch.cuda.get_device_name()}, {cores()} cores, torch {torch.__version__}, compiled: {compiled}", flush=True
    )
    network = make_network("residual", sizes_of(game), blocks=6, width=64)
    config = with_settings(Config(), {"simulations": SIMULATIONS, "considered": 7})
    for games, forests in itertools.product((1024, 4096, 16384), FORESTS):
        engines = [CudaEngine(compiled) for _ in range(forests)]
        for engine in engines:
            engine.load(network)
            engine.run(np.zeros((games // forests, 2, 6, 7), np.float32))
        alone = network_alone(engines, games // forests, 1.0)
        threads = max(1, cores() // forests)
        workers = [
            SelfPlay(game, config, NetworkEvaluator(game, engine, threads), games // forests, seed, threads)
            for seed, engine in enumerate(engines)
        ]
        workers[0]._step(2)
        rate = self_play(workers, max(3, 40960 // games))
        print(
            f"{games:6} games in {forests} forests: {rate / 1e6:.2f} million simulations/s, "
            f"the network alone {alone / 1e6:.2f} million "
            f"evaluations/s: {100 * rate / alone:.0f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
