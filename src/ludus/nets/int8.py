"""Convolutions in 8-bit integers: on a CPU with the instructions for it, more than twice as fast as in float32.

Weights are rounded channel by channel, what flows between convolutions by the range that it has on sample positions.
The first convolution, which sees the planes, and all that is not a convolution stay in float32. Rounding costs some
accuracy, which self-play does not notice (see docs/methods.md) but a match may: agents play in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from ludus.nets.engines import OnnxEngine
from ludus.nets.onnx import write_onnx

WORST = 0.1
"""Largest mean difference to float32, of values and of the policy's probabilities in sum, before a network is left in
float32. Processors without the right instructions may saturate, and then it is far more."""


class Int8Engine(OnnxEngine):
    """ONNX Runtime with convolutions in integers, once `load` is given samples; before, and where rounding does harm,
    in float32. Threads may share one."""

    def load(self, network: Any, samples: Any = None) -> None:
        model = write_onnx(network)
        self.session = self.session_of(model)
        self.rounded = False
        if samples is None:
            return
        rounding = _Rounding(onnx.load_model_from_string(model))
        if not rounding.inner:
            return
        exact, exact_run = self.session, self.run(samples)
        self.session = self.session_of(rounding.apply(samples, self))
        self.rounded = _difference(exact_run, self.run(samples)) <= WORST
        if not self.rounded:
            self.session = exact

    def beside(self) -> Int8Engine:
        return self


def _difference(exact: Any, rounded: Any) -> float:
    """How far policies and values are apart, in the mean."""

    def chances(logits: Any) -> Any:
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

    policy = np.abs(chances(exact[0]) - chances(rounded[0])).sum(-1).mean()
    return float(max(policy, np.abs(exact[1] - rounded[1]).mean()))


class _Rounding:
    """A model of `write_onnx` on the way to one with its inner convolutions, and the sums between them, in integers."""

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
        """Is this the sum at the end of a residual block, which is rectified? (Others may have any range.)"""
        kinds = [self.maker[name].op_type for name in node.input if name in self.maker]
        ends = self._end(node.output[0]) != node.output[0]
        return ends and len(kinds) == 2 and "Conv" in kinds and "Unsqueeze" not in kinds

    def _end(self, name: str) -> str:
        """A result, or, where all that becomes of it is its rectification, that."""
        users = self.users.get(name, [])
        return users[0].output[0] if len(users) == 1 and users[0].op_type == "Relu" else name

    def apply(self, samples: Any, engine: OnnxEngine) -> bytes:
        rounded = {node.input[0] for node in self.inner} | {name for node in self.sums for name in node.input}
        rounded |= {self._end(node.output[0]) for node in (*self.inner, *self.sums)}
        ranges = self._ranges(sorted(rounded), samples, engine)
        merged = {name: self._end(name) for node in (*self.inner, *self.sums) for name in node.output}
        nodes: list[Any] = []
        for node in self.graph.node:
            if node.op_type == "Relu" and merged.get(node.input[0]) == node.output[0]:
                continue  # rounding to a range from 0 on does the same
            if node in self.inner:
                self._round_weights(node, ranges[node.input[0]][0], nodes)
            names = [f"{name}.rounded" if name in rounded else name for name in node.input]
            made = helper.make_node(node.op_type, names, list(node.output))
            made.attribute.extend(node.attribute)
            nodes.append(made)
            for name in node.output:
                end = merged.get(name, name)
                if end in rounded:
                    self._round(name, end, *ranges[end], nodes)
        del self.graph.node[:]
        self.graph.node.extend(nodes)
        del self.graph.initializer[:]
        self.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in self.weights.items())
        return self.model.SerializeToString()

    def _ranges(self, names: list[str], samples: Any, engine: OnnxEngine) -> dict[str, tuple[Any, Any]]:
        """Scale and zero of each tensor, as the float32 model has them on the samples."""
        watched = onnx.ModelProto()
        watched.CopyFrom(self.model)
        watched.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
        found = engine.session_of(watched.SerializeToString()).run(names, {"planes": samples})
        ranges: dict[str, tuple[Any, Any]] = {}
        for name, array in zip(names, found, strict=True):
            low, high = min(0.0, float(array.min())), max(1e-6, float(array.max()))
            scale = np.float32((high - low) / 255)
            ranges[name] = scale, np.uint8(round(-low / scale))
        return ranges

    def _round_weights(self, node: Any, scale: Any, nodes: list[Any]) -> None:
        weight, bias = (self.weights.pop(name) for name in node.input[1:3])
        steps = np.abs(weight).max((1, 2, 3)) / 127
        steps = np.maximum(steps, np.abs(bias) / (1e9 * scale) + 1e-10).astype(np.float32)  # the bias must fit, too
        integers = np.round(weight / steps[:, None, None, None]).clip(-127, 127).astype(np.int8)
        self._restore(node.input[1], integers, steps, np.zeros(len(steps), np.int8), nodes)
        whole = np.round(bias / (steps * scale)).astype(np.int32)
        self._restore(node.input[2], whole, steps * scale, np.zeros(len(steps), np.int32), nodes)

    def _restore(self, name: str, integers: Any, steps: Any, zeros: Any, nodes: list[Any]) -> None:
        """A weight, from integers [channels, ...] and the size of a step in each channel."""
        parts = {f"{name}.integers": integers, f"{name}.steps": steps, f"{name}.zeros": zeros}
        self.weights |= parts
        nodes.append(helper.make_node("DequantizeLinear", list(parts), [name], axis=0))

    def _round(self, name: str, end: str, scale: Any, zero: Any, nodes: list[Any]) -> None:
        """What is called `name` becomes f"{end}.rounded"."""
        parts = {f"{end}.scale": np.array(scale), f"{end}.zero": np.array(zero)}
        self.weights |= parts
        nodes.append(helper.make_node("QuantizeLinear", [name, *parts], [f"{end}.integers"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{end}.integers", *parts], [f"{end}.rounded"]))
