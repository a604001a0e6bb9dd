"""`ludus.solve` and `ludus.perft`: exact values and exact counts, with progress, and stoppable."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ludus.game import Position
    from ludus.search.solver import Solution
    from ludus.stopping import Stop


@dataclass(frozen=True)
class Counted:
    """Progress of `solve` and `perft`, several times a second."""

    positions: int
    """Positions searched, or lines of play counted, so far."""
    seconds: float


def solve(
    position: Position,
    limit: float | None = None,
    memory: int = 1 << 28,
    on_event: Callable[[Counted], object] | None = None,
    stop: Stop | None = None,
) -> Solution:
    """The exact value of a position and of each of its moves, for two players who move in turn in a zero-sum game.

    Raises ludus.search.solver.NotSolved after `limit` seconds or when `stop` (a threading.Event) is set; the exception
    holds the values of the moves solved by then. `memory` is the limit in bytes for the table of positions.
    """
    from ludus.search import solver

    stack = solver.prepare(position, memory)
    return solver.solve(position, limit=limit, memory=memory, progress=_reporter(on_event), stack=stack, stop=stop)


def perft(
    position: Position,
    depth: int,
    on_event: Callable[[Counted], object] | None = None,
    stop: Stop | None = None,
) -> int:
    """The number of sequences of `depth` moves from a position; 0 if every game ends sooner.

    Raises ludus.stopping.Stopped when `stop` (a threading.Event) is set.
    """
    from ludus.search import perft

    return perft.perft(position, depth, _reporter(on_event), stop)


def _reporter(on_event: Callable[[Counted], object] | None) -> Callable[[int], None] | None:
    if on_event is None:
        return None
    began = time.perf_counter()

    def report(positions: int) -> None:
        on_event(Counted(positions, time.perf_counter() - began))

    return report
