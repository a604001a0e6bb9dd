"""Engines that run a network: one seam, `load` for new weights and `run` for a batch.

| engine | what it is |
| --- | --- |
| `onnx` | ONNX Runtime on the CPU: the fastest there in float32 (see docs/methods.md) |
| `int8` | the same with convolutions in 8-bit integers, for self-play (see int8.py) |
| `torch` | PyTorch on the CPU: always there |
| `cuda` | PyTorch on an NVIDIA GPU (see cuda.py) |
"""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ludus.errors import BadOption, Unsuitable

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENGINES = ("auto", "onnx", "int8", "torch", "cuda")


class Engine(Protocol):
    """Runs a network over planes."""

    def load(self, network: Any, samples: Any = None) -> None:
        """Take over the network's weights as they are now; `samples` are planes of usual positions, for engines that
        round."""

    def run(self, planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """planes [K, ...] to policy [K, heads, actions] and values [K, outputs]."""


class OnnxEngine:
    """ONNX Runtime; each session has its own threads, and none of them spin while they wait."""

    def __init__(self, threads: int = 1):
        import onnxruntime

        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3
        self.options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session: Any = None

    def load(self, network: Any, samples: Any = None) -> None:
        from ludus.nets.onnx import write_onnx

        self.session = self.session_of(write_onnx(network))

    def session_of(self, model: bytes) -> Any:
        import onnxruntime

        return onnxruntime.InferenceSession(model, self.options, ["CPUExecutionProvider"])

    def run(self, planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        policy, values = self.session.run(None, {"planes": planes})
        return policy, values


class TorchEngine:
    """PyTorch in eager mode, on the CPU. Runs networks over graphs too: then `run` takes a batch of graphs."""

    def __init__(self) -> None:
        self.network: Any = None

    def load(self, network: Any, samples: Any = None) -> None:
        import copy

        self.network = copy.deepcopy(network).cpu().eval()

    def run(self, planes: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        import torch

        with torch.inference_mode():
            policy, values = self.network(torch.from_numpy(planes) if isinstance(planes, np.ndarray) else planes)
        return policy.numpy(), values.numpy()


def make_engine(name: str = "auto", network: Any = None, threads: int = 1) -> Engine:
    """An engine by name; `auto` is the fastest that this machine has. With a network, that network is in it."""
    if network is not None:
        engine = make_engine(name, threads=threads)
        engine.load(network)
        return engine
    if name not in ENGINES:
        raise BadOption(f"no engine is called {name!r}; there are {', '.join(ENGINES)}")
    name = fastest_engine(name)
    if name in ("onnx", "int8"):
        if not has_onnx():
            raise Unsuitable(f"the engine {name} needs two more packages: pip install onnx onnxruntime")
        if name == "onnx":
            return OnnxEngine(threads)
        from ludus.nets.int8 import Int8Engine

        return Int8Engine(threads)
    if name == "cuda":
        from ludus.gpu.engine import CudaEngine

        return CudaEngine()
    return TorchEngine()


def fastest_engine(name: str = "auto") -> str:
    """The engine that `auto` means on this machine; any other name is itself."""
    if name != "auto":
        return name
    import torch

    return "cuda" if torch.cuda.is_available() else "onnx" if has_onnx() else "torch"


def has_onnx() -> bool:
    return all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))
