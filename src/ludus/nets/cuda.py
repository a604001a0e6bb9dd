"""PyTorch on an NVIDIA GPU: bfloat16, fixed batch shapes, and one CUDA graph for copy in, network, copy out.

A convolution, its bias, what is added to it and its rectifier are one kernel of cuDNN's. Each engine has its own stream
and each batch size its own pinned memory, so several forests can have work on the card at once (see pipeline.py).
"""

from __future__ import annotations

import contextlib
import copy
import operator
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import fx, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from ludus.errors import Unsuitable
from ludus.nets.residual import Pooling

if TYPE_CHECKING:
    from numpy.typing import NDArray

SMALLEST = 64
"""Batches are filled up to a multiple of this, or, where their size changes, to a power of two: each size is one
captured graph."""
CAPTURING = threading.Lock()
"""Held while a graph is captured: a process can capture one at a time."""


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


class _Tracer(fx.Tracer):
    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return isinstance(module, Pooling) or super().is_leaf_module(module, name)


def fused(network: nn.Module, pooling: bool = True) -> fx.GraphModule:
    """The network with `relu(convolution)`, `relu(x + convolution)` and the pooling of `relu(x)` as one operation each;
    it shares the weights."""
    graph = _Tracer().trace(network)
    modules = dict(network.named_modules())

    def module_of(node: Any) -> nn.Module | None:
        return modules[node.target] if isinstance(node, fx.Node) and node.op == "call_module" else None

    def is_relu(node: fx.Node) -> bool:
        return node.target is torch.relu or isinstance(module_of(node), nn.ReLU)

    def ends(node: Any) -> bool:
        """A convolution whose result goes nowhere else."""
        return isinstance(module_of(node), nn.Conv2d) and len(node.users) == 1

    for node in list(graph.nodes):
        if isinstance(module_of(node), nn.Identity | nn.Dropout):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    pool: Any = _pooling() if pooling else None
    for node in [each for each in graph.nodes if pool and isinstance(module_of(each), Pooling)]:
        if is_relu(node.args[0]) and all(mask is None for mask in node.args[1:]) and not node.kwargs:
            with graph.inserting_before(node):
                node.replace_all_uses_with(graph.call_function(pool, (node.args[0].args[0],)))
            rectified = node.args[0]
            graph.erase_node(node)
            if not rectified.users:
                graph.erase_node(rectified)
    for node in [each for each in graph.nodes if is_relu(each)]:
        inner, added = node.args[0], None
        if inner.target is operator.add and len(inner.users) == 1:
            sides = [side for side in inner.args if ends(side)]
            if sides:
                added = next(side for side in inner.args if side is not sides[-1])
                inner = sides[-1]
        if not ends(inner):
            continue
        conv: Any = module_of(inner)
        with graph.inserting_before(node):
            weight, bias = (graph.get_attr(f"{inner.target}.{name}") for name in ("weight", "bias"))
            shape = (list(conv.stride), list(conv.padding), list(conv.dilation), conv.groups)
            if added is None:
                joined = graph.call_function(torch.cudnn_convolution_relu, (inner.args[0], weight, bias, *shape))
            else:
                arguments = (inner.args[0], weight, added, 1.0, bias, *shape)
                joined = graph.call_function(torch.cudnn_convolution_add_relu, arguments)
        node.replace_all_uses_with(joined)
        graph.erase_node(node)
    for node in reversed(list(graph.nodes)):
        if not node.users and node.op not in ("placeholder", "output"):
            graph.erase_node(node)
    return fx.GraphModule(network, graph)


def _pooling() -> Any:
    """The card's own pooling; None where there is no card, or no Triton, in which it is written."""
    if not torch.cuda.is_available():
        return None
    try:
        from ludus.nets.card_pooling import pool_rectified
    except ImportError:
        return None
    return pool_rectified


class CudaEngine:
    """Runs a network on the first GPU. Engines made by `beside` share its weights, and have streams of their own.

    `fuse`: convolutions joined to what follows; `compiled`: the rest by torch.compile, which takes half a minute.
    """

    def __init__(self, fuse: bool = True, compiled: bool = False):
        if not torch.cuda.is_available():
            raise Unsuitable("the engine cuda needs an NVIDIA GPU that PyTorch can use; this machine shows none")
        torch.backends.cudnn.benchmark = True
        self.fuse, self.compiled = fuse, compiled
        self.network: Any = None
        self._begin()

    def _begin(self) -> None:
        self.stream = torch.cuda.Stream()
        self.places: dict[int, Place] = {}

    def beside(self) -> CudaEngine:
        made = copy.copy(self)
        made._begin()
        return made

    def load(self, network: Any, samples: Any = None) -> None:
        fresh: Any = folded(network).to("cuda", torch.bfloat16)
        fresh = fresh.to(memory_format=torch.channels_last)
        torch.cuda.synchronize()  # other streams read what this one wrote
        if self.network is None:
            self.network = fresh
            self.runs = self._fused(fresh) if self.fuse else fresh
            if self.compiled:
                self.runs = torch.compile(self.runs, dynamic=False)
            return
        with torch.no_grad(), torch.cuda.stream(self.stream):  # in place: the captured graphs go on with them
            for mine, theirs in zip(self.network.parameters(), fresh.parameters(), strict=True):
                mine.copy_(theirs)
        torch.cuda.synchronize()

    def _fused(self, network: Any) -> Any:
        """The fused network, or the plain one where cuDNN does not know how, or Triton cannot compile."""
        planes = torch.zeros((SMALLEST, *network.sizes.observation), device="cuda", dtype=torch.bfloat16)
        planes = planes.to(memory_format=torch.channels_last) if planes.ndim == 4 else planes
        for pooling in (True, False):
            made = fused(network, pooling)
            with contextlib.suppress(Exception), torch.inference_mode():  # Triton's may be of any kind
                made(planes)
                return made
        return network

    def run(self, planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        count = len(planes)
        place = self.place((1 << (count - 1).bit_length(), *planes.shape[1:]))
        place.planes[:count] = planes
        place.launch()
        place.wait()
        return place.policy[:count], place.values[:count]

    def place(self, shape: tuple[int, ...]) -> Place:
        """Where batches of so many rows, or some more, are handed over."""
        size = -(-shape[0] // SMALLEST) * SMALLEST
        found = self.places.get(size)
        if found is None:
            found = self.places[size] = Place(self.runs, self.stream, (size, *shape[1:]))
        return found


class Place:
    """The network for batches of one size: `planes` are read after `launch`, `policy` and `values` are there after
    `wait`."""

    def __init__(self, network: Any, stream: Any, shape: tuple[int, ...]):
        self.stream = stream
        planes = torch.zeros(shape, pin_memory=True)
        on_card = torch.zeros(shape, device="cuda")
        shaped: dict[str, Any] = {"memory_format": torch.channels_last} if len(shape) == 4 else {}

        def forward() -> tuple[torch.Tensor, torch.Tensor]:
            on_card.copy_(planes, non_blocking=True)
            policy, values = network(on_card.to(torch.bfloat16, **shaped))
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
        self.kept = network, on_card  # the graph reads and writes there, and does not keep that memory itself
        self.planes, self.policy, self.values = planes.numpy(), back[0].numpy(), back[1].numpy()
        self.done = torch.cuda.Event()

    def launch(self) -> None:
        before = torch.cuda.current_stream()
        torch.cuda.set_stream(self.stream)  # as `with torch.cuda.stream` does, but quicker
        self.graph.replay()
        self.done.record(self.stream)
        torch.cuda.set_stream(before)

    def wait(self) -> None:
        self.done.synchronize()
