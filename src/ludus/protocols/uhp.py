"""The Universal Hive Protocol: an engine for viewers such as MzingaViewer, with any agent of Ludus behind it.

The engine reads a command from each line and prints an answer that ends with a line `ok`. No input ends it but `exit`.

`bestmove time hh:mm:ss` limits the agent's time, and `bestmove depth N` its simulations, to 500 * 2^N: 1,000 for depth
1, 16,000 for depth 5. `bestmove` alone leaves the agent its own budget. Agents without a budget, such as greedy, take
none. SIGINT, which viewers send for Cancel, makes a search answer at once with its best move so far.
"""

from __future__ import annotations

import inspect
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ludus import __version__
from ludus.agents import Budget, make_agent
from ludus.agents.naming import parse
from ludus.agents.search import Thinking, think
from ludus.errors import BadAgent, BadPosition, IllegalMove, LudusError, describe_error, one_line
from ludus.game import Position
from ludus.games._hive_checks import BrokenHive, play_checked
from ludus.games._hive_text import expansions_in, read_game_type
from ludus.games.hive import HiveGame

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.game import Game

LIMIT = 1000
"""A game of this many plies is a draw. The protocol itself has no limit."""
MOST_DEPTH = 20
MOST_PERFT = 12
SPARE = 0.05
"""Seconds of a time limit that are reserved for sending the answer."""
REPORT_EVERY = 0.1
"""Seconds between two checks for a new best move to report."""
FAILURES = Path("hive-failures")
"""The folder for positions that fail the consistency checks."""


class Failed(LudusError):
    """A command cannot be carried out; the message gives the reason."""


@dataclass
class Option:
    """One line of the answer to `options`."""

    name: str
    kind: str
    default: str
    extra: tuple[str, ...] = ()
    """The lowest and highest number of an int, or the values of an enum."""
    value: str = field(init=False)

    def __post_init__(self) -> None:
        self.set(self.default)

    def __str__(self) -> str:
        return ";".join((self.name, self.kind, self.value, self.default, *self.extra))

    def set(self, text: str) -> None:
        if self.kind == "int":
            low, high = map(int, self.extra)
            if not re.fullmatch(r"[-+]?[0-9]{1,18}", text) or not low <= int(text) <= high:
                raise Failed(f"{self.name} must be a whole number from {low} to {high}, not {text!r}")
            self.value = str(int(text))
            return
        values = self.extra or ("True", "False")
        found = next((value for value in values if value.lower() == text.lower()), None)
        if found is None:
            raise Failed(f"{self.name} must be one of {' '.join(values)}, not {text!r}")
        self.value = found


