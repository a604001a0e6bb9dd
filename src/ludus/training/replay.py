"""The replay window: the latest rows of self-play."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ludus.nets.rows import Rows, join, last_rows
from ludus.training.state import State

if TYPE_CHECKING:
    from ludus.runs.config import Config


class Window:
    """The latest rows; their number grows with the number of rows ever added."""

    def __init__(self, config: Config, rows: Rows):
        self.config, self.rows = config, rows
        self.total = 0
        """Rows ever added."""

    def add(self, rows: Rows) -> None:
        """Add new rows, and drop the oldest if there are too many."""
        self.total += len(rows)
        self.rows = last_rows(join([self.rows, rows]), self.size)

    @property
    def size(self) -> int:
        """The largest number of rows now."""
        return window_size(self.config, self.total)

    def state(self) -> State:
        """The number of rows; the rows themselves are in the files of their iterations."""
        return State(facts={"rows": self.total})

    def restore(self, state: State, load: Callable[[int], list[Rows]]) -> None:
        """`load` reads the parts with the latest rows, at least a number of them if there are as many, oldest first."""
        self.total = state.facts["rows"]
        parts = load(self.size)
        self.total -= sum(len(rows) for rows in parts)
        for rows in parts:
            self.add(rows)


def window_size(config: Config, total: int) -> int:
    """The rows in the window when `total` were added: `window_rows` at first, then it grows with a power of `total`."""
    if total <= config.window_rows:
        return config.window_rows
    return min(config.window_limit, int(config.window_rows * (total / config.window_rows) ** config.window_power))
