"""The learner: gradient steps on rows of the replay window, and the averaged weights that play."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ludus import gpu
from ludus.errors import LudusError
from ludus.nets.families import family_of
from ludus.nets.samples import Targets
from ludus.nets.sharing import share_weights
from ludus.stopping import NEVER, Stop
from ludus.training.averaging import move_all
from ludus.training.precision import can_use_bfloat16
from ludus.training.state import State, with_prefix
from ludus.training.steps import ThreadedSteps

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ludus.game import Game
    from ludus.gpu.steps import GraphedSteps
    from ludus.nets.rows import Rows
    from ludus.runs.config import Config


class Losses(NamedTuple):
    """Means over the steps of one round of learning."""

    policy: float
    value: float
    gradient: float
    """The norm of the gradient before clipping."""


class NotANumber(LudusError):
    """The loss or the weights stopped being numbers; the learner holds the last good weights."""


class Learner:
    """The network that learns, its optimiser, and the averaged weights that play."""

    def __init__(
        self,
        game: Game,
        network: Any,
        config: Config,
        device: str = "cpu",
        threads: int = 1,
        further: Sequence[Game] = (),
    ):
        """`further` are games of other board sizes, whose rows are learned by the same weights (see boards.py)."""
        self.config, self.device = config, torch.device(device)
        self.network = self._placed(network)
        networks = [self.network]
        networks += [share_weights(self._placed(config.make_network(each)), self.network) for each in further]
        self.player = copy.deepcopy(self.network).eval()
        """The exponential moving average of the weights."""
        self.steps = 0
        """Steps taken since the run began."""
        targets = Targets(
            config.outcome_fraction,
            config.augment,
            config.soft_policy_weight,
            config.reply_policy_weight,
            network.sizes.shared_view,
        )
        make_sampler, outputs = family_of(network).make_sampler, network.sizes.outputs
        self.samplers = [make_sampler(each, targets, outputs) for each in (game, *further)]
        """For each board, what turns its rows into the network's input."""
        graphed = device == "cuda" and self.samplers[0].fixed_shape
        rate: Any = torch.tensor(config.learning_rate, device=self.device) if graphed else config.learning_rate
        self.optimiser = torch.optim.AdamW(self._groups(), lr=rate, foreach=True, capturable=graphed)
        shared: dict[str, Any] = {
            "networks": networks,
            "optimiser": self.optimiser,
            "samplers": self.samplers,
            "batch_size": config.batch_size,
            "value_weight": config.value_weight,
            "gradient_clip": config.gradient_clip,
            "count_step": self._count_step,
            "average": self._average,
        }
        self.stepper: ThreadedSteps | GraphedSteps
        if graphed:
            from ludus.gpu.steps import GraphedSteps

            self.stepper = GraphedSteps(**shared)
        else:
            bfloat16 = device == "cuda" or (config.learner_precision == "bfloat16" and can_use_bfloat16())
            self.stepper = ThreadedSteps(**shared, device=self.device, threads=threads, bfloat16=bfloat16)
        if device == "cpu":
            torch.set_num_threads(1)  # see steps.py

    def _placed(self, network: Any) -> Any:
        """The network in the memory of the device, with the order of numbers there that is fastest."""
        boards = network.sizes.observation and len(network.sizes.observation) == 3
        return network.to(self.device, memory_format=torch.channels_last) if boards else network.to(self.device)

    def _groups(self) -> list[dict[str, Any]]:
        """The parameters in two groups: weight decay is for matrices and filters only."""
        weights = list(self.network.parameters())
        return [
            {"params": [each for each in weights if each.ndim > 1], "weight_decay": self.config.weight_decay},
            {"params": [each for each in weights if each.ndim <= 1], "weight_decay": 0.0},
        ]

    def learn(
        self, rows: Rows | list[Rows], steps: int, progress: float, rng: np.random.Generator, stop: Stop = NEVER
    ) -> Losses:
        """Take `steps` gradient steps on random rows, fewer if stopped. `progress` of the run: 0 to 1.

        `rows` are those of the only board, or a list of those of each board.
        """
        good = copy.deepcopy(self.network.state_dict())
        windows = rows if isinstance(rows, list) else [rows]
        sums, done = self.stepper.learn(windows, steps, lambda: self.learning_rate(progress), rng, stop)
        policy, value, gradient = (sums / max(1, done)).tolist()
        if not math.isfinite(policy + value + gradient):
            self.network.load_state_dict(good)
            raise NotANumber(
                f"the loss is no longer a number after {self.steps} steps (policy {policy}, value {value}); "
                "the weights of the last good round are kept: resume with a smaller rate"
            )
        return Losses(policy, value, gradient)

    def learning_rate(self, progress: float) -> float:
        """The learning rate of the next step: it rises over the warm-up, and falls geometrically with the progress.

        Without a warm-up, the first steps of AdamW move all weights of a hidden unit the same way. In value heads with
        many inputs most units then are 0 for every position, and never learn again (docs/methods.md).
        """
        first, last = self.config.learning_rate, self.config.learning_rate_end
        rate = first * (last / first) ** progress if first > 0 and last > 0 else first
        return rate * min(1.0, (self.steps + 1) / max(1, self.config.warmup_steps))

    def _count_step(self) -> float:
        """Count a step, and return how far it moves the average: further at first, when the average is still poor."""
        self.steps += 1
        return 1 - min(self.config.ema_decay, self.steps / (self.steps + 10))

    def _average(self, fraction: Any) -> None:
        """Move the averaged weights by this fraction of the way towards the network's."""
        mine, theirs = self.player.state_dict(), self.network.state_dict()
        floats = [name for name, weight in mine.items() if weight.dtype.is_floating_point]
        move_all([mine[name] for name in floats], [theirs[name] for name in floats], fraction)

    # --- state --------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """The network, the optimiser and PyTorch's random state; the averaged weights are saved by the gate."""
        tensors = with_prefix("network.", self.network.state_dict())
        for index, moments in self.optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{name}": torch.as_tensor(value) for name, value in moments.items()}
        return State(tensors={**tensors, "torch": torch.get_rng_state()}, facts={"steps": self.steps})

    def restore(self, state: State) -> None:
        weights = state.tensors_of("network.")
        self.network.load_state_dict(weights)
        self.stepper.load(weights)
        moments: dict[int, dict[str, Any]] = {}
        for name, value in state.tensors_of("optimiser.").items():
            index, _, key = name.partition(".")
            moments.setdefault(int(index), {})[key] = value
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": moments})
        torch.set_rng_state(state.tensors["torch"])
        self.steps = state.facts["steps"]


def learner_device(config: Config) -> str:
    """Where the learner works: on a GPU if self-play may use one."""
    return "cuda" if config.engine in ("auto", "cuda") and gpu.is_usable() else "cpu"
