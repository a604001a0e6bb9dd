"""The learner's steps on the CPU: each is shared among threads that run a copy of the network on a part of the batch.

No operation is parallel within itself: threads that wait for each other in every operation lose most of their speed as
soon as another process uses one of the cores.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ludus.rng import pick_filled
from ludus.training.averaging import copy_all

if TYPE_CHECKING:
    from ludus.nets.rows import Rows
    from ludus.nets.samples import Sampler
    from ludus.stopping import Stop


@dataclass
class ThreadedSteps:
    """Gradient steps of a network, on `threads` threads; the fields are those of gpu.steps.GraphedSteps."""

    networks: list[Any]
    """The network, then those of further boards, which share its weights."""
    optimiser: torch.optim.Optimizer
    samplers: list[Sampler]
    """For each board."""
    batch_size: int
    value_weight: float
    gradient_clip: float
    count_step: Callable[[], float]
    average: Callable[[Any], None]
    device: torch.device
    threads: int = 1
    bfloat16: bool = False
    """True to multiply in bfloat16; weights and sums stay float32."""

    warm_up = 2
    """The number of steps to take before steps can be timed."""

    def __post_init__(self) -> None:
        self.network = self.networks[0]
        self.copies = [copy.deepcopy(self.networks) for _ in range(self.threads)]
        """For each thread, a copy of the network, and of those of further boards."""

    def load(self, weights: dict[str, Any]) -> None:
        """Called when the network's weights were replaced, with the new ones."""
        for each in self.copies:
            each[0].load_state_dict(weights)

    def learn(
        self, windows: Sequence[Rows], steps: int, rate: Callable[[], float], rng: np.random.Generator, stop: Stop
    ) -> tuple[torch.Tensor, int]:
        """Take `steps` steps, fewer if stopped; returns the sums of losses and gradient norms [3], and the steps.

        Each step takes rows from one of the windows, of which there is one for each board. `rate` gives the learning
        rate of the next step.
        """
        for each in itertools.chain(*self.copies):
            each.train()
        sums = torch.zeros(3, device=self.device)
        done = 0
        with ThreadPoolExecutor(len(self.copies)) as pool:
            while done < steps and not stop.is_set():
                for group in self.optimiser.param_groups:
                    group["lr"] = rate()
                board = pick_filled([len(rows) for rows in windows], rng)
                sums += self._step(pool, board, windows[board], rng)
                done += 1
        return sums, done

    def _step(self, pool: ThreadPoolExecutor, board: int, rows: Rows, rng: np.random.Generator) -> torch.Tensor:
        count = len(self.copies)
        shares = np.diff(np.linspace(0, self.batch_size, count + 1).round().astype(int)).tolist()
        seeds = rng.integers(0, 1 << 62, count).tolist()
        networks = [each[board] for each in self.copies]
        jobs = zip(networks, shares, seeds, strict=True)
        results = list(pool.map(lambda job: self._gradients(self.samplers[board], rows, *job), jobs))
        self.optimiser.zero_grad(set_to_none=True)
        weights = list(self.network.parameters())
        for k, weight in enumerate(weights):
            weight.grad = torch.stack([gradients[k] for _, gradients in results]).sum(0)
        norm = torch.nn.utils.clip_grad_norm_(weights, self.gradient_clip or math.inf)
        self.optimiser.step()
        self._average_statistics()
        self.average(self.count_step())
        return torch.cat([torch.stack([losses for losses, _ in results]).sum(0), norm.detach()[None]])

    def _gradients(self, sampler: Sampler, rows: Rows, network: Any, count: int, seed: int) -> tuple[torch.Tensor, Any]:
        """The losses and gradients of one thread's part of the batch, on its copy of the network."""
        copy_all(list(network.parameters()), list(self.network.parameters()))
        rng = np.random.default_rng(seed)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bfloat16):
            losses = sampler.loss(network, sampler.draw(rows, count, rng).to(self.device))
        policy_loss, value_loss = (loss / self.batch_size for loss in losses)
        loss = policy_loss + self.value_weight * value_loss
        gradients = torch.autograd.grad(loss, list(network.parameters()))
        return torch.stack([policy_loss.detach(), value_loss.detach()]), gradients

    @torch.no_grad()
    def _average_statistics(self) -> None:
        """Give the network and its copies the mean of the copies' batch norm statistics."""
        buffers = zip(*(each[0].buffers() for each in self.copies), strict=True)
        for mine, theirs in zip(self.network.buffers(), buffers, strict=True):
            if mine.dtype.is_floating_point:
                mine.copy_(torch.stack(theirs).mean(0))
                for each in theirs:
                    each.copy_(mine)
