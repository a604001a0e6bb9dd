"""A manager of general game playing: it holds the game, asks players over HTTP, keeps the clocks and records the games.

Every role is asked at every step. A move that is late, illegal, garbled or missing is replaced by a random legal one,
and the match goes on; the record names each fault. In successive games the players move on by one role.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

from ludus.agents.identity import Identity
from ludus.arena.record import REPLACED, GameRecord, Thought
from ludus.arena.result import MatchResult
from ludus.arena.store import Store
from ludus.errors import BadAgent, BadOption
from ludus.gdl.described import DescribedGame
from ludus.gdl.kif import decode, parse_until_stray, shorten, show
from ludus.ggp.http import NoAnswer, post, read_address
from ludus.ggp.line import Line
from ludus.ggp.messages import (
    LONGEST_CLOCK,
    READY,
    Abort,
    BadMessage,
    Info,
    Message,
    Play,
    Start,
    Stop,
    read_move,
    write_message,
)
from ludus.protocols.ggp_scrambling import Scrambler
from ludus.rng import derived_seed
from ludus.stopping import NEVER
from ludus.stopping import Stop as StopSignal

GRACE = 1.0
"""Seconds that an answer may be late, for the way over the network."""
SHORT_CLOCK = 5.0
"""Seconds for the answers to INFO, STOP and ABORT."""
MOST_REASON = 300
"""Characters of the faults in a record, at most."""
FAULTS = ("late", "unreachable", "garbled", "illegal", "not ready")
"""Kinds of faults."""


@dataclass(frozen=True)
class Fault:
    """A player did not answer as it must; its move was replaced."""

    game: int
    step: int
    """From 0; -1 for START."""
    role: str
    player: str
    kind: str
    """One of FAULTS."""
    detail: str

    def __str__(self) -> str:
        where = "START" if self.step < 0 else f"step {self.step}"
        return f"game {self.game + 1}, {where}: {self.player} as {self.role}: {self.kind}: {self.detail}"


@dataclass(frozen=True)
class MatchStarted:
    """The players were asked for their names; the first game begins."""

    result: MatchResult


@dataclass(frozen=True)
class StepPlayed:
    """All roles have moved."""

    result: MatchResult
    step: int
    moves: tuple[str, ...]
    """By role."""


@dataclass(frozen=True)
class GameOver:
    """A game has ended."""

    record: GameRecord
    goals: tuple[int, ...]
    """By role, from 0 to 100."""
    result: MatchResult


T = TypeVar("T")
ManagerEvent = MatchStarted | StepPlayed | GameOver | Fault
OnManagerEvent = Callable[[ManagerEvent], object]


@dataclass(frozen=True)
class Contender:
    """A player at an address."""

    host: str
    port: int
    name: str = ""

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.name}@{self.address}" if self.name else self.address


@dataclass
class Settings:
    """How a match is played."""

    start_clock: int = 60
    play_clock: int = 10
    games: int = 1
    seed: int | None = None
    """None: another one each time."""
    scramble: bool = False
    """Rename all words of the description."""
    grace: float = field(default=GRACE)

    def check(self) -> None:
        for name, value in (("start-clock", self.start_clock), ("play-clock", self.play_clock)):
            if not 1 <= value <= LONGEST_CLOCK:
                raise BadOption(f"--{name} must be from 1 to {LONGEST_CLOCK} seconds, not {value}")
        if not 1 <= self.games <= 100_000:
            raise BadOption(f"--games must be from 1 to 100000, not {self.games}")


def manage(
    game: DescribedGame,
    addresses: Sequence[str],
    settings: Settings | None = None,
    *,
    results: Path | str | None = None,
    on_event: OnManagerEvent | None = None,
    stop: StopSignal = NEVER,
) -> MatchResult:
    """Let players at these addresses (HOST:PORT, one for each role) play, and return their scores.

    Games are recorded in the file `results`, if given. If `stop` is set, the game under way is aborted.
    """
    settings = settings or Settings()
    settings.check()
    if not isinstance(game, DescribedGame):
        raise BadOption("players of general game playing need a description in GDL: a .kif file, or gdl:NAME")
    if len(addresses) != game.players:
        roles = " ".join(game.player_name(player) for player in range(game.players))
        raise BadAgent(f"{game.name} has the roles {roles}: name {game.players} players, not {len(addresses)}")
    contenders = [Contender(*read_address(address)) for address in addresses]
    with contextlib.ExitStack() as stack:
        store = None if results is None else stack.enter_context(Store(results))
        pool = stack.enter_context(ThreadPoolExecutor(game.players, "ludus ggp manager"))
        return _Manager(game, contenders, settings, store, pool, on_event or (lambda event: None), stop).run()


class _Manager:
    def __init__(
        self,
        game: DescribedGame,
        contenders: list[Contender],
        settings: Settings,
        store: Store | None,
        pool: ThreadPoolExecutor,
        tell: OnManagerEvent,
        stop: StopSignal,
    ):
        self.game, self.settings, self.store, self.pool, self.stop = game, settings, store, pool, stop
        self.seed = secrets.randbits(48) if settings.seed is None else settings.seed
        self._telling = threading.Lock()
        self._tell = tell
        self.players = list(pool.map(self._named, contenders))
        self.rules = "\n".join(show(rule) for rule in parse_until_stray(game.description.text)[0])
        names = [str(each) for each in self.players]
        self.result = MatchResult(game.identity, names, game.players, settings.games, self.seed)

    def tell(self, event: ManagerEvent) -> None:
        with self._telling:
            self._tell(event)

    def run(self) -> MatchResult:
        result = self.result
        result.recorded = None if self.store is None else 0
        self.tell(MatchStarted(result))
        began = time.monotonic()
        for number in range(self.settings.games):
            played = _Game(self, number).play()
            if played is None:
                break
            record, goals = played
            result.add(record)
            result.seconds = time.monotonic() - began
            if self.store is not None:
                added = self.store.add(self.game, [self._identity(each) for each in self.players], [record])
                result.recorded = (result.recorded or 0) + added
                result.known += 1 - added
            self.tell(GameOver(record, goals, result))
        result.ending = "finished" if result.played == result.planned else "stopped"
        return result

    def ask(self, player: Contender, message: Message, seconds: float) -> str:
        """The answer of a player; NoAnswer if there is none in time."""
        content = write_message(message).encode("utf-8", "surrogateescape")
        return decode(post(player.host, player.port, content, seconds, player.name or "player")).strip()

    def _named(self, player: Contender) -> Contender:
        """The player with the name that it gives, if it gives one."""
        with contextlib.suppress(NoAnswer):
            words = self.ask(player, Info(), SHORT_CLOCK).replace("(", " ").replace(")", " ").split()
            lower = [word.lower() for word in words]
            if "name" in lower[:-1]:
                name = shorten(words[lower.index("name") + 1], 40)
                return Contender(player.host, player.port, "".join(c for c in name if c.isalnum() or c in "._-"))
        return player

    def _identity(self, player: Contender) -> Identity:
        """Who played: the name, the address and the clocks, since strength depends on all of them."""
        clocks = f"{self.settings.start_clock}s+{self.settings.play_clock}s"
        name = f"ggp:{player}:{clocks}"
        return Identity(f"ggp(player={player}, clocks={clocks})", name, name, "ggp")


class _Game:
    """One game of a match."""

    def __init__(self, manager: _Manager, number: int):
        self.manager, self.number, self.settings = manager, number, manager.settings
        players = len(manager.players)
        self.seats = tuple((role + number) % players for role in range(players))
        """For each role, the index of its player."""
        self.seed = derived_seed(manager.seed, number // players)
        """The same for the games in which each player has had each role once."""
        self.random = Random(derived_seed(manager.seed, number, 1))
        self.line = Line(manager.game)
        self.name = f"ludus.{hashlib.sha256(f'{manager.seed} {number}'.encode()).hexdigest()[:12]}"
        self.scrambler = Scrambler(manager.rules, self.random) if self.settings.scramble else None
        self.faults: Counter[tuple[int, str]] = Counter()
        """By role and kind."""

    def play(self) -> tuple[GameRecord, tuple[int, ...]] | None:
        """The record and the goals; None if the game was aborted."""
        began = time.monotonic()
        roles = range(len(self.seats))
        self._each(self._start, roles)
        last: tuple[str, ...] | None = None
        thoughts: list[tuple[Thought, ...]] = []
        while not self.line.is_over:
            answers = self._each(lambda role: self._ask_move(role, last), roles)  # noqa: B023
            if self.manager.stop.is_set():
                self._each(lambda role: self._send(role, Abort(self.name), SHORT_CLOCK), roles)
                return None
            joint = tuple(move for move, _ in answers)
            choosers = self.line.choosers
            thoughts.append(tuple(Thought(role, None, 0, answers[role][1]) for role in choosers))
            self.line.play(joint)
            last = joint
            self.manager.tell(StepPlayed(self.manager.result, len(self.line.played), joint))
        self._each(lambda role: self._send(role, Stop(self.name, self._shown(last)), SHORT_CLOCK), roles)
        position = self.line.position
        actions = tuple(each.action for each in position.history if each.action is not None)
        record = GameRecord(
            self.seed,
            self.seats,
            actions,
            tuple(position.played),
            position.values,
            thoughts=tuple(thoughts),
            seconds=time.monotonic() - began,
            reason=self._reason(),
        )
        return record, tuple(self.line.goals)

    def _each(self, act: Callable[[int], T], roles: Sequence[int]) -> list[T]:
        """Do something for all roles at once; the results by role."""
        return list(self.manager.pool.map(act, roles))

    def _player(self, role: int) -> Contender:
        return self.manager.players[self.seats[role]]

    def _start(self, role: int) -> None:
        rules = self.manager.rules if self.scrambler is None else self.scrambler.rules
        name = self.line.roles[role]
        shown = name if self.scrambler is None else self.scrambler.scramble(name)
        clocks = self.settings.start_clock, self.settings.play_clock
        answer = self._send(role, Start(self.name, shown, rules, *clocks), clocks[0] + self.settings.grace, -1)
        if answer is not None and answer.lower() != READY:
            self._note(role, -1, "not ready", f"it answered {shorten(answer, 60)!r}")

    def _send(self, role: int, message: Message, seconds: float, step: int | None = None) -> str | None:
        """The answer of a role's player, or None; with `step`, a missing answer is a fault."""
        try:
            return self.manager.ask(self._player(role), message, seconds)
        except NoAnswer as error:
            if step is not None:
                self._note(role, step, error.kind, str(error))
            return None

    def _ask_move(self, role: int, last: tuple[str, ...] | None) -> tuple[str, float]:
        """The move of a role, or a random legal one in its place, and the seconds that it took."""
        began, step = time.monotonic(), len(self.line.played)
        seconds = self.settings.play_clock + self.settings.grace
        answer = self._send(role, Play(self.name, self._shown(last)), seconds, step)
        taken = time.monotonic() - began
        if answer is not None:
            try:
                move = read_move(answer)
                found = self.line.find(role, move if self.scrambler is None else self.scrambler.restore(move))
                if found is not None:
                    return found, taken
                self._note(role, step, "illegal", shorten(move, 60))
            except BadMessage as error:
                self._note(role, step, "garbled", str(error))
        with self.manager._telling:  # the generator is shared by the threads of all roles
            return self.random.choice(list(self.line.moves(role))), taken

    def _shown(self, joint: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if joint is None or self.scrambler is None:
            return joint
        return tuple(self.scrambler.scramble(move) for move in joint)

    def _note(self, role: int, step: int, kind: str, detail: str) -> None:
        with self.manager._telling:
            self.faults[role, kind] += 1
        fault = Fault(self.number, step, self.line.roles[role], str(self._player(role)), kind, detail)
        self.manager.tell(fault)

    def _reason(self) -> str:
        """The faults of all roles, for the record."""
        parts = (f"{self.line.roles[role]} {count} x {kind}" for (role, kind), count in sorted(self.faults.items()))
        text = ", ".join(parts)
        return shorten(f"{REPLACED}{text}", MOST_REASON) if text else ""
