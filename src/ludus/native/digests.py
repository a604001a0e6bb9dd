"""Digests of the sources that machine code is made from. Code in the cache is found by them, so it is never stale.

There are two kinds. The digest of a namespace covers the rules of a game: all files that they reach. The digest of a
function covers a kernel: the files of the functions that it calls. Both cover the engine's own files. Neither contains
the place of a file, so that all checkouts and installations with the same sources share one cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import sys
import time
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ludus import rules
from ludus.syntax import code_digest

PACKAGE = Path(__file__).parent.parent
"""The folder of the package `ludus`."""

ENGINE = ("rng.py", "rules.py", "stepping.py", "native/*.py", "search/*.py")
"""Files whose code may be part of any kernel. The generic functions bring it in, so the calls do not show it."""

FOREIGN = ("numba", "numpy")
"""Packages whose sources are not read: their versions are part of the cache's keys."""

LEAVES = ("ludus.rng", "ludus.rules")
"""Modules that rules may use as attributes of `import ludus`."""

__loaded__ = time.time()
"""When this process began. It has underscores because constants with other names are part of the digests."""


def digest_of_namespace(names: dict[str, Any], homes: dict[str, dict[str, Any]], options: dict[str, Any]) -> str:
    """The digest of the rules in a module's `names`; `homes` as from `source_homes`."""
    root = Path(names["__file__"]).parent
    parts = [(_label(file, root), _content(file, home), _constants(home)) for file, home in homes.items()]
    return _hash(repr(sorted(options.items())), engine_digest(), sorted(parts))


def digest_of_function(function: Any) -> str | None:
    """The digest of a kernel's source; None if a part of it is not in a file, as in a notebook or after exec()."""
    root = Path(function.__code__.co_filename).parent
    files: dict[str, bytes] = {}
    constants: list[bytes] = []
    seen: set[int] = set()
    pending: list[tuple[str, Any]] = [(function.__qualname__, function)]
    while pending:
        name, value = pending.pop()
        value = getattr(value, "py_func", value)  # of a compiled function
        if isinstance(value, tuple):
            pending += [(f"{name}[{index}]", item) for index, item in enumerate(value)]
        elif not isinstance(value, FunctionType | type):
            constants.append(_constant(name, value))
        elif id(value) not in seen and not _is_foreign(value) and value is not rules.GENERIC.get(value.__name__):
            seen.add(id(value))
            file = _file_of(value)
            if file is None:
                return None
            if file not in files:
                files[file] = _content(file, {})
            if isinstance(value, FunctionType):
                pending += _mentioned(value)
    return _hash(engine_digest(), sorted((_label(file, root), content) for file, content in files.items()), constants)


@cache
def engine_digest() -> str:
    """The digest of the engine's own files."""
    files = [str(file) for pattern in ENGINE for file in PACKAGE.glob(pattern)]
    return _hash(sorted((_label(file, PACKAGE), _package_file(file)) for file in files))


@cache
def package_digest() -> str:
    """The digest of all Python files of Ludus."""
    return _hash(sorted((_label(str(file), PACKAGE), _package_file(str(file))) for file in PACKAGE.rglob("*.py")))


def home_of(names: dict[str, Any]) -> str:
    """The name of the module with these names, which is part of the names of its compiled functions.

    The registry loads a user's file as a module whose name has a digest of the whole content. `__home__` is that name
    without it: an edit of a comment must not make other machine code.
    """
    return names.get("__home__") or names["__name__"]


