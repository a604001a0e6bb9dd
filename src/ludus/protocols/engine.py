"""An agent of Ludus as an engine: it speaks the protocol of docs/engine-protocol.md on standard input and output.

The other side is the agent `engine:COMMAND` (ludus.agents.external.engine), in this or another version of Ludus.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

from ludus import __version__
from ludus.agents import Budget, make_agent
from ludus.agents.agent import Agent, Choice
from ludus.agents.external.engine import PROTOCOL
from ludus.agents.naming import parse
from ludus.agents.search import think
from ludus.errors import BadAgent, BadOption, ChangedRules, LudusError, describe_error, one_line
from ludus.game import Game, Position
from ludus.registry import remake
from ludus.spec import GameSpec

MAX_LINE = 1 << 24
"""Largest line in characters: a position comes with all moves of its game."""


class Engine:
    """The commands of the protocol as methods. `say` is called with every line of an answer."""

    def __init__(self, agent: str, say: Callable[[str], object], trust: bool = False):
        if parse(agent).kind == "human":
            raise BadAgent("a person cannot be the engine: standard input is for the protocol")
        self.name, self.say, self.trust = agent, say, trust
        self.game: Game | None = None
        self.agent: Agent | None = None
        self.position: Position | None = None
        self.player = 0
        self.stopped = threading.Event()
        """Set to make the search under way answer at once."""
        self.commands: dict[str, Callable[[Any], None]] = {
            "ludus": self.hello,
            "game": self.set_game,
            "new": self.new_game,
            "position": self.set_position,
            "go": self.go,
        }

    def take(self, line: str) -> None:
        """Carry out a line. Unknown commands are ignored, so that later versions of the protocol may have more."""
        word, _, rest = line.strip().partition(" ")
        command = self.commands.get(word)
        if command is None:
            return
        try:
            command(json.loads(rest or "{}"))
        except LudusError as error:
            self.say(f"refuse {one_line(error)}")
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            self.say(f"refuse {word}: {one_line(describe_error(error))}")

    def hello(self, content: dict[str, Any]) -> None:
        if content.get("protocol") != PROTOCOL:
            raise BadOption(f"this engine speaks version {PROTOCOL} of the protocol, not {content.get('protocol')}")
        self.say(f"engine {json.dumps({'name': f'Ludus {self.name}', 'version': __version__})}")

    def set_game(self, content: dict[str, Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChangedRules)  # the identities are compared
            game = remake(GameSpec.from_json(content["game"]), trust=self.trust)
        if game.identity != content["identity"]:
            raise BadOption(f"this engine has other rules: {game.identity}, not {content['identity']}")
        self.game, self.agent = game, make_agent(self.name, game)
        self.say("ready")

    def new_game(self, content: dict[str, Any]) -> None:
        if self.agent is None:
            raise BadOption("there is no game; send the command game first")
        self.position = None
        self.agent.new_game(int(content.get("seed", 0)))
        self.say("ready")

    def set_position(self, content: dict[str, Any]) -> None:
        if self.game is None:
            raise BadOption("there is no game; send the command game first")
        at = self.game.parse(content["start"])
        known = [] if self.position is None else self.position.history
        moves = content["moves"]
        for number, move in enumerate(moves):
            # Positions that are known from the last question are the same objects: the agent keeps its tree.
            after = at.play(move)
            at = known[number + 1] if number + 1 < len(known) and known[number + 1] == after else after
        self.position, self.player = at, int(content["player"])

    def go(self, content: dict[str, Any]) -> None:
        if self.position is None or self.agent is None:
            raise BadOption("there is no position; send the command position first")
        given = {key: content[key] for key in ("simulations", "seconds") if content.get(key) is not None}
        budget = Budget(**given) if given else None
        choice, _ = think(self.agent, self.position, budget, self.player, is_stopped=self.stopped.is_set)
        self.say(f"info {json.dumps(info(choice))}")
        self.say(f"move {choice.move}")


def info(choice: Choice) -> dict[str, Any]:
    """The content of the line `info`."""
    known = {"value": choice.value, "simulations": choice.simulations, "line": choice.line}
    return {key: value for key, value in known.items() if value is not None}


def run(agent: str = "uct", trust: bool = False) -> None:
    """Answer lines until the input ends or the command quit. Output of the agent's code goes to standard error."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout.flush()
    os.dup2(2, 1)

    def say(line: str) -> None:
        print(line, file=replies, flush=True)

    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    engine = Engine(agent, say, trust)
    waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        while line := sys.stdin.readline(MAX_LINE):
            word = line.partition(" ")[0].strip()
            if word == "quit":
                break
            if word == "stop":
                engine.stopped.set()
            else:
                if word == "go":
                    engine.stopped.clear()  # here: a stop that follows at once is not lost
                waiting.put(line)
        engine.stopped.set()
        waiting.put(None)

    threading.Thread(target=read, daemon=True).start()
    with contextlib.suppress(BrokenPipeError):  # the other side is gone
        while (line := waiting.get()) is not None:
            engine.take(line)
