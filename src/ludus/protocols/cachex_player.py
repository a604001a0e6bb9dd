"""A player for the Cachex referee of the University of Melbourne's course, with any agent of Ludus behind it.

    python -m referee 8 ludus.protocols.cachex_player my_player
    LUDUS_AGENT=adversarial:3 python -m referee 8 my_player ludus.protocols.cachex_player

To choose the agent in a file instead, or to let two of them play each other, write a module of two lines:

    from ludus.protocols.cachex_player import make_player
    Player = make_player("uct:c=0.7")

The player keeps the course's limits: n * n seconds of processor time for a game (or LUDUS_SECONDS), shared out among
the moves to come where the agent has no budget of its own; and less than 100 MB, by a tree of 64 MB. What takes long
only once, compiling, is done when the class is looked up, before the referee's clock and its measure of memory begin;
the first time on a machine that takes a minute, and `python -m ludus.protocols.cachex_player` does it ahead.
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
"""Kinds of agents with the option memory, which take more if they may."""
COLOURS = ("red", "blue")
FEWEST_MOVES = 8
"""The clock is always shared out among at least so many more moves."""


class Clock:
    """Processor time of our own calls: the official referee runs both players in one process."""

    def __init__(self, limit: float):
        self.limit = limit
        self.used = 0.0
        self.reserve = min(0.5, 0.1 * limit)
        """Kept for moves that must be made at once."""

    def __enter__(self) -> Clock:
        self.began = time.process_time()
        return self

    def __exit__(self, *failure: object) -> None:
        self.used += time.process_time() - self.began

    @property
    def left(self) -> float:
        """Seconds to think with, those under way taken off."""
        return self.limit - self.reserve - self.used - (time.process_time() - self.began)


class CachexPlayer:
    """What the referee asks for: made with a colour and the size of the board, then `action` and `turn`."""

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
            """The most processor time that a move has taken beyond what it was given."""

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
        """The agent's choice in its share of the time; any move, at once, where little is left."""
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
    """A class for the referee: the agent of that name, for a clock of so many seconds (by default LUDUS_SECONDS, or
    n * n), and options of the game such as view. Gets everything ready that is the same on all boards."""
    spec = parse(agent)
    if spec.kind in HUNGRY and "memory" not in spec.options:
        agent += f":memory={MEMORY}"
    seconds = seconds or float(os.environ.get("LUDUS_SECONDS", 0)) or None
    made = type("Player", (CachexPlayer,), {"agent_name": agent, "seconds": seconds, "options": options})
    known = os.environ.get("LUDUS_CACHEX_N")  # our own referee says it
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
