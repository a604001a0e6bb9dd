"""A player for the Cachex referee of the University of Melbourne's course, with any agent of Ludus behind it.

    python -m referee 8 ludus.protocols.cachex_player my_player
    LUDUS_AGENT=adversarial:3 python -m referee 8 my_player ludus.protocols.cachex_player

To choose the agent in a file instead, or to let two of them play each other, write a module of two lines:

    from ludus.protocols.cachex_player import make_player
    Player = make_player("uct:c=0.7")

The player keeps the course's limits: n * n seconds of CPU time for a game (or LUDUS_SECONDS), divided among the
remaining moves if the agent has no budget of its own; and less than 100 MB, with a tree of 64 MB. Compiling is done
when the referee imports the class, before it measures time and memory. The first time on a machine it takes a minute;
`python -m ludus.protocols.cachex_player` does it in advance.
"""

from __future__ import annotations

import os
import time
from random import Random
from typing import Any

from ludus.agents import Budget, make_agent
from ludus.agents.naming import parse
from ludus.errors import BadAgent, LudusError
from ludus.registry import make

AGENT = "uct"
MEMORY = "64MB"
HUNGRY = ("uct", "zero", "rollout", "solver")
"""Kinds of agents that have the option memory, and by default use more than the course allows."""
COLOURS = ("red", "blue")
FEWEST_MOVES = 8
"""The remaining time is divided by at least this number of moves."""


class Clock:
    """CPU time of this player's own calls: the official referee runs both players in one process."""

    def __init__(self, limit: float):
        self.limit = limit
        self.used = 0.0
        self.reserve = min(0.5, 0.1 * limit)
        """Seconds reserved for random moves when the time is spent."""

    def __enter__(self) -> Clock:
        self.began = time.process_time()
        return self

    def __exit__(self, *failure: object) -> None:
        self.used += time.process_time() - self.began

    @property
    def left(self) -> float:
        """Seconds left for searching; the call under way is already subtracted."""
        return self.limit - self.reserve - self.used - (time.process_time() - self.began)


class CachexPlayer:
    """The referee's interface: a class made with a colour and a board size, with methods `action` and `turn`."""

    agent_name: str
    seconds: float | None
    options: dict[str, Any]

    def __init__(self, player: str, n: int):
        self.clock = Clock(self.seconds or n * n)
        with self.clock:
            self.game = make("cachex", n=n, **self.options)
            self.agent = make_agent(self.agent_name, self.game)
            self.me = COLOURS.index(player)
            self.agent.new_game(self.me)
            self.random = Random(self.me)
            self.position = self.game.start()
            self.overrun = 0.0
            """The largest CPU time by which a move has exceeded its share."""

    def action(self) -> tuple[Any, ...]:
        with self.clock:
            action = self._choose()
            move = self.game.write_move(self.position.state, self.me, action)
        if move == "steal":
            return ("STEAL",)
        r, q = move.split(",")
        return ("PLACE", int(r), int(q))

    def turn(self, player: str, action: tuple[Any, ...]) -> None:
        with self.clock:
            move = "steal" if action[0] == "STEAL" else f"{action[1]},{action[2]}"
            self.position = self.position.play(move)

    def _choose(self) -> int:
        """The agent's choice within its share of the time; a random move if too little time is left."""
        actions = self.position.actions_of(self.me)
        left = self.clock.left
        share = left / max(FEWEST_MOVES, len(actions) // 4)
        if share <= 0 or share + self.overrun > left:
            return self.random.choice(actions)
        began = time.process_time()
        try:
            return self.agent.choose(self.position, self._budget(share)).action
        except BadAgent:
            raise
        except LudusError:  # the solver gives up
            return self.random.choice(actions)
        finally:
            self.overrun = max(self.overrun, time.process_time() - began - share)

    def _budget(self, seconds: float) -> Budget:
        own = parse(self.agent_name).budget or Budget(seconds=seconds)
        return Budget(own.simulations, min(seconds, own.seconds or seconds))


def make_player(agent: str = AGENT, seconds: float | None = None, **options: Any) -> type[CachexPlayer]:
    """A player class for the referee: the agent of that name with `seconds` of CPU time (by default LUDUS_SECONDS, or
    n * n), and options of the game such as view. Compiles the code that the player needs."""
    spec = parse(agent)
    if spec.kind in HUNGRY and "memory" not in spec.options:
        agent += f":memory={MEMORY}"
    seconds = seconds or float(os.environ.get("LUDUS_SECONDS", 0)) or None
    made = type("Player", (CachexPlayer,), {"agent_name": agent, "seconds": seconds, "options": options})
    known = os.environ.get("LUDUS_CACHEX_N")  # set by Ludus's own referee
    for n in [int(known)] if known else [8, 9]:  # machine code is the same up to 8, and from 9 on
        make_agent(agent, make("cachex", n=n, **options)).new_game(0)
    return made


def __getattr__(name: str) -> Any:
    if name != "Player":
        raise AttributeError(name)
    globals()["Player"] = made = make_player(os.environ.get("LUDUS_AGENT", AGENT))
    return made


if __name__ == "__main__":
    print(f"{make_player(os.environ.get('LUDUS_AGENT', AGENT)).agent_name} is ready.")
