"""Canaries for what Ludus uses of Numba, llvmlite, PyTorch, Ray and CPython without their promise to keep it.

When one fails after an upgrade, its message says what has changed and what that breaks. docs/architecture.md lists the
places that use each of them.
"""

import ctypes
import pickle
import re
import threading
from typing import NamedTuple

import llvmlite.binding as llvm
import numba
import numpy as np
import pytest
from numba import types
from numba.core import event
from numba.core.callconv import RETCODE_OK
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen, RuntimeLinker
from numba.core.compiler import Flags
from numba.core.errors import NumbaError
from numba.core.itanium_mangler import mangle_type
from numba.extending import typeof_impl

from ludus.gdl.scratch import give_back, take_copy
from ludus.native import bundle, internals
from ludus.native.atomics import atomic_add, yield_core

NUMBERS = types.int64[::1]


def add_one(x):
    return x + 1


def pass_on(numbers):
    return numbers


def make_array(count):
    return np.zeros(count)


def copy_into(target, numbers):
    target[:] = numbers


def total(numbers):
    result = 0
    for number in numbers:
        result += number
    return result


def say(x):
    print("it is", x)
    return x


def compiled(function, *kinds, **options):
    """What Numba knows of a compiled function."""
    return internals.compile_for(numba.njit(function, **options), kinds)


def test_only_functions_that_are_entered_from_python_become_machine_code():
    inner = numba.njit(add_one, **internals.WITHOUT_WRAPPERS)

    @numba.njit
    def outer(x):
        return 2 * inner(x)

    assert outer(20) == 42
    libraries = [next(iter(each.overloads.values())).library for each in (inner, outer)]
    assert [library.is_emitted for library in libraries] == [False, True], (
        "Numba makes code libraries in another way, so every inner function is compiled to machine code for nothing"
    )


def test_a_function_without_machine_code_of_its_own_can_print(capsys):
    inner = numba.njit(say, **internals.WITHOUT_WRAPPERS)

    @numba.njit  # without nogil: with it, a failure would wait forever for the GIL
    def outer(x):
        return inner(x) + 1

    assert outer(20) == 21
    assert capsys.readouterr().out == "it is 20\n"


def test_machine_code_that_was_lost_by_ctrl_c_is_cached_as_llvm_code():
    function = numba.njit(add_one)
    assert function(20) == 21
    (compiled,) = function.overloads.values()
    compiled.library.enable_object_caching()  # after the machine code was made: as if it was never handed over
    name, kind, content = compiled.library.serialize_using_object_code()
    assert kind == "bitcode"
    again = type(compiled.library)._unserialize(compiled.library._codegen, (f"{name}_again", kind, content))
    wrapper = next(each.name for each in again.get_defined_functions() if each.name.startswith("_ZN7cpython"))
    assert again.get_pointer_to_function(wrapper)


def test_messages_of_numba_leave_the_standard_streams_alone(monkeypatch):
    pytest.importorskip("colorama", reason="without colorama, Numba colours nothing")
    replaced = []
    monkeypatch.setattr("numba.core.errors.reinit", lambda: replaced.append(True), raising=False)
    assert str(NumbaError("wrong")) == "wrong"
    assert not replaced, (
        "Numba colours its messages in another way: it replaces sys.stdout and sys.stderr for a moment whenever it "
        "makes an error, and output of other threads is lost"
    )


def test_numbas_libraries_have_the_steps_that_are_changed():
    for owner, names in (
        (JITCodeLibrary, ("_optimize_final_module", "serialize_using_object_code", "serialize_using_bitcode")),
        (JITCPUCodegen, ("_module_pass_manager", "set_env")),
    ):
        for name in names:
            assert callable(getattr(owner, name, None)), (
                f"Numba's {owner.__name__} has no {name}: see native/emission.py"
            )
    assert RuntimeLinker.PREFIX == ".numba.unresolved$", "Numba names unresolved functions in another way"


def test_compiler_settings_are_compared_by_their_values():
    first, second, other = Flags(), Flags(), Flags()
    first.nrt, other.nrt = False, True
    assert first == second, "Numba's settings that are not set differ from their defaults: see native/internals.py"
    assert hash(first) == hash(second)
    assert first != other
    assert first._values == {"nrt": False}, "Numba keeps its settings in another place: see native/internals.py"


def test_functions_that_call_each_other_in_a_circle_find_each_other():
    @numba.njit
    def is_even(n):
        return True if n == 0 else is_odd(n - 1)

    @numba.njit
    def is_odd(n):
        return False if n == 0 else is_even(n - 1)

    assert is_even(10), "code that is made lazily leaves a pointer of Numba's runtime linker unset"
    assert not is_odd(10)


