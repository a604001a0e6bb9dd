"""A room: one session, the browsers that view it, and the threads in which its agents think.

Agents think in threads of this process. The searches are machine code that runs without Python's global lock, so the
event loop and the clicks of people go on beside them; `Session`, `analyse` and `Tree` can be used as they are, and a
tree of a million nodes need not be copied between processes. The searches take turns (turns.py). Agents that a program
registers as modules get processes of their own from the library, so that a crash of one ends its seat only.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from ludus.api.seats import HUMAN
from ludus.api.session import Session
from ludus.board import why_not
from ludus.errors import BadOption, IllegalMove, LudusError, describe_error
from ludus.rules import EVERYONE
from ludus.web.memory import Cancelled, TreeMemory
from ludus.web.views import state_of, thought_of, view_of

if TYPE_CHECKING:
    from ludus.agents.agent import Agent
    from ludus.agents.snapshot import Snapshot
    from ludus.api.seats import MakeAgent
    from ludus.game import Game

OPEN = "open"
"""In a request: a human seat that no browser has claimed."""
EVERY = 0.4
"""Seconds between two snapshots of an agent that thinks in a seat."""
MOMENT = 0.5
"""Seconds after which people are told why an agent does not think yet."""
POLL = 0.1
"""Seconds between two checks whether an agent that waits for the rules is still wanted."""
WAITING = "The rules are grounded and compiled for this machine; people can play, agents wait"


class Refused(LudusError):
    """The browser may not do this, because another one has the seat."""


class Viewer(Protocol):
    """A socket that views a room. `send` may be called from any thread and never blocks."""

    browser: str

    def send(self, message: dict[str, Any]) -> None: ...


class Room:
    """One game under way. All methods may be called from any thread; those of people raise LudusError in one line."""

    def __init__(
        self,
        id: str,
        key: str,
        session: Session,
        memory: TreeMemory,
        claims: dict[int, str] | None = None,
        on_change: Callable[[Room], object] = lambda room: None,
        trained: bool = False,
        clocks_ran: bool = False,
    ):
        self.id, self.key, self.session, self.memory = id, key, session, memory
        self.caption = ""
        """What this game is, for people; shown below the title."""
        self.trained = trained
        """True if a trained player for this game comes with Ludus."""
        self.claims = claims or {}
        """For each human seat that is taken, the browser that has it."""
        self.failed: dict[int, str] = {}
        """For each agent that failed, why."""
        self.paused = False
        self._plays_on = False
        """True if agents play on from an earlier position, instead of waiting while a person looks at it."""
        self.serial = 0
        self.updated = time.time()
        self.viewers: set[Viewer] = set()
        self._on_change = on_change
        self._lock = threading.RLock()
        self._preparing = threading.Lock()
        self._agents: dict[int, Agent] = {}
        """The agent that last thought for each player."""
        self._thinking: set[int] = set()
        """The players whose agent has a thread."""
        self._clocks_ran = clocks_ran
        """True if clocks ran when the last viewer left."""
        self._acting = threading.RLock()
        """Held while a person acts, and while the game is exchanged."""
        self._ready = threading.Event()
        self._ready.set()
        self._awaited_since = 0.0

    # --- viewers ------------------------------------------------------------------------------------------------------

    def join(self, viewer: Viewer) -> None:
        """Add a socket that views the room: it gets the state, and agents go on thinking."""
        with self._lock:
            self.viewers.add(viewer)
            if len(self.viewers) == 1 and self._clocks_ran:
                self.session.resume()
                self._clocks_ran = False
        viewer.send(self.state(viewer.browser))
        self._let_agents_think()

    def leave(self, viewer: Viewer) -> None:
        """Remove a socket that was closed. After the last one, agents stop and clocks stand still."""
        with self._lock:
            self.viewers.discard(viewer)
            if not self.viewers:
                self._clocks_ran = bool(self.session.running)
                self.session.pause()
                self.session.cancel()
        if self._clocks_ran and not self.viewers:
            self._on_change(self)

    @property
    def clocks_run(self) -> bool:
        """True if clocks run while a browser views the room: a room that is read from its file goes on with them."""
        return self._clocks_ran or bool(self.session.running)

    def state(self, browser: str) -> dict[str, Any]:
        """The message `state` for a browser: it sees the moves of its own seats only."""
        return self._for(browser, state_of(self.session))

    def _for(self, browser: str, common: dict[str, Any]) -> dict[str, Any]:
        players = [
            {
                **each,
                "yours": self.claims.get(each["player"]) == browser,
                "free": each["person"] and each["player"] not in self.claims,
                "failed": self.failed.get(each["player"], ""),
            }
            for each in common["players"]
        ]
        moves = [move for move in common["moves"] if self.claims.get(move["player"]) == browser]
        own = {"id": self.id, "serial": self.serial, "game": self.key, "options": self.options}
        own.update(paused=self.paused, reviewing=self.is_reviewing, trained=self.trained, caption=self.caption)
        return {**common, **own, "players": players, "moves": moves}

    @property
    def options(self) -> dict[str, Any]:
        return dict(self.session.game.spec.options)

    @property
    def is_reviewing(self) -> bool:
        """True if the game is at an earlier position: agents wait there until a person plays, or asks to go on."""
        return self.session.ply < len(self.session.plies) and not self._plays_on

    def publish(self) -> None:
        """Send the state to all viewers, keep the game, and let agents think."""
        with self._lock:
            self.serial += 1
            self.updated = time.time()
            viewers = list(self.viewers)
        self._on_change(self)
        if viewers:
            common = state_of(self.session)
            for viewer in viewers:
                viewer.send(self._for(viewer.browser, common))
        self._let_agents_think()

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message to all viewers."""
        for viewer in list(self.viewers):
            viewer.send(message)

    # --- what people do -----------------------------------------------------------------------------------------------

    def act(self, browser: str, message: dict[str, Any]) -> None:
        """Do what a message of a browser asks for, and tell all viewers."""
        actions: dict[str, Callable[[str, dict[str, Any]], object]] = {
            "play": self._play,
            "undo": lambda browser, message: self._go(self.session.undo, _count(message, "plies", 1)),
            "redo": lambda browser, message: self._go(self.session.redo, _count(message, "plies", 1)),
            "take_back": lambda browser, message: self._go(self.session.take_back),
            "jump": lambda browser, message: self._go(self.session.jump, _count(message, "ply")),
            "seat": self._seat,
            "claim": self._claim,
            "release": self._release,
            "resign": lambda browser, message: self.session.resign(self.own_player(browser, message)),
            "draw": lambda browser, message: self.session.offer_draw(self.own_player(browser, message)),
            "stop": lambda browser, message: self.session.stop(),
            "pause": lambda browser, message: self._pause(),
            "resume": lambda browser, message: self._resume(),
        }
        action = actions.get(str(message.get("type")))
        if action is None:
            raise BadOption(f"there is no message of type {str(message.get('type'))[:40]!r}; ludus docs web lists them")
        if message["type"] != "claim" and self.claims and browser not in self.claims.values():
            raise Refused("you watch this game: take a free seat to play")
        with self._acting:
            action(browser, message)
        self.publish()

    def own_player(self, browser: str, message: dict[str, Any]) -> int:
        """The player that a message is for: the one given, or the only seat of the browser, which must have it."""
        player, own = message.get("player"), [seat for seat, owner in self.claims.items() if owner == browser]
        if player is None:
            awaited = [seat for seat in own if seat in self.session.waiting_for] or own
            if len(awaited) != 1:
                raise IllegalMove("say for which player" if own else "you have no seat in this game")
            return awaited[0]
        if player not in own or isinstance(player, bool):
            raise Refused("this seat is not yours")
        return player

    def _play(self, browser: str, message: dict[str, Any]) -> None:
        waiting = self.session.waiting_for
        if (
            message.get("player") is None
            and waiting
            and not any(self.claims.get(player) == browser for player in waiting)
        ):
            raise Refused("it is not your turn")
        move = message.get("move", message.get("action"))
        if not isinstance(move, str | int) or isinstance(move, bool):
            raise BadOption("a move is given by its notation as `move`, or by its id as `action`")
        self.session.play(move, self.own_player(browser, message) if waiting else message.get("player"))

    def _seat(self, browser: str, message: dict[str, Any]) -> None:
        player, seat = self._player(message), message.get("seat")
        if not isinstance(seat, str):
            raise BadOption('a seat is "human", "open" or the name of an agent')
        owner = self.claims.get(player)
        if owner not in (None, browser):
            raise Refused("another person has this seat")
        self.session.set_seat(player, HUMAN if seat == OPEN else seat)
        with self._lock:
            self.failed.pop(player, None)
            self.claims.pop(player, None)
            if seat == HUMAN:
                self.claims[player] = browser

    def _claim(self, browser: str, message: dict[str, Any]) -> None:
        player = self._player(message)
        with self._lock:
            if player not in self.session.people:
                raise Refused("an agent has this seat")
            if self.claims.get(player, browser) != browser:
                raise Refused("another person has this seat")
            self.claims[player] = browser

    def _release(self, browser: str, message: dict[str, Any]) -> None:
        player = self._player(message)
        with self._lock:
            if self.claims.get(player) != browser:
                raise Refused("this seat is not yours")
            del self.claims[player]

    def _player(self, message: dict[str, Any]) -> int:
        player = message.get("player")
        if not isinstance(player, int) or isinstance(player, bool) or not 0 <= player < self.session.game.players:
            raise BadOption(f"player must be a number from 0 to {self.session.game.players - 1}")
        return player

    def _go(self, go: Callable[..., object], *where: int) -> None:
        go(*where)
        self._plays_on = False
        self.failed.clear()

    def _pause(self) -> None:
        self.paused = True
        self.session.pause()
        self.session.cancel()

    def _resume(self) -> None:
        self.paused, self._plays_on = False, True
        self.failed.clear()
        if self.session.ply:
            self.session.resume()

    def view(self, ply: int) -> dict[str, Any]:
        """The view after `ply` moves."""
        return view_of(self.session.position_at(ply), ply)

    def why_not(self, browser: str, message: dict[str, Any]) -> str:
        """The reason, in words, why clicking some cells makes no legal move."""
        touched = message.get("touched")
        if not isinstance(touched, list) or not all(isinstance(each, str) for each in touched) or len(touched) > 100:
            raise BadOption("touched must be a list of cells")
        return why_not(self.session.position, self.own_player(browser, message), touched)

    def record(self) -> dict[str, Any]:
        """The record of the game; with its rules by the reasoner it names the final ones, which are being made."""
        record = self.session.record()
        if not self.is_ready:
            record["game"]["options"]["reasoner"] = False
        return record

    def tick(self) -> None:
        """Read the clocks, and tell the viewers if one runs, or if rules are being made."""
        session = self.session
        if not self.is_ready:
            seconds = time.monotonic() - self._awaited_since
            self.tell({"type": "status", "text": f"{WAITING} ({seconds:.0f} s) ..."})
        if session.running and self.viewers:
            left = session.tick()
            if session.is_over:
                self.publish()
            else:
                self.tell({"type": "clock", "left": list(left), "running": list(session.running)})

    # --- rules that are being made ------------------------------------------------------------------------------------

    @property
    def is_ready(self) -> bool:
        """False while people play by the reasoner, until the rules were grounded and compiled."""
        return self._ready.is_set()

    def await_rules(self) -> None:
        """Let agents wait until `switch_to` brings the final game."""
        self._awaited_since = time.monotonic()
        self._ready.clear()

    def wait_for_rules(self, is_cancelled: Callable[[], bool]) -> None:
        """Wait until agents may think; Cancelled if `is_cancelled` meanwhile."""
        while not self._ready.wait(POLL):
            if is_cancelled():
                raise Cancelled

    def switch_to(self, game: Game, make_agent: MakeAgent, is_late: Callable[[str], bool]) -> None:
        """Go on with the final game, also with moves that are hidden until all have moved."""
        with self._acting:
            before = self.session
            if before.game is not game:
                self.session = Session.from_record(before.record(), game, make_agent=make_agent, is_late=is_late)
                for player, move in before.hidden_moves.items():
                    self.session.play(move, player)
                if before.running:
                    self.session.resume()
            self._ready.set()
        self.tell({"type": "status", "text": ""})
        self.publish()

    def close(self) -> None:
        """Stop all agents and give back the memory of their trees."""
        self.session.cancel()
        for agent in list(self._agents.values()):
            self.memory.release(agent)

    # --- agents -------------------------------------------------------------------------------------------------------

    def _let_agents_think(self) -> None:
        with self._lock:
            session = self.session
            if self.paused or not self.viewers or self.is_reviewing or not self.is_ready:
                return
            for player in session.waiting_for:
                if player not in session.people and player not in self._thinking and player not in self.failed:
                    self._thinking.add(player)
                    threading.Thread(target=self._think, args=(player,), name="ludus agent", daemon=True).start()

    @contextmanager
    def _telling_that(self, text: str) -> Iterator[None]:
        """Tell the viewers what goes on, if it takes longer than a moment."""
        is_told = threading.Event()

        def tell() -> None:
            is_told.set()
            self.tell({"type": "status", "text": text})

        timer = threading.Timer(MOMENT, tell)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            if is_told.is_set():
                self.tell({"type": "status", "text": ""})

    def _think(self, player: int) -> None:
        """Let the agent of a player move. Runs in a thread of its own."""
        session = self.session
        failure = ""

        def show(snapshot: Snapshot) -> None:
            if not snapshot.final:
                thought = thought_of(snapshot)
                if session.position.to_move == EVERYONE:  # its move stays hidden, and so does what it tends to
                    thought.update(best=None, line=[])
                self.tell({"type": "thinking", "player": player, "snapshot": thought})

        def is_cancelled() -> bool:
            return not self.viewers or self.paused

        try:
            with self._telling_that(f"{session.seats[player]} gets ready ..."):
                agent = self._agents[player] = session.agent(player)
                with self._preparing:
                    session.prepare()
            with self.memory.lease(agent, is_cancelled):
                if not is_cancelled():
                    session.think(player, on_snapshot=show, every=EVERY)
        except Cancelled:
            pass
        except IllegalMove:  # the game went on meanwhile
            pass
        except LudusError as error:
            failure = str(error)
        except Exception as error:
            failure = describe_error(error)
        with self._lock:
            self._thinking.discard(player)
            if failure and player not in session.people:
                self.failed[player] = failure
        self.publish()


def _count(message: dict[str, Any], name: str, default: int | None = None) -> int:
    """A whole number of a message."""
    value = message.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
        raise BadOption(f"{name} must be a whole number from 0 on")
    return value
