"""A player of general game playing: keeps the protocol and the clocks, and lets another process think.

The state of a match is taken from the joint moves in PLAY, never from what was answered. The thinking process
(ggp_mind.py) sends a random legal move at once and better ones as it finds them; when the time is nearly up, the latest
is the answer. If that process dies or hangs, it is started again with the joint moves so far, and until it answers the
reasoner finds a legal move in this process.
"""

from __future__ import annotations

import json
import os
import queue
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludus.arena.channel import BadMessage as BadReply
from ludus.arena.channel import Child
from ludus.arena.processes import PROGRAM, module_path
from ludus.errors import LudusError
from ludus.gdl.described import DescribedGame
from ludus.gdl.game import game_of
from ludus.gdl.kif import decode, shorten
from ludus.gdl.language import read_description
from ludus.ggp.line import Line
from ludus.ggp.messages import (
    ABORTED,
    BUSY,
    DONE,
    READY,
    Abort,
    BadMessage,
    Info,
    Play,
    Preview,
    Start,
    Stop,
    find_spelling,
    names_in_brackets,
    read_message,
    with_brackets,
)
from ludus.protocols.ggp_events import (
    MatchBegun,
    MatchEnded,
    MoveAnswered,
    OnPlayerEvent,
    OutOfStep,
    Prepared,
    Trouble,
    Warm,
)

MIND = "ludus.protocols.ggp_mind"
MARGIN, LEAST_MARGIN, MOST_MARGIN = 0.1, 0.25, 2.0
"""The part of a clock that is kept for the way back and for a busy machine, and its limits in seconds."""
LEARN_FROM = 30
"""Seconds of a start clock from which on it is worth learning: measuring and planning take ten of them."""
LEARNING_MARGIN = 1.0
"""Seconds between the end of learning and the answer to START."""
PATIENCE = 15.0
"""Seconds, beyond its clocks, after which a silent manager is taken to be gone and its match given up."""
UP_LIMIT = 60.0
"""Seconds in which the first thinking process should have started."""
IDLE_LIMIT = 1.0
"""Seconds that the thinking process has to end a match; then it is killed."""
LEAST_IDLE = 0.1
"""The same if the next match begins meanwhile and has a short start clock, of which it takes a part."""
LAST_MOMENT = 0.05
"""Seconds of a clock that are left in any case."""
SPARE_AFTER = 0.3
"""The part of a clock after which a legal move is looked for in this process, if the thinking process sends none."""
MOST_RESTARTS = 3
"""Times that the thinking process is started again during one match."""
SPARE_SECONDS, SPARE_MEGABYTES = 5.0, 512
"""Limits of a query for a legal move in this process: it takes time from the answers of the next match."""
SMALLEST = "(role a) (init b) (legal a c) (<= terminal (not (true b))) (goal a 0)"
"""A description of one position."""
NO_MOVE = "nil"
"""The answer to a PLAY where no legal move is known, as after the end of a game."""


def margin(clock: float) -> float:
    """Seconds of a clock that are not used."""
    return min(MOST_MARGIN, max(LEAST_MARGIN, MARGIN * clock))


@dataclass
class Match:
    """A match under way."""

    number: int
    """Tells the matches of this player apart, also those that bear the same name."""
    start: Start
    folder: Path
    encoding: str
    heard: float
    """When the manager's last message came."""
    in_brackets: frozenset[str] = frozenset()
    """Names that the rules write in brackets, such as (noop)."""
    roles: list[str] | None = None
    is_ready: bool = False
    bad: str = ""
    """Why the rules cannot be played, if so."""
    has_begun: bool = False
    """True if START was answered with `ready`."""
    asked: int = 0
    """The number of the latest PLAY that brought something new; 0 before the first."""
    joint: tuple[str, ...] | None = None
    """The joint move of that PLAY."""
    played: list[list[str]] = field(default_factory=list)
    """The joint moves that led to the present position."""
    goals: tuple[int, ...] | None = None
    best: dict[int, tuple[str, bool]] = field(default_factory=dict)
    """By the number of the PLAY: the best answer so far, and True if no better one will come."""
    answers: dict[int, str] = field(default_factory=dict)
    spare: DescribedGame | None = None
    """The game by the reasoner in this process, once it was needed."""
    sparing: threading.Thread | None = None
    """The thread of this process that looks for legal moves, if there is one."""
    restarts: int = 0

    @property
    def file(self) -> Path:
        return self.folder / "rules.kif"

    @property
    def is_pending(self) -> bool:
        """True if the thinking process has not taken the joint move of the latest PLAY in."""
        return self.joint is not None and len(self.played) < self.asked - 1

    def is_answered(self, number: int) -> bool:
        """True if a PLAY has got its answer, which is repeated, or no better one will come."""
        return number in self.answers or self.best.get(number, ("", False))[1]

    def is_repeated(self, start: Start) -> bool:
        """True if a START is that of this match again. After moves were made, it begins another match."""
        return start == self.start and self.joint is None


