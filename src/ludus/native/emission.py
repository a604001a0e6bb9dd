"""Optimised machine code only where it is needed, which shortens compiling.

Numba links a function into each of its callers as LLVM code. Yet it optimises each by itself, and makes machine code of
it, which nothing calls. Here a function's machine code is made when its address or its object file is asked for, and
functions that become part of their callers are optimised there.
"""

from __future__ import annotations

import weakref
from typing import Any

from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.environment import lookup_environment

RUNTIME = "nrt"
"""The name of Numba's own runtime. Numba asks for its functions while it emits another library, which cannot wait."""

WRAPPER = "_ZN7cpython"
"""The names of functions that Python calls begin with it."""

OWN = "#"
"""Part of the names of a game's functions (see modules.py)."""

ENVIRONMENT = "_ZN08NumbaEnv"
"""The names of variables begin with it that point to the environment of a function: what it needs of Python."""

INTENSIVE: set[str] = set()
"""The names of kernels that are optimised twice (see `LazyLibrary._optimize_final_module`)."""


class LazyLibrary(JITCodeLibrary):
    """A compiled function whose machine code is made when it is needed."""

    is_emitted = False

    def _optimize_final_module(self) -> None:
        """Optimise parts of the engine where they end up, in kernels, and intensive kernels twice.

        Numba optimises every function, and what it calls again with it. The engine's parts lie within each other, so
        most of that work was repeated. A search needs two rounds to run as fast as with it.
        """
        if OWN not in self.name and self._is_inlined():
            passes, builder = self._codegen._module_pass_manager(
                opt=0, loop_vectorize=False, slp_vectorize=False, cost="cheap"
            )
            passes.run(self._final_module, builder)
            return
        super()._optimize_final_module()
        if self.name in INTENSIVE:
            passes, builder = self._codegen._module_pass_manager()
            passes.run(self._final_module, builder)

    def _is_inlined(self) -> bool:
        """True if its first function, which is its own, becomes part of every caller."""
        first = next(iter(self._final_module.functions), None)
        return first is not None and any(b"alwaysinline" in each for each in first.attributes)

    def _finalize_final_module(self) -> None:
        """Does what Numba's method does, apart from making machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._final_module._CPUCodeLibrary__library = weakref.proxy(self)  # Numba's hooks for object files ask for it
        self._finalized = True
        if self._disable_inspection or self.name == RUNTIME or self._is_in_a_circle():
            self._emit()

    def _is_in_a_circle(self) -> bool:
        """True if it calls a function through a pointer that is not set yet, or may be the function to point to."""
        names = (variable.name for variable in self._final_module.global_variables)
        linker = self._codegen._rtlinker
        return bool(linker._unresolved) or any(name.startswith(linker.PREFIX) for name in names)

    def _emit(self) -> None:
        if not self.is_emitted:
            self.is_emitted = True
            self._codegen._add_module(self._final_module)
            self._finalize_specific()
            self._set_environments()

    def _set_environments(self) -> None:
        """Set the environments of the functions that are part of this one, which have no machine code of their own.

        Without its environment a function that prints fails, and holds the GIL from then on.
        """
        for name in [variable.name for variable in self._final_module.global_variables]:
            environment = lookup_environment(name) if name.startswith(ENVIRONMENT) else None
            if environment is not None:
                _set_env(self._codegen, name, environment)

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        own = (function.name for function in self._final_module.functions if not function.is_declaration)
        if not self.is_emitted and name in own:
            self._emit()
        return super().get_pointer_to_function(name)

    def serialize_using_object_code(self) -> Any:
        """Machine code for a function that is entered from Python; of other functions, LLVM code is enough.

        It is also what is left if Ctrl-C came while Numba was handed the machine code, which Python then drops.
        """
        if any(function.name.startswith(WRAPPER) for function in self.get_defined_functions()):
            self._emit()
            if self._compiled_object is not None:
                return super().serialize_using_object_code()
        return self.serialize_using_bitcode()


def emit_lazily() -> None:
    """Let Numba make machine code only where it is needed, in this whole process."""
    JITCPUCodegen._library_class = LazyLibrary
    JITCPUCodegen.set_env = _set_env  # type: ignore[method-assign]


def _set_env(self: Any, name: str, env: Any) -> None:
    """Set the environment of a function, unless the function has no machine code."""
    if self._engine.is_symbol_defined(name):
        _set_env_of_numba(self, name, env)


_set_env_of_numba = JITCPUCodegen.set_env
