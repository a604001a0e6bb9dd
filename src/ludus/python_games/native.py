"""Calls from compiled code into Python: take the interpreter lock, call, release the lock.

The address of the function is a field of the rules, so the machine code does not depend on the process and can be
cached on disk. The call uses Python's C API, like other code of Numba. A ctypes callback would lose an exception that
is raised before the first line of the function. Ctrl-C does that: Python notices it when the thread enters Python.

Two facts used here are not public API: Numba's `get_python_api` and its methods, and that CPython's id() of an object
is its address. The C functions belong to CPython's stable ABI.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from ludus.python_games import rules as python_rules
from ludus.python_games.boards import ESCAPED, OVER, WORD
from ludus.python_games.rules import FIRST, PLAYED, SEED


@overload(python_rules.ask)
def typed_ask(rules, question, state, argument, target, width):
    def ask(rules, question, state, argument, target, width):
        # Addresses are unsigned. They are made signed at once, since Numba turns signed + unsigned into a float.
        data = types.int64(state.ctypes.data) + SEED * WORD
        size = WORD * (FIRST - SEED + types.int64(state[PLAYED]))
        return enter(rules.call, rules.handle, question, data, size, argument, target, width)

    return ask


@intrinsic
def enter(context, call, handle, question, data, size, argument, target, width):
    """call(handle, question, bytes at data, argument, target, width), from a thread that does not hold the lock."""
    return types.int64(*[types.int64] * 8), emit_call


def emit_call(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    call, handle, question, data, size, argument, target, width = arguments
    api = context.get_python_api(builder)
    lock = api.gil_ensure()
    function = builder.inttoptr(call, api.pyobj)
    result = cgutils.alloca_once_value(builder, ir.Constant(ir.IntType(64), OVER))

    def number(value: Any) -> Any:
        return api.long_from_longlong(value)

    def call_python(question: Any, history: Any) -> Any:
        objects = [number(handle), number(question), history, number(argument), number(target), number(width)]
        answer = api.call_function_objargs(function, objects)
        for owned in objects:
            api.decref(owned)
        return answer

    history = api.bytes_from_string_and_size(builder.inttoptr(data, cgutils.voidptr_t), size)
    answer = call_python(question, history)
    with builder.if_else(cgutils.is_not_null(builder, answer)) as (fine, escaped):
        with fine:
            builder.store(api.long_as_longlong(answer), result)
            api.decref(answer)
        with escaped:
            # Call once more, with the exception in place of the history.
            caught = call_python(ir.Constant(ir.IntType(64), ESCAPED), fetch_exception(builder, api))
            with builder.if_else(cgutils.is_not_null(builder, caught)) as (kept, lost):
                with kept:
                    api.decref(caught)
                with lost:  # a second interrupt at the same time, or the game no longer exists
                    api.err_write_unraisable(function)
    api.gil_release(lock)
    return builder.load(result)


def fetch_exception(builder: Any, api: Any) -> Any:
    """The pending exception as an object; it is cleared."""
    place = api.pyobj.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [place] * 3)
    places = [cgutils.alloca_once_value(builder, cgutils.get_null_value(api.pyobj)) for _ in range(3)]
    for name in ("PyErr_Fetch", "PyErr_NormalizeException"):
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), places)
    exception_class, exception, traceback = (builder.load(each) for each in places)
    api.decref(exception_class)
    api.decref(traceback)  # it may be NULL; Numba's decref is Py_DecRef, which accepts NULL
    return exception
