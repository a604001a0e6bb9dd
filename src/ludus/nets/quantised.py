"""Convolutions quantised to 8-bit integers: on CPUs with the instructions for it, more than twice as fast as float32.

Weights are quantised channel by channel. Activations between convolutions are quantised by their range on sample
positions (calibration). The first convolution, which sees the planes, and all other operations stay in float32.
Quantising costs some accuracy (see docs/methods.md). Self-play uses it, and searches of agents do (see calibrating.py);
the network alone plays in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ludus.nets.checking import mean_difference
from ludus.nets.engines import OnnxEngine
from ludus.nets.onnx import write_onnx


class Int8Engine(OnnxEngine):
    """ONNX Runtime with quantised convolutions.

    It runs in float32 until `load` is given calibration planes. Each time it compares the quantised network with
    float32 on these planes, and stays in float32 if the answers differ too much: that can happen on CPUs without the
    right instructions.
    """

    quantised = False
    """True if the network that is loaded runs in integers."""

    @property
    def precision(self) -> str:  # type: ignore[override]
        return "int8" if self.quantised else "float32"

    def load(self, network: Any, calibration: Any = None) -> None:
        model = write_onnx(network)
        self.session = self.make_session(model)
        self.quantised = False
        if calibration is None:
            return
        quantiser = _Quantiser(onnx.load_model_from_string(model))
        if not quantiser.inner:
            return
        exact, exact_answers = self.session, self.run(calibration)
        self.session = self.make_session(quantiser.apply(calibration, self))
        self.quantised = (
            mean_difference(network, calibration, exact_answers, self.run(calibration)) <= network.tolerance
        )
        if not self.quantised:
            self.session = exact


class _Quantiser:
    """Turns a model of `write_onnx` into one whose inner convolutions, and the sums between them, are in integers."""

    def __init__(self, model: Any):
        self.model, self.graph = model, model.graph
        self.weights = {each.name: numpy_helper.to_array(each) for each in self.graph.initializer}
        self.maker = {name: node for node in self.graph.node for name in node.output}
        self.users: dict[str, list[Any]] = {}
        for node in self.graph.node:
            for name in node.input:
                self.users.setdefault(name, []).append(node)
        self.inner = [node for node in self.graph.node if node.op_type == "Conv" and node.input[0] in self.maker]
        self.sums = [node for node in self.graph.node if node.op_type == "Add" and self._joins_convolutions(node)]

    def _joins_convolutions(self, node: Any) -> bool:
        """True for the rectified sum at the end of a residual block. Other sums may have any range."""
        kinds = [self.maker[name].op_type for name in node.input if name in self.maker]
        ends = self._end(node.output[0]) != node.output[0]
        return ends and len(kinds) == 2 and "Conv" in kinds and "Unsqueeze" not in kinds

    def _end(self, name: str) -> str:
        """The name of a result; or of its rectification, if that is its only use."""
        users = self.users.get(name, [])
        return users[0].output[0] if len(users) == 1 and users[0].op_type == "Relu" else name

    def apply(self, calibration: Any, engine: OnnxEngine) -> bytes:
        quantised = {node.input[0] for node in self.inner} | {name for node in self.sums for name in node.input}
        quantised |= {self._end(node.output[0]) for node in (*self.inner, *self.sums)}
        ranges = self._ranges(sorted(quantised), calibration, engine)
        merged = {name: self._end(name) for node in (*self.inner, *self.sums) for name in node.output}
        nodes: list[Any] = []
        for node in self.graph.node:
            if node.op_type == "Relu" and merged.get(node.input[0]) == node.output[0]:
                continue  # quantising to a range from 0 on rectifies
            if node in self.inner:
                self._quantise_weights(node, ranges[node.input[0]][0], nodes)
            names = [f"{name}.rounded" if name in quantised else name for name in node.input]
            made = helper.make_node(node.op_type, names, list(node.output))
            made.attribute.extend(node.attribute)
            nodes.append(made)
            for name in node.output:
                end = merged.get(name, name)
                if end in quantised:
                    self._quantise(name, end, *ranges[end], nodes)
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        del self.graph.initializer[:]
        self.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in self.weights.items())
        return self.model.SerializeToString()

    def _ranges(self, names: list[str], calibration: Any, engine: OnnxEngine) -> dict[str, tuple[Any, Any]]:
        """Scale and zero point of each tensor, from its range in float32 on the calibration planes."""
        watched = onnx.ModelProto()
        watched.CopyFrom(self.model)
        watched.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
        found = engine.make_session(watched.SerializeToString()).run(names, {"planes": calibration})
        ranges: dict[str, tuple[Any, Any]] = {}
        for name, array in zip(names, found, strict=True):
            low, high = min(0.0, float(array.min())), max(1e-6, float(array.max()))
            scale = np.float32((high - low) / 255)
            ranges[name] = scale, np.uint8(round(-low / scale))
        return ranges

    def _quantise_weights(self, node: Any, scale: Any, nodes: list[Any]) -> None:
        weight, bias = (self.weights.pop(name) for name in node.input[1:3])
        steps = np.abs(weight).max((1, 2, 3)) / 127
        steps = np.maximum(steps, np.abs(bias) / (1e9 * scale) + 1e-10).astype(np.float32)  # the bias must fit, too
        integers = np.round(weight / steps[:, None, None, None]).clip(-127, 127).astype(np.int8)
        self._dequantise(node.input[1], integers, steps, np.zeros(len(steps), np.int8), nodes)
        whole = np.round(bias / (steps * scale)).astype(np.int32)
        self._dequantise(node.input[2], whole, steps * scale, np.zeros(len(steps), np.int32), nodes)

    def _dequantise(self, name: str, integers: Any, steps: Any, zeros: Any, nodes: list[Any]) -> None:
        """Make the weight `name` from integers [channels, ...] and the size of a step in each channel."""
        parts = {f"{name}.integers": integers, f"{name}.steps": steps, f"{name}.zeros": zeros}
        self.weights |= parts
        nodes.append(helper.make_node("DequantizeLinear", list(parts), [name], axis=0))

    def _quantise(self, name: str, end: str, scale: Any, zero: Any, nodes: list[Any]) -> None:
        """Quantise the tensor `name`; what uses `end` takes f"{end}.rounded" instead."""
        parts = {f"{end}.scale": np.array(scale), f"{end}.zero": np.array(zero)}
        self.weights |= parts
        nodes.append(helper.make_node("QuantizeLinear", [name, *parts], [f"{end}.integers"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{end}.integers", *parts], [f"{end}.rounded"]))
