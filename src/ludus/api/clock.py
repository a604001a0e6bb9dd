"""Clocks of a game: a time for each player, and an increment for each move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ludus.agents.budget import Budget
from ludus.errors import BadAgent, BadOption

MOVES_TO_COME = 25
"""An agent shares its time among this many moves."""
SPARE = 0.05
"""Seconds of an agent's time that are kept for the way of its answer."""


@dataclass(frozen=True)
class TimeControl:
    """The time of one player, in seconds."""

    base: float
    increment: float = 0.0
    """Added after each of the player's moves."""

    def __post_init__(self) -> None:
        if not 0 < self.base < math.inf or not 0 <= self.increment < math.inf:
            raise BadOption("a clock needs more than 0 seconds, and an increment from 0 on")

    @classmethod
    def of(cls, given: TimeControl | str | float) -> TimeControl:
        """A time control from what people write: 300, "5min", "5min+2s"."""
        if isinstance(given, TimeControl):
            return given
        if isinstance(given, int | float):
            return cls(float(given))
        base, plus, increment = given.partition("+")
        try:
            times = [Budget.of(text).seconds for text in ([base, increment] if plus else [base])]
        except BadAgent:
            times = [None]
        if None in times:
            raise BadOption(f"{given!r} is not a clock; write a time such as 5min, or with an increment 5min+2s")
        return cls(*times)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return f"{self.base:g}s" + (f"+{self.increment:g}s" if self.increment else "")


def time_controls(
    given: TimeControl | str | float | Sequence[TimeControl | str | float | None] | None, players: int
) -> list[TimeControl | None]:
    """A time control or None for each player, from one for all or one for each."""
    if given is None or isinstance(given, str | float | int | TimeControl):
        given = [given] * players
    if len(given) != players:
        raise BadOption(f"{len(given)} clocks for {players} players")
    return [None if control is None else TimeControl.of(control) for control in given]


class Clocks:
    """The clocks of all players. Any number of them may run at once, as where everyone moves at once."""

    def __init__(self, controls: Sequence[TimeControl | None], now: Callable[[], float]):
        self.controls = tuple(controls)
        self._now = now
        self._left = [None if control is None else control.base for control in controls]
        self._since: dict[int, float] = {}
        """For each player whose clock runs, when its time was last taken off `_left`."""

    @property
    def running(self) -> tuple[int, ...]:
        return tuple(sorted(self._since))

    @property
    def left(self) -> tuple[float | None, ...]:
        """The seconds that each player has left, not below 0; None for a player without a clock."""
        now = self._now()
        return tuple(
            None if left is None else max(0.0, left - (now - self._since.get(player, now)))
            for player, left in enumerate(self._left)
        )

    def run(self, players: Iterable[int]) -> None:
        """Let exactly these players' clocks run."""
        left, now = self.left, self._now()
        self._left = list(left)
        self._since = {player: now for player in players if left[player] is not None}

    def add_increment(self, player: int) -> None:
        control, left = self.controls[player], self._left[player]
        if control is not None and left is not None:
            self._left[player] = left + control.increment

    def set(self, left: Sequence[float | None]) -> None:
        """Stop all clocks, and set the time of the players that have one."""
        self._since = {}
        for player, (control, seconds) in enumerate(zip(self.controls, left, strict=True)):
            if control is not None:
                self._left[player] = control.base if seconds is None else seconds

    def fallen(self) -> int | None:
        """The player whose time ran out first; None if nobody's did."""
        now = self._now()
        over = {}
        for player, since in self._since.items():
            left = self._left[player]
            if left is not None and now - since >= left:
                over[player] = since + left
        return min(over, key=over.__getitem__) if over else None

    def budget(self, player: int) -> float | None:
        """The seconds that an agent may think about its next move; None without a clock."""
        control, left = self.controls[player], self.left[player]
        if control is None or left is None:
            return None
        return max(0.01, min(left / MOVES_TO_COME + 0.8 * control.increment, 0.8 * left - SPARE))