# --- How functions are compiled ---------------------------------------------------------------------------------------


def test_without_the_runtime_references_are_not_counted():
    counted = compiled(pass_on, NUMBERS).library.get_llvm_str()
    assert "NRT_incref" in counted, "Numba counts references under another name, so the next check means nothing"
    lean = compiled(pass_on, NUMBERS, **internals.WITHOUT_RUNTIME).library.get_llvm_str()
    assert "NRT_incref" not in lean, (
        "Numba's option _nrt=False no longer leaves reference counting out, so searches take three times as long"
    )


def test_code_that_allocates_can_be_told_from_code_that_does_not():
    assert internals.allocates(compiled(make_array, types.int64)), (
        "Numba no longer allocates arrays through NRT_MemInfo_alloc, so games that make arrays are taken for lean ones"
    )
    assert not internals.allocates(compiled(add_one, types.int64)), (
        "Numba mentions NRT_MemInfo_alloc in all code, so every game is compiled with the slow runtime"
    )


def test_a_function_that_needs_the_runtime_says_so():
    with pytest.raises(NumbaError) as caught:
        compiled(copy_into, NUMBERS, NUMBERS, **internals.WITHOUT_RUNTIME)
    assert "NRT required" in str(caught.value), (
        "Numba no longer says 'NRT required' of a function that copies an array without its runtime, "
        "so describe_compile_error does not say that LEAN is to be removed"
    )


def test_functions_can_do_without_a_way_in_from_python():
    code = compiled(add_one, types.int64, **internals.WITHOUT_WRAPPERS).library.get_llvm_str()
    assert "cpython." not in code, (
        "Numba's option no_cpython_wrapper no longer leaves the wrapper out, so compiling takes longer"
    )


def test_vectors_can_be_switched_off():
    with internals.global_compiler_lock, internals.without_vectors():
        plain = compiled(total, NUMBERS).library.get_llvm_str()
    assert "x i64>" not in plain, (
        "Numba's settings LOOP_VECTORIZE and SLP_VECTORIZE no longer switch vectors off, so LLVM's code for the CPU "
        "does not fit a GPU"
    )
    assert "x i64>" in compiled(total, NUMBERS).library.get_llvm_str(), (
        "Numba no longer vectorises the sum of an array, so the check above means nothing"
    )


def test_compiling_is_an_event():
    heard = []

    class Listener(event.Listener):
        def on_start(self, started):
            heard.append(started.data["args"])

        def on_end(self, ended):
            heard.append("end")

    with event.install_listener("numba:compile", Listener()):
        compiled(lambda x: x, types.int8)
    assert heard == [(types.int8,), "end"], (
        "Numba no longer sends an event 'numba:compile' with the types of the arguments, "
        "so nobody is told why the first search takes a minute"
    )


# --- The cache --------------------------------------------------------------------------------------------------------


def test_a_dispatcher_asks_its_cache():
    asked = []

    class Cache(internals.NullCache):
        def load_overload(self, sig, target_context):
            asked.append(("load", sig))

        def save_overload(self, sig, data):
            asked.append(("save", sig))

    made = numba.njit(add_one)
    internals.use_cache(made, Cache())
    assert made(1) == 2
    assert asked == [("load", (types.int64,)), ("save", (types.int64,))], (
        "Numba's dispatchers no longer ask the object in _cache, so every process compiles everything again"
    )


def test_machine_code_can_be_taken_apart_and_put_together():
    made = compiled(add_one, types.int64)
    again = internals.from_parts(made.target_context, pickle.loads(internals.dumps(internals.to_parts(made))))
    assert again.entry_point(20) == 21, (
        "Numba's CompileResult can no longer be taken apart and rebuilt, so machine code cannot be kept on disk"
    )


def test_a_machine_has_a_description():
    described = internals.machine_of(compiled(add_one, types.int64).target_context)
    assert any(llvm.get_host_cpu_name() in part for part in described), (
        "Numba's codegen no longer names the CPU, so machine code for another CPU could come from a shared cache"
    )


TABLE = np.arange(1 << 18)


def look_up(index):
    return TABLE[index]


def ping(x):
    return 0 if x < 1 else pong(x - 1)


def pong(x):
    return 0 if x < 1 else ping(x - 1)


