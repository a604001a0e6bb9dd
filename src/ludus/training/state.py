"""State: what an object of a run needs to continue exactly where it was."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class State:
    """Named values of one object, or of several together. The names are those in the files of a checkpoint."""

    tensors: dict[str, Any] = field(default_factory=dict)
    """PyTorch tensors, saved in learner.safetensors."""
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    """NumPy arrays, saved in state.npz."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Numbers and lists that fit into JSON, saved in state.npz and beside the weights."""

    def __or__(self, other: State) -> State:
        """Both together."""
        return State(self.tensors | other.tensors, self.arrays | other.arrays, self.facts | other.facts)

    def tensors_of(self, prefix: str) -> dict[str, Any]:
        """The tensors whose names begin with `prefix`, without it."""
        return {name.removeprefix(prefix): each for name, each in self.tensors.items() if name.startswith(prefix)}

    def arrays_of(self, prefix: str) -> dict[str, np.ndarray]:
        """The arrays whose names begin with `prefix`, without it."""
        return {name.removeprefix(prefix): each for name, each in self.arrays.items() if name.startswith(prefix)}


def with_prefix(prefix: str, values: dict[str, Any]) -> dict[str, Any]:
    """The same values by longer names."""
    return {f"{prefix}{name}": value for name, value in values.items()}


def pack_rng(rng: np.random.Generator) -> np.ndarray:
    """The state of a random generator as an array of one text."""
    return np.array(json.dumps(rng.bit_generator.state))


def unpack_rng(rng: np.random.Generator, packed: np.ndarray) -> None:
    """Give a random generator a state from `pack_rng`."""
    rng.bit_generator.state = json.loads(str(packed))
