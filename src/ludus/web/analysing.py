"""What one socket asks of agents beside the game: a live analysis, the tree of it, hints, and a review of the game."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ludus.agents.budget import Budget
from ludus.agents.search import think
from ludus.api.analysis import Analysis, analyse
from ludus.api.review import review
from ludus.api.tree import Tree
from ludus.errors import BadAgent, BadOption, IllegalMove, LudusError, describe_error
from ludus.rules import EVERYONE
from ludus.web.memory import Cancelled
from ludus.web.room import Room
from ludus.web.views import choice_json, view_of

if TYPE_CHECKING:
    from ludus.agents.agent import Agent
    from ludus.game import Game, Position

ANALYSTS = ("uct", "zero")
"""The agents of an analysis, unless another is named: the second if a trained player comes with Ludus."""
ADVISERS = ("uct:1s", "zero:1s")
"""The agents of a hint, unless another is named: the second if a trained player comes with Ludus."""
REVIEWER = "uct:4000"
"""The agent of a review, unless another is named."""
LONGEST_PATH = 500
"""Number of moves in the path of a node, or after a position of the game."""


class Task:
    """A piece of work in a thread of its own, for one socket."""

    def __init__(self, work: Callable[[Task], object], failed: Callable[[str], object]):
        self.stopped = threading.Event()
        self.search: Analysis | None = None
        """The search that is under way, if there is one."""
        self._work, self._failed = work, failed
        self._thread = threading.Thread(target=self._run, name="ludus analysis", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._work(self)
        except Cancelled:
            pass
        except LudusError as error:
            if not self.is_stopped():
                self._failed(str(error))
        except Exception as error:
            self._failed(describe_error(error))

    def is_stopped(self) -> bool:
        return self.stopped.is_set()

    def stop(self) -> None:
        """Stop the work, without waiting for it."""
        self.stopped.set()
        if self.search is not None:
            self.search.stop()

    def end(self) -> None:
        """Stop the work and wait until it has ended."""
        self.stop()
        if self._thread is not threading.current_thread():
            self._thread.join(10)


class Analyst:
    """The analyses of one socket. One of each kind runs at a time; all end when the socket is closed."""

    def __init__(self, room: Room, make_agent: Callable[..., Agent], send: Callable[[dict[str, Any]], object]):
        self.room, self.make_agent, self.send = room, make_agent, send
        self._lock = threading.RLock()
        self._tasks: dict[str, Task] = {}
        self._agent: Agent | None = None
        """The agent of the analysis, which has its tree."""
        self._game: Game | None = None
        """The game that it was made for."""
        self._tree: Tree | None = None
        """The tree that was read last."""
        self._closed = False

    def close(self) -> None:
        """End everything without waiting for it."""
        self._closed = True
        for task in list(self._tasks.values()):
            task.stop()
        if self._agent is not None:
            self.room.memory.release(self._agent)

    def _begin(self, kind: str, ref: Any, work: Callable[[Task], object]) -> None:
        """Begin a task, after the end of the one of this kind before it."""
        self.end(kind)

        def failed(message: str) -> None:
            self.send({"type": "error", "message": message, "of": kind, "ref": ref})

        with self._lock:
            if not self._closed:
                self._tasks[kind] = Task(work, failed)

    def end(self, kind: str) -> None:
        """End the task of a kind, if there is one."""
        with self._lock:
            task = self._tasks.pop(kind, None)
        if task is not None:
            task.end()

    # --- analysis -----------------------------------------------------------------------------------------------------

    def analyse(self, message: dict[str, Any]) -> None:
        """Begin a live analysis of the present position, or of the one after `ply` moves and then `moves`."""
        ply = message.get("ply", self.room.session.ply)
        moves = texts(message, "moves")
        whole(ply, "ply")

        def find() -> Position:
            return played(self.room.session.position_at(ply), moves)

        position = find()
        if position.is_over:
            raise IllegalMove("the game is over here: there is nothing to analyse")
        name, ref = _text(message, "agent", ANALYSTS[self.room.trained]), message.get("ref")
        budget = Budget.of(message.get("budget") or "infinite")
        every = message.get("every", 0.25)
        if not isinstance(every, int | float) or not 0.05 <= every <= 60:
            raise BadOption("every must be from 0.05 to 60 seconds")
        player = None if message.get("player") is None else whole(message["player"], "player")
        if player is None and position.to_move < 0:
            player = next(each for each in range(position.game.players) if position.actions_of(each))

        about = {"type": "snapshot", "ply": ply, "moves": moves, "agent": name, "ref": ref}

        def work(task: Task) -> None:
            self.room.wait_for_rules(task.is_stopped)
            agent = self._analyst(name)
            lease = self.room.memory.lease(agent, task.is_stopped, budget)
            with lease, analyse(find(), agent, budget, player, every) as task.search:
                if task.is_stopped():
                    task.search.stop()
                for snapshot in task.search:
                    self.send({**about, "snapshot": snapshot.json})
            if self._closed:
                self.room.memory.release(agent)

        self._begin("analyse", ref, work)

    def _analyst(self, name: str) -> Agent:
        """The agent of that name: the one of the last analysis, with its tree, if the name is the same."""
        game = self.room.session.game
        if self._agent is not None and self._agent.name == name and self._game is game:
            return self._agent
        before, self._agent = self._agent, None
        if before is not None:
            self.room.memory.release(before)
        self._agent, self._game = self.make_agent(name, game, 0), game
        return self._agent

    # --- the tree -----------------------------------------------------------------------------------------------------

    def tree(self, message: dict[str, Any]) -> None:
        """Send a node of the tree: of the analysis, or of the agent in a seat."""
        path = texts(message, "path")
        if message.get("of") == "agent":
            session = self.room.session
            if session.people and not session.is_over and session.position.to_move == EVERYONE:
                raise BadAgent("everyone moves at once here: what an agent in a seat thinks stays hidden")
            agent: Agent | None = session.agent(whole(message.get("player"), "player"))
        else:
            agent = self._agent
        if agent is None:
            raise BadAgent("there is no tree yet: analyse a position first")
        tree = self._tree_of(agent)
        node = tree.root
        for move in path:
            child = node.child(move)
            if child is None:  # the search may have reached it since the node was read
                node.refresh()
                child = node.child(move)
            if child is None:
                raise IllegalMove(f"the search has not reached {' '.join(path)}")
            node = child
        node.refresh()
        with tree.agent.reading():  # once for both: each reading waits for the end of a round of the search
            _, size = node.visits, tree.size
        self.send(
            {
                "type": "tree",
                "path": path,
                "node": node.json,
                "view": view_of(node.position),
                "size": size,
                "ref": message.get("ref"),
            }
        )

    def _tree_of(self, agent: Agent) -> Tree:
        """The tree of an agent with the nodes that were read before, so that a deep node takes one read."""
        if self._tree is None or self._tree.agent is not agent or self._tree.is_stale:
            self._tree = Tree(agent)
        return self._tree

    # --- hints and reviews --------------------------------------------------------------------------------------------

    def hint(self, message: dict[str, Any], player: int | None) -> None:
        """Send what an agent would play."""
        name, ref = _text(message, "agent", ADVISERS[self.room.trained]), message.get("ref")

        def work(task: Task) -> None:
            self.room.wait_for_rules(task.is_stopped)
            session = self.room.session
            position = session.position
            agent = self.make_agent(name, session.game, 0)
            try:
                with self.room.memory.lease(agent, task.is_stopped):
                    choice, _ = think(
                        agent,
                        position,
                        None,
                        player,
                        is_stopped=lambda: task.is_stopped() or session.position is not position,
                    )
            finally:
                self.room.memory.release(agent)
            if not task.is_stopped():
                self.send({"type": "hint", "ply": session.ply, **choice_json(choice), "ref": ref})

        self._begin("hint", ref, work)

    def review(self, message: dict[str, Any]) -> None:
        """Judge all positions of the game, the last one first, with a message for each."""
        name, ref = _text(message, "agent", REVIEWER), message.get("ref")
        budget = message.get("budget")
        budget = None if budget is None else Budget.of(budget)

        def work(task: Task) -> None:
            self.room.wait_for_rules(task.is_stopped)
            session = self.room.session
            positions = [session.position_at(ply) for ply in range(len(session.plies) + 1)]
            agent = self.make_agent(name, session.game, 0)
            try:
                with self.room.memory.lease(agent, task.is_stopped, budget):
                    for judged in review(positions, agent, budget, stop=task.stopped):
                        facts = judged.json
                        facts["value"], facts["solved"] = facts.pop("values"), facts.pop("exact")
                        self.send({"type": "review", **facts, "done": judged.ply == 0, "ref": ref})
            finally:
                self.room.memory.release(agent)

        self._begin("review", ref, work)


def played(position: Position, moves: list[str]) -> Position:
    """The position after some moves."""
    for number, move in enumerate(moves, 1):
        try:
            position = position.play(move)
        except IllegalMove as error:
            raise IllegalMove(f"move {number}: {error}") from None
    return position


def _text(message: dict[str, Any], name: str, default: str) -> str:
    value = message.get(name) or default
    if not isinstance(value, str):
        raise BadOption(f"{name} must be text")
    return value


def texts(message: dict[str, Any], name: str) -> list[str]:
    """A list of moves of a message; BadOption if it is none."""
    value = message.get(name) or []
    if not isinstance(value, list) or len(value) > LONGEST_PATH or not all(isinstance(each, str) for each in value):
        raise BadOption(f"{name} must be a list of at most {LONGEST_PATH} moves in notation")
    return value


def whole(value: Any, name: str) -> int:
    """A whole number of a message; BadOption if it is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadOption(f"{name} must be a whole number")
    return value
