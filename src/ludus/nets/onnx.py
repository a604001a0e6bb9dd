"""A network as an ONNX model, written from its weights in milliseconds.

`torch.fx` lists the operations of the network, after batch norms were folded into the convolutions before them. Each
operation becomes a node. The writer knows the operations that our networks use, with the arguments that they use, and
refuses all others: what it wrote instead would play, and play badly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import fx, nn

from ludus.errors import Unsuitable
from ludus.nets.network import Network

OPSET = 18
IR_VERSION = 9

ARITHMETIC: dict[Any, str] = {
    operator.add: "Add",
    torch.add: "Add",
    operator.sub: "Sub",
    operator.mul: "Mul",
    operator.truediv: "Div",
    torch.matmul: "MatMul",
}
FUNCTIONS: dict[Any, str] = {torch.relu: "Relu", torch.tanh: "Tanh", torch.sqrt: "Sqrt", torch.abs: "Abs"}


def write_onnx(network: Any, properties: Mapping[str, str] | None = None) -> bytes:
    """A Network as an ONNX model: planes [K, *observation] in, policy and values out.

    `properties` are written into the model's metadata. Raises Unsuitable if the network holds an operation that the
    writer does not know.
    """
    if not isinstance(network, Network):
        refuse(f"a {type(network).__name__} is no network over planes")
    folded = network.folded()
    model = _Writer(folded, fx.Tracer().trace(folded)).model()
    if properties:
        helper.set_model_props(model, dict(properties))
    return model.SerializeToString()


def refuse(reason: str) -> NoReturn:
    raise Unsuitable(f"cannot write this network as ONNX: {reason}; use the torch engine")


class _Writer:
    def __init__(self, network: Any, graph: fx.Graph):
        self.network, self.graph = network, graph
        self.modules = dict(network.named_modules())
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.names: dict[fx.Node, str] = {}
        """The name of each operation's result. An operation that is left out has the name of its input."""
        self.outputs: list[str] = []

    def model(self) -> onnx.ModelProto:
        for node in self.graph.nodes:
            if node.op == "placeholder":
                if self.names:
                    refuse("it has more than one input")
                self.names[node] = "planes"
            elif node.op == "output":
                self.outputs = [self.names[each] for each in node.args[0]]
            elif node.op == "get_attr":
                self.names[node] = self._weight(f"of.{node.name}", operator.attrgetter(node.target)(self.network))
            elif node.op == "call_module":
                self._module(node, self.modules[node.target])
            else:
                self._function(node)
        if len(self.outputs) != 2:
            refuse(f"it has {len(self.outputs)} outputs instead of policy and values")
        sizes = self.network.sizes
        for name, result in zip(("policy", "values"), self.outputs, strict=True):
            self.nodes.append(helper.make_node("Identity", [result], [name]))
        graph = helper.make_graph(
            self.nodes,
            "ludus",
            [helper.make_tensor_value_info("planes", TensorProto.FLOAT, ["K", *sizes.observation])],
            [
                helper.make_tensor_value_info("policy", TensorProto.FLOAT, ["K", sizes.heads, "A"]),
                helper.make_tensor_value_info("values", TensorProto.FLOAT, ["K", sizes.outputs]),
            ],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)

    def _add(self, node: fx.Node, kind: str, inputs: list[str], **attributes: Any) -> None:
        self.names[node] = f"of.{node.name}"  # never the name of an output
        self.nodes.append(helper.make_node(kind, inputs, [self.names[node]], **attributes))

    def _weight(self, name: str, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            value = (value.float() if value.is_floating_point() else value).detach().cpu().numpy()
        array = np.asarray(value)
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _input(self, node: fx.Node, value: Any) -> str:
        """The name of a result that an operation takes."""
        if not isinstance(value, fx.Node):
            refuse(f"{_named(node)} takes {value!r}, which is no result of another operation")
        return self.names[value]

    # --- modules ------------------------------------------------------------------------------------------------------

    def _module(self, node: fx.Node, module: nn.Module) -> None:
        if len(node.args) != 1 or node.kwargs:
            refuse(f"{_named(node)} takes other arguments than one input")
        writer = self._MODULES.get(type(module))
        if writer is None:
            refuse(f"it has a {type(module).__name__}, which is not known")
        writer(self, node, module, self._input(node, node.args[0]))

    def _convolution(self, node: fx.Node, module: nn.Conv2d, x: str) -> None:
        for wanted, value, what in (
            ((1, 1), module.stride, "stride"),
            ((1, 1), module.dilation, "dilation"),
            (1, module.groups, "groups"),
            ("zeros", module.padding_mode, "padding mode"),
        ):
            if value != wanted:
                refuse(f"the convolution {node.target} has the {what} {value}, and only {wanted} is known")
        if not isinstance(module.padding, tuple):
            refuse(f"the convolution {node.target} has the padding {module.padding!r}, and only numbers are known")
        bias = module.weight.new_zeros(module.out_channels) if module.bias is None else module.bias
        names = [x, self._weight(f"{node.name}.weight", module.weight), self._weight(f"{node.name}.bias", bias)]
        self._add(node, "Conv", names, pads=[*module.padding, *module.padding])

    def _linear(self, node: fx.Node, module: nn.Linear, x: str) -> None:
        names = [x, self._weight(f"{node.name}.weight", module.weight)]
        if module.bias is not None:
            names.append(self._weight(f"{node.name}.bias", module.bias))
        self._add(node, "Gemm", names, transB=1)

    def _batch_norm(self, node: fx.Node, module: nn.BatchNorm2d, x: str) -> None:
        refuse(f"the batch norm {node.target} does not follow a convolution in an nn.Sequential, so it was not folded")

    def _dropout(self, node: fx.Node, module: nn.Dropout, x: str) -> None:
        if module.training:
            refuse(f"the dropout {node.target} is in training mode")
        self.names[node] = x

    def _identity(self, node: fx.Node, module: nn.Identity, x: str) -> None:
        self.names[node] = x

    def _relu(self, node: fx.Node, module: nn.ReLU, x: str) -> None:
        self._add(node, "Relu", [x])

    def _leaky_relu(self, node: fx.Node, module: nn.LeakyReLU, x: str) -> None:
        self._add(node, "LeakyRelu", [x], alpha=module.negative_slope)

    def _flatten(self, node: fx.Node, module: nn.Flatten, x: str) -> None:
        if (module.start_dim, module.end_dim) != (1, -1):
            refuse(
                f"{node.target} flattens dimensions {module.start_dim} to {module.end_dim}, and only 1 to -1 is known"
            )
        self._add(node, "Flatten", [x])

    _MODULES: dict[type, Callable[..., None]] = {
        nn.Conv2d: _convolution,
        nn.Linear: _linear,
        nn.BatchNorm2d: _batch_norm,
        nn.Dropout: _dropout,
        nn.Identity: _identity,
        nn.ReLU: _relu,
        nn.LeakyReLU: _leaky_relu,
        nn.Flatten: _flatten,
    }
    """By the exact class: a subclass may compute something else."""

    # --- functions ----------------------------------------------------------------------------------------------------

    def _function(self, node: fx.Node) -> None:
        if node.kwargs:
            refuse(f"{_named(node)} has the keyword arguments {', '.join(node.kwargs)}")
        if node.target in ARITHMETIC:
            self._take(node, 2)
            self._add(node, ARITHMETIC[node.target], [self._operand(node, i) for i in range(2)])
        elif node.target in FUNCTIONS:
            (x,) = self._take(node, 1)
            self._add(node, FUNCTIONS[node.target], [self._input(node, x)])
        elif node.target is torch.index_select:
            x, axis, index = self._take(node, 3)
            self._add(node, "Gather", [self._input(node, x), self._input(node, index)], axis=_whole(node, axis))
        elif node.target is torch.cat:
            parts, axis = self._take(node, 2)
            self._add(node, "Concat", [self._input(node, each) for each in parts], axis=_whole(node, axis))
        elif node.target in ("mean", "amax"):
            x, axes = self._take(node, 2)
            if not isinstance(axes, tuple | list):
                refuse(f"{_named(node)} takes {axes!r} where a list of dimensions is known")
            named = self._weight(f"{node.name}.axes", np.array([_whole(node, axis) for axis in axes], np.int64))
            kind = "ReduceMean" if node.target == "mean" else "ReduceMax"
            self._add(node, kind, [self._input(node, x), named], keepdims=0)
        elif node.target == "unsqueeze":
            x, axis = self._take(node, 2)
            named = self._weight(f"{node.name}.axes", np.array([_whole(node, axis)], np.int64))
            self._add(node, "Unsqueeze", [self._input(node, x), named])
        elif node.target == "transpose":
            x, *axes = self._take(node, 3)
            if axes != [1, 2]:
                refuse(f"{_named(node)} swaps dimensions {axes[0]} and {axes[1]}, and only 1 and 2 are known")
            self._add(node, "Transpose", [self._input(node, x)], perm=[0, 2, 1])
        elif node.target == "reshape":
            x, *shape = node.args
            sizes = [_whole(node, size) for size in shape]
            if 0 in sizes or sizes.count(-1) > 1 or min(sizes, default=0) < -1:  # in ONNX, 0 means another thing
                refuse(f"{_named(node)} has the shape {tuple(sizes)}")
            named = self._weight(f"{node.name}.shape", np.array(sizes, np.int64))
            self._add(node, "Reshape", [self._input(node, x), named])
        else:
            refuse(f"it calls {_named(node)}, which is not known")

    def _take(self, node: fx.Node, count: int) -> tuple[Any, ...]:
        """The arguments of a function, if there are `count` of them."""
        if len(node.args) != count:
            refuse(f"{_named(node)} has {len(node.args)} arguments, and only {count} are known")
        return node.args

    def _operand(self, node: fx.Node, i: int) -> str:
        """An argument of a calculation: a result, or a number."""
        value: Any = node.args[i]
        if isinstance(value, fx.Node):
            return self.names[value]
        if not isinstance(value, int | float):
            refuse(f"{_named(node)} calculates with {value!r}")
        return self._weight(f"{node.name}.{i}", np.float32(value))


def _named(node: fx.Node) -> str:
    """An operation as a person calls it."""
    return node.target if isinstance(node.target, str) else getattr(node.target, "__name__", str(node.target))


def _whole(node: fx.Node, value: Any) -> int:
    """An argument that must be a whole number known in advance."""
    if not isinstance(value, int):
        refuse(f"{_named(node)} takes {value!r} where a whole number is known")
    return value