def test_code_that_belongs_to_one_process_is_known():
    assert internals.belongs_to_process(compiled(look_up, types.int64)), (
        "Numba no longer marks code with addresses of large tables, so a cached kernel could read freed memory"
    )
    names = {"ping": ping, "pong": pong}
    for name, function in list(names.items()):
        names[name] = numba.njit(type(function)(function.__code__, names, name))
    assert internals.belongs_to_process(internals.compile_for(names["ping"], (types.int64,))), (
        "Numba links functions that call each other in a circle in another way than through .numba.unresolved$, "
        "so whether such code may be cached must be looked at again"
    )
    assert not internals.belongs_to_process(compiled(add_one, types.int64)), (
        "Numba marks all code as bound to its process, so nothing is cached"
    )


def test_types_of_states_have_full_names_in_machine_code():
    kinds = [numba.from_dtype(np.dtype([("cells", np.int8, (size,))])) for size in (9, 16)]
    names = {mangle_type(kind) for record in kinds for kind in (record, record.typeof("cells"))}
    assert len(names) == 4, (
        "Numba no longer names functions in machine code by mangling_args of their types, "
        "so code for two sizes of a board could run for each other"
    )


# --- Arguments --------------------------------------------------------------------------------------------------------


def test_named_tuples_are_told_apart_by_the_names_of_their_classes():
    asked = []

    def typeof(value, context):
        asked.append(type(value))
        return types.UniTuple(types.int64, 2)

    classes = [NamedTuple(name, [("x", int), ("y", int)]) for name in ("One", "Other")]
    for each in classes:
        typeof_impl.register(each)(typeof)
    first = numba.njit(lambda pair: pair[0])
    assert [first(each(5, 6)) for each in (*classes, *classes)] == [5] * 4
    assert list(dict.fromkeys(asked)) == classes, (
        "Numba's dispatcher no longer looks at the name of a named tuple's class, "
        "so rules of two games with the same fields could run each other's code"
    )


# --- Calls into Python ------------------------------------------------------------------------------------------------


@bundle
class Pair(NamedTuple):
    numbers: np.ndarray
    factor: int


def scaled(pair):
    return pair.factor * pair.numbers[1]


def test_fields_of_a_bundle_are_read_in_machine_code():
    found = numba.njit(scaled)(Pair(np.arange(3), 5))
    assert found == 5, (
        "Numba's AttributeTemplate or impl_ret_borrowed works differently, so kernels read wrong fields of the rules"
    )


def unknown_attribute(x):
    return x.no_such_attribute


def test_a_failure_to_compile_is_known_by_its_class():
    with pytest.raises(Exception) as caught:  # noqa: PT011
        compiled(unknown_attribute, types.int64)
    assert isinstance(caught.value, NumbaError), (
        "Numba raises another class when it cannot compile, so mistakes in a game's file are shown as tracebacks"
    )


