"""The main loop of the process of one agent that is not built in: it answers the questions of the referee.

The referee (remote.py) sends a setup (spec and identity of the game, kinds of agents, name and seed of the agent, a
token) and then requests:

    [TOKEN, "new_game", SEED]
    [TOKEN, "choose", START, ACTIONS, PLAYER, BUDGET, STOPPABLE]
                                 START is the first state, or null if the actions begin at the position told last
    [TOKEN, "stop"]              the question of this token, if STOPPABLE, shall be answered at once

The setup and each request but the last are answered by one of

    [TOKEN, "ready", ANSWER]
    [TOKEN, "failed", WHY]       the agent raised an exception
    [TOKEN, "fault", REASON]     the program of an external agent failed, for this reason
    [TOKEN, "broken", WHY]       the game cannot be made in this process
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ludus import child
from ludus.agents.agent import AgentFault
from ludus.agents.naming import make_agent
from ludus.arena.channel import write_message
from ludus.arena.processes import AGENT, begin_service, game_of, read_requests
from ludus.arena.wire import action_of, answer_json, budget_of
from ludus.errors import LudusError, describe_error
from ludus.position import Position

if TYPE_CHECKING:
    from ludus.agents import Agent, Progress
    from ludus.game import Game


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer until the referee ends."""
    with contextlib.suppress(EOFError, OSError):  # the referee is gone
        _serve(requests, replies)


def _serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    setup = begin_service(AGENT, requests)
    child.grouped = os.name == "posix"  # see start_process: programs that the agent starts end with this process
    token, name = setup["token"], setup["agent"]
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    stopped: set[str] = set()

    def take_in(request: list[Any]) -> None:
        if request[1] == "stop":
            stopped.add(request[0])
        else:
            waiting.put(request)

    threading.Thread(target=read_requests, args=(requests, take_in), daemon=True).start()
    try:
        game = game_of(setup)
    except LudusError as error:
        write_message(replies, [token, "broken", str(error)])
        return
    try:
        seat = Seat(game, make_agent(name, game, setup["seed"]))
    except BaseException as error:
        why = str(error) if isinstance(error, LudusError) else f"{name}: {describe_error(error)}"
        write_message(replies, [token, "failed", why])
        return
    write_message(replies, [token, "ready", None])
    while True:
        token, what, *details = waiting.get()
        try:
            if what == "new_game":
                seat.agent.new_game(*details)
                answer = None
            else:
                answer = seat.choose(details, lambda fraction: token not in stopped)  # noqa: B023
            message = [token, "ready", answer]
        except AgentFault as fault:
            message = [token, "fault", str(fault)]
        except BaseException as error:  # also SystemExit
            message = [token, "failed", describe_error(error)]
        write_message(replies, message)


class Seat:
    """The agent, and the position that the referee last told. The agent gets copies of it."""

    def __init__(self, game: Game, agent: Agent):
        self.game, self.agent = game, agent
        self.position: Position | None = None

    def choose(self, details: list[Any], progress: Progress) -> list[Any]:
        """The agent's choice as JSON; `details` are those of the request."""
        start, actions, player, budget, stoppable = details
        if start is not None:
            states = self.game.new_states(1)
            states[...] = np.frombuffer(bytes.fromhex(start), states.dtype).reshape(states.shape)
            self.position = Position(self.game, states)
        assert self.position is not None
        for action in actions:
            self.position = self.position.play(action_of(action))
        options = {"progress": progress} if stoppable else {}
        return answer_json(self.agent.choose(self.position.copy(), budget_of(budget), player, **options))
