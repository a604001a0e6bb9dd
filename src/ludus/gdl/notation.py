"""Moves and positions of games in GDL as text: moves are KIF terms, a position is the number of plies and its facts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

from ludus.errors import BadPosition, IllegalMove
from ludus.gdl.kif import BadDescription, Expression, Group, Symbol, parse, shorten, show
from ludus.gdl.language import Term, fold

MOST_DIGITS = 5
"""Of the number of plies in a position's text."""


def find_move(text: str, legal: Mapping[str, int]) -> int:
    """The action of the legal move that a text names; capitals do not matter where only one move is meant."""
    try:
        parsed = parse(text, "the move")
    except BadDescription as error:
        raise IllegalMove(str(error)) from None
    shown = show(parsed[0] if len(parsed) == 1 else tuple(parsed))
    if shown in legal:
        return legal[shown]
    close = [action for name, action in legal.items() if name.lower() == shown.lower()]
    if len(close) == 1:
        return close[0]
    listed = shorten(" ".join(list(legal)[:8]) + (" ..." if len(legal) > 8 else ""), 200)
    raise IllegalMove(f"{shorten(text, 40)!r} is not a legal move here; legal: {listed}")


def write_position(plies: int, facts: Iterable[Term]) -> str:
    """Such as: #3 (control red) (cell 1 1 red)."""
    return " ".join([f"#{plies}", *map(show, facts)])


def read_position(text: str) -> tuple[int, list[tuple[Term, int]]]:
    """The number of plies, 0 if the text does not say, and the facts, each with its place in the text."""
    try:
        expressions = parse(text, "the position")
    except BadDescription as error:
        raise BadPosition(str(error)) from None
    plies = 0
    if expressions and isinstance(expressions[0], Symbol) and expressions[0].startswith("#"):
        digits = str(expressions.pop(0))[1:]
        if not (digits.isdecimal() and digits.isascii() and len(digits) <= MOST_DIGITS):
            raise BadPosition(f"the number of plies after # must have 1 to {MOST_DIGITS} digits", 0)
        plies = int(digits)
    return plies, [(_to_fact(expression), expression.offset) for expression in expressions]


def _to_fact(expression: Expression) -> Term:
    """An expression without variables as a term."""
    if not isinstance(expression, Group):
        if expression.startswith("?"):
            raise BadPosition(f"{shorten(expression, 40)} is a variable; a position has none", expression.offset)
        return sys.intern(fold(expression))
    if not expression or not isinstance(expression[0], str):
        raise BadPosition(f"{shorten(show(expression), 40)} does not begin with a name", expression.offset)
    parts = tuple(_to_fact(each) for each in expression)
    return parts if len(parts) > 1 else parts[0]
