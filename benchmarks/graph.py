"""The speed of graph networks: python -m benchmarks.graph FOLDER (about fifteen minutes), or on a GPU: ... gpu

FOLDER is a checkout of another version. Both versions run the recipe etazero-sevn (Sevn with base 7, 7 layers from 64
channels on, 200 simulations a move) in processes of their own, in turn; medians and the median of the ratios are
printed. Only names that both versions have are used.

The last lines say how far the network is from the speed of its products of matrices.

With `gpu`, the trial of the GPU's kernels is made first. Then follow how far the answers are from float32, rounds of
searches (see gpu_rounds.py), self-play of many games, and the learner.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Table

ROUNDS = {"preflight": 3, "recipe": 2}
"""How often each version is measured."""
HERE = Path(__file__).parent.parent
GAMES = {"preflight": 128, "recipe": 64}
"""Games side by side."""
SETTINGS = {"network": "graph", "blocks": 7, "width": 64, "search": "puct", "c_puct": 3.0, "noise_weight": 0.0}
"""The settings of the recipe that matter for its speed, with those below."""
MORE = {"simulations": 200, "outcome_fraction": 1.0}
GAMES_ON_GPU, MOVES, STEPS, GPU_BATCH = 4096, 4, 200, 2048


def preflight() -> dict[str, float]:
    """What the preflight of the recipe finds: positions near the start of the game, an untrained network."""
    import ludus
    from ludus.runs.config import Config, with_settings
    from ludus.training import preflight

    preflight.SECONDS = 4.0
    settings = {**SETTINGS, **MORE, "parallel_games": GAMES["preflight"]}
    found = preflight.measure(ludus.make("sevn", base=7), with_settings(Config(), settings))
    return {
        "network alone, evaluations/s": found.evaluations,
        "self-play, simulations/s": found.simulations,
        "learner, rows/s": found.learned,
    }


def recipe() -> dict[str, float]:
    """A training from its start until the first games are over and learned from.

    A row is learned from several times, so a training makes fewer rows per second than its learner takes.
    """
    import ludus

    games = GAMES["recipe"]
    settings = {"parallel_games": games, "iteration_rows": 32 * games, "rating_games": 0, "seed": 1}
    with tempfile.TemporaryDirectory() as folder:
        run = ludus.train(recipe="etazero-sevn", games=games, run=Path(folder, "run"), settings=settings)
        lines = run.log()
    played, learned = (sum(line[name] for line in lines) for name in ("play_seconds", "learn_seconds"))
    rows = lines[-1]["rows"]
    return {
        "the recipe, rows/s of self-play": rows / played,
        "the recipe, rows/s of learning": sum(line["rows_per_second"] * line["learn_seconds"] for line in lines)
        / learned,
        "the recipe, rows/s of the whole training": rows / (played + learned),
    }


MEASUREMENTS = {"preflight": preflight, "recipe": recipe}


def measure(folder: Path, what: str) -> dict[str, float]:
    """A measurement by the version in a folder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(HERE)])}
    command = [sys.executable, "-P", "-m", "benchmarks.graph", "--measure", what]  # -P: not the folder's benchmarks
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def limit(report: Table) -> None:
    """The multiplications of the network on positions of random games, and how fast this machine does them."""
    import torch

    import ludus
    from ludus.nets.calibrating import sample_positions
    from ludus.nets.families import FAMILIES, make_network
    from ludus.nets.relations import slots_of

    torch.set_num_threads(1)
    game = ludus.make("sevn", base=7).compile()
    network = make_network("graph", game, blocks=7, width=64)
    for name in ("native", "int8"):
        evaluator = FAMILIES["graph"].make_evaluator(game, FAMILIES["graph"].make_engine(name))
        graphs = evaluator.see(*sample_positions(game, 64))
        evaluator.load(network, graphs)
        rows = len(graphs.features) + len(slots_of(graphs.starts, graphs.sources).nodes)
        layers = (*network.layers, network.last)
        needed = rows / 64 * sum(layer.own.in_features * layer.own.out_features for layer in layers)
        kind, multiply = (torch.float32, torch.mm) if name == "native" else (torch.int8, torch._int_mm)
        one, other = torch.ones(4096, 64, dtype=kind), torch.ones(64, 64, dtype=kind)
        best = _seconds(lambda one=one, other=other, multiply=multiply: multiply(one, other)) / (4096 * 64 * 64)
        taken = _seconds(lambda evaluator=evaluator, graphs=graphs: evaluator.engine.run(graphs)) / 64
        figure = f"{1e6 * taken:.1f} us a position"
        told = f"{needed / 1e6:.2f} million multiplications alone: {1e6 * best * needed:.1f} us"
        report(f"{name}, batches of 64, one thread", figure, told)