def source_homes(namespace: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The names of the game's own file and of its helpers' files (of Ludus, or beside the game's file), by file."""
    homes: dict[str, dict[str, Any]] = {}
    pending = [namespace]
    while pending:
        names = pending.pop()
        file = names.get("__file__")
        if file is None or file in homes:
            continue
        homes[file] = names
        pending += [helper.__dict__ for helper in names.get("__helpers__", ())]
        for value in list(names.values()):
            if isinstance(value, FunctionType):
                home = value.__globals__
            elif isinstance(value, ModuleType):
                if _is_loaded_part(names, value):
                    continue
                home = value.__dict__
            else:
                home = getattr(sys.modules.get(getattr(value, "__module__", None) or ""), "__dict__", {})
            source = Path(home.get("__file__") or "")
            if PACKAGE in source.parents or source.parent == Path(file).parent:
                pending.append(home)
    return homes


def _is_loaded_part(names: dict[str, Any], module: ModuleType) -> bool:
    """True for a module that Python made an attribute of one of Ludus's packages when it was loaded.

    Which ones are there depends on what else the process has done. The digest must not.
    """
    package = names.get("__name__", "")
    return (
        "__path__" in names
        and package.partition(".")[0] == "ludus"
        and module.__name__.startswith(f"{package}.")
        and module.__name__ not in LEAVES
    )


def _mentioned(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The global and enclosing names that a function's code mentions, also as attributes of modules, with values."""
    names = sorted(_names_in(function.__code__))
    for name in names:
        if name in function.__globals__:
            value = function.__globals__[name]
            yield f"{function.__qualname__}.{name}", value
            if isinstance(value, ModuleType) and value.__name__.partition(".")[0] not in FOREIGN:
                yield from ((f"{name}.{each}", value.__dict__[each]) for each in names if each in value.__dict__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield f"{function.__qualname__}.{name}", cell.cell_contents


def _is_foreign(value: Any) -> bool:
    root = (value.__module__ or "").partition(".")[0]
    return root in FOREIGN or (root == "builtins" and isinstance(value, type))


def _file_of(value: Any) -> str | None:
    """The source file of a function or class; None if there is none."""
    if isinstance(value, FunctionType):
        file = value.__code__.co_filename
    else:
        file = getattr(sys.modules.get(value.__module__), "__file__", None) or ""
    return file if os.path.isfile(file) else None


def _names_in(code: CodeType) -> set[str]:
    inner = (_names_in(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)


def _label(file: str, root: Path) -> str:
    """A file's name without the place of the package, or of the folder of the game."""
    path = Path(file)
    for base in (PACKAGE, root):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return path.name


def _content(file: str, names: dict[str, Any]) -> bytes:
    """A digest of a source file as this process has loaded it; of a game's own file, of the code that is compiled."""
    if PACKAGE in Path(file).parents:
        return _package_file(file)
    loaded = names.get("__content__")  # what the registry has read; the file may be another one by now
    if not isinstance(loaded, bytes):
        return _file(file)
    games = [name for name, value in names.items() if isinstance(value, type) and hasattr(value, "Rules")]
    return code_digest(loaded, games)


@cache
def _package_file(file: str) -> bytes:
    """A digest of a file of the package; a file that was edited since this process began is not the one that runs."""
    return _file(file, latest=__loaded__)


def _file(file: str, latest: float = math.inf) -> bytes:
    """A digest of a file's content.

    If the file is gone or was edited after `latest`, the digest is a random one: then nothing that this process
    compiles is found by another.
    """
    with contextlib.suppress(OSError):
        if os.path.getmtime(file) <= latest:
            return hashlib.sha256(Path(file).read_bytes()).digest()
    return uuid.uuid4().bytes


def _constants(names: dict[str, Any]) -> bytes:
    return b"".join(_constant(name, value) for name, value in sorted(names.items()) if not name.startswith("__"))


def _constant(name: str, value: Any) -> bytes:
    """What machine code takes from a global name: a number or table that was made elsewhere is not in the source."""
    if isinstance(value, np.ndarray):
        return f"{name}:{value.dtype}{value.shape}".encode() + hashlib.sha256(value.tobytes()).digest()
    if isinstance(value, tuple):
        return b"".join(_constant(f"{name}[{index}]", item) for index, item in enumerate(value))
    if isinstance(value, bool | int | float | str | bytes | np.generic):
        return f"{name}={value!r}".encode()
    return b""


def _hash(*parts: Any) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
