"""The functions of ludus.gdl.scratch in compiled code: malloc, memcpy and free of the C library.

The code is put into the function that asks for the copy, since Numba without its runtime returns no new arrays.
`cgutils`, `make_array` and `populate_array` are not public API of Numba.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import lower_builtin, type_callable
from numba.np.arrayobj import make_array, populate_array

from ludus.gdl import scratch

SIZE = ir.IntType(64)


@type_callable(scratch.take_copy)
def type_take_copy(context: Any) -> Any:
    def typed(array: Any) -> Any:
        return array

    return typed


@type_callable(scratch.take_near)
def type_take_near(context: Any) -> Any:
    def typed(array: Any, row: Any, at: Any) -> Any:
        return array

    return typed


@type_callable(scratch.take_beside)
def type_take_beside(context: Any) -> Any:
    def typed(kept: Any, row: Any, at: Any) -> Any:
        return kept

    return typed


@type_callable(scratch.give_back)
def type_give_back(context: Any) -> Any:
    def typed(copy: Any) -> Any:
        return types.void

    return typed


def _function(builder: Any, name: str, result: Any, argument: Any) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [argument]), name)


@lower_builtin(scratch.take_copy, types.Array)
def lower_take_copy(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    source = make_array(signature.return_type)(context, builder, arguments[0])
    return _array_like(context, builder, signature, source, _new_copy(builder, source))


@lower_builtin(scratch.take_near, types.Array, types.Array, types.Integer)
def lower_take_near(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    source = make_array(signature.return_type)(context, builder, arguments[0])
    row, at = _row(context, builder, signature, arguments)
    data = cgutils.alloca_once(builder, source.data.type)
    with builder.if_else(builder.icmp_signed(">", row.nitems, at)) as (is_kept, is_new):
        with is_kept:
            used = builder.bitcast(builder.gep(row.data, [at]), SIZE.as_pointer())
            kept = builder.bitcast(builder.gep(used, [SIZE(1)]), source.data.type)
            builder.store(kept, data)
            with builder.if_then(builder.icmp_signed("==", builder.load(used), SIZE(0))):
                builder.store(SIZE(1), used)
                cgutils.raw_memcpy(builder, kept, source.data, source.nitems, source.itemsize)
        with is_new:
            builder.store(_new_copy(builder, source), data)
    return _array_like(context, builder, signature, source, builder.load(data))


@lower_builtin(scratch.take_beside, types.Array, types.Array, types.Integer)
def lower_take_beside(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    source = make_array(signature.return_type)(context, builder, arguments[0])
    data = builder.gep(source.data, [source.nitems])
    cgutils.raw_memcpy(builder, data, source.data, source.nitems, source.itemsize)
    return _array_like(context, builder, signature, source, data)


def _row(context: Any, builder: Any, signature: Any, arguments: Any) -> tuple[Any, Any]:
    """The row of bytes, and the index in it, as a number of 64 bits."""
    row = make_array(signature.args[1])(context, builder, arguments[1])
    return row, context.cast(builder, arguments[2], signature.args[2], types.int64)


def _new_copy(builder: Any, source: Any) -> Any:
    """Memory of the C library with the contents of an array."""
    size = builder.mul(source.nitems, source.itemsize)
    memory = builder.call(_function(builder, "malloc", cgutils.voidptr_t, SIZE), [size])
    data = builder.bitcast(memory, source.data.type)
    cgutils.raw_memcpy(builder, data, source.data, source.nitems, source.itemsize)
    return data


def _array_like(context: Any, builder: Any, signature: Any, source: Any, data: Any) -> Any:
    copy = make_array(signature.return_type)(context, builder)
    populate_array(copy, data, source.shape, source.strides, source.itemsize, None)
    return copy._getvalue()


@lower_builtin(scratch.give_back, types.Array)
def lower_give_back(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = make_array(signature.args[0])(context, builder, arguments[0]).data
    free = _function(builder, "free", ir.VoidType(), cgutils.voidptr_t)
    builder.call(free, [builder.bitcast(data, cgutils.voidptr_t)])
    return context.get_dummy_value()
