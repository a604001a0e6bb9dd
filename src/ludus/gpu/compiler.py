"""Functions of the engine on an NVIDIA GPU: LLVM compiles for it what Numba has made for the CPU.

A function that works on one tree, and all that it calls (the rules of the game, the selection rule), is arithmetic on
arrays that are there already; nothing in its LLVM code belongs to the CPU. So the code goes to LLVM's PTX back end as
it is, behind an entry that calls it once in each thread of the GPU. Both compute the same bits.

Numbers among the arguments (sizes, strides, the game's options) become constants: loops over a board have a known
length then, and the divisions vanish. Arrays become pointers, the only parameters that a launch takes.

Not public API are Numba's calling convention (two pointers before the arguments, the status as the result), the order
in which it passes the parts of an array, and its LLVM code as text.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import struct
from collections.abc import Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba import types
from numba.core.callconv import RETCODE_NONE, RETCODE_OK
from numba.core.errors import NumbaError

from ludus.errors import Unsuitable
from ludus.gpu.driver import Function
from ludus.native import store
from ludus.native.digests import digest_of_function
from ludus.native.emission import INTENSIVE
from ludus.native.internals import compile_for, global_compiler_lock, without_vectors
from ludus.native.kernels import INNER

TRIPLE = "nvptx64-nvidia-cuda"
ENTRY = "entry"
LINKAGE = "linkonce_odr|weak_odr|internal|private|external|hidden|protected|dso_local|local_unnamed_addr|unnamed_addr"
INSTRUCTIONS = (
    "abs|assume|bitreverse|bswap|ceil|copysign|ctlz|ctpop|cttz|expect|fabs|floor|fma|fshl|fshr|lifetime|masked|maximum|"
    "maxnum|memcpy|memmove|memset|minimum|minnum|rint|round|roundeven|sadd|scmp|smax|smin|smul|sqrt|ssub|stackrestore|"
    "stacksave|trap|trunc|uadd|ucmp|umax|umin|umul|usub|vector"
)
"""Those of LLVM's own functions that a GPU computes by itself, to the same bits."""
LANES = 32
"""Threads of a block: few, so that even small forests reach every multiprocessor of the GPU."""


@cache
def code_of(function: Any, kinds: tuple[Any, ...]) -> tuple[str, str]:
    """LLVM code of a plain function for these types of arguments, and the function's name there.

    It has no vector instructions, except in functions that this process has compiled for the CPU before.
    """
    INTENSIVE.add(function.__qualname__)
    try:
        with without_vectors():
            result = compile_for(numba.njit(function, **INNER), kinds)
    except NumbaError as error:
        raise Unsuitable(f"{function.__name__} cannot be compiled for a GPU with these rules") from error
    if result.library.has_dynamic_globals:  # addresses in the memory of this process
        raise Unsuitable("a table among the names of these rules is too large for a GPU: make it a field of the rules")
    return result.library.get_llvm_str(), result.fndesc.llvm_func_name


def flatten(kind: Any, value: Any) -> list[Any]:
    """An argument as compiled functions take it: numbers, arrays (for their pointers), and None for null pointers."""
    if isinstance(value, tuple):
        return [part for each, inner in zip(kind.types, value, strict=True) for part in flatten(each, inner)]
    if isinstance(kind, types.Array):
        return [None, None, value.size, value.itemsize, value, *value.shape, *value.strides]
    if isinstance(kind, types.Integer | types.Boolean | types.Float):
        return [value]
    raise Unsuitable(f"a kernel on a GPU cannot take {kind}")


def constant(kind: str, value: Any) -> str:
    """A number as LLVM writes it."""
    if kind in ("double", "float"):
        number = float(np.float32(value)) if kind == "float" else float(value)
        return f"{kind} 0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    return f"{kind} {int(value)}"


def entry(kinds: list[str], parts: list[Any], name: str, count: int, lanes: int) -> str:
    """LLVM code that calls the function for index 0 to count - 1, once in each thread.

    `kinds` and `parts` are the LLVM types and the values of its further arguments. The first parameter of the entry
    points to an int32, which becomes 1 if a call fails.
    """
    given = ["ptr addrspace(1) noalias %failures"]
    passed: list[str] = []
    casts: list[str] = []
    for kind, value in zip(kinds, parts, strict=True):
        if isinstance(value, np.ndarray):
            number = len(given)
            given.append(f"ptr addrspace(1) noalias %a{number}")
            casts.append(f"  %p{number} = addrspacecast ptr addrspace(1) %a{number} to ptr")
            passed.append(f"ptr %p{number}")
        else:
            passed.append("ptr null" if value is None else constant(kind, value))
    return "\n".join(
        [
            f"define ptx_kernel void @{ENTRY}({', '.join(given)}) {{",
            "  %result = alloca ptr",
            "  %failure = alloca ptr",
            "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            "  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
            f"  %before = mul i32 %block, {lanes}",
            "  %number = add i32 %before, %lane",
            f"  %inside = icmp ult i32 %number, {count}",
            "  br i1 %inside, label %work, label %done",
            "work:",
            "  %index = zext i32 %number to i64",
            *casts,
            f"  %status = call i32 {name}(ptr %result, ptr %failure, i64 %index, {', '.join(passed)})",
            f"  %fine = icmp eq i32 %status, {RETCODE_OK.constant}",
            f"  %none = icmp eq i32 %status, {RETCODE_NONE.constant}",
            "  %good = or i1 %fine, %none",
            "  br i1 %good, label %done, label %bad",
            "bad:",
            "  store i32 1, ptr addrspace(1) %failures",
            "  br label %done",
            "done:",
            "  ret void",
            "}",
            "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
            "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
            "",
        ]
    )


