"""The learner: gradient steps on rows of the replay window, and the averaged weights that play."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ludus.errors import LudusError
from ludus.gpu.steps import GraphedSteps
from ludus.nets.samples import PlaneSampler, make_sampler, to_device

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config
    from ludus.training.replay import Window


class Losses(NamedTuple):
    """Means over the steps of one round of learning."""

    policy: float
    value: float
    gradient: float
    """The norm before clipping."""


class NotANumber(LudusError):
    """The loss or the weights stopped being numbers; the learner holds the last good weights."""


class Learner:
    """Owns the network that learns, its optimiser, and the averaged copy that plays.

    On a CPU a step is shared among threads that each run a copy of the network on a part of the batch. Within an
    operation nothing runs in parallel: threads that wait for each other in every operation lose most of their speed as
    soon as somebody else uses one of the cores. On a card a step is one CUDA graph (see card.py).
    """

    def __init__(self, game: Game, network: Any, config: Config, device: str = "cpu", threads: int = 1):
        self.config, self.device = config, torch.device(device)
        self.network = network.to(self.device)
        if network.sizes.observation and len(network.sizes.observation) == 3:
            self.network = self.network.to(memory_format=torch.channels_last)
        self.player = copy.deepcopy(self.network).eval()
        """The running average of the weights."""
        self.sampler = make_sampler(game, config, network)
        on_gpu = device == "cuda" and isinstance(self.sampler, PlaneSampler)
        self.copies = [] if on_gpu else [copy.deepcopy(self.network) for _ in range(threads)]
        decayed = [weight for weight in self.network.parameters() if weight.ndim > 1]
        plain = [weight for weight in self.network.parameters() if weight.ndim <= 1]
        groups = [{"params": decayed, "weight_decay": config.weight_decay}, {"params": plain, "weight_decay": 0.0}]
        rate: Any = torch.tensor(config.learning_rate, device=self.device) if on_gpu else config.learning_rate
        self.optimiser = torch.optim.AdamW(groups, lr=rate, foreach=True, capturable=on_gpu)
        self.card = GraphedSteps(self) if on_gpu else None
        self.steps = 0
        if device == "cpu":
            torch.set_num_threads(1)

    def learn(
        self, window: Window, steps: int, progress: float, choose: np.random.Generator, stop: Callable[[], bool]
    ) -> Losses:
        """So many steps; `progress`, from 0 to 1, is how far the run has come."""
        config = self.config
        falls = config.learning_rate > 0 and config.learning_rate_end > 0
        rate = (
            config.learning_rate * (config.learning_rate_end / config.learning_rate) ** progress
            if falls
            else config.learning_rate
        )
        good = copy.deepcopy(self.network.state_dict())
        if self.card is not None:
            sums, done = self.card.learn(window, steps, rate, choose, stop)
        else:
            sums, done = self._learn_on_threads(window, steps, rate, choose, stop)
        policy, value, gradient = (sums / max(1, done)).tolist()
        if not math.isfinite(policy + value + gradient):
            self.network.load_state_dict(good)
            raise NotANumber(
                f"the loss is no longer a number after {self.steps} steps (policy {policy}, value {value}); "
                "the weights of the last good round are kept: resume with a smaller rate"
            )
        return Losses(policy, value, gradient)

    def _learn_on_threads(
        self, window: Window, steps: int, rate: float, choose: np.random.Generator, stop: Callable[[], bool]
    ) -> tuple[torch.Tensor, int]:
        """The sums of losses and gradient's norm over so many steps, and how many were done."""
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        for each in self.copies:
            each.train()
        sums = torch.zeros(3, device=self.device)
        done = 0
        with ThreadPoolExecutor(len(self.copies)) as pool:
            while done < steps and not stop():
                sums += self._step(pool, window, choose)
                done += 1
        return sums, done

    def _step(self, pool: ThreadPoolExecutor, window: Window, choose: np.random.Generator) -> torch.Tensor:
        count = len(self.copies)
        shares = np.diff(np.linspace(0, self.config.batch_size, count + 1).round().astype(int)).tolist()
        seeds = choose.integers(0, 1 << 62, count).tolist()
        results = list(pool.map(lambda job: self._share(window, *job), zip(self.copies, shares, seeds, strict=True)))
        self.optimiser.zero_grad(set_to_none=True)
        weights = list(self.network.parameters())
        for k, weight in enumerate(weights):
            weight.grad = torch.stack([gradients[k] for _, gradients in results]).sum(0)
        norm = torch.nn.utils.clip_grad_norm_(weights, self.config.gradient_clip or math.inf)
        self.optimiser.step()
        self._average_statistics()
        self.steps += 1
        self.average(1 - self.kept)
        return torch.cat([torch.stack([losses for losses, _ in results]).sum(0), norm.detach()[None]])

    def _share(self, window: Window, network: Any, rows: int, seed: int) -> tuple[torch.Tensor, Any]:
        """The gradients of one thread's part of the batch, on its copy of the network."""
        with torch.no_grad():
            torch._foreach_copy_(list(network.parameters()), list(self.network.parameters()))
        choose = np.random.default_rng(seed)
        with torch.autocast("cuda", torch.bfloat16, enabled=self.device.type == "cuda"):
            losses = self.sampler.loss(network, to_device(self.sampler.draw(window.rows, rows, choose), self.device))
        policy_loss, value_loss = (loss / self.config.batch_size for loss in losses)
        loss = policy_loss + self.config.value_weight * value_loss
        gradients = torch.autograd.grad(loss, list(network.parameters()))
        return torch.stack([policy_loss.detach(), value_loss.detach()]), gradients

    @torch.no_grad()
    def _average_statistics(self) -> None:
        """What the copies' normalisations saw of the batch becomes one, in them and in the network."""
        buffers = zip(*(each.buffers() for each in self.copies), strict=True)
        for mine, theirs in zip(self.network.buffers(), buffers, strict=True):
            if mine.dtype.is_floating_point:
                mine.copy_(torch.stack(theirs).mean(0))
                for each in theirs:
                    each.copy_(mine)

    @property
    def kept(self) -> float:
        """The part of the average that a step leaves; less at first, when the average is still poor."""
        return min(self.config.ema_decay, self.steps / (self.steps + 10))

    @torch.no_grad()
    def average(self, moved: Any) -> None:
        """Move the playing weights by so much of the way towards the learning ones."""
        mine, theirs = self.player.state_dict(), self.network.state_dict()
        floats = [name for name, weight in mine.items() if weight.dtype.is_floating_point]
        away = torch._foreach_sub([theirs[name] for name in floats], [mine[name] for name in floats])
        torch._foreach_mul_(away, moved)
        torch._foreach_add_([mine[name] for name in floats], away)

    def take(self, network: dict[str, Any], player: dict[str, Any]) -> None:
        """Go on from these weights."""
        self.network.load_state_dict(network)
        self.player.load_state_dict(player)
        for each in self.copies:
            each.load_state_dict(network)
