"""Copies of a module's names in which every plain function is compiled.

Helpers of a game need no decorator then, and the module itself stays ordinary Python.
"""

import sys
from functools import cache
from types import FunctionType, ModuleType
from typing import Any

import numba

from ludus import rules
from ludus.native.caching import InnerCache
from ludus.native.digests import PACKAGE, digest_of_namespace, home_of, source_homes
from ludus.native.internals import use_cache
from ludus.native.kernels import INNER, OPTIONS

RNG = str(PACKAGE / "rng.py")
"""The file of the random numbers, which kernels also use when they run as plain Python, without being compiled."""

SHARED = {RNG, *(str(PACKAGE / "search" / name) for name in ("arithmetic.py", "visits.py"))}
"""Helper modules of Ludus that kernels, selection rules and games use: they are compiled once for all of them."""


@cache
def compiled_names(module: ModuleType) -> dict[str, Any]:
    """The names of a module of Ludus with its plain functions compiled, for use inside kernels."""
    names = module.__dict__
    homes = source_homes(names)
    options = OPTIONS if names["__file__"] == RNG else INNER
    return compile_namespace(names, set(homes), options, digest_of_namespace(names, homes, {}))


def compile_namespace(names: dict[str, Any], files: set[str], options: dict[str, Any], digest: str) -> dict[str, Any]:
    """A copy of a module's names, in which every plain function that is defined in one of the `files` is compiled.

    If the names have INLINE = True, all functions but the generic ones (see ludus.rules) become part of their callers;
    so do the functions of SHARED modules.
    """
    inlined = names.get("INLINE", False) or names["__file__"] in SHARED
    copies: dict[str, dict[str, Any]] = {}  # by the file of the module

    def copy(module: dict[str, Any]) -> dict[str, Any]:
        if module["__file__"] in copies:
            return copies[module["__file__"]]
        if module is not names and module["__file__"] in SHARED:
            return copies.setdefault(module["__file__"], compiled_names(sys.modules[module["__name__"]]))
        space = copies[module["__file__"]] = dict(module)
        for name, value in module.items():
            if isinstance(value, ModuleType) and getattr(value, "__file__", None) in files:
                space[name] = ModuleType(value.__name__)
                space[name].__dict__.update(copy(value.__dict__))
            if not isinstance(value, FunctionType) or value is rules.GENERIC.get(value.__name__):
                continue
            if value.__code__.co_filename not in files:
                continue
            if value.__globals__ is module:
                chosen = {**options, "forceinline": True} if inlined and name not in rules.GENERIC else options
                space[name] = numba.njit(renamed(name, value, space), **chosen)
                use_cache(space[name], InnerCache(space[name].py_func, f"{digest} {sorted(chosen.items())}"))
            else:
                home = copy(value.__globals__)
                space[name] = next((home[key] for key, found in value.__globals__.items() if found is value), value)
        return space

    def renamed(name: str, function: FunctionType, space: dict[str, Any]) -> FunctionType:
        """The function among the copied names, with a name that no other function compiled on this machine has.

        Numba's linker takes functions of the same module, name and argument types, which different processes put into
        the cache, for one and the same; and it wants to import the module again when it loads them from there.
        """
        plain = FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
        plain.__kwdefaults__ = function.__kwdefaults__
        plain.__qualname__ = f"{home_of(function.__globals__)}.{name}#{digest}"
        plain.__module__ = __name__ if "__home__" in names else names["__name__"]  # one that can be imported
        return plain

    return copy(names)
