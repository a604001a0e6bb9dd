"""How long an agent may think: a number of simulations, a time, or until it is stopped."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from ludus.errors import BadAgent

MOST_SIMULATIONS = 2**31 - 1
UNITS = {"": 1, "k": 1_000, "K": 1_000, "M": 1_000_000}
CLOCKS = {"ms": 0.001, "s": 1.0, "min": 60.0}


@dataclass(frozen=True)
class Budget:
    """A limit in simulations, in seconds, or both: then the one that is reached first ends the search."""

    simulations: int | None = None
    seconds: float | None = None
    infinite: bool = False
    """No limit: a search ends when it is stopped, when the position is solved, or when its memory is full."""

    def __post_init__(self) -> None:
        if self.infinite != (self.simulations is None and self.seconds is None):
            raise BadAgent("a budget needs simulations or seconds, or it is infinite")
        if self.simulations is not None and not 0 < self.simulations <= MOST_SIMULATIONS:
            raise BadAgent(f"a budget must be from 1 to {MOST_SIMULATIONS} simulations, not {self.simulations}")
        if self.seconds is not None and not 0 < self.seconds < math.inf:
            raise BadAgent(f"a budget must be more than 0 seconds, not {self.seconds:g}")

    @classmethod
    def of(cls, given: Budget | str | int) -> Budget:
        """A budget from what people write: 10000, "10k", "1M"; "2s", "500ms", "1min"; "infinite"."""
        if isinstance(given, Budget):
            return given
        if given == "infinite":
            return cls(infinite=True)
        found = re.fullmatch(r"\s*([-+]?[0-9_]*\.?[0-9]+)\s*([a-zA-Z]*)\s*", str(given))
        if found:
            number, unit = float(found[1].replace("_", "")), found[2]
            if unit in CLOCKS:
                return cls(seconds=number * CLOCKS[unit])
            if unit in UNITS and (number * UNITS[unit]).is_integer():
                return cls(simulations=int(number * UNITS[unit]))
        raise BadAgent(
            f"{str(given)!r} is not a budget; give simulations, such as 10000 or 10k, or a time, such as 2s or 500ms"
        )

    def __str__(self) -> str:
        if self.infinite:
            return "infinite"
        parts = []
        if self.simulations is not None:
            parts.append(str(self.simulations))
        if self.seconds is not None:
            parts.append(f"{self.seconds:g}s")
        return ":".join(parts)


def looks_like_budget(text: str) -> bool:
    """True if the text is meant as a budget, a valid one or not."""
    return re.fullmatch(r"\s*[-+]?[0-9._]+\s*[a-zA-Z]*\s*", text) is not None
