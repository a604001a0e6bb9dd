"""PyTorch on an NVIDIA GPU: bfloat16, fixed batch shapes, and one CUDA graph for copy in, network, copy out.

A convolution, its bias, what is added to it and its rectifier are one kernel of cuDNN's. Each engine has its own stream
and each batch size its own pinned memory, so several forests can have work on the card at once. Where the trees are on
the card too, they run the network themselves (see card_forest.py).
"""

from __future__ import annotations

import contextlib
import copy
import math
import operator
import threading
from collections.abc import Callable
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


def fused(network: Any, layers: Any = None) -> fx.GraphModule:
    """The network with `relu(convolution)` and `relu(x + convolution)` as one operation each; it shares the weights.
    `layers`: the card's own, for the first convolution and for what comes after one that is pooled."""
    graph = _Tracer().trace(network)
    modules = dict(network.named_modules())

    def module_of(node: Any) -> Any:
        return modules[node.target] if isinstance(node, fx.Node) and node.op == "call_module" else None

    def is_relu(node: fx.Node) -> bool:
        return node.target is torch.relu or isinstance(module_of(node), nn.ReLU)

    def ends(node: Any) -> bool:
        """A convolution whose result goes nowhere else."""
        return isinstance(module_of(node), nn.Conv2d) and len(node.users) == 1

    def parameters(node: fx.Node) -> list[Any]:
        return [graph.get_attr(f"{node.target}.{name}") for name in ("weight", "bias")]

    def shape(conv: nn.Conv2d) -> tuple[Any, ...]:
        return list(conv.stride), list(conv.padding), list(conv.dilation), conv.groups

    for node in list(graph.nodes):
        if isinstance(module_of(node), nn.Identity | nn.Dropout):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    for node in [each for each in graph.nodes if isinstance(module_of(each), nn.Flatten)]:
        linear = _only_user(node)
        if isinstance(module_of(linear), nn.Linear) and module_of(node.args[0]) is not None:
            with graph.inserting_before(linear):
                linear.replace_all_uses_with(graph.call_function(linear_of_board, (node.args[0], *parameters(linear))))
            graph.erase_node(linear)
    for node in [each for each in graph.nodes if layers and isinstance(module_of(each), Pooling)]:
        found = _around_pooling(node, is_relu)
        if found is None:
            continue
        inner, linear, last = found
        if not isinstance(module_of(inner), nn.Conv2d) or not isinstance(module_of(linear), nn.Linear):
            continue
        if not layers.fits_pooling(module_of(inner).out_channels, math.prod(network.sizes.observation[1:])):
            continue
        with graph.inserting_before(last):
            weight, bias = parameters(inner)
            plain = graph.call_function(torch.conv2d, (inner.args[0], weight, None, *shape(module_of(inner))))
            last.replace_all_uses_with(graph.call_function(layers.pool_and_add, (plain, bias, *parameters(linear))))
        graph.erase_node(last)
    _erase_unused(graph)
    for node in [each for each in graph.nodes if is_relu(each)]:
        inner, added = node.args[0], None
        if inner.target is operator.add and len(inner.users) == 1:
            sides = [side for side in inner.args if ends(side)]
            if sides:
                added = next(side for side in inner.args if side is not sides[-1])
                inner = sides[-1]
        if not ends(inner):
            continue
        conv = module_of(inner)
        with graph.inserting_before(node):
            weight, bias = parameters(inner)
            if added is not None:
                arguments = (inner.args[0], weight, added, 1.0, bias, *shape(conv))
                joined = graph.call_function(torch.cudnn_convolution_add_relu, arguments)
            elif layers and conv.kernel_size == (3, 3) and shape(conv) == SAME and 9 * conv.in_channels <= layers.TERMS:
                joined = graph.call_function(layers.convolve_planes, (inner.args[0], weight, bias))
            else:
                joined = graph.call_function(torch.cudnn_convolution_relu, (inner.args[0], weight, bias, *shape(conv)))
        node.replace_all_uses_with(joined)
        graph.erase_node(node)
    _erase_unused(graph)
    return fx.GraphModule(network, graph)


def linear_of_board(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """weight @ x.flatten(1) + bias, for x [K, C, rows, columns] with the channels last in memory: the weights are put
    into that order, since they are fewer."""
    count, channels, _, _ = x.shape
    turned = weight.unflatten(1, (channels, -1)).transpose(1, 2).flatten(1)
    return nn.functional.linear(x.permute(0, 2, 3, 1).reshape(count, -1), turned, bias)


SAME = [1, 1], [1, 1], [1, 1], 1
"""Stride, padding, dilation and groups of a convolution of three by three cells that keeps the board's size."""


def _around_pooling(pool: fx.Node, is_relu: Callable[[fx.Node], bool]) -> tuple[fx.Node, fx.Node, fx.Node] | None:
    """The nodes (y, linear, relu) of relu(y + linear(pool(relu(y)))), the linear one spread over the board; None where
    the pooling stands among others, as with a mask."""
    rectified: Any = pool.args[0]
    if not is_relu(rectified) or any(mask is not None for mask in pool.args[1:]) or pool.kwargs:
        return None
    inner, linear = rectified.args[0], _only_user(pool)
    total = _only_user(_only_user(_only_user(linear)))
    last = _only_user(total)
    if last is None or total.target is not operator.add or not is_relu(last) or set(inner.users) != {rectified, total}:
        return None
    return inner, linear, last


def _only_user(node: Any) -> Any:
    return next(iter(node.users)) if node is not None and len(node.users) == 1 else None


def _erase_unused(graph: fx.Graph) -> None:
    for node in reversed(list(graph.nodes)):
        if not node.users and node.op not in ("placeholder", "output"):
            graph.erase_node(node)


def _layers() -> Any:
    """The card's own layers; None where there is no card, or no Triton, in which they are written."""
    if not torch.cuda.is_available():
        return None
    try:
        from ludus.gpu import layers
    except ImportError:
        return None
    return layers


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
        for layers in (_layers(), None):
            made = fused(network, layers)
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
        on_gpu = torch.zeros(shape, device="cuda")
        shaped: dict[str, Any] = {"memory_format": torch.channels_last} if len(shape) == 4 else {}

        def forward() -> tuple[torch.Tensor, torch.Tensor]:
            on_gpu.copy_(planes, non_blocking=True)
            policy, values = network(on_gpu.to(torch.bfloat16, **shaped))
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
        self.kept = network, on_gpu  # the graph reads and writes there, and does not keep that memory itself
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
