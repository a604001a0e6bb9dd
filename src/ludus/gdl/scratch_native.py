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


@type_callable(scratch.give_back)
def type_give_back(context: Any) -> Any:
    def typed(copy: Any) -> Any:
        return types.void

    return typed


def _function(builder: Any, name: str, result: Any, argument: Any) -> Any:
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [argument]), name)


@lower_builtin(scratch.take_copy, types.Array)
def lower_take_copy(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind = make_array(signature.return_type)
    source, copy = kind(context, builder, arguments[0]), kind(context, builder)
    size = builder.mul(source.nitems, source.itemsize)
    memory = builder.call(_function(builder, "malloc", cgutils.voidptr_t, SIZE), [size])
    data = builder.bitcast(memory, source.data.type)
    cgutils.raw_memcpy(builder, data, source.data, source.nitems, source.itemsize)
    populate_array(copy, data, source.shape, source.strides, source.itemsize, None)
    return copy._getvalue()


@lower_builtin(scratch.give_back, types.Array)
def lower_give_back(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    data = make_array(signature.args[0])(context, builder, arguments[0]).data
    free = _function(builder, "free", ir.VoidType(), cgutils.voidptr_t)
    builder.call(free, [builder.bitcast(data, cgutils.voidptr_t)])
    return context.get_dummy_value()
