"""Games in worker processes: several at once, and a failing agent ends only its own game.

A worker plays a whole game, and reports whose turn it is. An agent that takes too long is killed with its worker and
loses the game, and so does an agent that crashes its process. Agents stay alive in a worker from game to game, because
compiling and loading take longer than many games. The moves depend on the task only, not on the worker or earlier
games.

The code in a worker (serving.py) is the game, Ludus and its own agents. An agent that is not built in has a further
process (remote.py), which the worker starts. Its failures are found by the worker, and only its process ends.

An agent that is not built in can still end or stop the worker itself, for example by a signal in the turn of its
opponent. So a game with such an agent whose worker fails is played again, with a process for each agent. If the worker
fails again, no agent's code was in it: the agent that is not built in is charged, even if its opponent was to move.
"""

from __future__ import annotations

import contextlib
import importlib
import queue
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ludus.agents.naming import KINDS, ONE_GAME, make_agent, parse
from ludus.arena import wire
from ludus.arena.channel import BadMessage, Child
from ludus.arena.crew import Crew
from ludus.arena.processes import WORKER, start_process
from ludus.arena.record import GameRecord, Task, Thought, record_of, start_of
from ludus.arena.remote import MOVE_LIMIT, READY_LIMIT, Unfit, is_remote, time_limit
from ludus.child import how_it_ended
from ludus.errors import BrokenGame, LudusError

if TYPE_CHECKING:
    from ludus.game import Action, Game

GRACE = 15.0
"""Seconds that a worker has beyond the limit of a remote agent, to notice that the agent is late."""


@dataclass
class Worker:
    """One process, with the progress of the game it plays."""

    child: Child
    task: Task | None = None
    apart: bool = False
    """True if built-in agents have processes of their own, too."""
    made: int | None = None
    """The number of the agent that is being made, or was made last."""
    asked: int | None = None
    """The player whose agent is at work; None while none is."""
    getting_ready: bool = False
    """True if the agent at work gets ready for the game, False if it chooses a move."""
    actions: list[Action] = field(default_factory=list)
    thoughts: list[tuple[Thought, ...]] = field(default_factory=list)
    began: float = 0.0
    deadline: float = 0.0


