"""A network as an ONNX graph, written anew from its weights in milliseconds: no exporter, no tracing of data.

`torch.fx` lists the operations of a network, normalisations are folded into the convolutions before them, and each
operation becomes a node. Only what our networks use is known here; anything else is refused by name.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import fx, nn

from ludus.errors import Unsuitable

OPSET = 18
IR_VERSION = 9

ARITHMETIC: dict[Any, str] = {
    operator.add: "Add",
    torch.add: "Add",
    operator.sub: "Sub",
    operator.mul: "Mul",
    operator.truediv: "Div",
}
FUNCTIONS: dict[Any, str] = {torch.relu: "Relu", torch.tanh: "Tanh", torch.sqrt: "Sqrt"}


def write_onnx(network: Any) -> bytes:
    """The network, as it is when playing, as an ONNX model: planes [K, ...] in, policy and values out."""
    network.eval()
    return _Writer(network, fx.Tracer().trace(network)).model(network)


class _Writer:
    def __init__(self, network: nn.Module, graph: fx.Graph):
        self.modules = dict(network.named_modules())
        self.graph = graph
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.names: dict[fx.Node, str] = {}
        """The name of each operation's result; a dropped one has that of its input."""
        self.outputs: list[str] = []

    def model(self, network: Any) -> bytes:
        for node in self.graph.nodes:
            if node.op == "placeholder":
                self.names[node] = "planes"
            elif node.op == "output":
                self.outputs = [self.names[each] for each in node.args[0]]
            elif node.op == "get_attr":
                self.names[node] = self._weight(f"of.{node.name}", operator.attrgetter(node.target)(network))
            elif node.op == "call_module":
                self._module(node, self.modules[node.target])
            else:
                self._function(node)
        shape = ["K", *network.sizes.observation]
        for name, result in zip(("policy", "values"), self.outputs, strict=True):
            self.nodes.append(helper.make_node("Identity", [result], [name]))
        graph = helper.make_graph(
            self.nodes,
            "ludus",
            [helper.make_tensor_value_info("planes", TensorProto.FLOAT, shape)],
            [
                helper.make_tensor_value_info("policy", TensorProto.FLOAT, ["K", network.sizes.heads, "A"]),
                helper.make_tensor_value_info("values", TensorProto.FLOAT, ["K", network.sizes.outputs]),
            ],
            self.weights,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
        return model.SerializeToString()

    def _add(self, node: fx.Node, kind: str, inputs: list[str], **attributes: Any) -> None:
        self.names[node] = f"of.{node.name}"  # never the name of an output
        self.nodes.append(helper.make_node(kind, inputs, [self.names[node]], **attributes))

    def _weight(self, name: str, value: Any) -> str:
        if isinstance(value, torch.Tensor):
            value = (value.float() if value.is_floating_point() else value).detach().cpu().numpy()
        array = np.asarray(value)
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def _module(self, node: fx.Node, module: nn.Module) -> None:
        x = self.names[node.args[0]]  # type: ignore[index]
        if isinstance(module, nn.Conv2d):
            weight, bias = _folded(module, self._normalisation_after(node))
            names = [x, self._weight(f"{node.name}.weight", weight), self._weight(f"{node.name}.bias", bias)]
            self._add(node, "Conv", names, pads=[*module.padding, *module.padding])
        elif isinstance(module, nn.Linear):
            names = [x, self._weight(f"{node.name}.weight", module.weight)]
            names.append(self._weight(f"{node.name}.bias", module.bias))
            self._add(node, "Gemm", names, transB=1)
        elif isinstance(module, nn.BatchNorm2d | nn.Dropout):  # folded, or idle when playing
            self.names[node] = x
        elif isinstance(module, nn.ReLU):
            self._add(node, "Relu", [x])
        elif isinstance(module, nn.LeakyReLU):
            self._add(node, "LeakyRelu", [x], alpha=module.negative_slope)
        elif isinstance(module, nn.Flatten):
            self._add(node, "Flatten", [x])
        else:
            raise Unsuitable(f"a {type(module).__name__} cannot be written as ONNX; use the torch engine")

    def _normalisation_after(self, node: fx.Node) -> nn.BatchNorm2d | None:
        """The normalisation of a convolution's result, if that is all that becomes of it."""
        for user in node.users if len(node.users) == 1 else ():
            module = self.modules.get(str(user.target)) if user.op == "call_module" else None
            if isinstance(module, nn.BatchNorm2d):
                return module
        return None

    def _function(self, node: fx.Node) -> None:
        inputs = [self.names[each] for each in node.all_input_nodes]
        if node.target in ARITHMETIC:
            self._add(node, ARITHMETIC[node.target], [self._operand(node, i) for i in range(2)])
        elif node.target in FUNCTIONS:
            self._add(node, FUNCTIONS[node.target], inputs)
        elif node.target is torch.index_select:
            self._add(node, "Gather", inputs, axis=node.args[1])
        elif node.target is torch.cat:
            self._add(node, "Concat", inputs, axis=node.args[1])
        elif node.target in ("mean", "amax"):
            axes = self._weight(f"{node.name}.axes", np.array(node.args[1], np.int64))
            self._add(node, "ReduceMean" if node.target == "mean" else "ReduceMax", [*inputs, axes], keepdims=0)
        elif node.target == "unsqueeze":
            axes = self._weight(f"{node.name}.axes", np.array([node.args[1]], np.int64))
            self._add(node, "Unsqueeze", [*inputs, axes])
        elif node.target == "reshape":
            shape = self._weight(f"{node.name}.shape", np.array(node.args[1:], np.int64))
            self._add(node, "Reshape", [*inputs, shape])
        else:
            raise Unsuitable(f"{node.target} cannot be written as ONNX; use the torch engine")

    def _operand(self, node: fx.Node, i: int) -> str:
        """An argument of a calculation: a result, or a number."""
        value: Any = node.args[i]
        return self.names[value] if isinstance(value, fx.Node) else self._weight(f"{node.name}.{i}", np.float32(value))


def _folded(convolution: nn.Conv2d, norm: nn.BatchNorm2d | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Weight and bias of a convolution together with the normalisation that follows it."""
    weight, bias = convolution.weight, convolution.bias
    if bias is None:
        bias = weight.new_zeros(weight.shape[0])
    if norm is None:
        return weight, bias
    assert norm.running_var is not None
    assert norm.running_mean is not None
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return weight * scale[:, None, None, None], (bias - norm.running_mean) * scale + norm.bias
