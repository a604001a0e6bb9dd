"""PyTorch on an NVIDIA GPU: bfloat16, fixed batch shapes, and one CUDA graph for copy in, network, copy out.

Each engine has its own stream and buffers, so that two forests on two threads take turns: while the card works for one,
the trees of the other grow.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from ludus.errors import Unsuitable

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 64
"""Batches are filled up to a power of two from here on: each size is one captured graph."""


def folded(network: nn.Module) -> nn.Module:
    """A copy for playing, with every normalisation folded into the convolution before it."""
    made = copy.deepcopy(network).eval()
    for module in list(made.modules()):
        if isinstance(module, nn.Sequential):
            for i in range(len(module) - 1):
                first, second = module[i], module[i + 1]
                if isinstance(first, nn.Conv2d) and isinstance(second, nn.BatchNorm2d):
                    module[i], module[i + 1] = fuse_conv_bn_eval(first, second), nn.Identity()
    return made


class CudaEngine:
    """Runs a network on the first GPU."""

    def __init__(self, compiled: bool = False):
        if not torch.cuda.is_available():
            raise Unsuitable("the engine cuda needs an NVIDIA GPU that PyTorch can use; this machine shows none")
        self.compiled = compiled
        self.stream = torch.cuda.Stream()
        self.network: Any = None
        self.graphs: dict[int, _Captured] = {}

    def load(self, network: Any) -> None:
        fresh: Any = folded(network).to("cuda", torch.bfloat16)
        fresh = fresh.to(memory_format=torch.channels_last)
        if self.network is None:
            self.network = fresh
            self.runs = torch.compile(fresh, mode="max-autotune-no-cudagraphs") if self.compiled else fresh
            return
        with torch.no_grad(), torch.cuda.stream(self.stream):  # in place: the captured graphs go on with them
            for mine, theirs in zip(self.network.parameters(), fresh.parameters(), strict=True):
                mine.copy_(theirs)
        self.stream.synchronize()

    def room(self, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """Planes of this shape [K, ...] that `run` need not copy before the card can read them."""
        return self._captured(shape).input.numpy()[: shape[0]]

    def run(self, planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        return self._captured(planes.shape).run(planes)

    def _captured(self, shape: tuple[int, ...]) -> _Captured:
        size = max(SMALLEST, 1 << (shape[0] - 1).bit_length())
        captured = self.graphs.get(size)
        if captured is None:
            captured = self.graphs[size] = _Captured(self.runs, self.stream, (size, *shape[1:]))
        return captured


class _Captured:
    """The network for batches of one size."""

    def __init__(self, network: Any, stream: Any, shape: tuple[int, ...]):
        self.stream = stream
        self.input = torch.zeros(shape, pin_memory=True)
        on_card = torch.zeros(shape, device="cuda")
        shaped: dict[str, Any] = {"memory_format": torch.channels_last} if len(shape) == 4 else {}

        def forward() -> tuple[torch.Tensor, torch.Tensor]:
            on_card.copy_(self.input, non_blocking=True)
            policy, values = network(on_card.to(torch.bfloat16, **shaped))
            return policy.float(), values.float()

        with torch.inference_mode(), torch.cuda.stream(stream):
            for _ in range(3):
                policy, values = forward()
            self.policy = torch.empty(policy.shape, pin_memory=True)
            self.values = torch.empty(values.shape, pin_memory=True)
            stream.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=stream, capture_error_mode="thread_local"):
                policy, values = forward()
                self.policy.copy_(policy, non_blocking=True)
                self.values.copy_(values, non_blocking=True)
        self.done = torch.cuda.Event()

    def run(self, planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        count = len(planes)
        mine = self.input.numpy()[:count]
        if mine.ctypes.data != planes.ctypes.data:
            mine[...] = planes
        with torch.cuda.stream(self.stream):
            self.graph.replay()
            self.done.record(self.stream)
        self.done.synchronize()
        return self.policy.numpy()[:count], self.values.numpy()[:count]