class Engine:
    """A game, and the commands of the protocol as methods that return the lines before `ok`.

    `say` is called with lines that come before the answer: intermediate best moves, if that option is on.
    """

    def __init__(
        self,
        agent: str = "uct",
        seed: int = 0,
        limit: int = LIMIT,
        failures: Path = FAILURES,
        say: Callable[[list[str]], object] = lambda lines: None,
    ):
        agents = tuple(dict.fromkeys((agent, "uct", "greedy", "random")))
        options = (
            Option("Agent", "enum", agent, agents),
            Option("Seed", "int", str(seed), ("0", str(2**31 - 1))),
            Option("Horizon", "int", str(min(8, limit)), ("0", str(limit))),
            Option("Repetition", "bool", "False"),
            Option("Checks", "bool", "True"),
            Option("ReportIntermediateBestMoves", "bool", "False"),
        )
        self.settings = {option.name.lower(): option for option in options}
        self.limit, self.failures, self.say = limit, failures, say
        self.position: Position | None = None
        self.player: Agent | None = None
        """The agent of the current game; None if there is no game."""
        self.left = False
        """True after the command exit."""
        self.cancelled = threading.Event()
        """Set to make the search under way answer at once. Each command clears it when it begins."""
        if parse(agent).kind == "human":
            raise BadAgent("a person cannot be the engine: standard input is for the protocol")
        make_agent(agent, self.make_game(0))  # refuses an unknown name at once
        self.commands: dict[str, Callable[[str], list[str]]] = {
            "info": self.info,
            "newgame": self.new_game,
            "play": self.play,
            "pass": self.pass_turn,
            "validmoves": self.valid_moves,
            "bestmove": self.best_move,
            "undo": self.undo,
            "options": self.options,
            "perft": self.perft,
            "help": self.help,
            "exit": self.exit,
        }

    def answer(self, line: str) -> list[str]:
        """All lines of the answer to a line; none to an empty one."""
        name, rest = (*line.split(maxsplit=1), "", "")[:2]
        if not name:
            return []
        self.cancelled.clear()
        try:
            command = self.commands.get(name.lower())
            if command is None:
                raise Failed(f"there is no command {name!r}; help lists them")
            return [*command(rest.strip()), "ok"]
        except IllegalMove as error:
            return [f"invalidmove {one_line(error)}", "ok"]
        except LudusError as error:
            return [f"err {one_line(error)}", "ok"]
        except Exception as error:  # a bug of the engine must not end the viewer's game
            return [f"err {one_line(str(error) if isinstance(error, BrokenHive) else describe_error(error))}", "ok"]

    # --- the game ---------------------------------------------------------------------------------------------------

    def info(self, rest: str) -> list[str]:
        """info: the engine's name, and the expansions that it knows"""
        refuse(rest)
        return [f"id Ludus {__version__}", "Mosquito;Ladybug;Pillbug"]

    def new_game(self, rest: str) -> list[str]:
        """newgame [GameTypeString | GameString]: begin a game, or go on with one"""
        game = self.make_game(read_game_type(rest.partition(";")[0]) if rest else 0)
        player = self.make_player(game)
        player.choose(game.start(), 1)  # compiles before a time limit begins
        self.player, self.position = player, replay(game, rest)
        return [self.position.text]

    def make_game(self, expansions: int) -> HiveGame:
        repetition = self.value("Repetition") == "True"
        return HiveGame(expansions=expansions_in(expansions), limit=self.limit, repetition=repetition)

    def present(self, going_on: bool = True) -> Position:
        """The current position; raises Failed if there is no game or, if `going_on`, the game is over."""
        if self.position is None:
            raise Failed("there is no game; begin one with newgame")
        if going_on and self.position.is_over:
            raise Failed("the game is over; begin another with newgame, or go back with undo")
        return self.position

    def play(self, rest: str) -> list[str]:
        """play MoveString: make a move"""
        position = self.present()
        if not rest:
            raise Failed("play needs a move, such as play wA1 bQ-")
        if self.value("Checks") == "True":
            self.position = play_checked(position, rest, self.failures)
        else:
            self.position = position.play(rest)
        return [self.position.text]

    def pass_turn(self, rest: str) -> list[str]:
        """pass: the same as play pass"""
        refuse(rest)
        return self.play("pass")

    def valid_moves(self, rest: str) -> list[str]:
        """validmoves: all legal moves"""
        refuse(rest)
        return [";".join(self.present().moves)]

    def undo(self, rest: str) -> list[str]:
        """undo [N]: take the last move back, or the last N"""
        line = self.present(going_on=False).history
        count = whole_number(rest, "undo", len(line) - 1, 1)
        self.position = line[-1 - count]
        return [self.position.text]

    # --- thinking ---------------------------------------------------------------------------------------------------

    def best_move(self, rest: str) -> list[str]:
        """bestmove [time hh:mm:ss | depth N]: the move that the agent would play"""
        kind, amount = (*rest.lower().split(maxsplit=1), "", "")[:2]
        position, amount = self.present(), amount.strip()
        budget: Budget | None = None
        if kind == "time":
            found = re.fullmatch(r"([0-9]{1,4}):([0-5]?[0-9]):([0-5]?[0-9](?:\.[0-9]+)?)", amount)
            if not found:
                raise Failed(f"a time is written as hh:mm:ss, such as 00:00:05, not {amount!r}")
            seconds = 3600 * int(found[1]) + 60 * int(found[2]) + float(found[3])
            budget = Budget(seconds=max(seconds - SPARE, 0.01))
        elif kind == "depth":
            budget = Budget(simulations=500 * 2 ** whole_number(amount, "bestmove depth", MOST_DEPTH))
        elif kind:
            raise Failed("it is bestmove, bestmove time hh:mm:ss or bestmove depth N")
        player, horizon = self.player, int(self.value("Horizon"))
        if horizon > 0 and parse(self.value("Agent")).kind == "uct":
            # Random moves seldom surround a queen: playouts stop after some plies, and the queens' neighbours decide.
            game = position.game.decided_at(int(position.state.ply) + horizon)  # type: ignore[attr-defined]
            player, position = self.make_player(game), Position(game, position.states)
        assert player is not None
        report = self.reporter() if self.value("ReportIntermediateBestMoves") == "True" else None
        choice, _ = think(player, position, budget, watch=report, is_stopped=self.cancelled.is_set)
        return [choice.move]

    def reporter(self) -> Callable[[Thinking], None]:
        """A callback that reports each new best move of a search with depth and value, in Mzinga's format."""
        best, due = "", 0.0

        def report(search: Thinking) -> None:
            nonlocal best, due
            if search.seconds >= due:
                due = search.seconds + REPORT_EVERY
                snapshot = search.snapshot()
                if snapshot.best != best:
                    best = snapshot.best
                    self.say([f"{best};{len(snapshot.principal)};{snapshot.value:.2f}"])

        return report

    def make_player(self, game: Game) -> Agent:
        seed = int(self.value("Seed"))
        player = make_agent(self.value("Agent"), game, seed)
        player.new_game(seed)
        return player

    # --- the engine -------------------------------------------------------------------------------------------------

    def value(self, name: str) -> str:
        return self.settings[name.lower()].value

    def options(self, rest: str) -> list[str]:
        """options [get NAME | set NAME VALUE]: show the options, or one of them, or change it"""
        if not rest:
            return [str(option) for option in self.settings.values()]
        action, name, value = (*rest.split(maxsplit=2), "", "")[:3]
        if action.lower() not in ("get", "set") or not name:
            raise Failed("it is options, options get NAME or options set NAME VALUE")
        option = self.settings.get(name.lower())
        if option is None:
            raise Failed(
                f"there is no option {name!r}; there are {' '.join(each.name for each in self.settings.values())}"
            )
        if action.lower() == "get":
            refuse(value)
        else:
            option.set(value.strip())
            if self.position is not None:
                self.player = self.make_player(self.position.game)
        return [str(option)]

    def perft(self, rest: str) -> list[str]:
        """perft [N]: count the lines of play, to 5 plies or to N"""
        from ludus.search.perft import perft

        position = self.present(going_on=False)
        depth = whole_number(rest, "perft", MOST_PERFT, 5)
        return [f"perft({plies}) = {perft(position, plies, stop=self.cancelled)}" for plies in range(depth + 1)]

    def help(self, rest: str) -> list[str]:
        """help: this list"""
        refuse(rest)
        return [inspect.getdoc(command) or name for name, command in self.commands.items()]

    def exit(self, rest: str) -> list[str]:
        """exit: leave"""
        refuse(rest)
        self.left = True
        return []