class Player:
    """Answers the messages of managers, one match at a time. `answer` may be called from several threads."""

    def __init__(self, name: str = "ludus", learn: bool = True, on_event: OnPlayerEvent | None = None):
        """`learn`: use long start clocks to train a network. `on_event` is called from several threads."""
        self.name, self.learn = name, learn
        self._on_event = on_event or (lambda event: None)
        self._change = threading.Condition()
        """Protects the match, and tells of replies of the thinking process."""
        self._match: Match | None = None
        self._last = ""
        """The name of the match that ended last."""
        self._numbers = 0
        self._folder = Path(tempfile.mkdtemp(prefix="ludus-ggp-"))
        self._occupied: int | None = None
        """The number of the match that the thinking process is at, or has not ended yet."""
        self._began = time.monotonic()
        self.warm = threading.Event()
        """Set when the machine code is ready."""
        self._up = threading.Event()
        self._closed = False
        self._child = self._start_child()
        self._up.wait(UP_LIMIT)  # else the first match would pay for it
        list(Line(_spare_game(SMALLEST)).moves(0))  # loads the modules that `_find_spare` needs

    def __enter__(self) -> Player:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def close(self) -> None:
        """End the match under way and the thinking process."""
        with self._change:
            self._closed = True
            self._match = None
            self._change.notify_all()
        self._child.end()
        shutil.rmtree(self._folder, ignore_errors=True)

    def answer(self, content: bytes, began: float | None = None) -> bytes:
        """The answer to a message that arrived at the time `began` (time.monotonic), by default now."""
        began = time.monotonic() if began is None else began
        text = decode(content)
        encoding = "utf-8" if _is_utf8(content) else "latin-1"
        try:
            reply = self._answer(text, began, encoding)
        except BadMessage as error:
            self._on_event(Trouble(f"not understood: {error}"))
            reply = f"error: {shorten(str(error), 200)}"
        match = self._match
        # Names that came in Latin-1 go back in Latin-1.
        return reply.encode(
            match.encoding if match is not None and _fits(reply, match.encoding) else "utf-8", "replace"
        )

    def _answer(self, text: str, began: float, encoding: str) -> str:
        match read_message(text):
            case Info():
                with self._change:
                    status = "available" if self._is_free(began) else "busy"
                return f"((name {self.name}) (status {status}))"
            case Start() as start:
                return self._start(start, began, encoding)
            case Preview(rules, _):
                return self._preview(rules, began)
            case Play(match, moves):
                return self._play(match, moves, began)
            case Stop(match, moves):
                return self._stop(match, moves)
            case Abort(match):
                return self._abort(match)

    # --- messages -----------------------------------------------------------------------------------------------------

    def _is_free(self, now: float) -> bool:
        """True if there is no match, or only one whose manager is gone."""
        match = self._match
        if match is None:
            return True
        clocks = (0 if match.asked else match.start.start_clock) + 2 * match.start.play_clock
        return now > match.heard + clocks + PATIENCE

    def _start(self, start: Start, began: float, encoding: str) -> str:
        with self._change:
            match = self._match
            if match is not None and match.is_repeated(start):
                match.heard = began
            elif self._is_free(began) or (match is not None and match.start.match == start.match):
                self._end()  # the manager begins again, if the name is the same
                match = self._begin(start, began, encoding)
            else:
                return BUSY
            until = began + start.start_clock - margin(start.start_clock)
            self._wait(lambda: match.is_ready or bool(match.bad) or self._match is not match, until)
            if match.bad:
                self._refuse(match)
                return BUSY
            match.has_begun = True
            return READY if self._match is match else BUSY

    def _refuse(self, match: Match) -> None:
        """End a match whose rules cannot be played."""
        self._on_event(Trouble(f"{match.start.match}: {match.bad}"))
        if self._match is match:
            self._end()

    def _begin(self, start: Start, began: float, encoding: str) -> Match:
        self._numbers += 1
        folder = self._folder / f"match-{self._numbers}"
        match = self._match = Match(self._numbers, start, folder, encoding, began, names_in_brackets(start.rules))
        self._on_event(MatchBegun(start.match, start.role, start.start_clock, start.play_clock))
        folder.mkdir()
        match.file.write_text(start.rules, encoding="utf-8")
        self._free_child(began + min(IDLE_LIMIT, max(LEAST_IDLE, SPARE_AFTER * start.start_clock)))
        if self._match is match:  # else it was aborted meanwhile
            seconds = began + start.start_clock - margin(start.start_clock) - LEARNING_MARGIN - time.monotonic()
            learning = seconds if self.learn and start.start_clock >= LEARN_FROM else 0.0
            self._child.send(["start", match.number, str(match.file), start.role, learning, []])
            self._occupied = match.number
        return match

    def _preview(self, rules: str, began: float) -> str:
        with self._change:
            if not self._is_free(began):
                return BUSY
            file = self._folder / "preview.kif"
            file.write_text(rules, encoding="utf-8")
            self._child.send(["load", str(file)])
            return READY

    def _play(self, name: str, moves: tuple[str, ...] | None, began: float) -> str:
        with self._change:
            match = self._match
            if match is None or match.start.match != name:
                return BUSY
            match.heard = began
            if match.asked == 0 or (moves is not None and not self._is_repeated(match, moves)):
                match.asked += 1
                match.joint = moves
                self._send_play(match, moves)
            asked = match.asked
            clock = match.start.play_clock
            until = began + clock - margin(clock)
            self._wait(lambda: asked in match.best or self._match is not match, began + SPARE_AFTER * clock)
            if asked not in match.best and match.sparing is None:
                match.sparing = threading.Thread(target=self._find_spares, args=(match,), daemon=True)
                match.sparing.start()
            self._wait(lambda: match.is_answered(asked) or self._match is not match, until)
            # Without any legal move the margin is used as well, and a second where the clock is 0: an answer that is
            # none would be of no use.
            self._wait(lambda: asked in match.best or self._match is not match, began + max(1, clock) - LAST_MOMENT)
            move = NO_MOVE
            if asked in match.best:
                move = match.answers.setdefault(asked, match.best[asked][0])
        self._on_event(MoveAnswered(name, asked, move, time.monotonic() - began))
        return with_brackets(move, match.in_brackets)

    def _send_play(self, match: Match, moves: Sequence[str] | None) -> None:
        """Let the thinking process take a joint move in. It is told the last answer, as it may have found others."""
        answered = match.answers.get(match.asked - 1, "")
        self._child.send(["play", match.number, match.asked, None if moves is None else list(moves), answered])

    def _find_spares(self, match: Match) -> None:
        """Find legal moves until the latest PLAY has one, or the match is over."""
        asked = 0
        while True:
            with self._change:
                if self._match is not match or match.asked == asked or match.asked in match.best:
                    match.sparing = None
                    return
                asked = match.asked
            self._find_spare(match, asked)

    def _find_spare(self, match: Match, asked: int) -> None:
        """Find a legal move by the reasoner in this process, since the thinking process does not answer."""
        with self._change:
            joint_moves = list(match.played)
            if match.is_pending:
                joint_moves.append(list(match.joint or ()))
        try:
            if match.spare is None:
                match.spare = _spare_game(match.start.rules)
            line = Line(match.spare, joint_moves)
            moves = list(line.moves(find_spelling(match.start.role, line.roles) or 0))
        except LudusError as error:
            self._on_event(Trouble(f"{match.start.match}: {error}"))
            return
        with self._change:
            if moves and asked not in match.best:
                match.best[asked] = (random.choice(moves), False)
                self._change.notify_all()

    def _is_repeated(self, match: Match, moves: tuple[str, ...]) -> bool:
        """True if a PLAY is the last one again.

        The same joint move twice in a row is a new step only if it holds the answer that was given in between, as where
        all roles wait.
        """
        if moves != match.joint:
            return False
        me = None if match.roles is None else find_spelling(match.start.role, match.roles)
        answered = match.answers.get(match.asked)
        return answered is None or me is None or me >= len(moves) or moves[me].lower() != answered.lower()

    def _stop(self, name: str, moves: tuple[str, ...] | None) -> str:
        with self._change:
            match = self._match
            if match is None or match.start.match != name:
                return DONE if name == self._last else BUSY
            if moves is not None and not self._is_repeated(match, moves):
                match.asked += 1
                self._send_play(match, moves)
            self._wait(lambda: match.goals is not None or self._match is not match, time.monotonic() + IDLE_LIMIT)
            if self._match is match:
                self._end()
        self._on_event(MatchEnded(name, match.goals))
        return DONE

    def _abort(self, name: str) -> str:
        with self._change:
            match = self._match
            if match is None or match.start.match != name:
                return ABORTED if name == self._last else BUSY
            self._end()
        self._on_event(MatchEnded(name, None))
        return ABORTED

    def _end(self) -> None:
        """Forget the match, if there is one."""
        match, self._match = self._match, None
        if match is not None:
            self._last = match.start.match
            self._child.send(["end", match.number])
            later = threading.Timer(IDLE_LIMIT, self._require_idle, (match.number,))
            later.daemon = True
            later.start()
            shutil.rmtree(match.folder, ignore_errors=True)
            self._change.notify_all()

    def _wait(self, condition: Any, until: float) -> None:
        self._change.wait_for(lambda: condition() or self._closed, max(0.0, until - time.monotonic()))

    # --- the thinking process -----------------------------------------------------------------------------------------

    def _start_child(self) -> Child:
        command = [sys.executable, "-P", str(PROGRAM), json.dumps(module_path(())), MIND]
        news = threading.Event()
        child = Child(command, {**os.environ, "PYTHONSAFEPATH": "1"}, news, alone=True)
        child.send(["warm", self.learn])
        threading.Thread(target=self._listen, args=(child, news), daemon=True, name="ludus ggp replies").start()
        return child

    def _require_idle(self, number: int) -> None:
        """Replace the thinking process if it has not ended a match, so that a new one is up for the next match."""
        with self._change:
            if not self._closed and self._occupied == number and self._match is None:
                self._renew_child()

    def _free_child(self, until: float) -> None:
        """Have a thinking process that is idle: the present one, if it ends the last match in time."""
        self._wait(lambda: self._occupied is None, until)
        if self._occupied is not None:
            self._renew_child()

    def _renew_child(self) -> None:
        threading.Thread(target=self._child.end, daemon=True).start()  # a clock may run
        self._child, self._occupied = self._start_child(), None

    def _listen(self, child: Child, news: threading.Event) -> None:
        """Take the replies of a thinking process in until it ends."""
        while not self._closed:
            news.wait()
            news.clear()
            try:
                while True:
                    self._take(child.receive())
            except queue.Empty:
                continue
            except (EOFError, BadReply):
                self._replace(child)
                return

    def _replace(self, child: Child) -> None:
        """Start the thinking process again if it has ended by itself; it goes on with the match."""
        with self._change:
            if self._closed or child is not self._child:
                return
            match = self._match
            if match is not None and match.restarts >= MOST_RESTARTS:
                match.bad = "the rules are too much for this machine"
                self._end()
                match = None
            child.end()
            self._child, self._occupied = self._start_child(), None
            if match is not None:
                self._occupied = match.number
                match.restarts += 1
                start = ["start", match.number, str(match.file), match.start.role, 0.0, match.played]
                self._child.send(start)
                if match.asked:
                    moves = list(match.joint or ()) if match.is_pending else None
                    self._send_play(match, moves)
        self._on_event(Trouble("the thinking process has ended and was started again"))

    def _take(self, reply: list[Any]) -> None:
        """Take a reply in. Replies to an older match are left out."""
        event: Any = None
        with self._change:
            match = self._match
            if reply == ["up"]:
                self._up.set()
            elif reply == ["warm"]:
                self.warm.set()
                event = Warm(time.monotonic() - self._began)
            elif reply[0] == "idle":
                self._occupied = None if reply[1] == self._occupied else self._occupied
            elif match is not None and reply[1] == match.number:
                event = self._take_in(match, reply)
            self._change.notify_all()
        if event is not None:
            self._on_event(event)

    def _take_in(self, match: Match, reply: list[Any]) -> Any:
        name = match.start.match
        match reply:
            case ["known", _, roles]:
                match.roles = roles
            case ["ready", _]:
                match.is_ready = True
            case ["bad", _, why]:
                match.bad = why
                if match.has_begun:  # too late to say so
                    self._refuse(match)
            case ["told", _, what]:
                return Prepared(name, what)
            case ["at", _, _, joint_moves, goals]:
                match.played += joint_moves
                match.goals = None if goals is None else tuple(goals)
            case ["lost", _, _, why]:
                return OutOfStep(name, why)
            case ["move", _, number, move, done]:
                match.best[number] = (move, done)
        return None


def _spare_game(rules: str) -> DescribedGame:
    return game_of(read_description(rules), "spare", None, reasoner=True)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
