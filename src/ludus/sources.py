"""The source code of a user's game: its file, the helper modules beside it, and digests of both. Nothing is executed.

Helpers are found by reading the import statements. A helper cannot have the name of a module of the standard library
or of a library that Ludus uses: `random.py` beside a game is never loaded in place of Python's own.

Two digests serve two questions. `Source.digest` asks whether the rules are the same: it ignores comments, layout,
docstrings and methods that only draw or speak. `Source.checksum` asks whether the bytes are the same.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from ludus.errors import UnknownGame
from ludus.syntax import canonical, names_in_use, parse

MAX_SOURCE = 2 << 20
"""Largest size of a source file in bytes: parsing takes a hundred times as much memory."""
MAX_TOTAL = 32 << 20
"""Largest size of all files of a game, compiled helpers included, in bytes."""
MAX_FILES = 500
"""Largest number of helper files of a game."""
LIBRARIES = {"ludus", "numpy", "numba", "llvmlite", "torch", "triton", "safetensors", "onnx", "onnxruntime", "scipy",
             "matplotlib", "PIL", "typer", "click", "rich", "pyspiel", "open_spiel"}  # fmt: skip
"""Libraries that Ludus uses: a file beside a game never stands in for one of them."""
SUFFIXES = (*EXTENSION_SUFFIXES, ".py")
"""How the names of files end that can be imported, in the order in which Python looks for them."""
DESCRIPTION = ".kif"
"""How the names of files end that describe a game in GDL: data, which is never run."""


def may_be_helper(name: str) -> bool:
    """True if a module of this name beside a game's file is a helper of the game."""
    top = name.partition(".")[0]
    return top not in LIBRARIES and top not in sys.stdlib_module_names


@dataclass(frozen=True)
class Source:
    """The files of a game, as they were when they were read."""

    path: Path
    """The absolute path of the game's own file."""
    files: dict[str, bytes]
    """The content of every file by its path relative to the folder of the game; the game's own file is first."""

    @property
    def helpers(self) -> int:
        """The number of helper files."""
        return len(self.files) - 1

    @cached_property
    def checksum(self) -> str:
        """A digest of all bytes of all files."""
        return _digest(self.files.items())

    @cached_property
    def digest(self) -> str:
        """A digest of the rules; the name and the place of the game's own file do not matter."""
        first = next(iter(self.files))
        names = {name: "" if name == first else name for name in self.files}
        trees = {name: tree for name, content in self.files.items() if (tree := parse(name, content)) is not None}
        kept = names_in_use(trees.values())
        texts = {name: "".join(canonical(tree, kept)).encode() for name, tree in trees.items()}
        texts |= {name: _symbols(content) for name, content in self.files.items() if name.endswith(DESCRIPTION)}
        return _digest((names[name], texts.get(name, content)) for name, content in self.files.items())

    def write(self, folder: Path) -> None:
        """Write copies of all files into `folder`, which need not exist."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def real_path(path: str | Path) -> Path:
    """A user's path without links and without ~. Before Python 3.13, Path.resolve raises for links in a circle."""
    return Path(os.path.realpath(Path(path).expanduser()))


def read_source(path: Path, loaded: Iterable[str] = ()) -> Source:
    """The source of the game in a file. `loaded` adds helper files, such as those imported by computed names."""
    path = real_path(path)
    pending = [path]
    pending += [file for each in loaded if (file := real_path(each)).is_relative_to(path.parent)]
    files: dict[str, bytes] = {}
    while pending:
        file = pending.pop(0)
        name = file.relative_to(path.parent).as_posix()
        if name in files:
            continue
        if len(files) > MAX_FILES:
            raise UnknownGame(f"{path} imports more than {MAX_FILES} files beside it: make it a package of its own")
        files[name] = read_file(file, MAX_TOTAL - sum(map(len, files.values())))
        pending += _helpers_of(files[name], file, path.parent)
    main, *helpers = files
    return Source(path, {name: files[name] for name in (main, *sorted(helpers))})


def read_file(file: Path, limit: int) -> bytes:
    """The content of a file of at most `limit` bytes; UnknownGame says why it cannot be read."""
    if not file.is_file():
        raise UnknownGame(f"there is no game file {file}")
    limit = min(limit, MAX_SOURCE) if file.name.endswith((".py", DESCRIPTION)) else limit
    try:
        with file.open("rb") as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise UnknownGame(f"{file} cannot be read: {error.strerror or error}") from None
    if len(content) > limit:
        raise UnknownGame(f"{file} is too large: a game has source files of up to {MAX_SOURCE >> 20} MB")
    return content


def read_copy(folder: Path, name: str) -> Source:
    """The source whose files `Source.write` wrote into `folder`; `name` is the name of the game's own file."""
    return read_source(folder / name, [str(file) for file in folder.rglob("*") if file.name.endswith(SUFFIXES)])


def has_relative_imports(name: str, content: bytes) -> bool:
    """True if a file can be loaded only as a part of a package."""
    tree = parse(name, content)
    return tree is not None and any(isinstance(each, ast.ImportFrom) and each.level > 0 for each in ast.walk(tree))


# --- helpers ----------------------------------------------------------------------------------------------------------


def _helpers_of(content: bytes, file: Path, folder: Path) -> list[Path]:
    """The files in `folder` that the import statements of `file` mean."""
    tree = parse(file.name, content)
    found: dict[Path, None] = {}
    for name in _imported_names(tree, file.relative_to(folder).parent.parts) if tree else ():
        if not may_be_helper(name):
            continue
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            place = folder.joinpath(*parts[:count])
            inside = _first_file(place, "__init__")
            each = inside or _first_file(place.parent, place.name)
            if each is not None:
                found[each] = None
            if inside is None:
                break
    return list(found)


def _first_file(folder: Path, name: str) -> Path | None:
    """The file of a module in a folder, as Python finds it."""
    return next((file for suffix in SUFFIXES if (file := folder / f"{name}{suffix}").is_file()), None)


def _imported_names(tree: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    """The dotted names that a module in `package` imports, also where they may be attributes of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            stem = ".".join((*base, *((node.module,) if node.module else ())))
            yield from (f"{stem}.{alias.name}" if stem else alias.name for alias in node.names)
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(node.args[0].value, str):
                yield node.args[0].value


# --- digests ----------------------------------------------------------------------------------------------------------


def _digest(parts: Iterable[tuple[str, bytes]]) -> str:
    hashed = hashlib.sha256()
    for name, content in parts:
        hashed.update(f"{name}\0{len(content)}\0".encode() + content)
    return hashed.hexdigest()[:16]


def _symbols(description: bytes) -> bytes:
    """The symbols and parentheses of a description in GDL, without comments and layout."""
    return b" ".join(re.findall(rb"[()]|[^\s();]+", re.sub(rb";[^\n\r]*", b"", description)))
