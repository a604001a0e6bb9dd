"""Machine code only for functions that are entered from outside: compiling takes a fifth less time.

Numba links a function into each of its callers as LLVM code, and yet makes machine code of it as well, which nothing
calls. Here a function's machine code is made when its address or its object file is asked for.
"""

from __future__ import annotations

import weakref
from typing import Any

from numba.core.codegen import JITCodeLibrary, JITCPUCodegen

RUNTIME = "nrt"
"""The name of Numba's own runtime. Numba asks for its functions while it emits another library, which cannot wait."""


class LazyLibrary(JITCodeLibrary):
    """A compiled function whose machine code is made when it is needed."""

    is_emitted = False

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

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        own = (function.name for function in self._final_module.functions if not function.is_declaration)
        if not self.is_emitted and name in own:
            self._emit()
        return super().get_pointer_to_function(name)

    def _get_compiled_object(self) -> bytes:
        self._emit()
        return super()._get_compiled_object()


def emit_lazily() -> None:
    """Let Numba make machine code only where it is needed, in this whole process."""
    JITCPUCodegen._library_class = LazyLibrary
    JITCPUCodegen.set_env = _set_env  # type: ignore[method-assign]


def _set_env(self: JITCPUCodegen, name: str, env: Any) -> None:
    """Set the environment of a function, unless the function has no machine code."""
    if self._engine.is_symbol_defined(name):
        _set_env_of_numba(self, name, env)


_set_env_of_numba = JITCPUCodegen.set_env