def test_threads_share_words_by_atomic_operations():
    words = np.zeros(1, np.int64)

    @numba.njit(nogil=True)
    def count(address, times):
        for _ in range(times):
            atomic_add(address, 0, 1)
            yield_core()

    threads = [threading.Thread(target=count, args=(words.ctypes.data, 20_000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert words[0] == 80_000, "llvmlite's atomic_rmw is not atomic any more, so threads of a search repeat each other"


def test_the_id_of_an_object_is_its_address():
    assert ctypes.cast(id(add_one), ctypes.py_object).value is add_one, (
        "Python's id() is no longer the address of an object, so compiled code cannot call games in ordinary Python"
    )


def test_compiled_code_can_call_python_and_hand_an_exception_over():
    from ludus.python_games.boards import ESCAPED, OVER
    from ludus.python_games.native import enter

    calls = []

    def answer(handle, question, history, argument, target, width):
        calls.append((question, history))
        if question == 1:
            raise KeyError("mine")
        return argument

    @numba.njit(nogil=True)
    def ask(address, question, data):
        return enter(address, 0, question, data, 2, 7, 0, 0)

    text = np.frombuffer(b"ab", np.uint8)
    assert ask(id(answer), 0, text.ctypes.data) == 7, (
        "Numba's interface to Python's C functions has changed, so compiled code cannot call games in ordinary Python"
    )
    assert calls == [(0, b"ab")]
    assert ask(id(answer), 1, text.ctypes.data) == OVER
    assert (calls[-1][0], type(calls[-1][1])) == (ESCAPED, KeyError), (
        "PyErr_Fetch no longer gives the exception, so errors and Ctrl-C in games in ordinary Python are lost"
    )


# --- GPU --------------------------------------------------------------------------------------------------------------


def test_compiled_functions_take_their_arguments_in_the_known_order():
    result = compiled(lambda index, numbers: None, types.int64, NUMBERS, **internals.WITHOUT_WRAPPERS)
    module = llvm.parse_assembly(result.library.get_llvm_str())
    function = module.get_function(result.fndesc.llvm_func_name)
    kinds = [str(argument.type) for argument in function.arguments]
    assert kinds == ["ptr", "ptr", "i64", "ptr", "ptr", "i64", "i64", "ptr", "i64", "i64"], (
        "Numba passes arguments or the parts of an array in another order or with other pointers, "
        "so kernels on a GPU would read wrong memory"
    )
    assert re.search(r"^define .*\bi32 @", str(function), re.MULTILINE), (
        "Numba's functions no longer return a status of 32 bits (see gpu/compiler.py)"
    )
    assert RETCODE_OK.constant == 0, (
        "Numba's status of success is not 0, so every kernel on a GPU would report a failure"
    )


def test_llvm_compiles_for_a_gpu():
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        machine = llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu="sm_80", opt=3)
    except RuntimeError:
        pytest.fail("llvmlite is built without LLVM's back end for NVIDIA GPUs, so trees cannot grow on a GPU")
    code = 'target triple = "nvptx64-nvidia-cuda"\ndefine ptx_kernel void @entry(ptr %x) {\n  ret void\n}\n'
    try:
        module = llvm.parse_assembly(code)
    except RuntimeError:
        pytest.fail("LLVM does not read the code that gpu/compiler.py writes, so trees cannot grow on a GPU")
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    builder.getModulePassManager().run(module, builder)
    assert ".entry entry" in machine.emit_assembly(module), (
        "LLVM no longer knows the calling convention ptx_kernel, so kernels on a GPU have no entry"
    )


# --- PyTorch ----------------------------------------------------------------------------------------------------------


def test_torch_works_on_lists_of_tensors():
    torch = pytest.importorskip("torch")
    names = ("_foreach_copy_", "_foreach_sub", "_foreach_mul_", "_foreach_add_")
    missing = [name for name in names if not hasattr(torch, name)]
    assert not missing, f"PyTorch has no {missing} any more, so the learner cannot average its weights"
    mine, theirs = [torch.tensor([1.0, 2.0])], [torch.tensor([3.0, 6.0])]
    away = torch._foreach_sub(theirs, mine)
    torch._foreach_mul_(away, 0.5)
    torch._foreach_add_(mine, away)
    assert mine[0].tolist() == [2.0, 4.0], "PyTorch's _foreach operations compute something else: the average is wrong"
    torch._foreach_copy_(mine, theirs)
    assert mine[0].tolist() == [3.0, 6.0], "PyTorch's _foreach_copy_ copies something else: gradients are wrong"


def test_torch_multiplies_matrices_of_integers():
    torch = pytest.importorskip("torch")
    assert hasattr(torch, "_int_mm"), "PyTorch has no _int_mm any more, so graph networks cannot run in integers"
    one, other = torch.full((3, 16), 127, dtype=torch.int8), torch.full((16, 16), -127, dtype=torch.int8)
    out = torch.zeros((3, 16), dtype=torch.int32)
    torch._int_mm(one, other, out=out)
    assert (out == -16 * 127 * 127).all(), "PyTorch's _int_mm computes something else: graph networks play badly"


def test_torch_has_fused_convolutions():
    torch = pytest.importorskip("torch")
    missing = [name for name in ("cudnn_convolution_relu", "cudnn_convolution_add_relu") if not hasattr(torch, name)]
    assert not missing, f"PyTorch has no {missing} any more, so networks on a GPU cannot be fused"


# --- Scratch memory of descriptions -----------------------------------------------------------------------------------


def change_a_copy(numbers):
    copy = take_copy(numbers)
    copy[0] = 7
    changed = copy.sum()
    give_back(copy)
    return changed


def test_code_without_the_runtime_takes_scratch_arrays_from_the_c_library():
    from ludus.gdl import scratch_native  # noqa: F401 - tells Numba how

    numbers = np.arange(1, 5)
    found = numba.njit(change_a_copy, **internals.WITHOUT_RUNTIME)(numbers)
    assert (found, numbers.tolist()) == (16, [1, 2, 3, 4]), (
        "make_array, populate_array or lower_builtin has changed: descriptions in GDL cannot copy their circuit "
        "(gdl/scratch_native.py)"
    )


def test_ray_can_be_kept_on_the_loopback_address(monkeypatch):
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'ludus[cluster]'")
    from ray._private import ray_constants, services

    assert ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR == "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
    monkeypatch.setattr(ray_constants, "ENABLE_RAY_CLUSTER", False)
    told = "a Ray that Ludus starts for one machine would listen on all its addresses (cluster/connection.py)"
    assert services.resolve_ip_for_localhost("127.0.0.1") == "127.0.0.1", told
