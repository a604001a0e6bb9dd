"""Python source reduced to what it does: comments, layout, docstrings and methods that only draw do not count.

`ludus.sources` tells by it whether two files have the same rules, `ludus.native` whether they have the same machine
code.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Container, Iterable, Iterator
from typing import Any

SPEAKING = frozenset(("arrange", "attempt", "describe", "draw", "drawing", "picture", "player_name", "title"))
"""Methods and attributes of a game class that show a game to people and change nothing else."""


def parse(name: str, content: bytes) -> ast.AST | None:
    """The syntax tree of a file; None if it is no Python that can be parsed, which loading it will say."""
    if not name.endswith(".py"):
        return None
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def code_digest(content: bytes, without: Container[str] = ()) -> bytes:
    """A digest of what a Python file does, except for the classes that are named; of the bytes if it cannot be parsed.

    Machine code is made from functions and constants: the class of a game, with its texts and drawings, is no part of
    it.
    """
    tree = parse("code.py", content)
    if not isinstance(tree, ast.Module):
        return hashlib.sha256(content).digest()
    tree.body = [each for each in tree.body if not (isinstance(each, ast.ClassDef) and each.name in without)]
    return hashlib.sha256("".join(canonical(tree, names_in_use([tree]))).encode()).digest()


def names_in_use(trees: Iterable[ast.AST]) -> set[str]:
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


def canonical(tree: ast.AST, kept: set[str]) -> Iterator[str]:
    """The syntax tree as text, the same in every version of Python, without what only speaks.

    Names in `kept` count, although they are among SPEAKING. Not recursive: expressions may be deep.
    """
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
