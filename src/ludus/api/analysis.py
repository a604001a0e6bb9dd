"""`ludus.analyse`: what an agent thinks of a position, several times a second while it thinks.

for snapshot in ludus.analyse(position, "uct", "2s"):
    print(snapshot.simulations, snapshot.best, snapshot.value)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ludus.agents.agent import Agent, player_asked
from ludus.agents.budget import Budget
from ludus.agents.naming import make_agent, parse
from ludus.agents.search import Thinking, prepare, think
from ludus.api.tree import Tree
from ludus.errors import BadAgent, BadOption

if TYPE_CHECKING:
    from ludus.agents.snapshot import Snapshot
    from ludus.game import Position


def analyse(
    position: Position,
    agent: Agent | str = "uct",
    budget: Budget | str | int | None = None,
    player: int | None = None,
    every: float = 0.1,
    seed: int = 0,
) -> Analysis:
    """Snapshots of an agent's thinking about a position, one every `every` seconds, the last one with `final` set.

    `agent` is a name or an agent; by name, a new agent is made with `seed`. `budget` is a number of simulations, a time
    ("2s"), "infinite", or None for the agent's own budget. Where everyone moves at once, `player` says for whom the
    agent thinks; the snapshots show all players. An agent without a search gives one final snapshot.

    The search runs in a thread of its own, whether or not anyone takes the snapshots, and is the same as in
    `agent.choose`, simulation for simulation. It ends when the iterator is closed or dropped. Compiling, where it is
    needed, is done before this function returns.
    """
    if not every > 0:
        raise BadOption(f"the time between two snapshots must be above 0 seconds, not {every:g}")
    if isinstance(agent, str):
        if parse(agent).kind == "human":
            raise BadAgent("a person cannot analyse a position; name an agent such as uct")
        agent = make_agent(agent, position.game, seed)
    player = player_asked(position, player)
    if budget is not None:
        budget = Budget.of(budget)
    prepare(agent)
    return Analysis(agent, position, budget, player, every)


class Analysis(Iterator["Snapshot"]):
    """The snapshots of a search under way: iterate over them, or leave them and `stop` or `close` it.

    `stop` and `close` may be called from any thread. In a `with` statement it is closed at the end.
    """

    def __init__(self, agent: Agent, position: Position, budget: Budget | None, player: int, every: float):
        self.agent = agent
        """The agent that thinks. `ludus.Tree(analysis.agent)` shows the tree of one that searches."""
        self.position = position
        self._worker = _Worker(agent, position, budget, player, every)
        self._worker.start()
        self._closed = False

    def __next__(self) -> Snapshot:
        """The newest snapshot, as soon as there is one that was not taken; snapshots that came before it are lost."""
        snapshot = None if self._closed else self._worker.take()
        if snapshot is None or self._closed:
            self._closed = True
            raise StopIteration
        return snapshot

    def stop(self) -> None:
        """End the search, within some milliseconds and without waiting for it. A final snapshot follows."""
        self._worker.stopping.set()

    def close(self) -> None:
        """End the search and wait until it has ended. No snapshot follows."""
        self._closed = True
        self.stop()
        self._worker.join()

    def _repr_svg_(self) -> str | None:
        """The tree of the search so far, which a notebook shows; None if there is none."""
        try:
            return Tree(self.agent)._repr_svg_()
        except BadAgent:
            return None

    def __enter__(self) -> Analysis:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def __del__(self) -> None:
        worker = getattr(self, "_worker", None)
        if worker is not None:  # no waiting here: this may run in any thread
            worker.stopping.set()


class _Worker(threading.Thread):
    """The thread of a search. It knows nothing of the Analysis, so that one that is dropped is collected."""

    def __init__(self, agent: Agent, position: Position, budget: Budget | None, player: int, every: float):
        super().__init__(name=f"ludus analysis by {agent.name}", daemon=True)
        self.stopping = threading.Event()
        self._task = (agent, position, budget, player)
        self._every = every
        self._due = time.perf_counter() + every
        self._news = threading.Condition()
        self._latest: Snapshot | None = None
        self._over = False
        self._failure: BaseException | None = None

    def run(self) -> None:
        try:
            _, last = think(*self._task, self._watch, self.stopping.is_set)
            self._publish(last)
        except BaseException as error:
            self._failure = error
        finally:
            with self._news:
                self._over = True
                self._news.notify_all()

    def _watch(self, search: Thinking) -> None:
        now = time.perf_counter()
        if now >= self._due:
            self._due = now + self._every
            self._publish(search.snapshot())

    def _publish(self, snapshot: Snapshot) -> None:
        with self._news:
            self._latest = snapshot
            self._news.notify_all()

    def take(self) -> Snapshot | None:
        """Wait for a snapshot and take it; None at the end."""
        with self._news:
            self._news.wait_for(lambda: self._latest is not None or self._over)
            snapshot, self._latest = self._latest, None
            if snapshot is None and self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            return snapshot
