"""The caches of kernels and of the functions that they call, by types of arguments and by digests of sources."""

from __future__ import annotations

import hashlib
import pickle
import re
from types import FunctionType
from typing import Any

import numpy as np

from ludus.native import store
from ludus.native.digests import digest_of_function
from ludus.native.internals import (
    NullCache,
    belongs_to_process,
    dumps,
    from_parts,
    machine_of,
    to_parts,
    vector_settings,
)


class KernelCache(NullCache):
    """Keeps what Numba compiles in files (see store.py), in place of Numba's own cache.

    Numba's cache goes by the place and the date of a file, so checkouts could not share it and would not notice an edit
    of another file. It keeps one index for each kernel, which two processes may write at once.
    """

    def __init__(self, function: FunctionType):
        self.function = function
        self._source: str | None = None

    @property
    def cache_path(self) -> str:
        return str(store.cache_folder())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        entry = self._entry(sig, target_context)
        stored = None if entry is None else store.read(entry)
        if stored is None:
            return None
        try:
            types, parts = pickle.loads(stored)
            return from_parts(target_context, parts) if types == sig else None
        except Exception:  # of any kind: what cannot be read is compiled, and written again
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        entry = self._entry(sig, data.target_context)
        if entry is not None and not belongs_to_process(data):
            store.write(entry, dumps((sig, to_parts(data))))

    def _entry(self, sig: Any, context: Any) -> str | None:
        """The name of the file for these types of arguments; None if the kernel cannot be cached."""
        if self._source is None:  # not before the first use: until then a module's names are not complete
            self._source = digest_of_function(self.function) or ""
        if not self._source or not isinstance(sig, tuple):
            return None
        function = self.function
        key = (
            *self._names(),
            *(np.__version__, machine_of(context)),
            [(str(kind), getattr(kind, "fields", None)) for kind in sig],
        )
        short = re.sub(r"[^\w.]", "", f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}")[:60]
        return f"{short}-{hashlib.sha256(repr(key).encode()).hexdigest()[:40]}.code"

    def _names(self) -> tuple[Any, ...]:
        """What tells this function from all others."""
        function = self.function
        return function.__module__, function.__qualname__, function.__code__.co_firstlineno, self._source


class InnerCache(KernelCache):
    """The cache of a function that only compiled code calls. Its LLVM code is kept, and linked into its callers.

    So the functions of a game are compiled once for all commands, whose kernels differ.
    """

    def __init__(self, function: FunctionType, source: str | None = None):
        """`source` is a digest of all that the function is made from; by default it is found."""
        super().__init__(function)
        self._given = self._source = source

    def _names(self) -> tuple[Any, ...]:
        names = super()._names() if self._given is None else (self.function.__qualname__, self._given)
        return "inner", *names, vector_settings()