class Workers(Crew):
    """Plays games in processes of this machine."""

    def __init__(self, game: Game, count: int, move_limit: float = MOVE_LIMIT):
        self.game, self.count, self.move_limit = game, count, move_limit
        self.workers: list[Worker] = []
        self.news = threading.Event()
        """Set whenever a worker has sent a message or has ended."""

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *failure: object) -> None:
        while self.workers:
            self.workers.pop().child.end()

    # --- methods for callers ------------------------------------------------------------------------------------------

    @property
    def busy(self) -> int:
        return sum(worker.task is not None for worker in self.workers)

    def begin(self, task: Task) -> None:
        """Start a game on a free worker; there must be one."""
        for gone in [worker for worker in self.workers if worker.task is None and not worker.child.is_alive()]:
            gone.child.end()  # it was killed from outside while it had nothing to do
            self.workers.remove(gone)
        worker = next((worker for worker in self.workers if worker.task is None), None)
        if worker is None:
            if len(self.workers) >= self.count:
                raise RuntimeError("all workers are busy")
            worker = self._start()
        self._give(worker, task, apart=False)

    def wait(self, seconds: float) -> list[tuple[Task, GameRecord | Unfit]]:
        """Wait until a game ends, for at most `seconds`. Returns the games that have ended."""
        until = time.monotonic() + seconds
        finished: list[tuple[Task, GameRecord | Unfit]] = []
        while not finished and (left := until - time.monotonic()) > 0:
            self.news.clear()
            heard = False
            busy = [worker for worker in self.workers if worker.task is not None]
            for worker in busy:
                task = worker.task
                assert task is not None
                result = None
                try:
                    result = self._listen(worker)
                    heard = True
                except queue.Empty:
                    if time.monotonic() > worker.deadline:
                        result = self._give_up(worker, f"hung: no answer in {self._limit(worker):g} s")
                if result is not None:
                    worker.task = None
                    finished.append((task, result))
            if not heard and not finished:
                next_deadline = min((worker.deadline for worker in busy), default=until)
                self.news.wait(max(0.0, min(left, next_deadline - time.monotonic())))
        return finished

    def abandon(self) -> None:
        """Kill the workers of the games under way."""
        for worker in [worker for worker in self.workers if worker.task is not None]:
            worker.child.end()
            self.workers.remove(worker)

    @property
    def plies(self) -> int:
        """The number of plies of the longest game under way."""
        return max((len(worker.actions) for worker in self.workers if worker.task is not None), default=0)

    # --- one worker ---------------------------------------------------------------------------------------------------

    def _start(self) -> Worker:
        child = start_process(WORKER, self.game, self.news, move_limit=self.move_limit)
        self.workers.append(Worker(child))
        return self.workers[-1]

    def _give(self, worker: Worker, task: Task, apart: bool) -> None:
        worker.task, worker.apart, worker.made, worker.asked = task, apart, None, None
        worker.actions, worker.thoughts = [], []
        worker.began, worker.deadline = time.monotonic(), time.monotonic() + READY_LIMIT
        worker.child.send([wire.task_json(task), apart])

    def _limit(self, worker: Worker) -> float:
        """Seconds that the agent at work may take."""
        if worker.asked is None:
            return READY_LIMIT
        assert worker.task is not None
        name = worker.task.agents[worker.task.seats[worker.asked]]
        limit = READY_LIMIT if worker.getting_ready else time_limit(parse(name).budget, self.move_limit)
        return limit + GRACE if worker.apart or is_remote(name) else limit

    def _listen(self, worker: Worker) -> GameRecord | Unfit | None:
        """Process the next message of a worker; returns the record if its game is over. queue.Empty without one."""
        try:
            return self._take_in(worker, worker.child.receive())
        except EOFError:
            return self._give_up(worker, f"crashed: its process ended{how_it_ended(worker.child.exit_code(5))}")
        except BadMessage as error:
            return self._give_up(worker, f"crashed: its process sent nonsense ({error})")

    def _take_in(self, worker: Worker, message: Any) -> GameRecord | Unfit | None:
        task = worker.task
        assert task is not None
        try:
            match message:
                case ["over", record]:
                    return wire.record_of(record, task)
                case ["unfit", agent, why]:
                    return Unfit(task.agents[wire.index_of(agent, len(task.agents))], wire.text_of(why))
                case ["broken", why]:
                    raise BrokenGame(wire.text_of(why))
                case ["makes", agent]:
                    worker.made = wire.index_of(agent, len(task.agents))
                case ["readies" | "asks" as what, player]:
                    worker.asked, worker.getting_ready = wire.index_of(player, len(task.seats)), what == "readies"
                    worker.deadline = time.monotonic() + self._limit(worker)
                case ["played", action, thoughts] if len(worker.actions) < self.game.longest:
                    worker.actions.append(wire.action_of(action))
                    worker.thoughts.append(wire.thoughts_of(thoughts, len(task.seats)))
                case _:
                    raise BadMessage("no such message")
        except BrokenGame:
            raise
        except ValueError as error:
            raise BadMessage(str(error)) from None
        return None

    def _give_up(self, worker: Worker, reason: str) -> GameRecord | Unfit | None:
        """End a worker that hung or crashed. Returns the record of its game, or None if the game is played again."""
        task = worker.task
        assert task is not None
        worker.child.end()
        self.workers.remove(worker)
        if worker.asked is None:
            if worker.made is None:
                raise BrokenGame(f"a process that was to play {self.game.name} failed: {reason}")
            name = task.agents[worker.made]
            return Unfit(name, f"{name} cannot be made: {reason}")
        loser = worker.asked
        suspects = {player for player, agent in enumerate(task.seats) if is_remote(task.agents[agent])}
        if suspects - {loser}:
            if not worker.apart:
                self._give(self._start(), task, apart=True)
                return None
            names = sorted({task.agents[task.seats[player]] for player in suspects})
            if len(names) > 1:
                raise BrokenGame(f"the referee of {' and '.join(names)} failed, and each may be the cause: {reason}")
            loser = min(suspects)
            reason = f"crashed: its referee failed twice, once without another agent in its process ({reason})"
        position = start_of(self.game, task)
        plies = 0
        with contextlib.suppress(LudusError):  # a worker may have reported impossible moves
            for action in worker.actions:
                position = position.play(action)
                plies += 1
        seconds = time.monotonic() - worker.began
        return record_of(task, position, worker.thoughts[:plies], seconds, loser, reason)


def can_work(names: Iterable[str]) -> bool:
    """True if all these agents can be made in another process: no people, no kinds that exist in this process only."""
    kinds = [parse(name).kind for name in names]
    return all(isinstance(KINDS[kind], str) and KINDS[kind] != "__main__" and kind != "human" for kind in kinds)


def one_game_at_a_time(names: Iterable[str]) -> str:
    """The first of these agents whose player can be in one game at a time; empty if there is none."""
    return next((name for name in names if parse(name).kind in ONE_GAME), "")


def warm_up(names: Iterable[str], game: Game) -> None:
    """Prepare one agent of each of Ludus's own kinds in this process, so that code is compiled once and not by every
    worker."""
    seen = set()
    for name in names:
        home = KINDS[parse(name).kind]
        if isinstance(home, str) and home.startswith("ludus.agents.") and not is_remote(name) and home not in seen:
            seen.add(home)
            importlib.import_module(home)
            make_agent(name, game).new_game(0)
