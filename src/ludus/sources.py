"""The source code of a user's game: its file, the helper modules beside it, and digests of both. Nothing is executed.

Helpers are found by reading the import statements. A helper cannot have the name of a module of the standard library
or of a library that Ludus uses: `random.py` beside a game is never loaded in place of Python's own.

Two digests serve two questions. `Source.digest` asks whether the rules are the same: it ignores comments, layout,
docstrings and methods that only draw or speak. `Source.checksum` asks whether the bytes are the same.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from ludus.errors import UnknownGame

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
SPEAKING = frozenset(("arrange", "attempt", "describe", "draw", "drawing", "picture", "player_name", "title"))
"""Methods and attributes of a game class that show a game to people and change nothing else."""


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
        trees = {name: tree for name, content in self.files.items() if (tree := _parse(name, content)) is not None}
        kept = _names_in_use(trees.values())
        texts = {name: "".join(_canonical(tree, kept)).encode() for name, tree in trees.items()}
        texts |= {name: _symbols(content) for name, content in self.files.items() if name.endswith(DESCRIPTION)}
        return _digest((names[name], texts.get(name, content)) for name, content in self.files.items())

    def write(self, folder: Path) -> None:
        """Write copies of all files into `folder`, which need not exist."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def read_source(path: Path, loaded: Iterable[str] = ()) -> Source:
    """The source of the game in a file. `loaded` adds helper files, such as those imported by computed names."""
    path = path.expanduser().resolve()
    pending = [path]
    pending += [file for each in loaded if (file := Path(each).resolve()).is_relative_to(path.parent)]
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
    tree = _parse(name, content)
    return tree is not None and any(isinstance(each, ast.ImportFrom) and each.level > 0 for each in ast.walk(tree))


def _parse(name: str, content: bytes) -> ast.AST | None:
    """The syntax tree of a file; None if it is no Python that can be parsed, which loading it will say."""
    if not name.endswith(".py"):
        return None
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# --- helpers ----------------------------------------------------------------------------------------------------------


def _helpers_of(content: bytes, file: Path, folder: Path) -> list[Path]:
    """The files in `folder` that the import statements of `file` mean."""
    tree = _parse(file.name, content)
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


def _names_in_use(trees: Iterable[ast.AST]) -> set[str]:
    """Those of the SPEAKING names that the rules use, too: a method `draw` that `legal` calls does more than draw."""
    kept: set[str] = set()
    while True:
        used = {name for tree in trees for name in _mentioned(tree, kept)} & SPEAKING
        if used <= kept:
            return kept
        kept |= used


def _mentioned(tree: ast.AST, kept: set[str]) -> Iterator[str]:
    """The attributes that code uses, and the names that class bodies use, outside of what only speaks."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
            yield from (str(each.value) for each in node.args if isinstance(each, ast.Constant))
        elif isinstance(node, ast.ClassDef):
            statements = [each for each in node.body if not isinstance(each, ast.FunctionDef)]
            loads = (name for each in statements for name in ast.walk(each) if isinstance(name, ast.Name))
            yield from (name.id for name in loads if isinstance(name.ctx, ast.Load))
        pending += [child for _, value in _fields(node, kept) for child in _nodes(value)]


def _nodes(value: Any) -> list[ast.AST]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, ast.AST)]


def _fields(node: ast.AST, kept: set[str]) -> Iterator[tuple[str, Any]]:
    """The fields of a node that matter, in order, without what only speaks and without docstrings."""
    for name, value in ast.iter_fields(node):
        if value is None or value == [] or name in ("ctx", "kind", "type_comment"):
            continue  # empty fields are left out, as later versions of Python have more of them
        if name == "body" and isinstance(value, list):
            value = [each for each in value if not _is_bare_text(each)]
            if isinstance(node, ast.ClassDef):
                value = [left for each in value if (left := _without_speech(each, kept)) is not None]
        yield name, value


def _is_bare_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _without_speech(statement: ast.stmt, kept: set[str]) -> ast.stmt | None:
    """A statement of a class body without what only speaks; None if nothing is left."""
    dropped = SPEAKING - kept
    if isinstance(statement, ast.FunctionDef):
        return None if statement.name in dropped else statement
    if isinstance(statement, ast.AnnAssign) and _is_text_of(statement.target, statement.value, dropped):
        return None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
        if _is_text_of(target, value, dropped):
            return None
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
            pairs = zip(target.elts, value.elts, strict=True)
            left = [(each, given) for each, given in pairs if not _is_text_of(each, given, dropped)]
            names, values = [each for each, _ in left], [given for _, given in left]
            return ast.Assign([ast.Tuple(names, ast.Store())], ast.Tuple(values, ast.Load()))
    return statement


def _is_text_of(target: ast.expr, value: ast.expr | None, names: frozenset[str] | set[str]) -> bool:
    return (
        isinstance(target, ast.Name)
        and target.id in names
        and isinstance(value, ast.Constant)
        and isinstance(value.value, str)
    )


def _canonical(tree: ast.AST, kept: set[str]) -> Iterator[str]:
    """The syntax tree as text, the same in every version of Python. Not recursive: expressions may be deep."""
    pending: list[Any] = [tree]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, list):
            pending += ["]", *(each if isinstance(each, ast.AST) else repr(each) for each in reversed(item)), "["]
        elif isinstance(item, ast.Constant):
            value = f"{item.value:x}" if type(item.value) is int else repr(item.value)
            yield f"<{type(item.value).__name__} {value}>"
        elif isinstance(item, ast.AST):
            pending.append(")")
            for name, value in reversed(list(_fields(item, kept))):
                pending += [value if isinstance(value, ast.AST | list) else repr(value), f" {name}="]
            yield f"({type(item).__name__}"
