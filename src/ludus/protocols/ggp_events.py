"""Events of a player and of a manager of general game playing. `str` gives each as a line for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Warm:
    """The player's machine code is compiled and loaded: from now on no clock pays for it."""

    seconds: float

    def __str__(self) -> str:
        return f"ready after {self.seconds:.1f} s"


@dataclass(frozen=True)
class MatchBegun:
    """A manager has started a match."""

    match: str
    role: str
    start_clock: int
    play_clock: int

    def __str__(self) -> str:
        return f"{self.match}: playing {self.role}, start clock {self.start_clock} s, play clock {self.play_clock} s"


@dataclass(frozen=True)
class Prepared:
    """The player reports on loading and learning."""

    match: str
    what: str

    def __str__(self) -> str:
        return f"{self.match}: {self.what}"


@dataclass(frozen=True)
class MoveAnswered:
    """The player has answered a PLAY."""

    match: str
    step: int
    move: str
    seconds: float
    """From the connection to the answer."""

    def __str__(self) -> str:
        return f"{self.match}: step {self.step}, {self.move} after {self.seconds:.1f} s"


@dataclass(frozen=True)
class OutOfStep:
    """A joint move does not fit the position: the player leaves it out and answers for the position that it knows."""

    match: str
    why: str

    def __str__(self) -> str:
        return f"{self.match}: out of step: {self.why}"


@dataclass(frozen=True)
class MatchEnded:
    """A match is over, or was aborted."""

    match: str
    goals: tuple[int, ...] | None
    """By role, from 0 to 100; None if the match was not played to its end."""

    def __str__(self) -> str:
        return f"{self.match}: over, goals {' '.join(map(str, self.goals))}" if self.goals else f"{self.match}: ended"


@dataclass(frozen=True)
class Trouble:
    """A message could not be understood, or the process that thinks has ended and is started again."""

    why: str

    def __str__(self) -> str:
        return self.why


PlayerEvent = Warm | MatchBegun | Prepared | MoveAnswered | OutOfStep | MatchEnded | Trouble
OnPlayerEvent = Callable[[PlayerEvent], object]
