"""Compiles a game ahead of its use: what perft, matches, training and trained players need, in further processes.

The processes (ahead_jobs.py) write to the cache of machine code on disk. If one fails, nothing is lost: what is missing
is compiled when it is first used.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from typing import TYPE_CHECKING

import numba
import numpy as np

from ludus.arena.channel import BadMessage, Child
from ludus.arena.processes import start_process
from ludus.child import how_it_ended
from ludus.native import store
from ludus.native.digests import package_digest

if TYPE_CHECKING:
    from ludus.game import Game

SERVICE = "ludus.api.ahead_jobs"
JOBS = ("search", "training", "zero")
"""What is compiled, in this order: perft and `uct`, the default training, and a match of a trained player."""


class CompileAhead:
    """The jobs for one game and the processes that do them. A job that was done before on this machine is left out."""

    def __init__(self, game: Game):
        """`game` must be compiled already, so that its functions are in the cache."""
        self.game = game
        self.waiting = [job for job in JOBS if store.can_keep() and store.read(stamp_of(game, job)) is None]
        self.under_way: dict[Child, str] = {}
        self.idle: list[Child] = []
        self.failed: dict[str, str] = {}
        """For each job that failed, the reason."""
        self.news = threading.Event()

    @property
    def busy(self) -> bool:
        """True if a job is not done yet."""
        return bool(self.waiting or self.under_way)

    def advance(self, processes: int) -> None:
        """Take in what the processes have reported, and begin further jobs on at most this number of processes."""
        self.news.clear()
        for child in list(self.under_way):
            self._listen(child)
        while self.waiting and len(self.under_way) < processes:
            child = self.idle.pop() if self.idle else start_process(SERVICE, self.game, self.news)
            self.under_way[child] = self.waiting.pop(0)
            child.send(self.under_way[child])

    def wait(self, seconds: float) -> None:
        """Wait until a process has reported something, but no longer than this."""
        self.news.wait(seconds)

    def end(self) -> None:
        """End the processes. What they have compiled so far is kept."""
        self.waiting = []
        for child in (*self.under_way, *self.idle):
            child.end()
        self.under_way, self.idle = {}, []

    def _listen(self, child: Child) -> None:
        try:
            problem = child.receive()
        except queue.Empty:
            return
        except EOFError:
            problem = f"its process ended{how_it_ended(child.exit_code(5))}"
        except BadMessage as error:
            problem = str(error)
        job = self.under_way.pop(child)
        if problem is None:
            self.idle.append(child)
            store.write(stamp_of(self.game, job), b"")
        else:
            child.end()
            self.failed[job] = str(problem)


def stamp_of(game: Game, job: str) -> str:
    """The name of the entry in the cache that says that a job is done: a digest of what its machine code depends on."""
    declared = (game.players, game.zero_sum, game.simultaneous, game.actions, game.most_legal, game.symmetries)
    kinds = numba.typeof(game.rules), numba.typeof(game.new_states(1)), game.observation
    key = repr((job, package_digest(), np.__version__, *map(str, kinds), declared, bool(game.curriculum())))
    return f"ahead.{job}-{hashlib.sha256(key.encode()).hexdigest()[:40]}.stamp"
