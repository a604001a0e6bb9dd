"""Graph networks in 8-bit integers: on CPUs with the instructions for it, products of matrices take a quarter of the
time.

Activations are integers from 0 to 127. The size of a step is chosen for each channel, by its range on sample positions
(calibration). A maximum does not depend on the size of a step, so the sizes are multiplied into the weights of the next
layer. Weights are quantised output by output, with the same step for all relations: the products are added up as
integers. The first layer stays in float32.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ludus.nets.checking import mean_difference
from ludus.nets.graph_engine import NativeEngine, Weights

if TYPE_CHECKING:
    from ludus.nets.graph_batches import Graphs

MOST = 127
"""The largest activation, and the largest weight."""


class Int8GraphEngine(NativeEngine):
    """Runs graph networks in integers.

    It runs in float32 until `load` is given graphs to calibrate by. Each time it compares the quantised network with
    float32 on these graphs, and stays in float32 if the answers differ too much.
    """

    @property
    def precision(self) -> str:  # type: ignore[override]
        return "int8" if self.quantised else "float32"

    @property
    def quantised(self) -> bool:
        """True if the network that is loaded runs in integers."""
        return any(weights.rounds for weights in self.layers)

    def load(self, network: Any, calibration: Graphs | None = None) -> None:
        super().load(network)
        if calibration is None or not torch.backends.mkldnn.is_available():  # whose products of integers are fast
            return
        exact, answers = list(self.layers), self.run(calibration)
        nodes = len(calibration.features)
        steps = [step_sizes(x[:nodes]) for _, x in self.activations(calibration)[:-1]]
        self.layers[:] = quantised(exact, steps)
        if not mean_difference(network, calibration, answers, self.run(calibration)) <= network.tolerance:
            self.layers[:] = exact


def step_sizes(x: np.ndarray) -> np.ndarray:
    """The sizes of the steps, float32 [H], in which activations x [N, H] from 0 on fit into integers."""
    return np.maximum(x.max(0), 1e-6).astype(np.float32) / MOST


def quantised(layers: list[Weights], steps: list[np.ndarray]) -> list[Weights]:
    """Layers in integers, whose activations have steps of these sizes, one array for each layer but the last."""
    first = layers[0]
    made = [_rounding(first, first.scales, steps[0])]
    for weights, (before, after) in zip(layers[1:], itertools.pairwise([*steps, None]), strict=True):
        assert before is not None
        parts = [part * torch.from_numpy(before)[:, None] for part in (weights.own, *weights.others)]
        sizes = torch.stack([part.abs().amax(0) for part in parts]).amax(0).clamp(min=1e-10) / MOST
        own, *others = ((part / sizes).round().to(torch.int8) for part in parts)
        integers = weights._replace(own=own, others=others, scales=sizes.numpy())
        made.append(integers if after is None else _rounding(integers, integers.scales, after))
    return made


def _rounding(weights: Weights, scales: np.ndarray, steps: np.ndarray) -> Weights:
    """A layer whose outputs are rounded to integers; its results are sums * scales + offsets, in steps of this size."""
    return weights._replace(
        scales=scales / steps, offsets=weights.offsets / steps + np.float32(0.5), high=np.float32(MOST), rounds=True
    )
