"""Atomic operations on 64-bit words that several threads share, and a way for a thread that waits to give way.

Atomic operations are sequentially consistent. A word is given by the address of an int64 array and an index.
"""

import sys
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WORD = ir.IntType(64)
SIGNATURE_OF_READ = types.int64(types.int64, types.int64)
SIGNATURE_OF_CHANGE = types.int64(types.int64, types.int64, types.int64)
YIELD = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
"""The operating system's function, int32 f(), by which a thread lets others run on its core."""


def _pointer(builder: Any, address: Any, index: Any) -> Any:
    offset = builder.mul(index, ir.Constant(WORD, WORD.width // 8))
    return builder.inttoptr(builder.add(address, offset), WORD.as_pointer())


@intrinsic
def atomic_load(typing: Any, address: Any, index: Any) -> Any:
    """The word at `index`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(builder, *arguments)
        return builder.load_atomic(pointer, "seq_cst", 8)

    return SIGNATURE_OF_READ, generate


@intrinsic
def atomic_store(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Set the word at `index`; returns the value."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(builder, *arguments[:2])
        builder.store_atomic(arguments[2], pointer, "seq_cst", 8)
        return arguments[2]

    return SIGNATURE_OF_CHANGE, generate


@intrinsic
def atomic_add(typing: Any, address: Any, index: Any, value: Any) -> Any:
    """Add to the word at `index`; returns the word as it was before."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = _pointer(builder, *arguments[:2])
        return builder.atomic_rmw("add", pointer, arguments[2], "seq_cst")

    return SIGNATURE_OF_CHANGE, generate


@intrinsic
def yield_core(typing: Any) -> Any:
    """Let another thread run on this core, if one waits for it; otherwise go on at once."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        function = builder.module.globals.get(YIELD) or ir.Function(builder.module, kind, YIELD)
        builder.call(function, [])
        return context.get_dummy_value()

    return types.void(), generate
