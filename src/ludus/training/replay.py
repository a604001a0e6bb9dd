"""The replay window: the latest rows of self-play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludus.nets.rows import Rows, join, last_rows

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config


class Window:
    """The latest rows; how many depends on how many there have been."""

    def __init__(self, game: Game, config: Config, rows: Rows):
        self.game, self.config, self.rows = game, config, rows
        self.total = 0
        """Rows ever added."""

    def add(self, rows: Rows) -> None:
        self.total += len(rows)
        self.rows = last_rows(join([self.rows, rows]), self.size)

    @property
    def size(self) -> int:
        """How many rows the window holds: at first all of `window`, then it grows by a power of their number."""
        config = self.config
        if self.total <= config.window_rows:
            return config.window_rows
        return min(
            config.window_limit, int(config.window_rows * (self.total / config.window_rows) ** config.window_power)
        )
