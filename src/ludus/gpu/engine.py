"""PyTorch on an NVIDIA GPU: bfloat16, fixed batch sizes, and one CUDA graph for copy in, network, copy out.

Each engine has its own stream and each batch size its own pinned memory, so several forests can have work on the GPU at
the same time. Where the trees are on the GPU too, they call the network themselves (see forest.py).
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ludus.errors import Unsuitable
from ludus.gpu.fusion import fastest_fusion
from ludus.gpu.tower import Tower

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.game import Game
    from ludus.search.batch import View
    from ludus.search.forest import Evaluator, SearchForest

SMALLEST = 64
"""Batches are filled up to a multiple of this, or to a power of two if their size changes: each size is one captured
graph."""
CAPTURING = threading.Lock()
"""Held while a graph is captured: a process can capture one at a time."""


class CudaEngine:
    """Runs a network over planes on the first GPU. Engines made by `share` have its weights and streams of their own.

    `fuse` joins convolutions with the operations after them; `compiled` applies torch.compile, which takes half a
    minute.
    """

    precision = "bfloat16"
    chunk = 1 << 30  # the larger a batch, the faster

    def __init__(self, fuse: bool = True, compiled: bool = False):
        if not torch.cuda.is_available():
            raise Unsuitable("the engine cuda needs an NVIDIA GPU that PyTorch can use; this machine shows none")
        torch.backends.cudnn.benchmark = True
        self.fuse, self.compiled = fuse, compiled
        self.network: Any = None
        self.forward: Any = None
        """The network as it runs: planes bfloat16 [K, *observation] on the GPU to policy and values there. It works on
        the current stream."""
        self.unfused: list[str] = []
        """Why the network runs without Triton's layers, or without any fusion; empty if it has both."""
        self._begin()

    def _begin(self) -> None:
        self.stream = torch.cuda.Stream()
        self.batches: dict[int, CapturedBatch] = {}

    def share(self) -> CudaEngine:
        made = copy.copy(self)
        made._begin()
        return made

    def load(self, network: Any, calibration: Any = None) -> None:
        folded: Any = network.folded().to("cuda").to(memory_format=torch.channels_last)
        fresh = copy.deepcopy(folded).to(torch.bfloat16)
        torch.cuda.synchronize()  # other streams read what this one wrote
        if self.network is None:
            self.network = fresh
            self.forward, self.unfused = self._fastest(fresh, folded)
            return
        with torch.no_grad(), torch.cuda.stream(self.stream):  # in place: captured graphs use this memory
            for mine, theirs in zip(self.network.parameters(), fresh.parameters(), strict=True):
                mine.copy_(theirs)
            for module in self.forward.modules():
                if isinstance(module, Tower):
                    module.refresh()
        torch.cuda.synchronize()

    def _fastest(self, network: Any, exact: Any) -> tuple[Any, list[str]]:
        """The form of a network that runs, and why faster ones do not; `exact` is the same network in float32."""
        forward, reasons = fastest_fusion(network, exact, "cuda") if self.fuse else (network, [])
        return torch.compile(forward, dynamic=False) if self.compiled else forward, reasons

    def run(self, inputs: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        count = len(inputs)
        batch = self.batch((1 << (count - 1).bit_length(), *inputs.shape[1:]))
        batch.planes[:count] = inputs
        batch.launch()
        batch.wait()
        return batch.policy[:count], batch.values[:count]

    def batch(self, shape: tuple[int, ...]) -> CapturedBatch:
        """The network, captured for batches of at least this shape."""
        size = -(-shape[0] // SMALLEST) * SMALLEST
        found = self.batches.get(size)
        if found is None:
            found = self.batches[size] = CapturedBatch(self.forward, self.stream, (size, *shape[1:]))
        return found

    def make_forest(
        self,
        game: Game,
        rules: Sequence[Any],
        evaluator: Evaluator,
        view: View,
        *,
        trees: int,
        nodes: int,
        seed: int,
    ) -> SearchForest:
        from ludus.gpu.forest import make_forest

        return make_forest(game, rules, evaluator, self, view, trees=trees, nodes=nodes, seed=seed)


class CapturedBatch:
    """The network as one CUDA graph for batches of one size.

    Fill `planes`, `launch`, `wait`, then read `policy` and `values`.
    """

    def __init__(self, network: Any, stream: Any, shape: tuple[int, ...]):
        self.stream = stream
        planes = torch.zeros(shape, pin_memory=True)
        on_gpu = torch.zeros(shape, device="cuda")
        layout: dict[str, Any] = {"memory_format": torch.channels_last} if len(shape) == 4 else {}

        def forward() -> tuple[torch.Tensor, torch.Tensor]:
            on_gpu.copy_(planes, non_blocking=True)
            policy, values = network(on_gpu.to(torch.bfloat16, **layout))
            return policy.float(), values.float()

        with CAPTURING, torch.inference_mode(), torch.cuda.stream(stream):
            for _ in range(3):
                policy, values = forward()
            back = torch.empty(policy.shape, pin_memory=True), torch.empty(values.shape, pin_memory=True)
            stream.synchronize()
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph, stream=stream, capture_error_mode="thread_local"):
                policy, values = forward()
                back[0].copy_(policy, non_blocking=True)
                back[1].copy_(values, non_blocking=True)
        self.kept = network, on_gpu  # the graph uses this memory and does not keep it alive itself
        self.planes, self.policy, self.values = planes.numpy(), back[0].numpy(), back[1].numpy()
        self.done = torch.cuda.Event()

    def launch(self) -> None:
        """Start the network on `planes`; it runs while the CPU goes on."""
        before = torch.cuda.current_stream()
        torch.cuda.set_stream(self.stream)  # as `with torch.cuda.stream` does, but faster
        self.graph.replay()
        self.done.record(self.stream)
        torch.cuda.set_stream(before)

    def wait(self) -> None:
        """Wait until `policy` and `values` are there."""
        self.done.synchronize()
