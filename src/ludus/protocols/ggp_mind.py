"""The process that thinks for a player of general game playing. Its parent keeps the protocol and the clocks.

The parent (ggp_player.py) starts it with `serve` below and sends requests:

    ["warm", LEARN]                                     compile what searches need and, if LEARN, what learning needs
    ["load", FILE]                                      make the game of a description, to have it ready
    ["start", MATCH, FILE, ROLE, SECONDS, JOINT_MOVES]  begin a match after these joint moves; learn for SECONDS, if any
    ["play", MATCH, NUMBER, MOVES, ANSWERED]            a joint move was made, or none (null), after the answer before;
                                                        find an answer
    ["end", MATCH]                                      the match is over

MATCH and NUMBER are numbers that the replies repeat. A reply is one of

    ["up"]                               the process has started
    ["warm"]                             machine code for searches is compiled and loaded
    ["known", MATCH, ROLES]              the legal moves are known
    ["ready", MATCH]                     nothing more is to be prepared
    ["bad", MATCH, WHY]                  the rules cannot be played
    ["told", MATCH, WHAT]                progress, for people
    ["at", MATCH, NUMBER, JOINT_MOVES, GOALS]   the joint moves that were taken in; the goals if the game is over
    ["lost", MATCH, NUMBER, WHY]         the joint move does not fit and was left out
    ["move", MATCH, NUMBER, MOVE, DONE]  the answer so far; DONE if a better one will not come
    ["idle", MATCH]                      the match has ended

The first answer to a PLAY is a random legal move, at once. The reasoner knows the legal moves before the rules are
grounded. A search then goes on until the next joint move arrives, also after the move was sent: that is how the time of
the opponents is used.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import IO, Any

from ludus.agents import make_agent
from ludus.agents.agent import Agent
from ludus.agents.budget import Budget
from ludus.agents.search import Thinking, is_mixed, think
from ludus.agents.snapshot import Snapshot
from ludus.arena.channel import write_message
from ludus.arena.processes import read_requests
from ludus.errors import LudusError, LudusWarning, describe_error
from ludus.gdl.described import DescribedGame
from ludus.gdl.game import game_of, make_file
from ludus.gdl.grounding import CannotGround
from ludus.gdl.kif import decode
from ludus.gdl.language import read_description
from ludus.gdl.waiting import on_slow
from ludus.ggp.line import Line
from ludus.ggp.messages import find_spelling

LONG = Budget(seconds=24 * 3600.0)
"""The budget of a search, which in fact ends with the next joint move."""
TELL_EVERY = 0.1
"""Seconds between two answers of a search."""
KINDS = ((2, False), (3, True), (1, False), (2, True), (3, False), (5, True), (5, False))
"""Numbers of players, and True where they move at once. Nodes have room for 2, 4, 16 or more players (search/tree.py),
and games with like nodes share their machine code: so these serve for up to 16 players."""
FIRST_KINDS = 2
"""The kinds that are compiled before the player says that it is ready; the others follow while there is no match."""

Send = Callable[[list[Any]], None]


def serve(requests: IO[bytes], replies: IO[bytes]) -> None:
    """Answer until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to all processes of a terminal: the parent decides
    warnings.simplefilter("ignore", LudusWarning)
    on_slow(None)  # the parent says what is played meanwhile
    lock = threading.Lock()

    def send(message: list[Any]) -> None:
        with lock, contextlib.suppress(OSError):  # the parent is gone: read_requests ends this process
            write_message(replies, message)

    send(["up"])
    read_requests(requests, Mind(send).take)


def warm_up(send: Send, learn: bool, idle: threading.Event) -> None:
    """Compile, or load, the machine code that matches need, so that no clock runs meanwhile.

    Kinds of games beyond the first are left for times at which `idle` is set.
    """
    at_once = threading.Event()
    at_once.set()
    for kinds, when in ((KINDS[:FIRST_KINDS], at_once), (KINDS[FIRST_KINDS:], idle)):
        warm_up_searches(kinds, when)
        if when is at_once:
            send(["warm"])
        if learn:
            warm_up_learning(kinds, when)


