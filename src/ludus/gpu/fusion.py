"""Fusion for a GPU: a convolution, its bias, the sum after it and its rectifier become one kernel of cuDNN."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import fx, nn

from ludus.gpu import tower

ROUNDING = 4.0
"""In bfloat16, a fused network may be this many times as far from float32 as the plain one."""
ROWS = 64
"""Random positions on which the two are compared."""


def fastest_fusion(network: Any, exact: Any, device: str) -> tuple[Any, list[str]]:
    """The fastest form of a network that gives its answers, and why faster forms were not taken.

    The forms are: all residual blocks as one kernel, fused with Triton's layers, fused by cuDNN alone, and the network
    itself. `network` is a folded nets.network.Network in bfloat16 on a device, `exact` the same in float32.
    """
    sizes = network.sizes
    rng = np.random.default_rng(0)
    planes = torch.from_numpy(rng.integers(0, 2, (ROWS, *sizes.observation)))
    if sizes.mask is not None:
        planes[:, sizes.mask] = 1
    if network.mixing:
        for i, count in enumerate(sizes.groups.groups):
            shape = ROWS, sizes.groups.rows, sizes.groups.columns
            planes[:, sizes.groups.planes + i] = torch.from_numpy(rng.integers(-1, count, shape))
    planes = planes.to(device, torch.float32)
    planes = planes.to(memory_format=torch.channels_last) if planes.ndim == 4 else planes
    rounded = planes.to(torch.bfloat16)
    reasons: list[str] = []
    with torch.inference_mode():
        expected, plain = exact(planes), network(rounded)
        forms: dict[str, Callable[[], fx.GraphModule]] = {
            "Triton's layers": lambda: fused(network, _layers()),
            "fusion by cuDNN": lambda: fused(network),
        }
        if device == "cuda" and tower.fits(network):
            forms = {"one kernel for all blocks": lambda: fused(tower.with_tower(network), _layers()), **forms}
        for name, form in forms.items():
            try:
                made = form()
                found = [answer.float().cpu() for answer in made(rounded)]
            except Exception as error:  # Triton's errors may be of any kind
                reasons.append(f"{name}: {type(error).__name__}: {str(error).strip()[:200]}")
                continue
            if all(map(is_as_exact, found, plain, expected)):
                return made, reasons
            reasons.append(f"{name}: its answers differ from those of the plain network")
    return network, reasons


def is_as_exact(found: torch.Tensor, plain: torch.Tensor, expected: torch.Tensor) -> bool:
    """True if `found` is about as far from float32 as the plain network's answers in bfloat16.

    Logits that a mask hides do not count.
    """
    expected = expected.float().cpu()
    shown = expected.abs() < 1000.0
    error, usual = ((each.float().cpu() - expected)[shown].abs().mean() for each in (found, plain))
    return bool(error <= ROUNDING * usual + 0.002)


def _layers() -> Any:
    """The module with Triton's layers; ImportError if Triton is not installed."""
    from ludus.gpu import layers

    return layers


class _Tracer(fx.Tracer):
    """Lists the operations of a network, with its modules that pool, and a tower, as one operation each."""

    def __init__(self, network: Any):
        super().__init__()
        self.whole = network.pooling, network.mixing, tower.Tower

    def is_leaf_module(self, module: nn.Module, name: str) -> bool:
        return isinstance(module, self.whole) or super().is_leaf_module(module, name)


def fused(network: Any, layers: Any = None) -> fx.GraphModule:
    """The network with `relu(convolution)` and `relu(x + convolution)` as one operation each. It shares the weights.

    `network` is a folded nets.network.Network. `layers` is the module gpu.layers: its kernels replace the first
    convolution, and the operations around a pooling over the board or over groups of cells. None leaves those to cuDNN
    and PyTorch.
    """
    graph = _Tracer(network).trace(network)
    modules = dict(network.named_modules())

    def module_of(node: Any) -> Any:
        return modules[node.target] if isinstance(node, fx.Node) and node.op == "call_module" else None

    def is_relu(node: fx.Node) -> bool:
        return node.target is torch.relu or isinstance(module_of(node), nn.ReLU)

    def ends(node: Any) -> bool:
        """True for a convolution whose result is used once."""
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
    for node in [each for each in graph.nodes if layers and isinstance(module_of(each), network.pooling)]:
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
    for node in [each for each in graph.nodes if layers and isinstance(module_of(each), network.mixing)]:
        inner, members, mix = node.args[0], node.args[1], module_of(node)
        if not ends(inner) or len(members) != 1 or not layers.fits_mixing(mix.width, mix.shape):
            continue
        with graph.inserting_before(node):
            weight, bias = parameters(inner)
            plain = graph.call_function(torch.conv2d, (inner.args[0], weight, None, *shape(module_of(inner))))
            names = [
                f"{node.target}.{name}" for name in ("groups.0.weight", "groups.0.bias", "board.weight", "board.bias")
            ]
            arguments = (plain, bias, members[0], *map(graph.get_attr, names), mix.pool.scale)
            node.replace_all_uses_with(graph.call_function(layers.mix_groups, arguments))
        graph.erase_node(node)
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
    """weight @ x.flatten(1) + bias, for x [K, C, rows, columns] with the channels last in memory.

    The weights are put into that order, since they are fewer than the activations.
    """
    count, channels, _, _ = x.shape
    turned = weight.unflatten(1, (channels, -1)).transpose(1, 2).flatten(1)
    return nn.functional.linear(x.permute(0, 2, 3, 1).reshape(count, -1), turned, bias)


SAME = [1, 1], [1, 1], [1, 1], 1
"""Stride, padding, dilation and groups of a convolution of three by three cells that keeps the board's size."""


def _around_pooling(pool: fx.Node, is_relu: Callable[[fx.Node], bool]) -> tuple[fx.Node, fx.Node, fx.Node] | None:
    """The nodes (y, linear, relu) of relu(y + linear(pool(relu(y)))), where the linear result is spread over the board.

    None if the pooling is used in another way, as with a mask.
    """
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
    """The node that uses the result of `node`, if there is exactly one."""
    return next(iter(node.users)) if node is not None and len(node.users) == 1 else None


def _erase_unused(graph: fx.Graph) -> None:
    """Erase nodes whose results are not used."""
    for node in reversed(list(graph.nodes)):
        if not node.users and node.op not in ("placeholder", "output"):
            graph.erase_node(node)
