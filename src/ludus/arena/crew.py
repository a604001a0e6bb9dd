"""A crew plays games side by side: processes of this machine (workers.py), or the nodes of a cluster
(cluster_workers.py). Matches and arenas do not know which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ludus.arena.remote import Unfit
from ludus.stopping import Stop, is_stopped

if TYPE_CHECKING:
    from ludus.arena.record import GameRecord, Task


class Crew(ABC):
    """Plays up to `count` games at once, all of one game. Use it in a `with` statement: its processes end there."""

    count: int
    """The largest number of games at once. On a cluster it changes with the nodes."""

    @property
    @abstractmethod
    def busy(self) -> int:
        """The number of games under way."""

    @property
    @abstractmethod
    def plies(self) -> int:
        """The number of plies of the longest game under way; 0 if it is not known."""

    @abstractmethod
    def begin(self, task: Task) -> None:
        """Start a game. Fewer than `count` must be under way."""

    @abstractmethod
    def wait(self, seconds: float) -> list[tuple[Task, GameRecord | Unfit]]:
        """Wait until a game ends, for at most `seconds`. Returns the games that have ended."""

    @abstractmethod
    def abandon(self) -> None:
        """End the games under way."""

    @abstractmethod
    def __enter__(self) -> Crew: ...

    @abstractmethod
    def __exit__(self, *failure: object) -> None: ...

    def play(self, tasks: Iterable[Task], stop: Stop | None = None) -> Iterator[GameRecord | None]:
        """The records of tasks, in the order of the tasks; None several times a second while waiting.

        When the stop signal is set, the games that have ended are returned and the others are abandoned.
        """
        waiting = iter(tasks)
        begun: list[int] = []
        done: dict[int, GameRecord] = {}
        try:
            while not is_stopped(stop):
                # Not too far ahead: a caller that stops early does not need later games.
                while self.busy < self.count and len(begun) < 4 * self.count and (task := next(waiting, None)):
                    self.begin(task)
                    begun.append(task.number)
                if not begun:
                    return
                for task, result in self.wait(0.2):
                    if isinstance(result, Unfit):
                        raise result
                    done[task.number] = result
                yield None
                while begun and begun[0] in done:
                    yield done.pop(begun.pop(0))
            yield from (done[number] for number in begun if number in done)
        finally:
            self.abandon()
