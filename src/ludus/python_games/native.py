"""Calls from compiled code into Python: take the interpreter's lock, call, give the lock back.

The address of the function to call comes with the rules, so that the machine code holds nothing of this process and is
cached on disk. It goes through Python's own C interface, as Numba's code does elsewhere. A callback of ctypes would
drop an exception that is raised before the first line of the function runs. Ctrl-C arrives there: Python notices it
when the thread enters Python again.

Not public API are Numba's `get_python_api` and its methods, and that CPython's id() of an object is its address. The
names of the C functions are those of CPython's stable interface.
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
        # Addresses are unsigned; made signed at once, since Numba turns the sum of both kinds into a float.
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
                with lost:  # a second interrupt in the same moment, or the game is gone
                    api.err_write_unraisable(function)
    api.gil_release(lock)
    return builder.load(result)


def fetch_exception(builder: Any, api: Any) -> Any:
    """The exception that is set, as an object. It is no longer set afterwards."""
    place = api.pyobj.as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [place] * 3)
    places = [cgutils.alloca_once_value(builder, cgutils.get_null_value(api.pyobj)) for _ in range(3)]
    for name in ("PyErr_Fetch", "PyErr_NormalizeException"):
        builder.call(cgutils.get_or_insert_function(builder.module, kind, name), places)
    exception_class, exception, traceback = (builder.load(each) for each in places)
    api.decref(exception_class)
    api.decref(traceback)  # which may be absent; numba's decref is Py_DecRef, which takes that
    return exception
