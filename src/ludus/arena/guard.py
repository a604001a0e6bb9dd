"""Limits on files of results, which may come from anywhere.

The tables of a file must be plain tables. A view or a computed column in the place of a table could run without end,
and so could a trigger, so a file with any of them is refused. A damaged file can still refer to one page again and
again. So every query has a time limit, and texts and lists have limits on their length.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from ludus.errors import LudusError

PATIENCE = 60.0
"""Seconds to wait while another process writes."""
TIME_LIMIT = 120.0
"""Seconds for one query. Ten million games take less."""
LONGEST_ROW = 4 << 20
"""Upper limit for the size of a row in bytes. A game of ten thousand plies takes less."""
MOST_TEXT = 256 << 20
"""Upper limit for the characters in a list of rows."""
STEPS = 100_000
"""SQLite instructions between two checks of the time."""
MOST_PLAYERS = 64


class BadResults(LudusError):
    """A file of results cannot be used."""


class Guard:
    """The time limit of the query that runs on a connection."""

    def __init__(self, base: sqlite3.Connection):
        self.deadline = time.monotonic() + TIME_LIMIT
        base.set_progress_handler(self._is_over, STEPS)
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_ROW)
        base.execute("PRAGMA trusted_schema = OFF")

    def restart(self) -> None:
        """Begin the time of a query."""
        self.deadline = time.monotonic() + TIME_LIMIT

    def _is_over(self) -> bool:
        return time.monotonic() > self.deadline


def check_path(path: Path) -> None:
    """Refuse devices and pipes, which may be endless."""
    if path.exists() and not path.is_file():
        raise BadResults(f"{path} cannot be used: it is not a regular file")


def check_schema(base: sqlite3.Connection, path: Path, tables: Collection[str]) -> None:
    """Refuse a file in which one of the `tables` is not a plain one, or has a trigger."""
    for kind, name, table, sql in base.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"):
        if table not in tables or kind == "index":
            continue
        columns = base.execute("SELECT hidden FROM pragma_table_xinfo(?)", (name,))
        computed = any(hidden > 1 for (hidden,) in columns)
        if kind != "table" or computed or str(sql).upper().startswith("CREATE VIRTUAL"):
            raise BadResults(f"{path} is not a file of results: {name} is a {kind}, or computed, not a plain table")


def limited(rows: Iterable[Any], path: Path) -> list[Any]:
    """The rows of a query, if their texts are not too long in all."""
    found, length = [], 0
    for row in rows:
        length += 8 * len(row) + sum(len(each) for each in row if isinstance(each, str | bytes))
        if length > MOST_TEXT:
            raise BadResults(f"{path} holds too much text for a file of results")
        found.append(row)
    return found


def check_types(path: Path, what: str, row: Iterable[Any], *kinds: Any) -> None:
    """Refuse a row with a cell of another type: a cell of an SQLite table can hold anything."""
    for cell, kind in zip(row, kinds, strict=False):
        if not isinstance(cell, kind) or (isinstance(cell, float) and not -1e300 < cell < 1e300):
            raise BadResults(f"{path} is damaged: {what} holds {str(cell)[:40]!r}, which does not belong there")
