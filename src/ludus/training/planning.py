"""The settings of a new run: what suits a game, recipes, and the plan that follows from budget and preflight."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ludus.errors import BadOption
from ludus.grading.positions import read_positions
from ludus.machine import cpu_count, has_fast_int8, memory_size
from ludus.nets.engines import FLOAT32_ON_CPU, fastest_engine
from ludus.nets.families import FAMILIES, SMALL_BOARD, suggest_settings
from ludus.rng import generator
from ludus.training.boards import further_games
from ludus.training.learner import learner_device

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config
    from ludus.training.preflight import Measured

RECIPES = Path(__file__).parent.parent / "runs" / "recipes"
FIRST_GAMES = 0.1
"""The first games should end within this fraction of the run: in a short run, fewer are played side by side."""
PARALLEL_GAMES = {"cpu": 128, "cuda": 4096}
"""Games side by side where nothing is measured."""
LARGE_STEP = 1e9
"""Multiplications of a gradient step from which on the learner uses all cores where nothing is measured."""
COPIES = 6
"""Copies of the weights while a network learns: network, gradient, two moments of AdamW, average, player."""
ITERATIONS = 40
"""A plan has at least this many iterations: where rows are few, `iteration_rows` is reduced."""
STARTS = 10
"""Starts of a game that is refused if it is over in all of them: self-play would wait for a move forever."""
STEPS = 600
"""A plan has at least this many gradient steps: where rows are few, `batch_size` is reduced."""


MOST = {"minutes": 10**9, "games": 10**12, "steps": 10**12}
"""Upper limits of budgets: the number of rows that follows from them is a 64-bit integer in every game."""


class Budget(NamedTuple):
    """How long a run trains. If several are given, it ends with the first that is spent."""

    minutes: float | None = None
    games: int | None = None
    steps: int | None = None

    def check(self) -> None:
        """Raise BadOption for a budget that is not a number above 0 within its limit."""
        for name, value in self._asdict().items():
            if value is not None and not 0 < value <= MOST[name]:
                raise BadOption(f"{name} must be a number above 0 and at most {MOST[name]:,}")

    @property
    def is_empty(self) -> bool:
        return all(value is None for value in self)


RATES = frozenset({"network", "learning_rate", "learning_rate_end", "rate", "rate_end"})
"""If one of these settings is given, no other learning rate is suggested. The suggested one was measured on CPUs, with
residual networks and networks over groups only (docs/methods.md)."""


def settings_for(game: Game, given: Iterable[str] = ()) -> dict[str, Any]:
    """The settings that suit a game, where they differ from the defaults, if the settings `given` are chosen."""
    settings: dict[str, Any] = {"search": "puct", "shared_view": True} if game.simultaneous else {}
    settings |= suggest_settings(game)
    if not {"network", "reply_policy_weight", "reply"}.isdisjoint(given):  # which may not work with such heads
        settings.pop("size_free", None)
    on_gpu = fastest_engine() == "cuda"
    shape = game.observation
    if settings["network"] == "residual" and shape and shape[1] * shape[2] <= SMALL_BOARD:
        settings |= {"blocks": 2, "width": 32, "iteration_rows": 2048, "window_rows": 8192, "batch_size": 256}
    elif settings["network"] in ("residual", "groups") and not on_gpu and RATES.isdisjoint(given):
        settings |= {"learning_rate": 0.008, "learning_rate_end": 0.0004}
    if game.curriculum():
        settings["curriculum"] = True
    if game.most_legal > 16:
        settings["simulations"] = 32
    if on_gpu:
        settings |= {"concurrent_learning": True, "batch_size": 2048, "iteration_rows": 65536, "window_rows": 100_000}
    return settings


def check_fit(game: Game, config: Config) -> None:
    """Raise BadOption for settings with which this game cannot be trained."""
    if all(game.start(seed=seed).is_over for seed in range(STARTS)):
        raise BadOption(f"{game.name} cannot be learned: it is over before the first move")
    for name in ("gating", "gating_uct", "resign_threshold"):
        if getattr(config, name):
            game.require_two_player_zero_sum(f"cannot be trained with {name}", BadOption)
    for each in further_games(game, config):
        config.make_network(each)
    if config.evaluate_every:
        read_positions(Path(config.evaluation_positions), game)  # raises now, and not after the first iteration
    if config.search == "gumbel" and game.simultaneous:
        raise BadOption(f"search = gumbel is for games in which players move in turn; {game.name} needs search = puct")
    problem = FAMILIES[config.network].why_not(game)
    if problem:
        raise BadOption(f"network = {config.network} {problem}")
    with torch.device("meta"):  # takes no memory
        parameters = sum(weight.numel() for weight in config.make_network(game).parameters())
    if COPIES * 4 * parameters > memory_size():
        needed, there = COPIES * 4 * parameters >> 30, memory_size() >> 30
        told = (
            f"a network with {parameters:,} parameters takes {needed:,} GB to learn, and this machine has {there:,} GB"
        )
        raise BadOption(f"{told}: reduce blocks or width")


def find_recipe(name: str) -> Path:
    """The file of a recipe, by its name or as a path that ends in .toml."""
    if name.endswith(".toml"):
        return Path(name)
    path = RECIPES / f"{name}.toml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in RECIPES.glob("*.toml")))
        raise BadOption(f"no recipe is called {name!r}; there are {known}, or a file that ends in .toml")
    return path


def choose_without_measuring(game: Game, config: Config, budget: Budget) -> Config:
    """The settings for a budget in games or steps, completed by rules: the same command gives the same run.

    What divides the work (games side by side, engine, threads) changes rounding and the order of rows, so a measured
    choice would change the weights. The rules depend on the game, the settings, the budget and the kind of machine.
    """
    plies = mean_plies(game)
    rows = planned_rows(config, budget, plies)
    games = rows / max(1.0, plies * config.full_search_fraction)
    most = PARALLEL_GAMES[learner_device(config)]
    network = config.make_network(game)
    return dataclasses.replace(
        config,
        planned_rows=config.planned_rows or max(1, round(rows)),
        engine=usual_engine(config, network),
        parallel_games=config.parallel_games or side_by_side(most, games, config.workers or cpu_count()),
        learner_threads=config.learner_threads or usual_learner_threads(game, config, network),
        **shorter_rounds(config, rows, keep_batch=budget.steps is not None),
    )


def planned_rows(config: Config, budget: Budget, plies: float) -> float:
    """The rows of a run by its budget in games or steps, whichever ends first; infinite without one."""
    ends = [math.inf]
    if budget.games is not None:
        ends.append(budget.games * max(1.0, plies) * config.full_search_fraction)
    if budget.steps is not None:
        ends.append(budget.steps * config.batch_size / max(config.reuse, 1e-9))
    return min(ends)


def side_by_side(most: int, games: float, workers: int) -> int:
    """The number of games side by side: fewer where few games are played, since the first must end early in the run."""
    return max(1, min(most, max(8 * workers, int(FIRST_GAMES * games)), math.ceil(games)))


def shorter_rounds(config: Config, rows: float, keep_batch: bool = False) -> dict[str, Any]:
    """Iterations, and unless `keep_batch` gradient steps, with fewer rows where a run has few rows."""
    shorter = {"iteration_rows": min(config.iteration_rows, max(min(256, math.ceil(rows)), int(rows / ITERATIONS)))}
    if not keep_batch:
        shorter["batch_size"] = min(config.batch_size, max(64, int(rows * config.reuse / STEPS)))
    return shorter


def mean_plies(game: Game, games: int = 64) -> float:
    """The mean length of random games, the same in every process."""
    from ludus.search.random_play import count_plies

    game.compile()
    states, random = game.new_states(1), generator(0)
    actions, joint = np.zeros(game.most_legal, np.int32), np.zeros(game.players, np.int32)
    plies = count_plies(game.rules, states, random, actions, joint, np.zeros(game.players, np.float32), games)
    game.raise_pending()
    return plies / games


def usual_engine(config: Config, network: Any) -> str:
    """The engine of self-play where nothing is measured: int8 on CPUs that are known to be fast with it."""
    if config.engine != "auto":
        return config.engine
    engines = FAMILIES[config.network].engines
    fastest = fastest_engine(engines)
    in_integers = fastest in FLOAT32_ON_CPU and "int8" in engines and has_fast_int8() and network.quantisable
    return "int8" if in_integers else fastest


def usual_learner_threads(game: Game, config: Config, network: Any) -> int:
    """The threads of the learner where nothing is measured: several are worth it for large steps only."""
    if learner_device(config) == "cuda":
        return 1
    cells = math.prod((game.observation or (1, 1, 1))[1:])
    multiplications = sum(weight.numel() for weight in network.parameters()) * cells * config.batch_size
    return cpu_count() if multiplications >= LARGE_STEP else 1


def plan(config: Config, measured: Measured, budget: Budget) -> Config:
    """The settings for a budget of time, completed by what was measured: the rows, and how the work is divided."""
    assert budget.minutes is not None
    seconds = 60 * budget.minutes
    rows = min(seconds / measured.seconds_per_row(config), planned_rows(config, budget, measured.plies))
    parallel_games = measured.parallel_games
    if not config.parallel_games:
        affordable = seconds * FIRST_GAMES * measured.simulations / (max(1.0, measured.plies) * config.simulations)
        parallel_games = min(parallel_games, max(8 * measured.workers, int(affordable)))
    return dataclasses.replace(
        config,
        planned_rows=config.planned_rows or int(rows),
        engine=measured.engine,
        parallel_games=parallel_games,
        workers=measured.workers,
        learner_threads=measured.learner_threads,
        learner_precision=measured.learner_precision,
        **shorter_rounds(config, rows),
    )
