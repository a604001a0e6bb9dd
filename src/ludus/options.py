"""Conversion of options and settings, which arrive as text or as Python values, to the type of their default."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable
from typing import Any

YES_NO = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
WANTED = {int: "a whole number", float: "a finite number", bool: "yes or no", str: "text"}
MAX_DIGITS = 18
"""Longest whole number that is read from text: everything beyond int64 is refused by the limits of each option."""


def convert(value: Any, kind: type) -> Any:
    """`value` as an int, float, bool or str; ValueError, whose message names what is wanted, where it is none."""
    try:
        if kind is bool:
            return _to_bool(value)
        if kind is int:
            return _to_int(value)
        if kind is float and not isinstance(value, bool):
            number = float(value)
            if math.isfinite(number):
                return number
        if kind is str and isinstance(value, str):
            return value
    except (ValueError, TypeError, KeyError, OverflowError):
        pass
    raise ValueError(WANTED.get(kind, kind.__name__))


def _to_bool(value: Any) -> bool:
    if isinstance(value, str):
        return YES_NO[value.strip().lower()]
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return bool(value)
    raise ValueError


def _to_int(value: Any) -> int:
    if isinstance(value, str):
        digits = value.strip().replace("_", "").replace(",", "")
        if not re.fullmatch(rf"[-+]?[0-9]{{1,{MAX_DIGITS}}}", digits):
            raise ValueError
        return int(digits)
    if isinstance(value, bool) or value != int(value):
        raise ValueError
    return int(value)


def small_number(text: str) -> int | None:
    """The whole number from 0 on that a text of at most nine digits 0 to 9 stands for; None for any other text."""
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else None


def split_assignment(text: str, flag: str) -> tuple[str, str]:
    """The name and the value of `name=value`, as --option and --set take it; ValueError names `flag`."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ValueError(f"{flag} takes name=value, not {text!r}")
    return name.strip(), value.strip()


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The closest known name as a hint such as "; did you mean rows?", or an empty text."""
    close = difflib.get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""
