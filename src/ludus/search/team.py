"""Threads that share the trees of each round, such that a thread without a CPU core delays no other.

Every thread has a share of the trees. In a round it claims pieces of its share, and then pieces that are left of the
shares of others. The thread of the search, number 0, takes part, and the round is over when all claimed pieces are
done. So thread 0 waits only for pieces that helpers have begun. When the operating system takes the core from a helper
in the midst of a piece, thread 0 loses some milliseconds; it then works alone for a multiple of that time. So a busy
machine costs little more than the help.

A thread that waits lets others run on its core: it may be the one that the thread it waits for needs. If the next round
does not begin within some microseconds, a helper goes back to the pool, where threads sleep, and thread 0 invites it
again. Helpers are optional: a round without any gives the same result.
"""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ludus.native import part
from ludus.native.atomics import atomic_add, atomic_load, atomic_store, yield_core

PATIENCE = 200
"""The number of times that a thread looks for work or for the end of the round, before it goes to sleep."""
NAP = 50e-6
"""Seconds for which thread 0 sleeps when it has waited in vain. Its core is free then for the thread it waits for."""
ALONE = 4.0
"""Thread 0 works alone for this multiple of the time that it has lost to helpers: a fifth of its time at most."""

# The words by which the threads of a search talk to each other, each on a cache line of its own.
LINE = 16
ROUND = 0 * LINE
"""The number of rounds that have begun."""
LEAVE = ROUND + 1
"""1 if helpers are to go back to the pool."""
DONE = 1 * LINE
"""The number of trees that are done in this round."""
PORTION = 2 * LINE
"""The number of simulations to run in each tree in this round, for kernels that need it."""
NEXT = 3 * LINE
"""For each thread's share, on a line each: the first tree that is not claimed."""


@part
def open_round(words, threads, count):
    """Begin a round of `count` trees: from here on, threads claim them."""
    atomic_store(words, DONE, 0)
    for share in range(threads):
        atomic_store(words, NEXT + LINE * share, share * count // threads)
    atomic_add(words, ROUND, 1)


@part
def claim(words, thread, threads, count, size):
    """Claim up to `size` trees of the round: from the first to before the second number; (0, 0) if none are left."""
    for other in range(threads):
        share = (thread + other) % threads
        end = (share + 1) * count // threads
        if atomic_load(words, NEXT + LINE * share) < end:
            first = atomic_add(words, NEXT + LINE * share, size)
            if first < end:
                return first, min(first + size, end)
    return 0, 0


@part
def hand_in(words, first, last):
    """Report that the claimed trees are done."""
    atomic_add(words, DONE, last - first)


@part
def may_leave(words, thread, count):
    """True if a thread has nothing to wait for: thread 0 after the round, a helper when told to."""
    if thread == 0:
        return atomic_load(words, DONE) == count
    return atomic_load(words, LEAVE) != 0


@part
def next_piece(words, thread, threads, count, size):
    """Claim a piece as `claim` does; wait for the next round if none are left in this one.

    Returns (0, 0) if the thread may leave or has waited too long.
    """
    looks, exhausted = 0, 0
    while looks < PATIENCE and not may_leave(words, thread, count):
        current = atomic_load(words, ROUND)
        if current == exhausted:
            yield_core()
            looks += 1
            continue
        first, last = claim(words, thread, threads, count, size)
        if first < last:
            return first, last
        exhausted = current
    return 0, 0


class Team:
    """The threads of one search: the calling thread and helpers from the pool.

        with Team(kernel, arguments, trees, threads) as team:
            team.run_round()

    The kernel gets the arguments, those of its thread alone (`own`), the address of the words that the threads share,
    the number of the thread, the number of threads, and whether it is to open a round of `trees` trees. It returns True
    if the thread may leave (see rounds.advance).
    """

    def __init__(
        self, kernel: Any, arguments: tuple[Any, ...], trees: int, threads: int, own: Sequence[tuple[Any, ...]] = ()
    ):
        self.kernel, self.threads = kernel, threads
        self.arguments = [(*arguments, *(own[thread] if own else ())) for thread in range(threads)]
        self.words = np.zeros(NEXT + LINE * threads, np.int64)
        self.words[DONE] = self.words[NEXT::LINE] = trees  # nothing to claim before the first round
        self.address = self.words.ctypes.data
        self.absent = set(range(1, threads))
        self.alone_until = math.inf  # in the first round thread 0 compiles the kernel
        self.open_and_work = (*self.arguments[0], self.address, 0, threads, True)

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *_: object) -> None:
        self.words[LEAVE] = 1

    def run_round(self, portion: int = 0, alone: bool = False) -> None:
        """Run one round of all trees; if `alone`, without inviting helpers."""
        if portion:
            self.words[PORTION] = portion
        if self.threads == 1:
            self.kernel(*self.open_and_work)
            return
        began = time.perf_counter()
        if not alone and began > self.alone_until and (self.absent or self.words[LEAVE]):
            self._invite()
        try:
            if not self.kernel(*self.open_and_work):
                self._wait(began)
            elif self.alone_until == math.inf:
                self.alone_until = -math.inf
        except BaseException:  # Ctrl-C must not leave a helper behind that still changes trees
            while not self._work():
                pass
            raise

    def help(self, thread: int) -> None:
        """Work as helper number `thread` until the search is over or pauses."""
        self._work(thread)
        self.absent.add(thread)

    def _work(self, thread: int = 0) -> bool:
        return self.kernel(*self.arguments[thread], self.address, thread, self.threads, False)

    def _wait(self, began: float) -> None:
        """Wait for helpers. If the round takes longer than without them, send them away for a while."""
        waiting = time.perf_counter()
        time.sleep(NAP)
        while not self._work():
            time.sleep(NAP)
        waited = time.perf_counter() - waiting
        if waited > (self.threads - 1) * (waiting - began):
            self.words[LEAVE] = 1
            self.alone_until = waiting + waited * (1.0 + ALONE)

    def _invite(self) -> None:
        self.words[LEAVE] = 0
        while self.absent:
            invite(self, self.absent.pop())


class Pool:
    """Threads that sleep until they are invited to help. All searches of the process share them."""

    def __init__(self) -> None:
        self.invitations: queue.SimpleQueue[tuple[Helped, int]] = queue.SimpleQueue()
        self.size = 0
        self.growing = threading.Lock()

    def invite(self, work: Helped, thread: int) -> None:
        """Ask a thread of the pool to help as number `thread`."""
        if self.size < thread:
            with self.growing:
                while self.size < thread:
                    self.size += 1
                    threading.Thread(target=self._serve, name=f"search helper {self.size}", daemon=True).start()
        self.invitations.put((work, thread))

    def _serve(self) -> None:
        while True:
            work, thread = self.invitations.get()
            work.help(thread)
            del work  # its trees may be large


_pool = Pool()


class Helped(Protocol):
    """Work in which threads of the pool can help."""

    def help(self, thread: int) -> None:
        """Work as helper number `thread` until there is nothing to do."""


def invite(work: Helped, thread: int) -> None:
    """Ask a thread of the pool to help as number `thread`, from 1 on; the pool has at least as many threads."""
    _pool.invite(work, thread)


def _renew_pool() -> None:
    global _pool
    _pool = Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_pool)  # the threads of a process do not exist in its forks