def replay(game: HiveGame, text: str) -> Position:
    """The position of a GameString, with its history, by its moves alone.

    Its state and turn are ignored, as other engines do: the players may have resigned, or agreed on a draw.
    """
    position, place = game.start(), 0
    for number, part in enumerate(text.rstrip("; \t").split(";")):
        if number >= 3:
            if game.values_of(position.state) is not None:
                raise BadPosition(f"{part.strip()!r} comes after the end of the game", place)
            try:
                action = game.read_move(position.state, (number - 3) & 1, part)  # legal moves only
            except IllegalMove as error:
                raise BadPosition(f"{part.strip()!r}: {error}", place) from None
            states = position.states.copy()
            game.run("step", states, np.array([action], np.int32))
            position = Position(game, states, position, action)
        place += len(part) + 1
    return position


def refuse(rest: str) -> None:
    if rest:
        raise Failed(f"{rest!r} is too much: this command takes no more words")


def whole_number(text: str, what: str, most: int, default: int | None = None) -> int:
    """A whole number from 1 to `most`; raises Failed."""
    if not text and default is not None:
        text = str(default)
    if most < 1:
        raise Failed("there is nothing to undo")
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= most:
        raise Failed(f"{what} takes a whole number from 1 to {most}, not {text!r}")
    return int(text)


def run(agent: str = "uct", seed: int = 0, lines: Iterable[str] | None = None) -> None:
    """Answer lines until the end of the input or the command exit."""
    for stream in (sys.stdin, sys.stdout):  # the protocol is UTF-8, even if the console is not
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    engine = Engine(agent, seed, say=say)
    with interrupts_call(engine.cancelled.set):
        say(engine.answer("info"))
        for line in sys.stdin if lines is None else lines:
            say(engine.answer(line))
            if engine.left:
                return


@contextmanager
def interrupts_call(function: Callable[[], object]) -> Iterator[None]:
    """Within this block, SIGINT calls a function and does not end the process. Works in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda number, frame: function())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def say(lines: list[str]) -> None:
    if lines:
        print("\n".join(lines), flush=True)
