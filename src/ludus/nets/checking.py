"""Engines compared with PyTorch: an engine that answers differently must not play unnoticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.errors import Unsuitable
from ludus.nets.engines import TorchEngine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.nets.engines import Engine

    Answers = tuple[NDArray[np.float32], NDArray[np.float32]]

ROWS = 16
"""Positions on which an engine is compared."""
TOLERANCE = 1e-3
"""Largest difference in float32, absolute or relative to the number, of a logit or a value."""
_checked: set[Any] = set()
"""The engines and shapes of networks that this process has compared."""


def check_engine(
    engine: Engine, network: Any, calibration: Any = None, make_inputs: Callable[[], Any] | None = None
) -> None:
    """Raise Unsuitable if the engine's answers differ from PyTorch's for the network that it has loaded.

    They are compared on what `make_inputs` makes, else on planes of `calibration`, else on random planes.
    Each kind of engine is compared once in a process for each shape of network: that takes some milliseconds. An engine
    in int8 is not compared here, since it compares itself with float32 at every load (see quantised.py).
    """
    shapes = tuple((name, tuple(weight.shape)) for name, weight in network.state_dict().items())
    key = type(engine), engine.precision, type(network), network.sizes.observation, shapes
    if key in _checked or engine.precision == "int8" or isinstance(engine, TorchEngine):
        return
    reference = TorchEngine()
    reference.load(network)
    if make_inputs is not None:
        inputs = make_inputs()
    else:
        inputs = random_planes(network.sizes) if calibration is None else calibration[:ROWS]
    expected, found = reference.run(inputs), engine.run(inputs)
    if engine.precision == "float32":
        pairs = list(zip(found, expected, strict=True))
        apart = max(float(np.abs(mine - theirs).max()) for mine, theirs in pairs)
        agrees = all(np.allclose(*pair, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True) for pair in pairs)
    else:
        apart = mean_difference(network, inputs, found, expected)
        agrees = not apart > network.tolerance
    if not agrees:
        raise Unsuitable(
            f"{type(engine).__name__} differs from PyTorch by {apart:.3g} on this network, in {engine.precision}: "
            "set engine = torch"
        )
    _checked.add(key)


def random_planes(sizes: Any, count: int = ROWS) -> NDArray[np.float32]:
    """Random planes of 0 and 1, float32 [count, *observation], on boards that fill them; groups are random, too."""
    rng = np.random.default_rng(0)
    planes = rng.integers(0, 2, (count, *sizes.observation)).astype(np.float32)
    if sizes.mask is not None:
        planes[:, sizes.mask] = 1.0
    if sizes.groups is not None and sizes.observation == sizes.groups.inputs:
        for i, groups in enumerate(sizes.groups.groups):
            planes[:, sizes.groups.planes + i] = rng.integers(-1, groups, (count, *sizes.observation[1:]))
    return planes


def mean_difference(network: Any, inputs: Any, one: Answers, other: Answers) -> float:
    """The mean over positions of how far two answers of a network to `inputs` are apart: in value, or in the sum over
    all moves' probabilities if that is more."""

    def probabilities(logits: NDArray[np.float32]) -> NDArray[np.float32]:
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True)

    mine, theirs = (probabilities(network.to_logits(answer[0], inputs)) for answer in (one, other))
    policy = np.abs(mine - theirs).sum(-1).mean()
    return float(max(policy, np.abs(one[1] - other[1]).mean()))
