"""Who takes part in an arena: agents by name, the checkpoints of runs, and yardsticks to measure those by.

Runs are looked at again and again: one that is still training gets new checkpoints while it is rated. When they are
many, every second, fourth ... of them takes part, and the latest once no other has come after it for a while.
"""

from __future__ import annotations

import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ludus.agents.identity import Identity, identify
from ludus.agents.naming import KINDS, parse
from ludus.errors import BadOption, LudusError

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.run import Run

YARDSTICKS = ("uct:30", "uct:300", "uct:3000")
"""Agents of known make that checkpoints are measured by, besides the anchor."""
SIMULATIONS = 100
"""A move, of checkpoints."""
MOST = 24
"""Checkpoints of one run that take part, unless told otherwise."""

SETTLED = 60.0
"""Seconds without a new checkpoint after which the latest takes part, whatever its number."""


@dataclass(frozen=True)
class Plan:
    """What can be said about the arena of a run: on the command line, or in `arena.toml` in its folder."""

    series: str = ""
    simulations: int = SIMULATIONS
    every: int | None = None
    """Every so many checkpoints take part; None: so that there are not too many."""
    agents: tuple[str, ...] = YARDSTICKS


def read_plan(folder: Path, **given: Any) -> Plan:
    """What the folder of a run says, and what is given (not None) in place of it."""
    file = folder / "arena.toml"
    said: dict[str, Any] = {}
    if file.is_file():
        try:
            said = tomllib.loads(file.read_text())
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadOption(f"{file} cannot be read: {error}") from None
    kinds = {"series": str, "simulations": int, "every": int, "agents": list}
    for key, value in said.items():
        if key not in kinds:
            raise BadOption(f"{file}: {key!r} is none of {', '.join(kinds)}")
        if not isinstance(value, kinds[key]) or isinstance(value, bool):
            raise BadOption(f"{file}: {key} must be {kinds[key].__name__}, not {value!r}")
    if "agents" in said:
        said["agents"] = tuple(str(each) for each in said["agents"])
    plan = Plan(**{**said, **{key: value for key, value in given.items() if value is not None}})
    for key in ("simulations", "every"):
        if getattr(plan, key) is not None and getattr(plan, key) < 1:
            raise BadOption(f"{key} must be at least 1, not {getattr(plan, key)}")
    return plan


def is_agent(text: str) -> bool:
    """Does somebody mean an agent by this? If not, then the folder of a run."""
    return text.strip().partition(":")[0] in KINDS


class Roster:
    """The agents of an arena."""

    def __init__(self, game: Game, anchor: str, agents: Sequence[str] = (), runs: Sequence[tuple[Run, Plan]] = ()):
        self.game, self.runs = game, list(runs)
        self.entrants: dict[str, Identity] = {}
        """By the text of their identity; the anchor is first."""
        self.dropped: set[str] = set()
        """Those that cannot play, by the text of their identity."""
        self.series: dict[Path, list[str]] = {run.folder: [] for run, _ in self.runs}
        """For each run, its checkpoints that take part, in order."""
        yardsticks = [name for _, plan in self.runs for name in plan.agents]
        self.fixed = [self._identify(name) for name in dict.fromkeys([anchor, *agents, *yardsticks])]
        self.anchor = self.fixed[0].text
        self.refresh()

    def _identify(self, name: str) -> Identity:
        if parse(name).kind == "human":
            raise BadOption("people cannot play in the arena; ludus match lets them")
        return identify(name, self.game)

    def refresh(self) -> list[Identity]:
        """Look at the runs again; those who are new."""
        found = {each.text: each for each in self.fixed}
        for run, plan in self.runs:
            self.series[run.folder] = []
            for number in thinned(run.checkpoints(), plan.every, settled(run)):
                try:
                    each = identify(f"zero:{run.folder}@{number}:{plan.simulations}", self.game)
                except (LudusError, OSError):  # being written, or removed, this very moment
                    continue
                found[each.text] = each
                self.series[run.folder].append(each.text)
        new = [each for text, each in found.items() if text not in self.entrants and text not in self.dropped]
        self.entrants = {text: each for text, each in found.items() if text not in self.dropped}
        return new

    def drop(self, name: str) -> None:
        """Somebody cannot play."""
        self.dropped |= {text for text, each in self.entrants.items() if each.name == name}
        self.refresh()


def settled(run: Run) -> bool:
    """Has the run had no new checkpoint for a while? While it trains, each would be the latest for seconds only."""
    latest = run.checkpoint(run.checkpoints()[-1]) / "player.safetensors" if run.checkpoints() else None
    try:
        return latest is not None and time.time() - latest.stat().st_mtime > SETTLED
    except OSError:
        return False


def thinned(checkpoints: list[int], every: int | None, latest: bool = True) -> list[int]:
    """Every so many, and the latest if told so. Those once chosen stay, until the stride doubles."""
    stride = every or 1
    while every is None and len(checkpoints) > MOST * stride:
        stride *= 2
    return sorted({*checkpoints[::stride], *(checkpoints[-1:] if latest else [])})
