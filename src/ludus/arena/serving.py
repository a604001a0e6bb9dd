"""The main loop of a worker process: it plays the tasks of its parent and reports their progress.

The worker is the referee of its games. Built-in agents play in the worker, every other agent in a process of its own
(remote.py). The parent sends a setup (spec and identity of the game, further kinds of agents, the limit for a move) and
then [TASK, APART]; if APART is true, built-in agents have processes of their own, too. The worker sends

    ["makes", I]                    agent I of the task is being made
    ["readies", P], ["asks", P]     the agent of player P gets ready for the game, or chooses a move
    ["played", ACTION, THOUGHTS]    a move was made
    ["over", RECORD]                the game has ended
    ["unfit", I, WHY]               agent I cannot be made
    ["broken", WHY]                 the game itself fails
"""

from __future__ import annotations

import contextlib
import queue
import threading
from typing import IO, TYPE_CHECKING, Any

from ludus.arena.channel import write_message
from ludus.arena.play import Listener, play_task
from ludus.arena.processes import WORKER, begin_service, game_of, read_requests
from ludus.arena.record import Task, Thought
from ludus.arena.remote import RemoteAgent, agent_for
from ludus.arena.wire import record_json, task_of
from ludus.errors import LudusError, describe_error

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.game import Game
    from ludus.position import Position

AGENTS_KEPT = 8
"""Number of agents that stay alive in a worker; the least recently used one is dropped first."""


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Play tasks until the parent ends."""
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        _serve(requests, replies)


def _serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    setup = begin_service(WORKER, requests)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=read_requests, args=(requests, tasks.put), daemon=True).start()
    try:
        game = game_of(setup)
    except LudusError as error:
        write_message(replies, ["broken", str(error)])
        return
    agents: dict[tuple[str, int, bool], Agent] = {}
    while True:
        task, apart = tasks.get()
        write_message(replies, _play(game, task_of(task), apart, agents, setup["move_limit"], replies))


def _play(
    game: Game,
    task: Task,
    apart: bool,
    agents: dict[tuple[str, int, bool], Agent],
    move_limit: float,
    replies: IO[bytes],
) -> list[Any]:
    mine: list[Agent] = []
    for index, name in enumerate(task.agents):
        write_message(replies, ["makes", index])
        key = name, task.agents[:index].count(name), apart  # an agent that plays in two seats is made twice
        make = RemoteAgent if apart else agent_for
        try:
            agent = agents.pop(key, None) or make(name, game, move_limit=move_limit)
            if isinstance(agent, RemoteAgent):
                agent.start()  # it may have ended since the last game
        except Exception as error:
            why = str(error) if isinstance(error, LudusError) else f"{name}: {describe_error(error)}"
            return ["unfit", index, why]
        agents[key] = agent
        mine.append(agent)
    while len(agents) > max(AGENTS_KEPT, len(mine)):
        dropped = agents.pop(next(iter(agents)))
        if isinstance(dropped, RemoteAgent):
            dropped.close()
    try:
        return ["over", record_json(play_task(game, task, mine, _Teller(replies)))]
    except OSError:
        raise
    except Exception as error:
        return ["broken", f"{game.name} fails: {describe_error(error)}; ludus check says more"]


class _Teller(Listener):
    """Reports the steps of a game to the parent."""

    def __init__(self, replies: IO[bytes]):
        self.replies = replies

    def readies(self, player: int) -> None:
        write_message(self.replies, ["readies", player])

    def asks(self, player: int) -> None:
        write_message(self.replies, ["asks", player])

    def played(self, position: Position, thoughts: tuple[Thought, ...]) -> None:
        write_message(self.replies, ["played", position.action, thoughts])
