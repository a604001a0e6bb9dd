"""Rectangular grids of cells as text and as drawings."""

from collections.abc import Mapping, Sequence

import numpy as np

from ludus.errors import BadPosition


def write_grid(cells: np.ndarray, symbols: str, separator: str = "/") -> str:
    """Cells [rows, columns], row 0 on top, as text: `symbols[cell]`, runs of 0 as their length, rows joined by '/'."""
    rows = []
    for row in cells.tolist():
        text, empty = "", 0
        for cell in [*row, None]:
            if cell == 0:
                empty += 1
                continue
            text += str(empty) if empty else ""
            text += "" if cell is None else symbols[cell]
            empty = 0
        rows.append(text)
    return separator.join(rows)


def read_grid(text: str, rows: int, columns: int, symbols: str, begin: int = 0, separator: str = "/") -> np.ndarray:
    """The cells int8 [rows, columns] of a text of `write_grid`, whose place in a longer text is `begin`."""
    cells = np.zeros((rows, columns), np.int8)
    row = column = place = 0
    while place < len(text):
        mark = text[place]
        if mark == separator:
            if column != columns:
                raise BadPosition(f"row {row + 1} has {column} cells instead of {columns}", begin + place)
            row, column, place = row + 1, 0, place + 1
            if row == rows:
                raise BadPosition(f"there are more than {rows} rows", begin + place - 1)
            continue
        width = 1
        if mark in "0123456789":
            end = place
            while end < len(text) and text[end] in "0123456789":
                end += 1
            if mark == "0" or end - place > 3:
                raise BadPosition(f"{text[place:end]!r} is not a number of empty cells", begin + place)
            width, cell, after = int(text[place:end]), 0, end
        elif mark in symbols[1:]:
            cell, after = symbols.index(mark), place + 1
        else:
            raise BadPosition(
                f"{mark!r} is none of {' '.join(symbols[1:])}, a number of empty cells or {separator!r}", begin + place
            )
        if column + width > columns:
            raise BadPosition(f"row {row + 1} has more than {columns} cells", begin + place)
        cells[row, column : column + width] = cell
        column, place = column + width, after
    if row + 1 != rows or column != columns:
        raise BadPosition(
            f"the text ends in row {row + 1} of {rows} after {column} of {columns} cells", begin + len(text)
        )
    return cells


def arranged(placed: Mapping[str, int], ids: Sequence[str], rows: int, columns: int) -> np.ndarray:
    """Cells int8 [rows, columns] of pieces that a person has placed: 0 empty, 1 for piece 0, ...; `ids` row by row."""
    unknown = [id for id in placed if id not in ids]
    if unknown:
        raise BadPosition(f"there is no cell {unknown[0]!r}")
    return np.array([placed.get(id, -1) + 1 for id in ids], np.int8).reshape(rows, columns)


def draw_grid(cells: np.ndarray, symbols: str, row_names: list[str], column_names: list[str]) -> str:
    """Cells [rows, columns], row 0 on top, as a drawing with names along two sides (row names may be empty)."""
    wide = max(map(len, column_names))
    margin = max(map(len, row_names), default=0)
    lines = [
        f"{name:>{margin}} " + " ".join(f"{symbols[cell]:>{wide}}" for cell in row)
        for name, row in zip(row_names or [""] * len(cells), cells.tolist(), strict=True)
    ]
    lines.append(" " * margin + " " + " ".join(f"{name:>{wide}}" for name in column_names))
    return "\n".join(line.rstrip() for line in lines)


def letters(count: int) -> list[str]:
    """Names of columns: a, b, ... z, aa, ab, ..."""
    names = []
    for index in range(count):
        name = ""
        while index >= 0:
            name, index = chr(ord("a") + index % 26) + name, index // 26 - 1
        names.append(name)
    return names
