"""Engines: what runs a network. `load` takes new weights, `run` evaluates a batch.

| engine | what it is |
| --- | --- |
| `cuda` | PyTorch on an NVIDIA GPU, in bfloat16 (see gpu/engine.py) |
| `onnx` | ONNX Runtime on the CPU: the fastest there in float32 (see docs/methods.md) |
| `int8` | 8-bit integers on the CPU, for searches: ONNX Runtime with convolutions quantised (see quantised.py) |
| `native` | compiled loops on the CPU, for graph networks (see graph_engine.py; in integers: graph_quantised.py) |
| `torch` | PyTorch on the CPU: always available |
"""

from __future__ import annotations

import copy
import importlib.util
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ludus import gpu
from ludus.errors import BadOption, Unsuitable
from ludus.search.spread import CHUNK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.game import Game
    from ludus.search.batch import View
    from ludus.search.forest import Evaluator, SearchForest


WHOLE = 1 << 30
"""A chunk that holds every batch: for engines that use all cores, or a GPU, by themselves."""


class Engine(Protocol):
    """Runs a network. These methods are all that an evaluator uses."""

    chunk: int
    """Positions in one `run` from which on more make it no faster per position (see search/spread.py)."""

    @property
    def precision(self) -> str:
        """The numbers that the engine computes with: float32, bfloat16 or int8."""

    def load(self, network: Any, calibration: Any = None) -> None:
        """Take over the weights of a network as they are now.

        `calibration` holds inputs of `run` for usual positions, for engines that quantise; others ignore it.
        """

    def run(self, inputs: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """planes [K, *observation] to policy [K, heads, actions] and values [K, outputs].

        A graph network's engine takes Graphs of arrays instead (see graph_batches.py), and its policy is [nodes].
        """

    def share(self) -> Engine:
        """An engine for another thread with the same weights, also after the next `load` of this one."""

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
        """A forest whose trees are in the memory of the device that runs the network, if that is possible.

        It will be searched by `evaluator`, which runs this engine on positions as `view` shows them, and by the
        selection rules `rules`, of which the first is set.
        """


class CpuEngine(ABC):
    """The base of engines on the CPU, which several threads may run at the same time."""

    precision = "float32"
    chunk = WHOLE

    @abstractmethod
    def load(self, network: Any, calibration: Any = None) -> None: ...

    @abstractmethod
    def run(self, inputs: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]: ...

    def share(self) -> Engine:
        return self

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
        from ludus.search.forest import Forest

        return Forest(game, rules[0], trees=trees, nodes=nodes, seed=seed)


class OnnxEngine(CpuEngine):
    """ONNX Runtime in float32, on `threads` threads that do not spin while they wait."""

    chunk = CHUNK

    def __init__(self, threads: int = 1):
        import onnxruntime

        self.options = onnxruntime.SessionOptions()
        self.options.intra_op_num_threads = threads
        self.options.inter_op_num_threads = 1
        self.options.log_severity_level = 3
        self.options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session: Any = None

    def load(self, network: Any, calibration: Any = None) -> None:
        from ludus.nets.onnx import write_onnx

        self.session = self.make_session(write_onnx(network))

    def make_session(self, model: bytes) -> Any:
        """A session that runs an ONNX model."""
        import onnxruntime

        return onnxruntime.InferenceSession(model, self.options, ["CPUExecutionProvider"])

    def run(self, inputs: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        policy, values = self.session.run(None, {"planes": inputs})
        return policy, values


class TorchEngine(CpuEngine):
    """PyTorch in eager mode, on the CPU. Runs every network: planes as an array, graphs as Graphs of arrays."""

    def __init__(self) -> None:
        self.network: Any = None

    def load(self, network: Any, calibration: Any = None) -> None:
        self.network = copy.deepcopy(network).cpu().eval()

    def run(self, inputs: Any) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        import torch

        is_array = isinstance(inputs, np.ndarray)
        given = torch.from_numpy(inputs) if is_array else type(inputs)(*map(torch.from_numpy, inputs))
        with torch.inference_mode():
            policy, values = self.network(given)
        return policy.numpy(), values.numpy()


@dataclass(frozen=True)
class EngineKind:
    """An entry of ENGINES."""

    make: Callable[[int], Engine]
    """Makes an engine that uses a number of threads."""
    why_not: Callable[[], str]
    """The reason why this machine cannot run it, or an empty text."""
    quantises: bool = False
    """True if it needs calibration and loses some accuracy: it is for searches (see calibrating.py)."""

    def start(self, name: str, threads: int = 1) -> Engine:
        """A new engine of this kind, which users call `name`; Unsuitable if this machine cannot run it."""
        problem = self.why_not()
        if problem:
            raise Unsuitable(f"the engine {name} {problem}")
        return self.make(threads)


def has_onnx() -> bool:
    """True if ONNX and ONNX Runtime are installed."""
    return all(importlib.util.find_spec(name) is not None for name in ("onnx", "onnxruntime"))


def _make_cuda(threads: int) -> Engine:
    from ludus.gpu.engine import CudaEngine

    return CudaEngine()


def _make_int8(threads: int) -> Engine:
    from ludus.nets.quantised import Int8Engine

    return Int8Engine(threads)


def _make_native(threads: int) -> Engine:
    from ludus.nets.graph_engine import NativeEngine

    return NativeEngine()


def _no_gpu() -> str:
    return "" if gpu.is_usable() else "needs an NVIDIA GPU that PyTorch can use; this machine shows none"


def _no_onnx() -> str:
    return "" if has_onnx() else "needs two more packages: pip install onnx onnxruntime"


ENGINES = {
    "cuda": EngineKind(_make_cuda, _no_gpu),
    "onnx": EngineKind(OnnxEngine, _no_onnx),
    "int8": EngineKind(_make_int8, _no_onnx, quantises=True),
    "native": EngineKind(_make_native, lambda: ""),
    "torch": EngineKind(lambda threads: TorchEngine(), lambda: ""),
}
"""All engines by name. `auto` is the first that does not quantise, runs the network, and works on this machine."""
ENGINE_NAMES = ("auto", *ENGINES)
FLOAT32_ON_CPU = ("onnx", "native")
"""The engines in place of which searches use int8, where that is faster."""
EXACT_ENGINE_NAMES = ("auto", *(name for name, kind in ENGINES.items() if not kind.quantises))
"""The engines that do not round: for the network alone."""


def fastest_engine(among: Sequence[str] = tuple(ENGINES)) -> str:
    """The engine that `auto` means on this machine, for a network that the engines `among` can run."""
    return next(name for name, kind in ENGINES.items() if name in among and not kind.quantises and not kind.why_not())


def make_engine(name: str = "auto", network: Any = None, threads: int = 1) -> Engine:
    """An engine by name, for networks over planes; with `network`, its weights are loaded and checked."""
    if name not in ENGINE_NAMES:
        raise BadOption(f"no engine is called {name!r}; there are {', '.join(ENGINE_NAMES)}")
    name = fastest_engine() if name == "auto" else name
    engine = ENGINES[name].start(name, threads)
    if network is not None:
        load_checked(engine, network)
    return engine


def load_checked(
    engine: Engine, network: Any, calibration: Any = None, make_inputs: Callable[[], Any] | None = None
) -> None:
    """Load a network. The first time in a process, compare the engine's answers with PyTorch's.

    `make_inputs` makes inputs of `run` to compare them on; by default, random planes.
    """
    from ludus.nets.checking import check_engine

    engine.load(network, calibration)
    check_engine(engine, network, calibration, make_inputs)
