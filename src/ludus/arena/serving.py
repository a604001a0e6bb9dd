"""The main loop of a worker process: it plays the tasks of its parent and reports their progress.

The parent sends a setup (spec and identity of the game, further kinds of agents) and then tasks. The worker sends

    ["makes", I]                    agent I of the task is being made
    ["readies", P], ["asks", P]     the agent of player P gets ready for the game, or chooses a move
    ["played", ACTION, THOUGHTS]    a move was made
    ["over", RECORD]                the game has ended
    ["unfit", I, WHY]               agent I cannot be made
    ["broken", WHY]                 the game itself fails
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import warnings
from typing import IO, TYPE_CHECKING, Any

from ludus.agents.naming import KINDS, make_agent
from ludus.arena import workers
from ludus.arena.channel import read_message, write_message
from ludus.arena.play import Listener, play_task
from ludus.arena.record import Task, Thought
from ludus.arena.wire import record_json, task_of
from ludus.errors import BrokenGame, ChangedRules, LudusError, describe_error
from ludus.registry import remake
from ludus.spec import GameSpec

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
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal: the parent decides
    warnings.simplefilter("ignore", ChangedRules)  # the parent has warned already
    workers.in_worker = True
    setup = read_message(requests)
    tasks: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read_tasks, args=(requests, tasks), daemon=True).start()
    KINDS.update(setup["kinds"])
    try:
        game = remake(GameSpec.from_json(setup["spec"]), trust=True, strict=True)  # the parent has run it before
        if game.identity != setup["identity"]:
            source, identity = setup["spec"]["source"], setup["identity"]
            raise BrokenGame(f"{source} makes {game.identity} in another process, not {identity}")
    except LudusError as error:
        write_message(replies, ["broken", str(error)])
        return
    agents: dict[tuple[str, int], Agent] = {}
    while True:
        write_message(replies, _play(game, task_of(tasks.get()), agents, replies))


def _read_tasks(requests: IO[bytes], tasks: queue.SimpleQueue[Any]) -> None:
    """Queue tasks as they arrive. When the parent has ended, the worker exits, even during a long search."""
    try:
        while True:
            tasks.put(read_message(requests))
    finally:
        os._exit(1)


def _play(game: Game, task: Task, agents: dict[tuple[str, int], Agent], replies: IO[bytes]) -> list[Any]:
    mine: list[Agent] = []
    for index, name in enumerate(task.agents):
        write_message(replies, ["makes", index])
        key = name, task.agents[:index].count(name)  # an agent that plays in two seats is made twice
        try:
            agent = agents.pop(key, None) or make_agent(name, game)
        except Exception as error:
            why = str(error) if isinstance(error, LudusError) else f"{name}: {describe_error(error)}"
            return ["unfit", index, why]
        agents[key] = agent
        mine.append(agent)
    while len(agents) > max(AGENTS_KEPT, len(mine)):
        del agents[next(iter(agents))]
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
