"""The kernels for graphs on a GPU, tried before they are used, and compared with PyTorch on the CPU.

The trial computes a few positions of the game: the network's layers, searches whose trees are on the GPU, and the
learner's steps. It is a process of its own, since a kernel that reads a wrong address ends the use of the GPU by its
process. If it fails, graph networks play on the CPU, and their learner uses PyTorch's own operations on the GPU.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ludus import gpu
from ludus.native import store
from ludus.nets.calibrating import sample_positions
from ludus.nets.engines import TorchEngine
from ludus.nets.graph_batches import GraphBuilder
from ludus.nets.graph_evaluator import GraphEvaluator, list_all_moves
from ludus.nets.graph_samples import GraphSample, GraphSampler
from ludus.nets.samples import Targets
from ludus.registry import remake
from ludus.search.noisy_puct import NoisyPuct
from ludus.spec import GameSpec
from ludus.stopping import NEVER

if TYPE_CHECKING:
    from ludus.game import Game

POSITIONS = 24
SIMULATIONS = 8
APART = 0.1
"""Largest difference, relative to how much the expected numbers differ among themselves. Rounding to bfloat16 makes
about 0.02, of answers and of gradients."""
SECONDS = 300.0
"""The longest time of a trial: on a new machine everything is compiled."""

MARKER = "problem:"
"""What the trial prints before its verdict."""


@functools.cache
def why_not(spec: GameSpec) -> str:
    """Why the GPU does not compute graphs of this game, in one line; empty if it does, or if there is no GPU.

    The trial is made once in a process. One that went well is not repeated on this machine with the same versions.
    """
    if not gpu.is_usable():
        return ""
    told = json.dumps(spec.json(), sort_keys=True)
    entry = f"graph-trial-{hashlib.sha256(f'{_versions()} {told}'.encode()).hexdigest()[:40]}.txt"
    if store.read(entry) is not None:
        return ""
    problem = _run(told)
    if problem:
        from ludus.gpu import relations

        relations.refused = True
        return f"the GPU's kernels for graphs are not used: {problem}"
    store.write(entry, b"went well")
    return ""


def _versions() -> str:
    """A text that changes with the GPU, with PyTorch, and with the code that is tried."""
    files = [file for folder in ("gpu", "nets", "search") for file in Path(__file__).parents[1].glob(f"{folder}/*.py")]
    code = hashlib.sha256(b"".join(file.read_bytes() for file in sorted(files))).hexdigest()
    return f"{torch.cuda.get_device_name()} {torch.__version__} {torch.version.cuda} {code}"


def _run(told: str) -> str:
    """Make the trial in another process; returns the problem, or an empty text."""
    command = [sys.executable, "-P", "-m", "ludus.nets.graph_trial", told]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"their trial did not end ({type(error).__name__})"
    _, marker, problem = done.stdout.rpartition(MARKER)
    if done.returncode == 0 and marker:
        return problem.strip()
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return f"their trial ended with status {done.returncode} ({last[:200]})"


def main() -> None:
    """Try the kernels with the game that the command line gives as JSON, and print the problem, if any."""
    from ludus.gpu.graph_engine import GraphCudaEngine
    from ludus.gpu.steps import GraphedSteps

    try:
        game = remake(GameSpec.from_json(json.loads(sys.argv[1])), trust=True)  # the process that asks plays it already
        problem = find_problem(game, GraphCudaEngine(), GraphedSteps, torch.device("cuda"))
    except Exception as error:  # those of Triton and CUDA may be of any kind
        problem = f"{type(error).__name__}: {str(error).strip()[:200]}".partition("\n")[0]
    print(MARKER, problem)


def find_problem(game: Game, engine: Any, make_steps: Callable[..., Any], device: torch.device) -> str:
    """What an engine, its forest and the learner's steps on a device compute wrongly, or an empty text.

    `make_steps` is gpu.steps.GraphedSteps, or a class with the same fields and methods.
    """
    network = lively_network(game)
    engine.load(network)
    if getattr(engine, "unfused", []):
        return engine.unfused[0]
    reference = GraphEvaluator(game, TorchEngine())
    reference.engine.load(network)
    states, movers = sample_positions(game, POSITIONS)
    graphs = reference.see(states, movers)
    for what, found, expected in zip(
        ("logits", "values"), engine.run(graphs), reference.engine.run(graphs), strict=True
    ):
        if apart(found, expected) > APART:
            return f"the {what} of the network's layers differ by {apart(found, expected):.2f}"
    return compare_trees(game, engine, reference, states) or compare_steps(game, network, make_steps, device)


def lively_network(game: Game) -> Any:
    """A network of the usual size. Its weights are large, so that a wrong answer differs visibly from the right one."""
    from ludus.nets.families import make_network

    torch.manual_seed(0)
    network = make_network("graph", game, blocks=7, width=64)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
        for weight in network.last.parameters():
            weight.mul_(0.1)
    return network.eval()


def apart(found: Any, expected: Any) -> float:
    """How far two arrays are apart, relative to how much the expected numbers differ; infinite if one is NaN."""
    found, expected = (np.asarray(each, np.float64) for each in (found, expected))
    error, spread = (float(np.linalg.norm(each)) for each in (found - expected, expected - expected.mean()))
    difference = error / max(1e-9, spread)
    return difference if np.isfinite(difference) else np.inf


def compare_trees(game: Game, engine: Any, reference: GraphEvaluator, states: np.ndarray) -> str:
    """Compare searches at their roots: the moves' priors, the values, and the number of visits."""
    rule, forests = NoisyPuct(noise=0.0), []
    for evaluator in (GraphEvaluator(game, engine), reference):
        forest: Any = evaluator.make_forest([rule], trees=len(states), nodes=SIMULATIONS + 1, seed=0)
        if forest.why_not_on_gpu:
            return ""  # the rules of this game are not for a GPU: its trees stay on the CPU
        forest.plant(states)
        forest.search(evaluator, simulations=SIMULATIONS)
        forests.append(forest)
    priors: list[list[float]] = [[], []]
    values: list[list[float]] = [[], []]
    for tree in range(len(states)):
        roots = [forest.trees.nodes[forest.trees.root[tree]] for forest in forests]
        if any(root["solved"] for root in roots):  # its search ended early
            continue
        visits = []
        for side, (forest, root) in enumerate(zip(forests, roots, strict=True)):
            edges = forest.trees.edges[root["first"] :][: root["counts"].sum()]
            priors[side].extend(np.abs(edges["prior"]) * len(edges))
            values[side].append(root["value"][0])
            visits.append((len(edges), edges["visits"].sum()))
        if visits[0] != visits[1]:
            return f"a search on the GPU has (moves, visits) = {visits[0]} instead of {visits[1]}"
    for what, (found, expected) in (("priors", priors), ("values", values)):
        if apart(found, expected) > APART:
            return f"the {what} of searches on the GPU differ by {apart(found, expected):.2f}"
    return ""