def warm_up_searches(kinds: Iterable[tuple[int, bool]], when: threading.Event) -> None:
    """Compile, or load, what searches need for these kinds of games; each only while `when` is set."""
    for kind in kinds:
        when.wait()
        for reasoner in (False, True):
            game = game_of_kind(*kind, reasoner)
            make_agent("uct", game).new_game(0)
            line = Line(game)
            for player in range(game.players):
                line.moves(player)


def warm_up_learning(kinds: Iterable[tuple[int, bool]], when: threading.Event) -> None:
    """Compile, or load, what learning needs for these kinds of games; each only while `when` is set."""
    from ludus.protocols import ggp_learning  # loads PyTorch

    for kind in kinds:
        when.wait()
        ggp_learning.warm_up(game_of_kind(*kind))


def game_of_kind(players: int, at_once: bool, reasoner: bool = False) -> DescribedGame:
    """A game of four plies for so many players, who move in turn or at once."""
    roles = [f"r{number}" for number in range(players)]
    may = "" if at_once else " (true (turn ?r))"
    rules = [
        *(
            f"(role {role}) (<= (next (turn {roles[number - 1]})) (true (turn {role})))"
            for number, role in enumerate(roles)
        ),
        "(init (turn r0)) (init (ply 0)) (<= terminal (true (ply 4)))",
        "(<= (next (ply ?b)) (true (ply ?a)) (after ?a ?b)) (after 0 1) (after 1 2) (after 2 3) (after 3 4)",
        f"(<= (legal ?r x) (role ?r){may}) (<= (legal ?r y) (role ?r){may})",
        "" if at_once else "(<= (legal ?r wait) (role ?r) (not (true (turn ?r))))",
        "(<= (next (did ?r)) (does ?r x)) (<= (next (did ?r)) (true (did ?r)))",
        "(<= (goal ?r 100) (role ?r) (true (did ?r))) (<= (goal ?r 0) (role ?r) (not (true (did ?r))))",
    ]
    return game_of(read_description("\n".join(rules)), "kind", None, reasoner=reasoner)


