"""Functions of the engine in machine code: kernels, which Python calls, and parts, which only kernels call."""

from typing import Any

import numba

from ludus.native.caching import InnerCache, KernelCache
from ludus.native.emission import INTENSIVE
from ludus.native.internals import WITHOUT_RUNTIME, WITHOUT_WRAPPERS, use_cache

OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True, **WITHOUT_RUNTIME}
"""How kernels and games are compiled: division as in NumPy, without the interpreter's lock, without Numba's runtime.

A function of a game that makes an array, or copies one into another, needs the runtime and gets it (see dispatch.py).
"""

INNER: dict[str, Any] = {**OPTIONS, **WITHOUT_WRAPPERS}
"""How functions are compiled that only compiled code calls."""


def kernel(function: Any) -> Any:
    """Compile a function of the engine on first use, cached on disk. It runs without the interpreter's lock."""
    made = numba.njit(function, **OPTIONS)
    use_cache(made, KernelCache(function))
    return made


def intensive_kernel(function: Any) -> Any:
    """A kernel in which a program spends most of its time: LLVM optimises it twice, which takes longer to compile."""
    INTENSIVE.add(function.__qualname__)
    return kernel(function)


def part(function: Any) -> Any:
    """Compile a function that only kernels call, into each of them."""
    made = numba.njit(function, forceinline=True, **INNER)
    use_cache(made, InnerCache(function))
    return made


def compiled(function: Any) -> Any:
    """Compile a plain function of Ludus that only kernels call, as a function of its own."""
    return numba.njit(function, **INNER)