def compare_steps(game: Game, network: Any, make_steps: Callable[..., Any], device: torch.device) -> str:
    """Compare the losses of the learner's steps and the gradients that its optimiser sees, on samples of two shapes.

    The learning rate is 0, so that all steps have the same weights.
    """
    sampler = _Prepared(game, [make_sample(game, POSITIONS), make_sample(game, 3 * POSITIONS)])
    there = copy.deepcopy(network).to(device)
    rate: Any = torch.zeros((), device=device)
    optimiser = torch.optim.AdamW(there.parameters(), lr=rate, weight_decay=0.0, capturable=device.type == "cuda")
    steps = make_steps(
        networks=[there],
        optimiser=optimiser,
        samplers=[sampler],
        batch_size=POSITIONS,
        value_weight=1.0,
        gradient_clip=0.0,
        count_step=lambda: 0.0,
        average=lambda fraction: None,
    )
    rng, decay, mean = np.random.default_rng(0), optimiser.defaults["betas"][0], torch.zeros(())
    for sample in sampler.samples * steps.warm_up:  # the last steps of either shape are captured
        expected, gradient = losses_of(sampler, network, sample)
        mean = decay * mean + (1 - decay) * gradient
        sums, _ = steps.learn([[None]], 1, lambda: 0.0, rng, NEVER)
        found = [round(each, 4) for each in sums.tolist()]
        if not np.allclose(found, expected, rtol=APART):
            return f"the learner's losses and its gradient's norm are {found} instead of {expected}"
    seen = torch.cat([optimiser.state[weight]["exp_avg"].flatten() for weight in there.parameters()]).cpu()
    return f"the learner's gradients differ by {apart(seen, mean):.2f}" if apart(seen, mean) > APART else ""


def losses_of(sampler: GraphSampler, network: Any, sample: GraphSample) -> tuple[list[float], torch.Tensor]:
    """The losses of the policy and the values with the norm of the gradient, and the gradient, by PyTorch."""
    policy, value = (loss / POSITIONS for loss in sampler.loss(network, sample))
    gradients = torch.autograd.grad(policy + value, list(network.parameters()))
    whole = torch.cat([each.flatten() for each in gradients])
    return [round(each.item(), 4) for each in (policy, value, whole.norm())], whole


def make_sample(game: Game, count: int) -> GraphSample:
    """Positions of random games with random targets."""
    states, movers = sample_positions(game, count)
    actions, counts = np.zeros((count, game.most_legal), np.int32), np.zeros(count, np.int32)
    list_all_moves(game.rules, states, movers, actions, counts)
    graphs = GraphBuilder(game).build(states, movers, actions, counts, rounded=True)
    rng = np.random.default_rng(count)
    policy = np.full((count, counts.max()), -1.0, np.float32)
    for row, moves in zip(policy, counts, strict=True):
        row[:moves] = rng.dirichlet(np.ones(moves))
    values = rng.uniform(-1, 1, (count, 1)).astype(np.float32)
    return GraphSample(*map(torch.from_numpy, (*graphs, policy, values, np.ones(count, np.float32))))


class _Prepared(GraphSampler):
    """Gives prepared samples in turn."""

    def __init__(self, game: Game, samples: list[GraphSample]):
        super().__init__(game, Targets(), 1)
        self.samples = samples
        self._next: Iterator[GraphSample] = itertools.cycle(samples)

    def draw(self, rows: Any, count: int, rng: np.random.Generator) -> GraphSample:
        return next(self._next)


if __name__ == "__main__":
    main()
