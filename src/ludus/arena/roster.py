"""The agents of an arena: agents given by name, checkpoints of runs, and reference agents to compare them with.

Runs are searched for new checkpoints again and again, because a run may train while it is rated. A run with many
checkpoints takes part with every second, fourth ... of them, and with its latest if no newer one comes for a while.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.agents.budget import MOST_SIMULATIONS
from ludus.agents.identity import Identity, identify
from ludus.agents.naming import KINDS, names_a_program, parse
from ludus.bounded import read_text
from ludus.errors import BadOption, LudusError, Untrusted
from ludus.runs.run import Run
from ludus.spec import shortened

if TYPE_CHECKING:
    from ludus.game import Game

YARDSTICKS = ("uct:30", "uct:300", "uct:3000")
"""Reference agents for the checkpoints of a run, besides the anchor."""
SIMULATIONS = 100
"""Default number of simulations a move for checkpoints."""
MOST = 24
"""Default upper limit for the checkpoints of one run."""
SETTLED = 60.0
"""Seconds without a newer checkpoint after which the latest one takes part."""
LARGEST_PLAN = 1 << 20
"""Upper limit for the size of arena.toml, in bytes."""


@dataclass(frozen=True)
class Plan:
    """The settings of the arena of a run, from `arena.toml` in its folder or from the user."""

    series: str = ""
    """The opponents of checkpoints, as a line for `read_series`; empty: games are chosen by their information."""
    simulations: int = SIMULATIONS
    """Simulations a move for checkpoints."""
    every: int | None = None
    """Every K-th checkpoint takes part; None: up to `MOST` checkpoints."""
    agents: tuple[str, ...] = YARDSTICKS
    """Reference agents."""


def read_plan(folder: Path, trust: bool = False, **given: Any) -> Plan:
    """The settings in the folder of a run, overruled by those given that are not None.

    An external program among the agents of the file is used only with `trust`, else Untrusted is raised.
    """
    file = folder / "arena.toml"
    said: dict[str, Any] = {}
    if file.is_file():
        try:
            said = tomllib.loads(read_text(file, LARGEST_PLAN))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise BadOption(f"{file} cannot be read: {error}") from None
    kinds = {"series": str, "simulations": int, "every": int, "agents": list}
    for key, value in said.items():
        if key not in kinds:
            raise BadOption(f"{file}: {key!r} is none of {', '.join(kinds)}")
        if not isinstance(value, kinds[key]) or isinstance(value, bool):
            raise BadOption(f"{file}: {key} must be {kinds[key].__name__}, not {value!r}")
    if "agents" in said:
        said["agents"] = tuple(str(each) for each in said["agents"])
        for name in said["agents"]:
            if names_a_program(name) and not trust:
                raise Untrusted(f"{file} names the agent {shortened(name)}, which is a program")
    plan = Plan(**{**said, **{key: value for key, value in given.items() if value is not None}})
    if not 1 <= plan.simulations <= MOST_SIMULATIONS:
        raise BadOption(f"simulations must be from 1 to {MOST_SIMULATIONS}, not {plan.simulations}")
    if plan.every is not None and plan.every < 1:
        raise BadOption(f"every must be at least 1, not {plan.every}")
    return plan


def is_agent(text: str) -> bool:
    """True if a text names an agent; otherwise it names the folder of a run."""
    return text.strip().partition(":")[0] in KINDS


@dataclass(frozen=True)
class Entrants:
    """The arguments of an arena: the game, agents by name, and runs."""

    game: Game
    agents: list[str]
    runs: list[Run]


def find_entrants(given: Sequence[str | Path | Run], game: Game | None, trust: bool = False) -> Entrants:
    """Separate agents from runs, and find the game: the one given, or the game of the first run.

    Python code of a game that comes with a run is used only with `trust`.
    """
    agents = [each for each in given if isinstance(each, str) and is_agent(each)]
    runs: list[Run] = []
    for each in given:
        if isinstance(each, str) and is_agent(each):
            continue
        runs.append(each if isinstance(each, Run) else Run.open(Path(each), game, any_size=True, trust=trust))
        game = runs[-1].game
    if game is None:
        raise BadOption("name the game that these agents play, such as connect4")
    return Entrants(game, agents, runs)


class Roster:
    """The agents of an arena."""

    def __init__(self, game: Game, anchor: str, agents: Sequence[str] = (), runs: Sequence[tuple[Run, Plan]] = ()):
        self.game, self.runs = game, list(runs)
        self.entrants: dict[str, Identity] = {}
        """The agents that take part, by the text of their identity. The anchor is the first."""
        self.dropped: set[str] = set()
        """The identities of agents that cannot play."""
        self.series: dict[Path, list[str]] = {run.folder: [] for run, _ in self.runs}
        """For each run, the identities of the checkpoints that take part, in order."""
        yardsticks = [name for _, plan in self.runs for name in plan.agents]
        self.fixed = [self._identify(name) for name in dict.fromkeys([anchor, *agents, *yardsticks])]
        self.anchor = self.fixed[0].text
        self.refresh()

    def _identify(self, name: str) -> Identity:
        if parse(name).kind == "human":
            raise BadOption("people cannot play in the arena; ludus match lets them")
        return identify(name, self.game)

    def refresh(self) -> list[Identity]:
        """Search the runs for new checkpoints. Returns the new agents."""
        found = {each.text: each for each in self.fixed}
        for run, plan in self.runs:
            self.series[run.folder] = []
            for number in thinned(run.checkpoints(), plan.every, settled(run)):
                try:
                    each = identify(f"zero:{run.folder}@{number}:{plan.simulations}", self.game)
                except (LudusError, OSError):  # the checkpoint is being written or removed at this moment
                    continue
                found[each.text] = each
                self.series[run.folder].append(each.text)
        new = [each for text, each in found.items() if text not in self.entrants and text not in self.dropped]
        self.entrants = {text: each for text, each in found.items() if text not in self.dropped}
        return new

    def drop(self, name: str) -> None:
        """Leave out the agents of this name."""
        self.dropped |= {text for text, each in self.entrants.items() if each.name == name}
        self.refresh()


def settled(run: Run) -> bool:
    """True if the run has had no new checkpoint for a while. While it trains, each is the latest for seconds only."""
    latest = run.checkpoint(run.checkpoints()[-1]) / "player.safetensors" if run.checkpoints() else None
    try:
        return latest is not None and time.time() - latest.stat().st_mtime > SETTLED
    except OSError:
        return False


def thinned(checkpoints: list[int], every: int | None, latest: bool = True) -> list[int]:
    """Every K-th checkpoint, and the latest if `latest`. A checkpoint once chosen stays until the stride doubles."""
    stride = every or 1
    while every is None and len(checkpoints) > MOST * stride:
        stride *= 2
    return sorted({*checkpoints[::stride], *(checkpoints[-1:] if latest else [])})
