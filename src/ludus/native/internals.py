"""Everything that the engine takes from Numba without a promise that the next version still has it.

The other places that use such things are `bundles.py` and `emission.py` beside this file, `gdl/scratch_native.py`,
`python_games/native.py` and `gpu/compiler.py`. docs/architecture.md lists them all, and tests/test_canaries.py says in
words which one broke.
"""

from __future__ import annotations

import contextlib
import hashlib
import traceback
from collections.abc import Iterator
from typing import Any

from numba import types
from numba.core import config, errors
from numba.core.caching import NullCache
from numba.core.codegen import RuntimeLinker
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError, TypingError
from numba.core.ir import Loc
from numba.core.serialize import dumps
from numba.core.targetconfig import TargetConfig

__all__ = ["NullCache", "dumps", "global_compiler_lock"]

WITHOUT_RUNTIME = {"_nrt": False}
"""An option of njit: no reference counting. Code cannot allocate arrays, and small searches run three times as fast."""

WITH_RUNTIME = {"_nrt": True}

WITHOUT_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of njit: no way in from Python or C, which makes compiling faster. A call from Python crashes."""


def write_messages_without_colours() -> None:
    """Let Numba write the messages of its errors without colours.

    To colour a message, Numba replaces sys.stdout and sys.stderr for a moment if colorama is installed, also for errors
    that it handles itself. Meanwhile, output of other threads may go astray.
    """
    scheme: Any = errors.termcolor()
    scheme._markup = lambda text, *style: text


def use_cache(dispatcher: Any, cache: Any) -> None:
    """Let a compiled function keep its machine code in `cache`: njit(cache=True) would choose Numba's own."""
    dispatcher._cache = cache


def compile_for(dispatcher: Any, kinds: tuple[Any, ...]) -> Any:
    """Compile a function for these types of arguments, and return what Numba knows of the result."""
    dispatcher.compile(kinds)
    return dispatcher.overloads[kinds]


def to_parts(result: Any) -> tuple[Any, ...]:
    """A compiled function in parts that can be pickled."""
    return result._reduce()


def from_parts(context: Any, parts: tuple[Any, ...]) -> Any:
    """The compiled function that `to_parts` took apart."""
    return CompileResult._rebuild(context, *parts)


def machine_of(context: Any) -> tuple[str, ...]:
    """The machine that code is compiled for: its kind, the CPU's name and its features."""
    context.refresh()
    return context.codegen().magic_tuple()


def belongs_to_process(result: Any) -> bool:
    """True if machine code cannot be used in another process.

    It holds addresses of this one. Or functions call each other in a circle, or one calls itself with other types: they
    are linked through pointers that Numba sets when it compiles, and does not set when it loads.
    """
    names = (variable.name for variable in result.library._final_module.global_variables)
    return result.library.has_dynamic_globals or any(name.startswith(RuntimeLinker.PREFIX) for name in names)


def vector_settings() -> tuple[Any, ...]:
    """The settings that `without_vectors` changes: LLVM code depends on them."""
    settings: Any = config
    return settings.LOOP_VECTORIZE, settings.SLP_VECTORIZE


def allocates(result: Any) -> bool:
    """True if compiled code makes arrays."""
    return "NRT_MemInfo_alloc" in result.library.get_llvm_str()


def located(error: Exception) -> Exception:
    """A failure to compile, as an error of Numba that names the line; Numba does not name it for some.

    Such are a field that a record does not have, and a name that is not defined.
    """
    if isinstance(error, NumbaError) and 'File "' in str(error):
        return error
    found = None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        for name in ("self", "inst"):  # a constraint of Numba's type inference, or an instruction
            place = getattr(frame.f_locals.get(name), "loc", None)
            found = place if isinstance(place, Loc) else found
    if found is None:
        return error
    if isinstance(error, NumbaError):
        return TypingError(str(error), loc=found)
    told = f"there is no field {error}" if isinstance(error, KeyError) else f"{type(error).__name__}: {error}"
    return TypingError(told, loc=found)


@contextlib.contextmanager
def without_vectors() -> Iterator[None]:
    """Compile code without vector instructions: a setting of the whole process, so hold `global_compiler_lock`."""
    settings: Any = config
    before = settings.LOOP_VECTORIZE, settings.SLP_VECTORIZE
    settings.LOOP_VECTORIZE = settings.SLP_VECTORIZE = 0
    try:
        yield
    finally:
        settings.LOOP_VECTORIZE, settings.SLP_VECTORIZE = before


def _name_in_machine_code(kind: Any) -> Any:
    """The part of a function's name in machine code that stands for an argument of this type: all that the type is.

    Numba puts the type's number in this process there, or leaves the shape out. Then two functions that two processes
    put into the cache, of one game for boards of different sizes, may have one name, and run for each other.
    """
    return type(kind).__name__, (hashlib.sha256(kind.name.encode()).hexdigest()[:16],)


for _kind in (types.Record, types.NestedArray):
    _kind.mangling_args = property(_name_in_machine_code)  # type: ignore[method-assign, assignment]


def _same_settings(self: TargetConfig, other: object) -> Any:
    """True if two sets of compiler settings are equal.

    Numba compares all settings, also those that neither sets, tens of thousands of times while it compiles a search.
    """
    if isinstance(other, TargetConfig) and self._values == other._values:
        return True
    return _same_settings_of_numba(self, other)


_same_settings_of_numba = TargetConfig.__eq__
TargetConfig.__eq__ = _same_settings  # type: ignore[method-assign]
TargetConfig.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]  # Numba hashes the settings' names