def measure_gpu(report: Table) -> None:
    """The kernels for graphs on this machine's GPU: whether they are right, and how fast they are."""
    import numpy as np
    import torch

    import ludus
    from benchmarks import gpu_rounds
    from ludus.nets.calibrating import sample_positions
    from ludus.nets.engines import TorchEngine
    from ludus.nets.families import make_network
    from ludus.nets.graph_evaluator import GraphEvaluator
    from ludus.nets.graph_trial import why_not
    from ludus.runs.config import Config, with_settings
    from ludus.training.learner import Learner
    from ludus.training.worker import Worker

    game = ludus.make("sevn", base=7).compile()
    problem = why_not(game.spec)
    report("the trial of the kernels", problem or "went well")
    if problem:
        return
    from ludus.gpu.graph_engine import GraphCudaEngine

    network, cpu, engine = make_network("graph", game, blocks=7, width=64), TorchEngine(), GraphCudaEngine()
    cpu.load(network)
    engine.load(network)
    evaluator = GraphEvaluator(game, engine)
    graphs = evaluator.see(*sample_positions(game, 500))
    for what, mine, theirs in zip(("logit", "value"), engine.run(graphs), cpu.run(graphs), strict=True):
        shown = f"of numbers from {theirs.min():.3f} to {theirs.max():.3f}"
        report(f"largest difference of a {what} to float32", f"{np.abs(mine - theirs).max():.4f}", shown)
    for trees in (1024, 4096, 16384):
        gpu_rounds.measure(game, "graph", {"blocks": 7, "width": 64}, trees, 30)
    config = with_settings(Config(), {**SETTINGS, **MORE, "batch_size": GPU_BATCH})
    worker = Worker(game, config, evaluator, GAMES_ON_GPU, 0)
    worker.play_move(config.simulations)
    before, began = worker.simulations, time.perf_counter()
    for _ in range(MOVES):
        worker.play_move(config.simulations)
    taken = time.perf_counter() - began
    where = "trees on the GPU" if worker.forest.on_gpu else f"trees on the CPU: {worker.forest.why_not_on_gpu}"
    report(f"self-play of {GAMES_ON_GPU} games, simulations/s", f"{(worker.simulations - before) / taken:,.0f}", where)
    rows = worker.play(20_000, 8)
    learner = Learner(game, network, config, "cuda")
    learner.learn(rows, 10, 0.0, np.random.default_rng(0))
    began = time.perf_counter()
    learner.learn(rows, STEPS, 0.0, np.random.default_rng(1))
    torch.cuda.synchronize()
    speed = STEPS * GPU_BATCH / (time.perf_counter() - began)
    report("learner, rows/s", f"{speed:,.0f}", f"{len(learner.stepper.captured)} shapes of samples")


def _seconds(work) -> float:
    """The shortest of several times that `work` takes, in seconds of this thread."""
    times = []
    for _ in range(30):
        began = time.thread_time()
        work()
        times.append(time.thread_time() - began)
    return min(times)


def main() -> None:
    report = Table()
    if sys.argv[1] == "gpu":
        measure_gpu(report)
        report.finish("python -m benchmarks.graph gpu")
        return
    other = Path(sys.argv[1]).resolve()
    for what in MEASUREMENTS:
        rounds = [[measure(folder, what) for folder in (HERE, other)] for _ in range(ROUNDS[what])]
        for figure in rounds[0][0]:
            pairs = [(mine[figure], theirs[figure]) for mine, theirs in rounds]
            ours, before = (statistics.median(side) for side in zip(*pairs, strict=True))
            ratios = sorted(mine / theirs for mine, theirs in pairs)
            shown = f"{statistics.median(ratios):.1f} times {before:,.0f} (from {ratios[0]:.1f} to {ratios[-1]:.1f})"
            report(figure, f"{ours:,.0f}", shown)
    limit(report)
    report.finish(f"python -m benchmarks.graph {other.name}")


if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(MEASUREMENTS[sys.argv[-1]]()))
    else:
        main()
