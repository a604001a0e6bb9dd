"""Functions of other modules in machine code: random numbers for kernels, and steps from position to position."""

from ludus import rng, stepping
from ludus.native.kernels import kernel
from ludus.native.modules import compiled_names

_rng = compiled_names(rng)
below, uniform = _rng["below"], _rng["uniform"]

STEPPING = {name: kernel(getattr(stepping, name)) for name in ("inspect", "step", "view")}
"""The functions of ludus.stepping as kernels."""
