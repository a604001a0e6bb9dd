"""Seats at a game: a person or an agent in each, and an agent's thinking about one move."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ludus.agents.budget import Budget
from ludus.agents.human import HumanAgent
from ludus.agents.naming import names_a_program, parse
from ludus.arena.remote import RemoteAgent, agent_for
from ludus.errors import BadAgent, Untrusted
from ludus.spec import shortened

if TYPE_CHECKING:
    from ludus.agents.agent import Agent
    from ludus.agents.search import Thinking
    from ludus.agents.snapshot import Snapshot
    from ludus.game import Game, Position

HUMAN = "human"

OnSnapshot = Callable[["Snapshot"], object]

MakeAgent = Callable[[str, "Game", int], "Agent"]
"""Makes an agent from (name, game, seed), or raises BadAgent."""


def make_seated(name: str, game: Game, seed: int) -> Agent:
    """The agent of that name, without a limit for a move: the session has clocks of its own."""
    return agent_for(name, game, seed, move_limit=math.inf)


def refuse_programs(make_agent: MakeAgent) -> MakeAgent:
    """The same as `make_agent`, for names in a file of others: Untrusted for an external program."""

    def make(name: str, game: Game, seed: int) -> Agent:
        if names_a_program(name):
            raise Untrusted(f"the record of the game names the agent {shortened(name)}, which is a program")
        return make_agent(name, game, seed)

    return make


class Seat:
    """A person, or an agent that is made when it is first needed."""

    def __init__(self, given: Agent | str, make_agent: MakeAgent = make_seated):
        """BadAgent if `given` is the name of a person with more after it: people have no budget and no options."""
        if isinstance(given, str) and given != HUMAN and given.strip().partition(":")[0] == HUMAN:
            raise BadAgent(f"{shortened(given)}: a person takes no budget and no options; write {HUMAN}")
        self.name = given if isinstance(given, str) else given.name
        self.agent = None if isinstance(given, str) else given
        self._make_agent = make_agent
        self._making = threading.Lock()
        self.is_person = isinstance(given, HumanAgent) or given == HUMAN
        self.is_ready = self.is_person
        """True once the agent was told that a new game begins."""

    def make(self, game: Game, seed: int) -> Agent:
        if self.is_person:
            raise BadAgent("a person sits here: play a move for them")
        with self._making:
            if self.agent is None:
                self.agent = self._make_agent(self.name, game, seed)
            return self.agent

    def check(self, game: Game, seed: int) -> Seat:
        """Make the agent now, so that a name that means nothing is refused."""
        if not self.is_person:
            agent = self.make(game, seed)
            if isinstance(agent, RemoteAgent):
                agent.start()
        return self

    @property
    def budget(self) -> Budget | None:
        """The budget in the agent's name, if there is one."""
        try:
            return parse(self.name).budget
        except BadAgent:  # an agent that was given as an object may have any name
            return None


class Task:
    """An agent's thinking about one move."""

    def __init__(self, position: Position, seat: Seat):
        self.position, self.seat = position, seat
        self.stop = threading.Event()
        """Set to make the agent answer at once."""
        self.cancelled = False
        """True if its answer shall not be played."""
        self.done = threading.Event()


def watcher(show: OnSnapshot, every: float) -> Callable[[Thinking], None]:
    """A watcher of a search that shows a snapshot every `every` seconds."""
    due = time.perf_counter() + every

    def watch(search: Thinking) -> None:
        nonlocal due
        if time.perf_counter() >= due:
            due = time.perf_counter() + every
            show(search.snapshot())

    return watch
