"""Games in processes of their own: as many at once as there are workers, and nothing that an agent does stops the rest.

A worker plays a whole game, and tells whose turn it is. An agent that takes too long is ended with its worker; one that
takes its process down loses the game as well. Agents stay alive in a worker from game to game, as compiling and loading
take longer than many games do. What is played depends on the task only, not on the worker or on what it played before.
"""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.connection import wait as wait_for
from typing import TYPE_CHECKING, Any

from ludus.agents.naming import KINDS, make_agent, parse
from ludus.arena.play import Listener, play_task
from ludus.arena.record import GameRecord, Task, Thought, record_of, start_of
from ludus.errors import BadAgent, BrokenGame, LudusError, describe_error
from ludus.stopping import Stop, is_stopped

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.game import Action, Game, Position

MOVE_LIMIT = 60.0
"""Seconds for a move, where the budget is not a time."""
READY_LIMIT = 600.0
"""Seconds to get ready, which may mean to compile."""
AGENTS_KEPT = 8
"""In each worker; those that have not played for longest go."""


class Unfit(BadAgent):
    """An agent cannot be made; `name` is its name."""

    def __init__(self, name: str, message: str):
        super().__init__(message)
        self.name = name


@dataclass
class Worker:
    """One process, and what is known of the game it plays."""

    process: Any
    pipe: Connection
    task: Task | None = None
    made: int | None = None
    """The number of the agent that is being made, or was made last."""
    asked: int | None = None
    """The player whose agent is at work; None while none is,"""
    getting_ready: bool = False
    """and whether it gets ready for the game, or chooses a move."""
    actions: list[Action] = field(default_factory=list)
    thoughts: list[tuple[Thought, ...]] = field(default_factory=list)
    began: float = 0.0
    deadline: float = 0.0


class Workers:
    """So many games at once, of one game. Use it in a `with` statement: its processes end there."""

    def __init__(self, game: Game, count: int, move_limit: float = MOVE_LIMIT):
        self.game, self.count, self.move_limit = game, count, move_limit
        self.made_by = game.made_by or (game.name, game.options_in_use())
        self.workers: list[Worker] = []

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *failure: object) -> None:
        while self.workers:
            _end(self.workers.pop())

    # --- what callers use ---------------------------------------------------------------------------------------------

    @property
    def busy(self) -> int:
        return sum(worker.task is not None for worker in self.workers)

    def begin(self, task: Task) -> None:
        """Have a game played; there must be a free worker."""
        for gone in [worker for worker in self.workers if worker.task is None and not worker.process.is_alive()]:
            _end(gone)  # somebody ended it while it had nothing to do
            self.workers.remove(gone)
        worker = next((worker for worker in self.workers if worker.task is None), None)
        if worker is None:
            if len(self.workers) >= self.count:
                raise RuntimeError("all workers are busy")
            worker = self._start()
        worker.task, worker.made, worker.asked, worker.actions, worker.thoughts = task, None, None, [], []
        worker.began, worker.deadline = time.monotonic(), time.monotonic() + READY_LIMIT
        worker.pipe.send(task)

    def wait(self, seconds: float) -> list[tuple[Task, GameRecord | Unfit]]:
        """Games that have ended: as soon as there is one, and after so many seconds at the latest."""
        until = time.monotonic() + seconds
        finished: list[tuple[Task, GameRecord | Unfit]] = []
        while not finished and (left := until - time.monotonic()) > 0:
            busy = [worker for worker in self.workers if worker.task is not None]
            next_deadline = min((worker.deadline for worker in busy), default=until)
            ready = wait_for([worker.pipe for worker in busy], max(0.0, min(left, next_deadline - time.monotonic())))
            for worker in busy:
                task = worker.task
                assert task is not None
                result = None
                if worker.pipe in ready:
                    result = self._listen(worker)
                elif time.monotonic() > worker.deadline:
                    result = self._give_up(worker, f"hung: no answer in {self._limit(worker):g} s")
                if result is not None:
                    worker.task = None
                    finished.append((task, result))
        return finished

    def play(self, tasks: Iterable[Task], stop: Stop | None = None) -> Iterator[GameRecord | None]:
        """The records of tasks, in their order, whichever game ends first; None several times a second in between.

        When the stop signal is set, the games that have ended are returned and the others are broken off.
        """
        waiting = iter(tasks)
        begun: list[int] = []
        done: dict[int, GameRecord] = {}
        try:
            while not is_stopped(stop):
                # Not too far ahead: whoever stops early has no use for those.
                while self.busy < self.count and len(begun) < 4 * self.count and (task := next(waiting, None)):
                    self.begin(task)
                    begun.append(task.number)
                if not begun:
                    return
                for task, result in self.wait(0.2):
                    if isinstance(result, Unfit):
                        raise result
                    done[task.number] = result
                yield None
                while begun and begun[0] in done:
                    yield done.pop(begun.pop(0))
            yield from (done[number] for number in begun if number in done)
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Break off the games that are on."""
        for worker in [worker for worker in self.workers if worker.task is not None]:
            _end(worker)
            self.workers.remove(worker)

    @property
    def plies(self) -> int:
        """How far the game is that has gone furthest."""
        return max((len(worker.actions) for worker in self.workers if worker.task is not None), default=0)

    # --- one worker ---------------------------------------------------------------------------------------------------

    def _start(self) -> Worker:
        context = multiprocessing.get_context("spawn")
        here, there = context.Pipe()
        kinds = {kind: home for kind, home in KINDS.items() if isinstance(home, str)}
        process = context.Process(
            target=serve, args=(there, self.made_by, self.game.identity, kinds), name="ludus worker", daemon=True
        )
        with _ctrl_c_ignored():
            process.start()
        there.close()
        self.workers.append(Worker(process, here))
        return self.workers[-1]

    def _limit(self, worker: Worker) -> float:
        """How long the agent at work may take."""
        if worker.asked is None or worker.getting_ready:
            return READY_LIMIT
        assert worker.task is not None
        budget = parse(worker.task.agents[worker.task.seats[worker.asked]]).budget
        return self.move_limit if budget is None or budget.seconds is None else 5 * budget.seconds + 10

    def _listen(self, worker: Worker) -> GameRecord | Unfit | None:
        """Take in what a worker says; the record where its game is over."""
        assert worker.task is not None
        try:
            kind, *what = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(5)
            return self._give_up(worker, f"crashed: its process ended{_how(worker.process.exitcode)}")
        if kind == "over":
            return what[0]
        if kind == "unfit":
            return Unfit(worker.task.agents[what[0]], what[1])
        if kind == "broken":
            raise BrokenGame(what[0])
        if kind == "makes":
            worker.made = what[0]
        elif kind in ("readies", "asks"):
            worker.asked, worker.getting_ready = what[0], kind == "readies"
            worker.deadline = time.monotonic() + self._limit(worker)
        elif kind == "played":
            worker.actions.append(what[0])
            worker.thoughts.append(what[1])
        return None

    def _give_up(self, worker: Worker, reason: str) -> GameRecord | Unfit:
        """End a worker whose agent hangs or took it down; another takes its place when it is needed."""
        assert worker.task is not None
        _end(worker)
        self.workers.remove(worker)
        if worker.asked is None:
            if worker.made is None:
                raise BrokenGame(f"a process that was to play {self.game.name} failed: {reason}")
            name = worker.task.agents[worker.made]
            return Unfit(name, f"{name} cannot be made: {reason}")
        position = start_of(self.game, worker.task)
        for action in worker.actions:
            position = position.play(action)
        seconds = time.monotonic() - worker.began
        return record_of(worker.task, position, worker.thoughts, seconds, worker.asked, reason)


def _end(worker: Worker) -> None:
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def _how(code: int | None) -> str:
    if code is None or code >= 0:
        return f" with exit code {code}"
    return f" by signal {-code} ({signal.Signals(-code).name})"


@contextlib.contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    """Ctrl-C goes to all processes of a terminal; those started meanwhile leave it to us."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --- In the worker ----------------------------------------------------------------------------------------------------