class Loader:
    """Makes the games of descriptions, and keeps the last of each kind: matches of one game often follow each other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[bool, tuple[str, DescribedGame]] = {}

    def game(self, file: Path, reasoner: bool) -> DescribedGame:
        """The game of a file on its network, or by the reasoner. CannotGround if it has no network."""
        text = decode(file.read_bytes())
        with self._lock:
            kept = self._kept.get(reasoner)
            if kept is None or kept[0] != text:
                if reasoner:
                    made: DescribedGame = game_of(read_description(text, file.name), file.stem, None, reasoner=True)
                else:
                    made = make_file(file, reasoner=False)
                kept = self._kept[reasoner] = (text, made)
            return kept[1]


class Mind:
    """The match under way. `take` is called in one thread; preparing and thinking have threads of their own."""

    def __init__(self, send: Send, seed: int | None = None):
        self.send = send
        self.random = Random(seed)
        self.quick, self.slow = Loader(), Loader()
        """Makers of games by the reasoner, and of games on a network, which may take a minute."""
        self.thought: Thought | None = None
        self.idle = threading.Event()
        """Set while there is no match."""
        self.idle.set()

    def take(self, request: list[Any]) -> None:
        match request:
            case ["warm", learn]:
                threading.Thread(target=warm_up, args=(self.send, learn, self.idle), daemon=True).start()
            case ["load", file]:
                threading.Thread(target=self._load, args=(Path(file),), daemon=True).start()
            case ["start", match, file, role, seconds, joint_moves]:
                self.end()
                self.idle.clear()
                self.thought = Thought(self, match, Path(file), role, seconds, joint_moves)
                self.thought.begin()
            case ["play", match, number, moves, answered] if self.thought is not None and self.thought.match == match:
                self.thought.play(number, moves, answered)
            case ["end", match]:
                threading.Thread(target=self._rest, args=(match, self.thought), daemon=True).start()
                self.end()

    def _load(self, file: Path) -> None:
        with contextlib.suppress(LudusError):  # START will tell
            self.quick.game(file, reasoner=True)
            self.slow.game(file, reasoner=False)

    def _rest(self, match: int, thought: Thought | None) -> None:
        """Tell when the threads of a match have ended, or compile what the next match needs as well."""
        for thread in thought.threads if thought is not None else ():
            while thread.is_alive() and thought is not None and not thought.is_compiling:
                thread.join(0.05)
        self.send(["idle", match])

    def end(self) -> None:
        """End the match under way, if there is one. Its threads end when they can."""
        if self.thought is not None:
            self.thought.end()
            self.thought = None
            self.idle.set()


class Thought:
    """One match: its line of positions, the agent that searches them, and the answer so far."""

    def __init__(self, mind: Mind, match: int, file: Path, role: str, seconds: float, joint_moves: list[list[str]]):
        self.mind, self.match, self.file, self.role = mind, match, file, role
        self.until = time.monotonic() + seconds
        """When learning must have ended."""
        self.is_long = seconds > 0
        self.earlier = joint_moves
        self.change = threading.Condition()
        """Protects what follows, and tells the thinking thread of new positions and agents."""
        self.line: Line | None = None
        self.me = 0
        self.agent: Agent | None = None
        self.number = 0
        self.version = 0
        """Raised with every new position or agent: a search of an older version ends."""
        self.ended = threading.Event()
        self.asked = threading.Event()
        """Set by the first PLAY: then learning ends."""
        self.is_compiling = False
        """True while an agent gets ready: on a new machine that takes a minute, which shall not be lost."""
        self.threads = [
            threading.Thread(target=self._guarded, args=(act,), daemon=True) for act in (self._prepare, self._think)
        ]

    def send(self, kind: str, *details: Any) -> None:
        if not self.ended.is_set():
            self.mind.send([kind, self.match, *details])

    # --- the parent's requests ----------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Find the legal moves by the reasoner, and start to prepare."""
        try:
            line = Line(self.mind.quick.game(self.file, reasoner=True), self.earlier)
        except LudusError as error:
            self.send("bad", str(error))
            return
        me = find_spelling(self.role, line.roles)
        if me is None:
            self.send("bad", f"there is no role {self.role}; the roles are {' '.join(line.roles)}")
            return
        with self.change:
            self.line, self.me = line, me
            self._answer_at_once()
        self.send("known", line.roles)
        for thread in self.threads:
            thread.start()

    def play(self, number: int, moves: list[str] | None, answered: str) -> None:
        """Take a joint move in, and answer with a legal move at once. `answered` is the answer before, if any."""
        self.asked.set()
        with self.change:
            self.number = number
            if self.line is None:  # the rules are bad
                return
            if moves is not None:
                self._advance(moves, answered)
            self._answer_at_once()
            self.version += 1
            self.change.notify_all()

    def end(self) -> None:
        with self.change:
            self.ended.set()
            self.asked.set()
            self.version += 1
            self.change.notify_all()

    def _advance(self, moves: list[str], answered: str) -> None:
        line = self.line
        assert line is not None
        before = len(line.played)
        try:
            line.play(moves)
        except LudusError as error:
            if not line.play_after_gap(moves, self.me, answered):
                self.send("lost", self.number, str(error))
                return
        goals = line.goals if line.is_over else None
        self.send("at", self.number, [list(each) for each in line.played[before:]], goals)

    def _answer_at_once(self) -> None:
        assert self.line is not None
        moves = list(self.line.moves(self.me))
        if moves:
            self.tell(self.number, self.mind.random.choice(moves), len(moves) == 1)

    def tell(self, number: int, move: str, done: bool) -> None:
        """Send an answer to the PLAY of this number."""
        self.send("move", number, move, done)

    # --- preparing ----------------------------------------------------------------------------------------------------

    def _guarded(self, act: Callable[[], None]) -> None:
        """Run a thread's work. What fails is told: the match goes on with random legal moves."""
        try:
            act()
        except Exception as error:
            self.send("told", f"failed: {describe_error(error)}")
            self.send("ready")

    def _prepare(self) -> None:
        """Make the game on its network, then learn if the start clock is long enough."""
        began = time.monotonic()
        try:
            game = self.mind.slow.game(self.file, reasoner=False)
        except CannotGround as error:
            self.send("told", f"played by the reasoner: {error}")
            # A game of its own: a slow query of the search must not delay the legal moves.
            self._use(make_agent("uct", self.mind.slow.game(self.file, reasoner=True)))
            self.send("ready")
            return
        self.send("told", f"loaded in {time.monotonic() - began:.1f} s")
        self._use(make_agent("uct", game), game)
        if self.is_long and not self.asked.is_set():
            from ludus.protocols.ggp_learning import learn_within  # loads PyTorch

            chosen = learn_within(
                game,
                self.until - time.monotonic(),
                folder=self.file.parent / "run",
                player=self.me,
                on_event=lambda event: self.send("told", str(event)),
                stop=self.asked,
            )
            if chosen.agent != "uct":
                self._use(make_agent(chosen.agent, game), game)
        self.send("ready")

    def _use(self, agent: Agent, game: DescribedGame | None = None) -> None:
        """Think with this agent from now on. The line moves to `game`, if given."""
        self.is_compiling = True
        agent.new_game(self.mind.random.getrandbits(32))
        self.is_compiling = False
        while True:
            with self.change:
                assert self.line is not None
                line, played = self.line, list(self.line.played)
            if game is not None and line.game is not game:
                line = Line(game, played)
                for player in range(game.players):  # compiles what the answers need, while nobody waits for it
                    line.moves(player)
            with self.change:
                if self.line.played == played:  # else a joint move has arrived meanwhile
                    self.line, self.agent = line, agent
                    self.version += 1
                    self.change.notify_all()
                    return

    # --- thinking -----------------------------------------------------------------------------------------------------

    def _think(self) -> None:
        """Search the present position until there is another one."""
        done = -1
        while not self.ended.is_set():
            with self.change:
                while self.version == done and not self.ended.is_set():
                    self.change.wait()
                done, number, line, agent = self.version, self.number, self.line, self.agent
                if agent is None or line is None or line.is_over or not (self.asked.is_set() or self._is_idle()):
                    continue
                position, choosers = line.position, line.choosers
                if not choosers:
                    continue
                player = self.me if self.me in choosers else choosers[0]
                searched = Search(self, done, number, line, player == self.me)
            choice, last = think(agent, position, LONG, player, searched.watch, lambda: self.version != done)  # noqa: B023
            if player == self.me and self.version == done:
                searched.tell(last, choice.action, done=True)

    def _is_idle(self) -> bool:
        """True if nothing is being learned, so that the rest of the start clock can be used for the first position."""
        return not self.threads[0].is_alive() or not self.is_long


class Search:
    """A search of one position: tells the parent the best move so far."""

    def __init__(self, thought: Thought, version: int, number: int, line: Line, is_mine: bool):
        self.thought, self.version, self.number, self.is_mine = thought, version, number, is_mine
        self.names = {action: move for move, action in line.moves(thought.me).items()}
        self.told = time.monotonic()

    def watch(self, search: Thinking) -> bool:
        if self.thought.version != self.version:
            return False
        if self.is_mine and time.monotonic() - self.told > TELL_EVERY:
            self.told = time.monotonic()
            self.tell(search.snapshot())
        return True

    def tell(self, snapshot: Snapshot, action: int | None = None, done: bool = False) -> None:
        """Send the best move; where two opponents move at once, one drawn from the policy of the search."""
        block = snapshot.block
        if action is None:
            action = block.best
            if is_mixed(snapshot.position) and block.policy is not None:
                action = self.thought.mind.random.choices(block.actions, block.policy)[0]
        move = self.names.get(int(action))
        if move is not None:
            self.thought.tell(self.number, move, done)
