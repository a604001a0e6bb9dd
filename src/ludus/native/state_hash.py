"""The fingerprint of a state, for games that define none: a hash of all that the state holds."""

from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import types

from ludus.errors import Unsuitable
from ludus.native.kernels import OPTIONS


def hash_of_state(state: Any) -> FunctionType:
    """A function fingerprint(rules, state), written for the Numba type of the state."""
    lines = ["def fingerprint(rules, state):", "    h = np.uint64(0x243F6A8885A308D3)"]
    if isinstance(state, types.Array):
        lines += ["    for i in range(state.size):", "        h = mix(h, state[i])"]
    else:
        for name, field in state.fields.items():
            kind = field.type.dtype if isinstance(field.type, types.NestedArray) else field.type
            if not isinstance(kind, types.Integer | types.Boolean):
                raise Unsuitable(f"the state's field {name!r} is not whole numbers: the game must define fingerprint()")
            if isinstance(field.type, types.NestedArray):
                lines += [f"    for value in state.{name}.flat:", "        h = mix(h, value)"]
            else:
                lines += [f"    h = mix(h, state.{name})"]
    lines += ["    return h ^ (h >> np.uint64(29))"]
    made: dict[str, Any] = {"np": np, "mix": _mix}
    exec("\n".join(lines), made)
    return made["fingerprint"]


@numba.njit(**OPTIONS)
def _mix(h, value):
    h = (h ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(32))
