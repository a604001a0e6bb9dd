"""Agents that are not part of Ludus: each plays in a process of its own, and only it is charged for its failures.

The referee holds the game. It tells the process the first state and the actions since then, and checks the answer: the
process can write into copies only. A question has a random token that its answer must repeat, so an answer to another
question is never taken for an answer to this one. The clock is the referee's clock. `answering.py` is the other side.
"""

from __future__ import annotations

import queue
import secrets
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from ludus.agents.agent import Choice, player_asked
from ludus.agents.budget import Budget
from ludus.agents.naming import EXTERNAL, KINDS, make_agent, parse
from ludus.arena import wire
from ludus.arena.channel import BadMessage, Child
from ludus.arena.processes import AGENT, start_process
from ludus.child import how_it_ended
from ludus.errors import BadAgent, BrokenGame

if TYPE_CHECKING:
    from ludus.agents.agent import Agent, Progress
    from ludus.game import Game, Position

MOVE_LIMIT = 60.0
"""Default limit for a move in seconds, for agents without a time budget."""
READY_LIMIT = 600.0
"""Limit for an agent's preparation in seconds, which may include compiling."""
STOP_LIMIT = 10.0
"""Limit in seconds for the answer of an agent that was told to answer at once."""
POLL = 0.05
"""Seconds between two checks whether the process is alive and whether the answer is still wanted."""
MAX_ANSWER = 1 << 20
"""Largest answer in bytes."""
MAX_REASON = 300
"""Largest number of characters of a failure's description."""


class Unfit(BadAgent):
    """An agent cannot be made; `name` is its name."""

    def __init__(self, name: str, message: str):
        super().__init__(message)
        self.name = name


class AgentFailed(BadAgent):
    """An agent in a process of its own did not answer as it must; `reason` is the text for the record of the game."""

    def __init__(self, name: str, reason: str):
        super().__init__(f"{name} {reason}")
        self.reason = reason


def is_remote(name: str) -> bool:
    """True if an agent of this name gets a process of its own.

    Such agents are external programs, and kinds that a program has registered as modules.
    """
    home = KINDS[parse(name).kind]
    if not isinstance(home, str) or home == "__main__":
        return False
    return home.startswith(EXTERNAL) or not home.startswith("ludus.agents.")


def agent_for(name: str, game: Game, seed: int = 0, move_limit: float = MOVE_LIMIT) -> Agent:
    """The agent of that name: in this process if it is built in or exists in this process only, else in its own."""
    return RemoteAgent(name, game, seed, move_limit) if is_remote(name) else make_agent(name, game, seed)


def time_limit(budget: Budget | None, move_limit: float) -> float:
    """The seconds that an agent with this budget may take for a move."""
    return move_limit if budget is None or budget.seconds is None else 5 * budget.seconds + 10


