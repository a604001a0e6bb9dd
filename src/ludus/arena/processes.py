"""Processes that run a service of Ludus: workers, which play games, and agents that are not built in.

They do not import modules from the current folder, nor the program that started them. The messages between them and
this process are JSON (channel.py, wire.py).
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ludus.agents.naming import KINDS
from ludus.arena.channel import MAX_BYTES, Child, read_message
from ludus.child import exit_with_group
from ludus.errors import BrokenGame, ChangedRules, NothingKept
from ludus.registry import remake
from ludus.spec import GameSpec

if TYPE_CHECKING:
    from ludus.game import Game

PROGRAM = Path(__file__).with_name("worker_main.py")
WORKER, AGENT = "ludus.arena.serving", "ludus.arena.answering"
"""The services: each is a module with a function `serve(requests, replies)`."""

service = ""
"""The service that this process runs; empty in a process that Ludus did not start."""


def start_process(which: str, game: Game, news: threading.Event, max_bytes: int = MAX_BYTES, **setup: Any) -> Child:
    """Start a service for a game. `setup` is added to its first message; `news` is set when it sends something."""
    if service and (service, which) != (WORKER, AGENT):
        # Without this check, each process would start the next one.
        raise BrokenGame(
            f"{game.spec.source}, or the module of an agent, starts a match when it is loaded, which other processes "
            "do too: put what plays below if __name__ == '__main__':"
        )
    kinds = {kind: home for kind, home in KINDS.items() if isinstance(home, str)}
    command = [sys.executable, "-P", str(PROGRAM), json.dumps(module_path(kinds.values())), which]
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "PYTHONSAFEPATH": "1"}  # other cores play other games
    with _ctrl_c_ignored():
        child = Child(command, environment, news, alone=which == AGENT, max_bytes=max_bytes)
    child.send({"spec": game.spec.json(), "identity": game.identity, "kinds": kinds, **setup})
    return child


def begin_service(which: str, requests: IO[bytes]) -> Any:
    """Prepare this process for a service; returns the setup that its parent sent."""
    global service
    service = which
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal: the parent decides
    for warned in (ChangedRules, NothingKept):
        warnings.simplefilter("ignore", warned)  # the parent has warned already
    setup = read_message(requests)
    KINDS.update(setup["kinds"])
    return setup


def game_of(setup: Any) -> Game:
    """The game of the parent process."""
    game = remake(GameSpec.from_json(setup["spec"]), trust=True, strict=True)  # the parent has run it before
    if game.identity != setup["identity"]:
        source, identity = setup["spec"]["source"], setup["identity"]
        raise BrokenGame(f"{source} makes {game.identity} in another process, not {identity}")
    return game


def read_requests(requests: IO[bytes], take_in: Callable[[Any], None]) -> None:
    """Take in requests as they arrive. When the parent has ended, this process exits, even during a long search."""
    try:
        while True:
            take_in(read_message(requests))
    finally:
        exit_with_group()


def module_path(homes: Iterable[str]) -> list[str]:
    """sys.path for another process: the path of this one, except the folder that Python added for the running program.

    That folder is the current folder or the folder of a script. The current folder is left out. A script's folder goes
    to the end, where its files cannot shadow modules of Python or of a library. The folders of the modules in `homes`,
    which define agents that a program has registered, go to the end as well.
    """
    path = [os.path.abspath(entry) for entry in sys.path if entry]
    folder, is_script = _program_folder()
    for entry in path:
        if os.path.realpath(entry) == folder:
            path.remove(entry)
            path += [entry] if is_script else []
            break
    for home in homes:
        found = None
        if not home.startswith("ludus."):
            with contextlib.suppress(ValueError):  # a module without a place, such as __main__
                found = importlib.util.find_spec(home.partition(".")[0])
        if found is not None and found.submodule_search_locations:
            path += [str(Path(each).parent) for each in found.submodule_search_locations]
        elif found is not None and found.origin:
            path.append(str(Path(found.origin).parent))
    return list(dict.fromkeys(path))


def _program_folder() -> tuple[str | None, bool]:
    """The folder that Python itself has put on sys.path, if any, and True if it is a script's folder."""
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if sys.flags.safe_path:
        return None, False
    if getattr(main, "__spec__", None) is None and file is not None:
        return os.path.dirname(os.path.realpath(file)), True
    return os.path.realpath(os.getcwd()), False


@contextlib.contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Processes started in this block ignore Ctrl-C, which a terminal sends to all its processes."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
