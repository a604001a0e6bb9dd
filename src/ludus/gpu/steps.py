"""The learner's steps on a GPU: each is one CUDA graph, and the rows of the next one are drawn meanwhile.

A step is some hundreds of small kernels: to launch them one by one takes several times as long as they run, and keeps
the interpreter from the threads that play.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import torch

from ludus.gpu.engine import CAPTURING
from ludus.nets.samples import PlaneSampler, Sample, to_device

if TYPE_CHECKING:
    from ludus.training.learner import Learner
    from ludus.training.replay import Window

WARM = 3
"""Steps before the graph is captured: they make what it needs to have in memory."""


class GraphedSteps:
    """Steps of a learner whose network is on the card."""

    def __init__(self, learner: Learner):
        assert isinstance(learner.sampler, PlaneSampler)  # graphs differ in size from step to step
        self.learner, self.sampler = learner, learner.sampler
        self.stream = torch.cuda.Stream()
        self.graph: torch.cuda.CUDAGraph | None = None
        self.sample: Sample | None = None
        """Where every step finds its rows."""
        self.taken = 0
        self.moved = torch.zeros((), device="cuda")
        """How far this step moves the averaged weights."""
        self.result = torch.zeros(3, device="cuda")
        """Losses and norm of the gradient."""

    def learn(
        self, window: Window, steps: int, rate: float, choose: np.random.Generator, stop: Callable[[], bool]
    ) -> tuple[torch.Tensor, int]:
        """The sums of losses and gradient's norm over so many steps, and how many were done."""
        learner = self.learner
        done = 0
        if not steps:
            return torch.zeros(3), done
        learner.network.train()
        with CAPTURING:  # whatever others did with the weights
            torch.cuda.synchronize()

        def draw() -> Sample:
            seed = int(choose.integers(0, 1 << 62))
            return self.sampler.draw(window.rows, learner.config.batch_size, np.random.default_rng(seed))

        with ThreadPoolExecutor(1) as drawer, torch.cuda.stream(self.stream):
            sums = torch.zeros(3, device="cuda")
            for group in learner.optimiser.param_groups:
                group["lr"].fill_(rate)
            ahead: Future[Sample] | None = drawer.submit(draw)
            while ahead is not None and not stop():
                sample = ahead.result()
                done += 1
                ahead = drawer.submit(draw) if done < steps else None
                self._step(sample)
                sums += self.result
            self.stream.synchronize()
        return sums, done

    def _step(self, sample: Sample) -> None:
        learner = self.learner
        if self.sample is None:
            self.sample = to_device(sample, learner.device)
        for mine, theirs in zip(self.sample, sample, strict=True):
            mine.copy_(theirs)
        learner.steps += 1
        self.moved.fill_(1 - learner.kept)
        self.taken += 1
        if self.taken <= WARM:
            self._compute(self.sample)
            return
        if self.graph is None:
            graph = torch.cuda.CUDAGraph()
            with CAPTURING, torch.cuda.graph(graph, stream=self.stream, capture_error_mode="thread_local"):
                self._compute(self.sample)
            self.graph = graph
        self.graph.replay()

    def _compute(self, sample: Sample) -> None:
        learner, config = self.learner, self.learner.config
        weights = list(learner.network.parameters())
        with torch.autocast("cuda", torch.bfloat16, cache_enabled=False):
            losses = self.sampler.loss(learner.network, sample)
        policy, value = (loss / config.batch_size for loss in losses)
        gradients = torch.autograd.grad(policy + config.value_weight * value, weights)
        for weight, gradient in zip(weights, gradients, strict=True):
            weight.grad = gradient
        norm = torch.nn.utils.clip_grad_norm_(weights, config.gradient_clip or torch.inf)
        learner.optimiser.step()
        learner.average(self.moved)
        self.result.copy_(torch.stack([policy.detach(), value.detach(), norm.detach()]))
