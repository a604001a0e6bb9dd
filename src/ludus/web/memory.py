"""The memory bound for the trees of all agents together.

An agent leases memory before it searches. A quarter of the bound is reserved in equal parts, so that 64 agents can
always think at once; further ones wait. A lease gets a quarter of what is free of the rest, so it is large while few
agents search. The trees of agents that do not search are dropped when others need the memory, the longest idle first.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ludus.agents.budget import Budget
from ludus.agents.search import SEARCHES_KEPT, SearchAgent
from ludus.errors import BadAgent

LEASES = 64
"""Number of agents that can always search at once."""
NODE_BYTES = 2048
"""Memory for a node with its edges, generously: the lease of a search whose number of simulations is known."""
POLL = 0.1
"""Seconds between two checks whether an agent that waits for memory is still wanted."""


class Cancelled(Exception):
    """The search is not wanted any more."""


class _Lease:
    def __init__(self, agent: Any, size: int):
        self.agent, self.size, self.own_limit = agent, size, agent.memory
        self.users = 0
        self.used = time.monotonic()


class TreeMemory:
    """Leases of memory to agents, at most `total` bytes at any time."""

    def __init__(self, total: int):
        self.total = total
        self._leases: dict[int, _Lease] = {}
        self._change = threading.Condition()

    @property
    def leased(self) -> int:
        """Bytes that are leased now."""
        with self._change:
            return self._sum()

    def _sum(self) -> int:
        return sum(lease.size for lease in self._leases.values())

    @contextmanager
    def lease(
        self, agent: Any, is_cancelled: Callable[[], bool] = lambda: False, budget: Budget | None = None
    ) -> Iterator[None]:
        """Memory for one search of an agent, with its own budget or the one given.

        Waits while there is no memory; raises Cancelled if `is_cancelled` meanwhile.
        """
        if not hasattr(agent, "memory"):
            yield
            return
        with self._change:
            lease = self._leases.get(id(agent)) or self._grant(
                agent, is_cancelled, budget or getattr(agent, "budget", None)
            )
            lease.users += 1
        try:
            yield
        finally:
            with self._change:
                lease.users -= 1
                lease.used = time.monotonic()
                forest = agent.forest if isinstance(agent, SearchAgent) else None
                lease.size = 0 if forest is None else min(lease.size, forest.bytes)
                if not lease.size and not lease.users:
                    self._leases.pop(id(agent), None)
                    agent.memory = lease.own_limit
                self._change.notify_all()

    def _grant(self, agent: Any, is_cancelled: Callable[[], bool], budget: Budget | None) -> _Lease:
        least = self.total // (4 * LEASES)
        wanted = min(agent.memory, self.total // 4)
        if isinstance(agent, SearchAgent) and budget is not None and budget.simulations is not None:
            wanted = min(wanted, SEARCHES_KEPT * budget.simulations * NODE_BYTES + (1 << 20))
        while True:
            free = self.total - self._sum()
            reserved = least * max(0, LEASES - len(self._leases) - 1)
            size = min(wanted, max(least, (free - reserved) // 4))
            if size <= free and len(self._leases) < LEASES:
                break
            if not self._drop_idle():
                self._change.wait(POLL)
            if is_cancelled():
                raise Cancelled
        lease = self._leases[id(agent)] = _Lease(agent, size)
        agent.memory = size
        return lease

    def _drop_idle(self) -> bool:
        """Drop the tree that was idle for longest; False if every tree is in use."""
        idle = [lease for lease in self._leases.values() if not lease.users]
        return any(self._release(lease) for lease in sorted(idle, key=lambda lease: lease.used))

    def _release(self, lease: _Lease) -> bool:
        try:
            lease.agent.drop_tree()
        except BadAgent:  # it searches for a caller without a lease
            return False
        self._leases.pop(id(lease.agent), None)
        lease.agent.memory = lease.own_limit
        return True

    def release(self, agent: Any) -> None:
        """Drop the tree of an agent that is not needed any more."""
        with self._change:
            lease = self._leases.get(id(agent))
            if lease is not None and not lease.users:
                self._release(lease)
                self._change.notify_all()
