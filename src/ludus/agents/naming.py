"""Agents by name, the same grammar everywhere: `name[:part[:part ...]]`.

    random                  any legal move
    greedy                  the best move by the game's heuristic, one move ahead
    adversarial:3           alpha-beta over the same heuristic, three plies ahead
    uct:10000  uct:2s       tree search with random playouts, 10000 simulations or 2 seconds a move
    uct:1000:c=0.7          the same with an option (ludus.agents.uct lists them)
    solver                  perfect play; solver:10s gives up after 10 seconds
    human                   asks on the terminal
    zero:RUN  zero:RUN:2s   tree search with the network of a training run (ludus.agents.zero lists its options)
    policy:RUN              the network of a run alone, without search
    rollout:RUN:100         tree search whose playouts the network of a run plays
    sb3:model.zip           a policy learned with Stable-Baselines3, without search
    openspiel:mcts:1000     a bot of OpenSpiel

A part is a budget, an option as key=value, or a word (a file, for kinds that take one).

External programs play too (docs/engines.md). The command or address may hold colons and spaces; a budget and options
may follow it:

    engine:COMMAND          a program that speaks the protocol of docs/engine-protocol.md
    uhp:COMMAND:5s          a Hive engine that speaks the Universal Hive Protocol
    cachex:FILE             a player file for the Cachex referee
    ggp:HOST:PORT           a player of general game playing, over HTTP
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ludus.agents.budget import Budget, looks_like_budget
from ludus.errors import BadAgent
from ludus.machine import memory_size
from ludus.options import convert

if TYPE_CHECKING:
    from ludus.agents.agent import Agent
    from ludus.game import Game

Factory = Callable[["Spec", "Game", int], "Agent"]
"""Makes an agent from (spec, game, seed), or raises BadAgent where it cannot play this game."""

KINDS: dict[str, str | Factory] = {
    "random": "ludus.agents.random",
    "greedy": "ludus.agents.greedy",
    "adversarial": "ludus.agents.adversarial",
    "uct": "ludus.agents.uct",
    "solver": "ludus.agents.solver",
    "human": "ludus.agents.human",
    "zero": "ludus.agents.zero",
    "policy": "ludus.agents.policy",
    "rollout": "ludus.agents.rollout",
    "sb3": "ludus.agents.sb3",
    "engine": "ludus.agents.external.engine",
    "uhp": "ludus.agents.external.uhp",
    "cachex": "ludus.agents.external.cachex",
    "ggp": "ludus.agents.external.ggp",
    "openspiel": "ludus.agents.external.openspiel",
}
"""Every kind of agent: its factory, or the module with the factory `make`, which is loaded when it is first needed."""

EXTERNAL = "ludus.agents.external."
"""Prefix of the modules whose agents have a process of their own."""

TIME = r"[0-9._]+(ms|s|min)"
COMMANDS = {"engine": r"[0-9._]+[a-zA-Z]*", "uhp": TIME, "cachex": TIME, "ggp": TIME}
"""The kinds whose names hold a command or an address, which may contain colons; and the budgets that may follow it."""
ONE_GAME = ("ggp",)
"""The kinds whose players can be in one game at a time."""
OPTION_AT_END = r"[a-z_]+=[\w.]*"


@dataclass
class Spec:
    """An agent's name, taken apart."""

    text: str
    kind: str
    budget: Budget | None = None
    options: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def read(self, **readers: Callable[[str], Any]) -> dict[str, Any]:
        """The options that were given, of a kind that takes no words."""
        self.refuse_words()
        return self.read_options(readers)

    def read_options(self, readers: Mapping[str, Callable[[str], Any]]) -> dict[str, Any]:
        """The options that were given, each read by its reader, which raises ValueError with what it wants."""
        read = {}
        for key, value in self.options.items():
            if key not in readers:
                has = f"its options are {', '.join(readers)}" if readers else "it has no options"
                raise BadAgent(f"{self.text}: {self.kind} has no option {key!r}; {has}")
            try:
                read[key] = readers[key](value)
            except ValueError as error:
                raise BadAgent(f"{self.text}: {key} must be {error}, not {value!r}") from None
        return read

    def refuse_words(self) -> None:
        if self.words:
            raise BadAgent(
                f"{self.text}: {self.words[0]!r} is neither a budget, such as 10000 or 2s, nor an option, such as c=0.7"
            )

    def refuse_budget(self) -> None:
        if self.budget is not None:
            raise BadAgent(f"{self.text}: {self.kind} takes no budget")


def parse(text: str) -> Spec:
    """Take an agent's name apart. The kind checks later whether the parts fit it."""
    kind, *parts = text.strip().split(":")
    words: list[str] = []
    if kind in COMMANDS and parts:
        command, parts = _split_command(kind, text.strip().partition(":")[2])
        words = [command]
    if kind not in KINDS:
        close = difflib.get_close_matches(kind, KINDS, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(KINDS)}"
        raise BadAgent(f"no agent is called {kind!r}; {hint}")
    spec = Spec(text.strip(), kind, words=words)
    for part in parts:
        key, equals, value = part.partition("=")
        if equals:
            spec.options[key.strip()] = value.strip()
        elif looks_like_budget(part):
            if spec.budget is not None:
                raise BadAgent(f"{text}: two budgets, {spec.budget} and {part}; give one")
            try:
                spec.budget = Budget.of(part)
            except BadAgent as error:
                raise BadAgent(f"{text}: {error}") from None
        else:
            spec.words.append(part)
    return spec


def _split_command(kind: str, text: str) -> tuple[str, list[str]]:
    """The command of an external program, and the budget and options after it."""
    parts: list[str] = []
    while True:
        command, colon, last = text.rpartition(":")
        if not colon or not (re.fullmatch(COMMANDS[kind], last) or re.fullmatch(OPTION_AT_END, last)):
            return text.strip(), parts
        text, parts = command, [last, *parts]


def names_a_program(text: str) -> bool:
    """True if making the agent of this name starts a program, or calls an address, that the name holds.

    A name in a file or a request of others must not do this without the user's consent.
    """
    return text.strip().partition(":")[0] in COMMANDS


def make_agent(text: str, game: Game, seed: int = 0) -> Agent:
    """The agent of that name, to play this game; the same seed gives the same moves."""
    spec = parse(text)
    factory = KINDS[spec.kind]
    if isinstance(factory, str):
        factory = importlib.import_module(factory).make
    return factory(spec, game, seed)


# --- Readers of options -----------------------------------------------------------------------------------------------


def yes_or_no(text: str) -> bool:
    return convert(text, bool)


def number_from_0(text: str) -> float:
    try:
        number = convert(text, float)
    except ValueError:
        number = -1.0
    if number < 0:
        raise ValueError("a number from 0 on")
    return number


def whole_from_1(text: str) -> int:
    try:
        number = convert(text, int)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError("a whole number from 1 on")
    return number


def size(text: str) -> int:
    """Bytes, from 256MB and the like."""
    units = {"": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
    found = re.fullmatch(r"([0-9]*\.?[0-9]+)\s*([a-z]*)", text.lower())
    size = float(found[1]) * units[found[2]] if found and found[2] in units else 0.0
    if size < 1:
        raise ValueError("a size such as 256MB or 2GB")
    if size > memory_size():
        raise ValueError(f"at most the memory of this machine, {memory_size() >> 20}MB")
    return int(size)
