"""Numba's cache of machine code on disk, made safe: for several processes at once, and for one that is killed."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

try:
    import fcntl
except ImportError:  # not on Windows: there, two processes that compile at once may do the work twice
    fcntl = None  # type: ignore[assignment]


class CacheFiles(IndexDataCacheFile):
    """The index and the files of one kernel.

    Numba's own have no lock: of two processes that save at once, both may choose the same file for different code, and
    the index then leads one's arguments to the other's code. It also writes the index first: a process killed in
    between leaves an entry that leads to whatever that file held before.
    """

    @contextlib.contextmanager
    def _locked(self, alone: bool) -> Iterator[None]:
        if fcntl is None:
            yield
            return
        with open(f"{self._index_path}.lock", "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
            yield

    def save(self, key: Any, data: Any) -> None:
        with self._locked(alone=True):
            overloads = self._load_index()
            taken = set(overloads.values())
            name = overloads.get(key) or next(
                name for name in map(self._data_name, itertools.count(1)) if name not in taken
            )
            self._save_data(name, data)
            if key not in overloads:
                self._save_index({**overloads, key: name})

    def load(self, key: Any) -> Any:
        with self._locked(alone=False):
            return super().load(key)

    def _load_index(self) -> Any:
        """The index; an empty one where it is damaged, or names types that this version no longer has."""
        try:
            return super()._load_index()
        except Exception:  # whatever unpickling raises
            return {}


class KernelCache(FunctionCache):
    """Numba's cache of one kernel, without three ways in which it fails."""

    def __init__(self, function: Any):
        super().__init__(function)
        made = self._cache_file
        self._cache_file = CacheFiles.__new__(CacheFiles)
        self._cache_file.__dict__.update(made.__dict__)

    def save_overload(self, sig: Any, data: Any) -> None:
        # Functions that call each other in a circle, or one that calls itself with other types, are linked through
        # pointers that Numba sets when it compiles, and forgets to set when it loads: a call would end the process.
        if ".numba.unresolved$" not in data.library.get_llvm_str():
            super().save_overload(sig, data)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file, of whatever kind: compile and save it again
            return None
