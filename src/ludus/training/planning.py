"""The settings of a new run: what suits a game, recipes, and the plan that follows from budget and preflight."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus.errors import BadOption
from ludus.grading.positions import read_positions
from ludus.nets.engines import fastest_engine
from ludus.nets.families import FAMILIES, suggest_settings

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config
    from ludus.training.preflight import Measured

RECIPES = Path(__file__).parent.parent / "runs" / "recipes"
FIRST_GAMES = 0.1
"""The first games should end within this fraction of the time: where games take long, fewer are played side by side."""
ITERATIONS = 40
"""A plan has at least this many iterations: where rows are few, `iteration_rows` is reduced."""
STEPS = 600
"""A plan has at least this many gradient steps: where rows are few, `batch_size` is reduced."""


class Budget(NamedTuple):
    """How long a run trains. If several are given, it ends with the first that is spent."""

    minutes: float | None = None
    games: int | None = None
    steps: int | None = None

    def check(self) -> None:
        """Raise BadOption for a budget that is not above 0."""
        for name, value in self._asdict().items():
            if value is not None and value <= 0:
                raise BadOption(f"{name} must be above 0, not {value:g}")

    @property
    def is_empty(self) -> bool:
        return all(value is None for value in self)


def settings_for(game: Game) -> dict[str, Any]:
    """The settings that suit a game, where they differ from the defaults."""
    settings: dict[str, Any] = {"search": "puct"} if game.simultaneous else {}
    settings |= suggest_settings(game)
    shape = game.observation
    if settings["network"] == "residual" and shape and shape[1] * shape[2] <= 16:
        settings |= {"blocks": 2, "width": 32, "iteration_rows": 2048, "window_rows": 8192, "batch_size": 256}
    if game.most_legal > 16:
        settings["simulations"] = 32
    if fastest_engine() == "cuda":
        settings |= {"concurrent_learning": True, "batch_size": 2048, "iteration_rows": 65536, "window_rows": 100_000}
    return settings


def check_fit(game: Game, config: Config) -> None:
    """Raise BadOption for settings with which this game cannot be trained."""
    for name in ("gating", "gating_uct", "resign_threshold"):
        if getattr(config, name):
            game.require_two_player_zero_sum(f"cannot be trained with {name}", BadOption)
    if config.evaluate_every:
        read_positions(Path(config.evaluation_positions), game)  # raises now, and not after the first iteration
    if config.search == "gumbel" and game.simultaneous:
        raise BadOption(f"search = gumbel is for games in which players move in turn; {game.name} needs search = puct")
    problem = FAMILIES[config.network].why_not(game)
    if problem:
        raise BadOption(f"network = {config.network} {problem}")


def find_recipe(name: str) -> Path:
    """The file of a recipe, by its name or as a path that ends in .toml."""
    if name.endswith(".toml"):
        return Path(name)
    path = RECIPES / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in RECIPES.glob("*.toml")))
        raise BadOption(f"no recipe is called {name!r}; there are {known}, or a file that ends in .toml")
    return path


def plan(config: Config, measured: Measured, budget: Budget) -> Config:
    """The settings, completed by budget and measurement: the number of rows, and how the work is divided."""
    seconds = None if budget.minutes is None else 60 * budget.minutes
    rows = 0.0
    if seconds is not None:
        rows = seconds / measured.seconds_per_row(config)
    if budget.games is not None:
        rows = budget.games * max(1.0, measured.plies) * config.full_search_fraction
    if budget.steps is not None:
        rows = budget.steps * config.batch_size / max(config.reuse, 1e-9)
    iteration_rows, batch_size = int(rows / ITERATIONS), int(rows * config.reuse / STEPS)
    parallel_games = measured.parallel_games
    if seconds is not None and not config.parallel_games:
        affordable = seconds * FIRST_GAMES * measured.simulations / (max(1.0, measured.plies) * config.simulations)
        parallel_games = min(parallel_games, max(8 * measured.workers, int(affordable)))
    return dataclasses.replace(
        config,
        planned_rows=config.planned_rows or int(rows),
        iteration_rows=min(config.iteration_rows, max(256, iteration_rows)),
        batch_size=min(config.batch_size, max(64, batch_size)),
        engine=measured.engine,
        parallel_games=parallel_games,
        workers=measured.workers,
        learner_threads=measured.learner_threads,
    )