class RemoteAgent:
    """An agent in a process of its own, which starts when it is first needed.

    A failure raises AgentFailed. A process that failed in any other way than by an exception is ended; the next game
    starts a new one.
    """

    def __init__(self, name: str, game: Game, seed: int = 0, move_limit: float = MOVE_LIMIT):
        self.name, self.game, self.seed, self.move_limit = name, game, seed, move_limit
        self.budget = parse(name).budget
        self._news = threading.Event()
        self._child: Child | None = None
        self._told: Position | None = None
        """The position that the process was last told."""

    # --- the methods of an agent --------------------------------------------------------------------------------------

    def new_game(self, seed: int) -> None:
        self.start()
        self._told = None
        self._answer(["new_game", seed], READY_LIMIT)

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        player = player_asked(position, player)
        if self._child is None:  # but a process that has ended since it was last asked is a failure
            self.start()
        allowed = None if budget is None else Budget.of(budget)
        start, actions = self._path_to(position)
        request = ["choose", start, actions, player, wire.budget_json(allowed), progress is not None]
        began = time.perf_counter()
        answer = self._answer(request, time_limit(allowed or self.budget, self.move_limit), progress)
        seconds = time.perf_counter() - began
        self._told = position
        try:
            action, value, simulations, line, solved = wire.answer_of(answer)
        except ValueError as error:
            raise self._failure(f"crashed: its process sent nonsense ({error})") from None
        legal = action in position.actions_of(player)
        move = position.game.write_move(position.state, player, action) if legal else ""
        return Choice(
            player, action, move, value=value, line=line, simulations=simulations, seconds=seconds, solved=solved
        )

    def _path_to(self, position: Position) -> tuple[str | None, list[Any]]:
        """The first state in hexadecimal, or None if the process knows an earlier position, and the actions since."""
        actions: list[Any] = []
        at = position
        while at is not self._told and at.parent is not None:
            actions.append(at.action)
            at = at.parent
        return None if at is self._told else at.states.tobytes().hex(), actions[::-1]

    # --- the process --------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start the process and make the agent, unless it is running. Unfit says why the agent cannot be made."""
        if self._child is not None and self._child.is_alive():
            return
        self.close()
        setup = {"agent": self.name, "seed": self.seed}
        self._child = start_process(AGENT, self.game, self._news, MAX_ANSWER, token=(token := _token()), **setup)
        self._ending = weakref.finalize(self, self._child.end)
        self._told = None
        try:
            answer = self._wait_for(token, READY_LIMIT)
        except AgentFailed as failed:
            raise Unfit(self.name, f"{self.name} cannot be made: {failed.reason}") from None
        match answer:
            case ["ready", _]:
                return
            case ["broken", str(why)]:
                self.close()
                raise BrokenGame(_line(why))
            case ["failed", str(why)]:
                self.close()
                raise Unfit(self.name, _line(why))
            case _:
                self.close()
                raise Unfit(self.name, f"{self.name} cannot be made: its process sent nonsense")

    def close(self) -> None:
        """End the process. It also ends when this object is collected, and when this process ends."""
        if self._child is not None:
            self._child = None
            self._ending()

    def _answer(self, request: list[Any], seconds: float, progress: Progress | None = None) -> Any:
        """The answer to a request; AgentFailed if there is none within this time."""
        assert self._child is not None
        token = _token()
        self._child.send([token, *request])
        match self._wait_for(token, seconds, progress):
            case ["ready", answer]:
                return answer
            case ["failed", str(why)]:
                raise AgentFailed(self.name, f"crashed: {_line(why)}")  # the process goes on
            case ["fault", str(reason)]:
                raise AgentFailed(self.name, _line(reason))
            case _:
                raise self._failure("crashed: its process sent nonsense (no such answer)")

    def _wait_for(self, token: str, seconds: float, progress: Progress | None = None) -> list[Any]:
        """The next message, without its token, which must be the given one."""
        child = self._child
        assert child is not None
        deadline = time.monotonic() + seconds
        stopped = False
        while True:
            self._news.clear()
            ended = not child.is_alive()  # noticed first: the last messages of a process come before its end
            try:
                message = child.receive()
                break
            except queue.Empty:
                pass
            except EOFError:
                code = child.exit_code(1)
                did = "closed its pipe" if code is None else f"ended{how_it_ended(code)}"
                raise self._failure(f"crashed: its process {did}") from None
            except BadMessage as error:
                raise self._failure(f"crashed: its process sent nonsense ({error})") from None
            if ended and not self._news.wait(1):  # another process may keep the pipe open
                raise self._failure(f"crashed: its process ended{how_it_ended(child.exit_code(0))}")
            now = time.monotonic()
            if now > deadline:
                raise self._failure(f"hung: no answer in {seconds:g} s")
            if progress is not None and not stopped and progress(0.0) is False:
                stopped = True
                child.send([token, "stop"])
                if now + STOP_LIMIT < deadline:
                    deadline, seconds = now + STOP_LIMIT, STOP_LIMIT
            self._news.wait(min(POLL, max(0.0, deadline - now)))
        match message:
            case [str(told), str(kind), answer] if secrets.compare_digest(told.encode(), token.encode()):
                return [kind, answer]
        raise self._failure("crashed: its process sent nonsense (a message that answers no question)")

    def _failure(self, reason: str) -> AgentFailed:
        """End the process; returns the exception that says why."""
        self.close()
        return AgentFailed(self.name, reason)


def _token() -> str:
    return secrets.token_hex(8)


def _line(why: str) -> str:
    """The reason that a process gives, as one line of limited length."""
    return " ".join(why.split())[:MAX_REASON]
