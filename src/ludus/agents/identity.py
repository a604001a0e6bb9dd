"""Who exactly played: results are added up by identity, so agents that may differ in strength must never share one.

An identity says all that can matter: the kind, its budget and every option with defaults filled in, the checkpoint and
a digest of its weights, the version of Ludus; the digests of the files of an external program; where the budget is a
time, the machine as well. Two spellings of one agent, such as `uct` and `uct:10000`, have the same.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import platform
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.agents.budget import Budget
from ludus.agents.naming import COMMANDS, KINDS, Spec, parse
from ludus.errors import BadAgent
from ludus.machine import cpu_name
from ludus.runs.levels import levels_of

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.players import Player

DEFAULTS = {"engine": "auto", "threads": 0, "level": None}
"""Defaults of options that are read before the agent is made: its class has no parameters for them."""


@dataclass(frozen=True)
class Identity:
    """The identity of an agent, in full and in short."""

    text: str
    """Everything that can affect the agent's strength. Agents with equal texts play alike."""
    label: str
    """A short name for tables. Two agents may share one: `labels` tells them apart."""
    name: str
    """The name that makes this agent again. It has the number of the checkpoint, even if the user gave none."""
    kind: str
    run: str = ""
    """The folder of the run whose network the agent plays with; empty without one."""
    checkpoint: int | None = None
    """The checkpoint of that run; None without one."""


def identity(name: str, game: Game) -> str:
    """The full identity of the agent of that name."""
    return identify(name, game).text


def identify(name: str, game: Game) -> Identity:
    """The identity of the agent of that name. The agent itself is not made."""
    from ludus import __version__

    spec = parse(name)
    if spec.kind == "human":
        raise BadAgent("games of people are not recorded: nobody knows how strong they are that day")
    options, defaults = _options(spec)
    budget = spec.budget
    if budget is None and options.get("level") is None:  # a level has its own budget
        budget = _usual_budget(spec)
    facts: dict[str, Any] = {}
    words, short, run, checkpoint = list(spec.words), list(spec.words), "", None
    if takes_run(name):
        player = _player(spec, game)
        run, checkpoint = player.run, player.checkpoint
        facts["network"] = _digest_of_file(player.file, player.file.stat().st_mtime_ns)
        if checkpoint is not None:
            facts["checkpoint"] = checkpoint
        if options.get("level"):
            facts["strength"] = tuple(levels_of(player.file)[options["level"] - 1])
        own = getattr(_module(spec.kind), "defaults_for", None)
        if own is not None:
            defaults |= own(player)
            options |= {key: defaults[key] for key in own(player) if key not in spec.options}
        words = [player.name] if player.name else []
        short = [player.label] if player.name else []
    elif spec.kind == "sb3":
        file = _module("sb3").model_file(spec)
        facts["network"] = _digest_of_file(file, _changed(file))
        short = [file.name]
    elif words:
        facts["words"] = ":".join(words)
        if spec.kind in COMMANDS:
            short = [" ".join(Path(each).name for each in words[0].split())]
    more = getattr(_module(spec.kind), "facts_of", None)
    if more is not None:
        facts.update(more(spec))
    if budget is not None:
        facts["budget"] = _in_full(budget)
    facts.update(sorted(options.items()))
    changed = [f"{key}={_written(value)}" for key, value in sorted(options.items()) if value != defaults.get(key)]
    tail = [*([str(budget)] if budget else []), *changed]
    return Identity(
        f"{spec.kind}({', '.join(f'{key}={value}' for key, value in facts.items())}) ludus {__version__}",
        ":".join([spec.kind, *short, *tail]),
        ":".join([spec.kind, *words, *tail]),
        spec.kind,
        run,
        checkpoint,
    )


def takes_run(name: str) -> bool:
    """True if the agent of that name plays with the network of a run."""
    return "engine" in getattr(_module(parse(name).kind), "OPTIONS", {})


def with_time(name: str, seconds: float) -> str:
    """The name of the same agent with a budget in seconds a move. Agents without a budget keep their name."""
    spec = parse(name)
    if spec.kind in ("human", "solver", "adversarial"):
        raise BadAgent(f"{name} cannot be given a time a move; agents that can are uct, zero and rollout")
    if not hasattr(_module(spec.kind), "BUDGET"):
        return name
    given = [f"{key}={value}" for key, value in spec.options.items()]
    return ":".join([spec.kind, *spec.words, str(Budget(seconds=seconds)), *given])


def labels(identities: Iterable[tuple[str, str]]) -> dict[str, str]:
    """A label for each identity, from pairs of (text, label): two that share one get a mark to tell them apart."""
    texts = dict(identities)
    shared = Counter(texts.values())
    return {
        text: f"{label} #{_digest(text.encode())[:4]}" if shared[label] > 1 else label for text, label in texts.items()
    }


# --- The parts --------------------------------------------------------------------------------------------------------


def _module(kind: str) -> Any:
    """The module of a kind of agent; None for a kind that a program has added as a function."""
    home = KINDS[kind]
    return importlib.import_module(home) if isinstance(home, str) else None


def _options(spec: Spec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of all options of the kind, and their defaults."""
    module = _module(spec.kind)
    readers = getattr(module, "OPTIONS", None)
    if readers is None:  # the kind does not list its options
        return dict(spec.options), {}
    # The return type of `make` is the class of the agent, whose parameters have the defaults.
    parameters = inspect.signature(getattr(module, module.make.__annotations__["return"])).parameters
    defaults = {key: parameters[key].default if key in parameters else DEFAULTS[key] for key in readers}
    return {**defaults, **spec.read_options(readers)}, defaults


def _usual_budget(spec: Spec) -> Budget | None:
    """The budget of an agent whose name gives none: BUDGET of its module, or what `usual_budget` of the module says."""
    module = _module(spec.kind)
    return module.usual_budget(spec) if hasattr(module, "usual_budget") else getattr(module, "BUDGET", None)


def _player(spec: Spec, game: Game) -> Player:
    from ludus.agents.zero import player_named
    from ludus.runs.players import find_player

    return find_player(player_named(spec), game)


@functools.lru_cache(maxsize=4096)
def _digest_of_file(file: Path, changed: int) -> str:
    """The digest of a file. `changed` is its time of modification: a file that has changed is read again."""
    return _digest(file.read_bytes())


def _changed(file: Path) -> int:
    """The time of modification of a file, in nanoseconds."""
    try:
        return file.stat().st_mtime_ns
    except OSError as error:
        raise BadAgent(f"{file} cannot be read: {error.strerror}") from None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def _in_full(budget: Budget) -> str:
    return str(budget) if budget.seconds is None else f"{budget} on {this_machine()}"


@functools.cache
def this_machine() -> str:
    """The name of this machine and its CPU, which decide how much an agent does in a second."""
    return f"{platform.node()}, {cpu_name()}"


def _written(value: Any) -> str:
    """The value of an option as text, as an agent's name has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return np.format_float_positional(value, trim="-") if isinstance(value, float) else str(value)