def serve(pipe: Connection, made_by: tuple[str, dict[str, Any]], identity: str, kinds: dict[str, str]) -> None:
    """What a worker does: play tasks, as long as there is somebody who sends them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # the other cores have games of their own
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from ludus.registry import make

    KINDS.update(kinds)
    agents: dict[tuple[str, int], Agent] = {}
    with contextlib.suppress(EOFError, OSError):  # whoever started us is gone
        try:
            game = make(made_by[0], **made_by[1])
            if game.identity != identity:
                raise BrokenGame(f"{made_by[0]} makes {game.identity} in another process, not {identity}")
        except LudusError as error:
            pipe.send(("broken", str(error)))
            return
        while True:
            pipe.send(_play(game, pipe.recv(), agents, pipe))


def _play(game: Game, task: Task, agents: dict[tuple[str, int], Agent], pipe: Connection) -> tuple[Any, ...]:
    mine: list[Agent] = []
    for index, name in enumerate(task.agents):
        pipe.send(("makes", index))
        key = name, task.agents[:index].count(name)  # two seats, two agents
        try:
            agent = agents.pop(key, None) or make_agent(name, game)
        except Exception as error:
            return "unfit", index, str(error) if isinstance(error, LudusError) else f"{name}: {describe_error(error)}"
        agents[key] = agent
        mine.append(agent)
    while len(agents) > max(AGENTS_KEPT, len(mine)):
        del agents[next(iter(agents))]
    try:
        return "over", play_task(game, task, mine, _Teller(pipe))
    except OSError:
        raise
    except Exception as error:
        return "broken", f"{game.name} fails: {describe_error(error)}; ludus check says more"


class _Teller(Listener):
    """Tells the parent."""

    def __init__(self, pipe: Connection):
        self.pipe = pipe

    def readies(self, player: int) -> None:
        self.pipe.send(("readies", player))

    def asks(self, player: int) -> None:
        self.pipe.send(("asks", player))

    def played(self, position: Position, thoughts: tuple[Thought, ...]) -> None:
        self.pipe.send(("played", position.action, thoughts))


def _end_with_parent() -> None:
    """A worker whose parent was killed must not go on, not even in the middle of a long thought."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def can_work(names: Iterable[str]) -> bool:
    """Can all these agents be made in another process? People cannot, nor kinds that a program added as a function."""
    kinds = [parse(name).kind for name in names]
    return all(isinstance(KINDS[kind], str) and kind != "human" for kind in kinds)


def warm_up(names: Iterable[str], game: Game) -> None:
    """Let this process compile what the workers will need, so that not every one of them does: one agent of each of
    Ludus's own kinds gets ready here."""
    seen = set()
    for name in names:
        home = KINDS[parse(name).kind]
        if isinstance(home, str) and home.startswith("ludus.agents.") and home not in seen:
            seen.add(home)
            importlib.import_module(home)
            make_agent(name, game).new_game(0)
