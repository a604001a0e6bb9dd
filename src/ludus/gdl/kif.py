"""Prefix KIF: text to nested lists of symbols, with the place of each one for error messages.

A symbol is a run of characters other than white space, parentheses and semicolons; a semicolon starts a comment that
ends with the line. There are no strings and no quoting, so `+`, `step++` and `3` are ordinary symbols.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ludus.errors import LudusError

TOKEN = re.compile(r";[^\n\r]*|[()]|[^\s();]+")
MAX_DEPTH = 100
"""Lists that are nested deeper are refused: no description needs them, and they would exhaust the stack."""
MAX_TOKENS = 1_000_000
"""Parentheses and symbols in a text, at most; the largest published descriptions have a tenth of that."""


class BadDescription(LudusError):
    """A GDL description that cannot be used; the message names the place and what to do."""


class Symbol(str):
    """A name in a description, as spelled, and the index of its first character in the text."""

    __slots__ = ("offset",)
    offset: int

    def __new__(cls, text: str, offset: int = -1) -> Symbol:
        made = super().__new__(cls, text)
        made.offset = offset
        return made


class Group(list["Symbol | Group"]):
    """A parenthesised list, and the index of its opening parenthesis in the text."""

    __slots__ = ("offset",)
    offset: int


Expression = Symbol | Group


@dataclass(frozen=True)
class Place:
    """Where something stands in a text, counted from 1, and the line it stands in."""

    line: int
    column: int
    text: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


def place_of(text: str, offset: int) -> Place:
    """The place of the character with index `offset`."""
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    line = text[begin : end if end >= 0 else len(text)].strip("\r\n")
    return Place(text.count("\n", 0, offset) + 1, offset - begin + 1, shorten(line.strip()))


def names_of(text: str) -> dict[str, int]:
    """The symbols of a text, numbered in the order in which they first stand there."""
    names = dict.fromkeys(token for token in TOKEN.findall(text) if token[0] not in "();")
    return {name: number for number, name in enumerate(names)}


def shorten(text: str, width: int = 80) -> str:
    """At most `width` printable characters of a text, in one line."""
    begin = " ".join(text[: 20 * width].split())  # of a long text, what follows is not looked at
    plain = "".join(character if character.isprintable() else "?" for character in begin[: width + 1])
    return plain if len(plain) <= width and len(text) <= 20 * width else plain[: width - 3] + "..."


def parse(text: str, source: str = "the description") -> list[Expression]:
    """The expressions of a text; BadDescription names the place of a parenthesis that does not match."""
    expressions, stray = parse_until_stray(text, source)
    if stray is not None:
        place = place_of(text, stray)
        raise BadDescription(f"{source}, {place}: ')' without '(' in {place.text!r}; remove it")
    return expressions


def parse_until_stray(text: str, source: str = "the description") -> tuple[list[Expression], int | None]:
    """The expressions of a text until a ')' without '(', and the index of that, if there is one: so the readers of
    other programs end, for which a description is one list."""
    top: list[Expression] = []
    stack: list[Group] = []
    items: list[Expression] = top
    for count, match in enumerate(TOKEN.finditer(text)):
        token = match.group()
        if count >= MAX_TOKENS:
            place = place_of(text, match.start())
            raise BadDescription(f"{source}, {place}: more than {MAX_TOKENS:,} symbols and parentheses")
        if token == "(":
            group = Group()
            group.offset = match.start()
            if len(stack) >= MAX_DEPTH:
                raise BadDescription(
                    f"{source}, {place_of(text, match.start())}: nested deeper than {MAX_DEPTH} levels"
                )
            items.append(group)
            stack.append(group)
            items = group
        elif token == ")":
            if not stack:
                return top, match.start()
            stack.pop()
            items = stack[-1] if stack else top
        elif not token.startswith(";"):
            items.append(Symbol(token, match.start()))
    if stack:
        place = place_of(text, stack[-1].offset)
        raise BadDescription(f"{source}, {place}: '(' is never closed, in {place.text!r}; add a ')'")
    return top, None


def show(expression: Expression | str | tuple) -> str:
    """An expression, or a term made of tuples, in KIF. Rules may build terms of a thousand levels."""
    words: list[str] = []
    stack: list[Any] = [expression]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            words.append(item)
        else:
            words.append("(")
            stack.append(")")
            stack += reversed(item)
    return " ".join(words).replace("( ", "(").replace(" )", ")")


def decode(content: bytes) -> str:
    """Bytes as text: UTF-8 where they are valid, else Latin-1, which takes every byte."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
