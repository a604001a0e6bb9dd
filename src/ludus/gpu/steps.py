"""The learner's steps on a GPU: each is one CUDA graph, and the rows of the next one are drawn meanwhile.

A step is some hundreds of small kernels. To launch them one by one takes several times as long as they run, and holds
the interpreter's lock, which the threads of self-play need.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ludus.gpu.engine import CAPTURING

if TYPE_CHECKING:
    from ludus.stopping import Stop

WARM_UP = 3
"""Steps before the graph is captured: they allocate the memory that it uses."""


@dataclass
class GraphedSteps:
    """Gradient steps of a network that is on the GPU. All samples must have the same shapes."""

    network: Any
    optimiser: torch.optim.Optimizer
    """It is capturable, and its learning rates are tensors."""
    sampler: Any
    """A nets.samples.Sampler."""
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
        self.graph: torch.cuda.CUDAGraph | None = None
        self.sample: Any = None
        """The GPU's memory for the rows of each step."""
        self.taken = 0
        self.moved = torch.zeros((), device="cuda")
        """How far this step moves the averaged weights."""
        self.result = torch.zeros(3, device="cuda")
        """The losses of a step and the norm of its gradient."""

    warm_up = WARM_UP + 1
    """The number of steps to take before steps can be timed."""

    def load(self, weights: dict[str, Any]) -> None:
        """Called when the network's weights were replaced. The graph reads them where they are."""

    def learn(
        self, rows: Any, steps: int, rate: Callable[[], float], rng: np.random.Generator, stop: Stop
    ) -> tuple[torch.Tensor, int]:
        """Take `steps` steps, fewer if stopped; returns the sums of losses and gradient norms [3], and the steps.

        `rate` gives the learning rate of the next step.
        """
        done = 0
        if not steps:
            return torch.zeros(3), done
        self.network.train()
        with CAPTURING:  # others may have used the weights
            torch.cuda.synchronize()

        def draw() -> Any:
            seed = int(rng.integers(0, 1 << 62))
            return self.sampler.draw(rows, self.batch_size, np.random.default_rng(seed))

        with ThreadPoolExecutor(1) as drawer, torch.cuda.stream(self.stream):
            sums = torch.zeros(3, device="cuda")
            ahead: Future[Any] | None = drawer.submit(draw)
            while ahead is not None and not stop.is_set():
                sample = ahead.result()
                done += 1
                ahead = drawer.submit(draw) if done < steps else None
                for group in self.optimiser.param_groups:
                    group["lr"].fill_(rate())
                self._step(sample)
                sums += self.result
            self.stream.synchronize()
        return sums, done

    def _step(self, sample: Any) -> None:
        if self.sample is None:
            self.sample = sample.to(torch.device("cuda"))
        for mine, theirs in zip(self.sample, sample, strict=True):
            mine.copy_(theirs)
        self.moved.fill_(self.count_step())
        self.taken += 1
        if self.taken <= WARM_UP:
            self._compute(self.sample)
            return
        if self.graph is None:
            graph = torch.cuda.CUDAGraph()
            with CAPTURING, torch.cuda.graph(graph, stream=self.stream, capture_error_mode="thread_local"):
                self._compute(self.sample)
            self.graph = graph
        self.graph.replay()

    def _compute(self, sample: Any) -> None:
        weights = list(self.network.parameters())
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            losses = self.sampler.loss(self.network, sample)
        policy, value = (loss / self.batch_size for loss in losses)
        gradients = torch.autograd.grad(policy + self.value_weight * value, weights)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient
        norm = torch.nn.utils.clip_grad_norm_(weights, self.gradient_clip or torch.inf)
        self.optimiser.step()
        self.average(self.moved)
        self.result.copy_(torch.stack([policy.detach(), value.detach(), norm.detach()]))
