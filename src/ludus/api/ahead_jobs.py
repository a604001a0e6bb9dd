"""The main loop of a process that compiles a game ahead of its use (see ahead.py).

The parent sends the name of a job. The process does what it names on a small scale, so that exactly the kernels of the
real commands are compiled, and answers null, or the reason why it failed.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from ludus.api.ahead import SERVICE
from ludus.arena.channel import write_message
from ludus.arena.processes import begin_service, game_of, read_requests
from ludus.compile_events import on_compile
from ludus.errors import LudusError, describe_error

if TYPE_CHECKING:
    from ludus.game import Game

POLITENESS = 10
"""Other programs, and the check that may still go on, have priority over this process."""
SMALL = {"parallel_games": 2, "workers": 1, "learner_threads": 1, "learner_precision": "float32", "batch_size": 2}
"""Settings of a training that is compiled, not played. They have no effect on what is compiled."""


def compile_search(game: Game) -> None:
    """Compile perft, and `uct` as it plays in matches."""
    from ludus.agents.naming import make_agent
    from ludus.search.perft import perft

    perft(game.start(), 1)
    make_agent("uct:threads=1", game).new_game(0)


def compile_training(game: Game) -> None:
    """Compile the preflight, self-play and learner of a training with default settings."""
    from ludus.runs.config import Config, with_settings
    from ludus.training.planning import settings_for
    from ludus.training.preflight import measure

    measure(game, with_settings(Config(), {**settings_for(game), **SMALL}), seconds=0.01)


def compile_zero(game: Game) -> None:
    """Compile `zero` as it plays in matches, with an untrained network."""
    from ludus.agents.zero import ZeroAgent
    from ludus.nets.calibrating import make_playing_evaluator
    from ludus.runs.config import Config, with_settings
    from ludus.training.planning import check_fit, settings_for

    config = with_settings(Config(), settings_for(game))
    check_fit(game, config)
    evaluator = make_playing_evaluator(game, config.make_network(game))
    ZeroAgent(game, evaluator.spread(1)).new_game(0)


WORK: dict[str, Callable[[Game], None]] = {
    "search": compile_search,
    "training": compile_training,
    "zero": compile_zero,
}


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Do jobs until the parent ends."""
    with contextlib.suppress(EOFError, OSError):  # the parent is gone
        _serve(requests, replies)


def _serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    if hasattr(os, "nice"):
        os.nice(POLITENESS)
    on_compile(None)  # the parent shows one line for all processes
    setup = begin_service(SERVICE, requests)
    jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=read_requests, args=(requests, jobs.put), daemon=True).start()
    while True:
        job = jobs.get()
        problem: str | None = None
        try:
            WORK[job](game_of(setup))
        except LudusError:
            pass  # the game cannot be trained, or was edited meanwhile: there is nothing to compile
        except Exception as error:
            problem = describe_error(error)
        write_message(replies, problem)
