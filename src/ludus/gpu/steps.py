"""The learner's steps on a GPU: each is one CUDA graph, and the rows of the next one are drawn meanwhile.

A step is some hundreds of small kernels. To launch them one by one takes several times as long as they run, and holds
the interpreter's lock, which the threads of self-play need.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ludus.gpu.engine import CAPTURING
from ludus.rng import pick_filled

if TYPE_CHECKING:
    from ludus.stopping import Stop

DRAWERS = 2
"""Threads that draw the rows of the next steps."""
WARM_UP = 3
"""Steps before the graph is captured: they allocate the memory that it uses."""


@dataclass
class GraphedSteps:
    """Gradient steps of a network that is on the GPU. The shapes of samples must not vary much: each is captured."""

    networks: list[Any]
    """The network, then those of further boards, which share its weights."""
    optimiser: torch.optim.Optimizer
    """It is capturable, and its learning rates are tensors."""
    samplers: list[Any]
    """For each board, a nets.samples.Sampler."""
    batch_size: int
    value_weight: float
    gradient_clip: float
    """Largest norm of the gradient; 0 disables clipping."""
    count_step: Callable[[], float]
    """Counts a step, and returns how far it moves the averaged weights towards the network's."""
    average: Callable[[Any], None]
    """Moves the averaged weights by this part of the way."""

    def __post_init__(self) -> None:
        self.stream = torch.cuda.Stream()
        self.captured: dict[Any, tuple[Any, torch.cuda.CUDAGraph]] = {}
        """For each board and shape of samples, the GPU's memory for the rows of a step, and the step."""
        self.pools: list[Any] = [None for _ in self.networks]
        """For each board, the memory that all its steps use in turn."""
        self.taken = [0 for _ in self.networks]
        """For each board, the number of steps."""
        self.moved = torch.zeros((), device="cuda")
        """How far this step moves the averaged weights."""
        self.result = torch.zeros(3, device="cuda")
        """The losses of a step and the norm of its gradient."""

    warm_up = WARM_UP + 1
    """The number of steps to take before steps can be timed."""

    def load(self, weights: dict[str, Any]) -> None:
        """Called when the network's weights were replaced. The graph reads them where they are."""

    def learn(
        self, windows: Any, steps: int, rate: Callable[[], float], rng: np.random.Generator, stop: Stop
    ) -> tuple[torch.Tensor, int]:
        """Take `steps` steps, fewer if stopped; returns the sums of losses and gradient norms [3], and the steps.

        Each step takes rows from one of the windows, of which there is one for each board. `rate` gives the learning
        rate of the next step.
        """
        done = 0
        if not steps:
            return torch.zeros(3), done
        for each in self.networks:
            each.train()
        with CAPTURING:  # others may have used the weights
            torch.cuda.synchronize()

        ahead: deque[tuple[int, Future[Any]]] = deque()

        def draw(board: int, seed: int) -> Any:
            return self.samplers[board].draw(windows[board], self.batch_size, np.random.default_rng(seed))

        with ThreadPoolExecutor(DRAWERS) as drawers, torch.cuda.stream(self.stream):
            sums = torch.zeros(3, device="cuda")
            while done < steps and not stop.is_set():
                while len(ahead) < min(DRAWERS, steps - done):
                    board = pick_filled([len(rows) for rows in windows], rng)
                    ahead.append((board, drawers.submit(draw, board, int(rng.integers(0, 1 << 62)))))
                board, drawn = ahead.popleft()
                sample = drawn.result()
                done += 1
                for group in self.optimiser.param_groups:
                    group["lr"].fill_(rate())
                self._step(board, sample)
                sums += self.result
            self.stream.synchronize()
        return sums, done

    def _step(self, board: int, sample: Any) -> None:
        self.moved.fill_(self.count_step())
        self.taken[board] += 1
        if self.taken[board] <= WARM_UP:
            self._compute(board, sample.to(torch.device("cuda")))
            return
        key = board, *(each.shape for each in sample)
        if key not in self.captured:
            self.captured[key] = self._capture(board, sample.to(torch.device("cuda")))
        there, graph = self.captured[key]
        for mine, theirs in zip(there, sample, strict=True):
            mine.copy_(theirs)
        graph.replay()

    def _capture(self, board: int, sample: Any) -> tuple[Any, torch.cuda.CUDAGraph]:
        """A step on samples with the shapes of this one, which is in the GPU's memory, as a graph."""
        graph = torch.cuda.CUDAGraph()
        options: Any = {"stream": self.stream, "pool": self.pools[board], "capture_error_mode": "thread_local"}
        with CAPTURING, torch.cuda.graph(graph, **options):
            self._compute(board, sample)
        self.pools[board] = graph.pool()
        return sample, graph

    def _compute(self, board: int, sample: Any) -> None:
        network = self.networks[board]
        weights = list(network.parameters())
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            losses = self.samplers[board].loss(network, sample)
        policy, value = (loss / self.batch_size for loss in losses)
        gradients = torch.autograd.grad(policy + self.value_weight * value, weights)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient
        norm = torch.nn.utils.clip_grad_norm_(weights, self.gradient_clip or torch.inf)
        self.optimiser.step()
        self.average(self.moved)
        self.result.copy_(torch.stack([policy.detach(), value.detach(), norm.detach()]))
