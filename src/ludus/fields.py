"""Any state as one line of text, and back: the default of `Game.write` and `Game.read`.

The text lists each field with its numbers, and equal numbers in a row once: `cells=0*27,1,2,0*35 turn=1`. Fields of
nested records are joined by dots. A state that is a plain row of integers is written without a name: `3,0*5,1`.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus.errors import BadPosition

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMBER = r"-?[0-9]{1,20}(?:\.[0-9]+)?(?:e[-+]?[0-9]{1,3})?|nan|-?inf"
RUN = re.compile(rf"({NUMBER})(?:\*([1-9][0-9]{{0,8}}))?")


class Field(NamedTuple):
    """One field of a state, or a state that is a row of integers."""

    name: str
    """The names from the outermost record to this field, joined by dots; empty for a row of integers."""
    record: Any
    """The record that has the field, or the row itself."""
    key: Any
    """The index of the field's numbers in `record`."""

    @property
    def values(self) -> NDArray[Any]:
        return np.asarray(self.record[self.key])


def write_fields(state: Any, names: Sequence[str] | None = None) -> str:
    """The fields of a state as text; by default all of them."""
    return " ".join(f"{each.name}{'=' * bool(each.name)}{_write(each.values)}" for each in _fields(state, names))


def read_fields(text: str, state: Any, names: Sequence[str] | None = None, begin: int = 0) -> None:
    """Fill the fields of a state from a text of `write_fields`; BadPosition says what is wrong, and where.

    `begin` is the place of the text in a longer one.
    """
    wanted = {each.name: each for each in _fields(state, names)}
    for word in re.finditer(r"\S+", text):
        name, equals, numbers = word.group().partition("=")
        if not equals:
            name, numbers = "", word.group()
        place = begin + word.start()
        if name not in wanted:
            missing = ", ".join(f"{each}=..." if each else "a row of numbers" for each in wanted) or "nothing"
            raise BadPosition(f"{word.group()[:40]!r} is not wanted here; left to give: {missing}", place)
        field = wanted.pop(name)
        field.record[field.key] = _read(numbers, field.values, name, place + len(word.group()) - len(numbers))
    if wanted:
        raise BadPosition(f"{next(iter(wanted)) or 'the row of numbers'} is missing", begin + len(text))


def _fields(state: Any, names: Sequence[str] | None = None, path: tuple[str, ...] = ()) -> Iterator[Field]:
    """The fields of a state; records within it are replaced by their fields."""
    fields = state.dtype.names
    if fields is None:
        yield Field("", state, slice(None))
        return
    for name in fields if names is None else names:
        if state.dtype[name].names is not None:
            yield from _fields(state[name], None, (*path, name))
        else:
            yield Field(".".join((*path, name)), state, name)


def _write(values: NDArray[Any]) -> str:
    runs = ((number, sum(1 for _ in same)) for number, same in itertools.groupby(_numbers(values)))
    return ",".join(number if count == 1 else f"{number}*{count}" for number, count in runs)


def _numbers(values: NDArray[Any]) -> list[str]:
    if values.dtype.kind == "b":
        return [str(int(each)) for each in values.ravel().tolist()]
    return [repr(each) for each in values.ravel().tolist()]


def _read(text: str, values: NDArray[Any], name: str, begin: int) -> NDArray[Any]:
    """The numbers of a text, as an array like `values`."""
    of = f" of {name}" if name else ""
    place = 0
    numbers: list[float | int] = []
    for part in text.split(","):
        found = RUN.fullmatch(part)
        if found is None:
            raise BadPosition(f"{part[:40]!r} is not a number{of}", begin + place)
        count = int(found[2] or 1)
        if len(numbers) + count > values.size:
            raise BadPosition(f"there are more than {values.size} numbers{of}", begin + place)
        numbers += [_number(found[1], values.dtype, of, begin + place)] * count
        place += len(part) + 1
    if len(numbers) < values.size:
        raise BadPosition(f"there are {len(numbers)} numbers{of} instead of {values.size}", begin)
    return np.array(numbers, values.dtype).reshape(values.shape)


def _number(text: str, kind: np.dtype[Any], of: str, place: int) -> float | int:
    if kind.kind == "f":
        return float(text)
    try:
        number = int(text)
    except ValueError:
        raise BadPosition(f"{text!r} is not a whole number{of}", place) from None
    least, most = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    if not least <= number <= most:
        raise BadPosition(f"{number} is not a number{of} from {least} to {most}", place)
    return number