@cache
def _target(chip: str) -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE).create_target_machine(cpu=chip, opt=3)


def is_instruction(name: str) -> bool:
    """True if a GPU computes LLVM's own function of this name by itself."""
    return re.match(rf"llvm\.({INSTRUCTIONS})(\.|$)", name) is not None


def with_own_roots(code: str) -> str:
    """LLVM code that takes square roots by an instruction, which is exact on a GPU too, not from a library."""
    for name, kind in (("sqrt", "double"), ("sqrtf", "float")):
        own = f"llvm.sqrt.f{64 if kind == 'double' else 32}"
        code = re.sub(rf"^declare {kind} @({name}|{re.escape(own)})\(.*\n", "", code, flags=re.MULTILINE)
        code = code.replace(f"@{name}(", f"@{own}(")
        if f"@{own}(" in code:
            code += f"declare {kind} @{own}({kind})\n"
    return code


@global_compiler_lock  # code_of changes settings of the whole process
def to_ptx(function: Any, arguments: Sequence[Any], count: int, chip: str, lanes: int = LANES) -> str:
    """The GPU's assembly of a function whose first argument is the number of the thread; `arguments`: the others."""
    code, name = code_of(function, (types.int64, *(numba.typeof(argument) for argument in arguments)))
    quoted = f"@{name}" if f"@{name}(" in code else f'@"{name}"'
    code = with_own_roots(code)
    module = llvm.parse_assembly(code)
    kinds = [str(argument.type) for argument in module.get_function(name).arguments][3:]
    foreign = [each.name for each in module.functions if each.is_declaration and not is_instruction(each.name)]
    if " = frem " in code:  # which is not exact on a GPU
        foreign.append("remainder of real numbers")
    if foreign:
        raise Unsuitable(f"a GPU has no {foreign[0]}, which {function.__name__} needs with these rules")
    parts = flatten_all(arguments)
    machine = _target(chip)
    code = re.sub(r"^target .*\n", "", code, flags=re.MULTILINE)
    code = re.sub(rf"^define (?:(?:{LINKAGE}) )*", "define internal ", code, flags=re.MULTILINE)
    head = f'target datalayout = "{machine.target_data}"\ntarget triple = "{TRIPLE}"\n'
    module = llvm.parse_assembly(head + code + entry(kinds, parts, quoted, count, lanes))
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_assembly(module)


def flatten_all(arguments: Sequence[Any]) -> list[Any]:
    """All arguments as compiled functions take them, one after the other."""
    return [part for argument in arguments for part in flatten(numba.typeof(argument), argument)]


def arrays_in(arguments: Sequence[Any]) -> list[np.ndarray]:
    """The arrays among the arguments, in the order in which a launch takes their pointers."""
    return [part for part in flatten_all(arguments) if isinstance(part, np.ndarray)]


def stored_ptx(function: Any, arguments: Sequence[Any], count: int, chip: str, lanes: int) -> str:
    """The result of to_ptx, kept on disk with the machine code of the CPU: making it takes about twenty seconds."""
    numbers = ["array" if isinstance(part, np.ndarray) else part for part in flatten_all(arguments)]
    kinds = [numba.typeof(argument) for argument in arguments]  # the type of rules has a digest of their files
    sources = digest_of_function(function), digest_of_function(to_ptx)
    if None in sources:
        return to_ptx(function, arguments, count, chip, lanes)
    key = repr((sources, kinds, numbers, count, lanes, chip))
    entry = f"{function.__name__}-{hashlib.sha256(key.encode()).hexdigest()[:40]}.ptx"
    stored = store.read(entry)
    if stored is not None:
        return stored.decode()
    made = to_ptx(function, arguments, count, chip, lanes)
    store.write(entry, made.encode())
    return made


class GpuKernel:
    """A function of the engine, loaded on the GPU. A launch calls it for indices 0 to count - 1."""

    def __init__(self, function: Any, arguments: Sequence[Any], count: int, chip: str, lanes: int = LANES):
        """`arguments`: arrays and numbers, after the index; the content of the arrays does not matter here."""
        self.lanes, self.blocks = lanes, -(-count // lanes)
        ptx = stored_ptx(function, arguments, count, chip, lanes)
        try:
            self._function = Function(ptx.encode(), ENTRY)
        except RuntimeError as error:
            raise Unsuitable(f"{function.__name__} cannot be loaded on the GPU: {error}") from error

    def launch(self, stream: int, pointers: Sequence[int]) -> None:
        """Run on a CUDA stream; `pointers`: addresses of an int32 for failures and of each array of the arguments."""
        self._function.launch(self.blocks, self.lanes, stream, [ctypes.c_void_p(pointer) for pointer in pointers])
