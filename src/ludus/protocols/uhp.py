"""The Universal Hive Protocol: an engine that viewers such as MzingaViewer talk to, with any agent of ours behind it.

Lines come in, answers go out; each answer ends with a line `ok`. Whatever comes in, the engine goes on.

`bestmove time hh:mm:ss` gives the agent so long, and `bestmove depth N` 500 * 2^N simulations: 1,000 for depth 1,
16,000 for depth 5. Agents that take no budget, such as greedy, take none.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ludus import __version__
from ludus.agents import Budget, make_agent
from ludus.agents.naming import parse
from ludus.errors import BadAgent, IllegalMove, LudusError, describe_error
from ludus.game import Position
from ludus.games._hive_checks import BrokenHive, play_checked
from ludus.games._hive_text import expansions_in, read_game_type
from ludus.games.hive import HiveGame

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.game import Game

LIMIT = 1000
"""The protocol knows no longest game. One of so many plies is a draw here."""
MOST_DEPTH = 20
MOST_PERFT = 12
SPARE = 0.05
"""Seconds of a time limit that are kept for the answer's way."""
FAILURES = Path("hive-failures")
"""Where positions are saved in which the rules contradict themselves."""


class Failed(LudusError):
    """A command cannot be obeyed; the message says why."""


@dataclass
class Option:
    """One line of the answer to `options`."""

    name: str
    kind: str
    default: str
    extra: tuple[str, ...] = ()
    """Lowest and highest for an int, the values of an enum."""
    value: str = field(init=False)

    def __post_init__(self) -> None:
        self.value = self.default

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
    """A game, and the commands of the protocol as methods that return the lines before `ok`."""

    def __init__(self, agent: str = "uct", seed: int = 0, limit: int = LIMIT, failures: Path = FAILURES):
        agents = tuple(dict.fromkeys((agent, "uct", "greedy", "random")))
        options = (
            Option("Agent", "enum", agent, agents),
            Option("Seed", "int", str(seed), ("0", str(2**31 - 1))),
            Option("Horizon", "int", "8", ("0", str(limit))),
            Option("Repetition", "bool", "False"),
            Option("Checks", "bool", "True"),
        )
        self.settings = {option.name.lower(): option for option in options}
        self.limit, self.failures = limit, failures
        self.position: Position | None = None
        self.player: Agent | None = None
        """Who thinks; there is one while there is a game."""
        self.left = False
        """Has somebody said exit?"""
        if parse(agent).kind == "human":
            raise BadAgent("a person cannot be the engine: standard input is for the protocol")
        make_agent(agent, self.make_game(0))  # a name that means nothing is refused at once
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
        """All lines of the answer to a line."""
        name, _, rest = line.strip().partition(" ")
        try:
            command = self.commands.get(name.lower())
            if command is None:
                raise Failed(
                    f"there is no command {name!r}; help lists them" if name else "no command; help lists them"
                )
            return [*command(rest.strip()), "ok"]
        except IllegalMove as error:
            return [f"invalidmove {one_line(error)}", "ok"]
        except LudusError as error:
            return [f"err {one_line(error)}", "ok"]
        except Exception as error:  # a bug of ours must not end somebody's game
            return [f"err {one_line(str(error) if isinstance(error, BrokenHive) else describe_error(error))}", "ok"]

    # --- the game ---------------------------------------------------------------------------------------------------

    def info(self, rest: str) -> list[str]:
        """info: the engine's name, and the expansions that it knows"""
        refuse(rest)
        return [f"id Ludus {__version__}", "Mosquito;Ladybug;Pillbug"]

    def new_game(self, rest: str) -> list[str]:
        """newgame [GameTypeString | GameString]: begin a game, or go on with one"""
        game = self.make_game(read_game_type(rest.partition(";")[0]) if rest else 0)
        position = game.parse(rest) if ";" in rest else game.start()
        self.player = self.make_player(game)
        self.player.choose(game.start(), 1)  # what is compiled, is compiled now, while no clock runs
        self.position = position
        return [self.position.text]

    def make_game(self, expansions: int) -> HiveGame:
        repetition = self.value("Repetition") == "True"
        return HiveGame(expansions=expansions_in(expansions), limit=self.limit, repetition=repetition)

    def present(self, going_on: bool = True) -> Position:
        """The position, or a complaint."""
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
        position = self.present(going_on=False)
        line = self.history(position)
        count = whole_number(rest, "undo", len(line) - 1, 1)
        self.position = line[-1 - count]
        return [self.position.text]

    def history(self, position: Position) -> list[Position]:
        """The positions from the start, also where the game came as a GameString."""
        line = position.history
        if line[0].state.ply > 0:
            moves = line[0].text.split(";")[3:]
            before = position.game.start()
            for move in moves:
                before = before.play(move)
            line = [*before.history[:-1], *line]
        return line

    # --- thinking ---------------------------------------------------------------------------------------------------

    def best_move(self, rest: str) -> list[str]:
        """bestmove time hh:mm:ss, bestmove depth N: the move that the agent would play"""
        kind, _, amount = rest.lower().partition(" ")
        position, amount = self.present(), amount.strip()
        if kind == "time":
            found = re.fullmatch(r"([0-9]{1,4}):([0-5]?[0-9]):([0-5]?[0-9](?:\.[0-9]+)?)", amount)
            if not found:
                raise Failed(f"a time is written as hh:mm:ss, such as 00:00:05, not {amount!r}")
            seconds = 3600 * int(found[1]) + 60 * int(found[2]) + float(found[3])
            budget = Budget(seconds=max(seconds - SPARE, 0.01))
        elif kind == "depth":
            budget = Budget(simulations=500 * 2 ** whole_number(amount, "bestmove depth", MOST_DEPTH))
        else:
            raise Failed("bestmove needs time hh:mm:ss or depth N")
        player, horizon = self.player, int(self.value("Horizon"))
        if horizon > 0 and parse(self.value("Agent")).kind == "uct":
            # Random moves seldom surround a queen: playouts stop after some plies, and the queens' neighbours decide.
            game = position.game.decided_at(int(position.state.ply) + horizon)  # type: ignore[attr-defined]
            player, position = self.make_player(game), Position(game, position.states)
        assert player is not None
        return [player.choose(position, budget).move]

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
        return [f"perft({plies}) = {perft(position, plies)}" for plies in range(depth + 1)]

    def help(self, rest: str) -> list[str]:
        """help: this list"""
        refuse(rest)
        return [inspect.getdoc(command) or name for name, command in self.commands.items()]

    def exit(self, rest: str) -> list[str]:
        """exit: leave"""
        refuse(rest)
        self.left = True
        return []


def refuse(rest: str) -> None:
    if rest:
        raise Failed(f"{rest!r} is too much: this command takes no more words")


def whole_number(text: str, what: str, most: int, default: int | None = None) -> int:
    """A number from 1 on."""
    if not text and default is not None:
        text = str(default)
    if most < 1:
        raise Failed("there is nothing to undo")
    if not re.fullmatch(r"[0-9]{1,9}", text) or not 1 <= int(text) <= most:
        raise Failed(f"{what} takes a whole number from 1 to {most}, not {text!r}")
    return int(text)


def one_line(error: object) -> str:
    return " ".join(str(error).split())


def run(agent: str = "uct", seed: int = 0, lines: Iterable[str] | None = None) -> None:
    """Answer lines until they end, or one is exit."""
    engine = Engine(agent, seed)
    say(engine.answer("info"))
    for line in sys.stdin if lines is None else lines:
        say(engine.answer(line))
        if engine.left:
            return


def say(lines: list[str]) -> None:
    print("\n".join(lines), flush=True)
