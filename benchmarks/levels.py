"""Calibrate the levels of shipped players by the arena: python -m benchmarks.levels GAME [--minutes 10] [--games 1200].

The levels lie on one curve from 4 simulations and temperature 30, nearly random play, to full strength. A first arena
rates nine points of the curve; the levels are the points at equal steps of rating in between. A second arena rates
the levels, `random` and uct agents, with the games of the first. The result is written to
src/ludus/runs/players/levels.json. Each arena takes half of the time.

Games of three players, or with simultaneous moves, keep their levels, and only the full strength is rated.
"""

from __future__ import annotations

import json
import math
import tempfile
from datetime import date
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import ludus
from ludus.agents.identity import identify
from ludus.runs.levels import COUNT, FILE, FULL, USUAL_C, Level, digest_of, levels_of, policy_weight_of
from ludus.runs.players import shipped_player

GRID = 9
UCT = ("uct:100", "uct:1000", "uct:10000")


def on_curve(t: float) -> Level:
    """The point of the curve at t from 0, a beginner, to 1, the full strength."""
    if t >= 1.0:
        return FULL
    return Level(round(4 * 100**t), float(f"{30 * (0.1 / 30) ** t:.2g}"))


def named(level: Level) -> str:
    return f"zero:{level.simulations}:temperature={level.temperature:g}"


def rate(game: ludus.Game, agents: list[str], file: Path, minutes: float, games: int) -> dict[str, Any]:
    """The ratings of agents by an arena that goes on from the games in a file, with intervals."""
    standings = ludus.rate(agents, game, results=file, minutes=minutes, games=games)
    print(standings)
    rows = {row.name: row for row in standings.rows}
    found = {}
    for agent in ["random", *agents]:
        row = rows[identify(agent, game).text]
        found[agent] = [round(each) if math.isfinite(each) else None for each in (row.rating, row.low, row.high)]
    return found


def equal_steps(points: np.ndarray, ratings: np.ndarray) -> list[Level]:
    """Points of the curve whose ratings rise by equal steps."""
    rising = np.maximum.accumulate(ratings) + np.arange(len(ratings)) * 1e-6
    wanted = np.linspace(rising[0], rising[-1], COUNT)
    return [on_curve(float(t)) for t in np.interp(wanted, rising, points)[:-1]] + [FULL]


def main(
    game: str,
    option: Annotated[list[str] | None, typer.Option("-o")] = None,
    minutes: float = 10.0,
    games: int = 1200,
    uct: str = ",".join(UCT),
    keep: Annotated[bool, typer.Option(help="Only rate the levels that the player has.")] = False,
) -> None:
    made = ludus.make(game, **dict(each.split("=", 1) for each in option or []))
    pack = shipped_player(made)
    if pack is None:
        raise SystemExit(f"no player for {made.identity} comes with Ludus")
    levels, references = list(levels_of(pack.file)), uct.split(",")
    file = Path(tempfile.mkdtemp(prefix="levels-")) / "results.sqlite"
    if made.two_player_zero_sum and not keep:
        points = np.linspace(0.0, 1.0, GRID)
        curve = [on_curve(float(t)) for t in points]
        first = rate(made, [named(level) for level in curve], file, minutes / 2, games)
        levels = equal_steps(points, np.array([first[named(level)][0] for level in curve]))
    rated = {
        f"level {i + 1}": named(level) for i, level in enumerate(levels) if made.two_player_zero_sum or level == FULL
    }
    second = rate(made, [*rated.values(), *references], file, minutes if keep else minutes / 2, games)
    entry = {
        "game": made.identity,
        "weights": digest_of(pack.file),
        "measured": str(date.today()),
        "levels": [list(level) for level in levels],
        "ratings": {name: second[agent] for name, agent in rated.items()}
        | {agent: second[agent] for agent in ("random", *references)},
    }
    if (c := policy_weight_of(pack.file)) != USUAL_C:
        entry["c"] = c
    known = json.loads(FILE.read_text()) if FILE.is_file() else {}
    known[pack.file.name] = entry
    lines = ",\n".join(
        f"  {json.dumps(name)}: {{\n"
        + ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in known[name].items())
        + "\n  }"
        for name in sorted(known)
    )
    FILE.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    typer.run(main)
