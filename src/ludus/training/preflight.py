"""Before a run: measure for some seconds what this machine does with these settings, and plan by it."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus.errors import BadOption
from ludus.gpu.steps import WARM
from ludus.grading.positions import read_positions
from ludus.machine import cpu_count
from ludus.nets.engines import fastest_engine, make_engine
from ludus.nets.evaluator import load_all, make_evaluators
from ludus.nets.network import is_two_player_zero_sum
from ludus.nets.rows import join
from ludus.training.gating import play_off
from ludus.training.learner import Learner
from ludus.training.replay import Window
from ludus.training.selfplay import SelfPlay
from ludus.training.trainer import device_of, play_all

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.rows import Rows
    from ludus.runs.config import Config

SECONDS = 1.5
"""For each figure."""
GAMES = {"cpu": (64, 128, 256), "cuda": (1024, 4096)}
"""How many games at once are tried."""
WORTH_IT = 1.05
"""More games at once must be so many times as fast: with fewer, what is learned is played sooner."""
FIRST_GAMES = 0.1
"""The part of the time after which the first games should be over: where they take long, fewer are played at once."""
ROUNDS, STEPS = 40, 600
"""A plan has so many rounds of play and learning, and steps of the learner, or more: where rows are few, iterations and
batches get smaller than the settings say."""
FASTER = 1.2
"""Self-play rounds to integers where that is so many times as fast as float32."""
FORESTS = 2
"""On a card: while it searches for one, the processor plays the moves of the other."""


@dataclass
class Measured:
    """What a machine does with a game and a configuration."""

    parameters: int
    evaluations: float
    """Of the network alone, a second, on all workers."""
    simulations: float
    """Of self-play, a second."""
    plies: float
    """Mean length of a game between networks that know nothing."""
    learned: float
    """Rows that the learner takes in, a second."""
    engine: str
    parallel_games: int
    workers: int
    learner_threads: int
    memory: int
    """Bytes of trees, and of a full replay window."""
    trees: str
    """Where they grow, to be told if the network is on a card; and why, if not there too."""

    def seconds_a_row(self, config: Config) -> float:
        """Time to play one row and to learn from it, over the whole run."""
        last = config.simulations_end or config.simulations
        searched = (config.simulations + last) / 2 + config.fast_simulations * (1 / config.full_search_fraction - 1)
        return searched / self.simulations + config.reuse / self.learned

    def games_an_hour(self, config: Config) -> float:
        return 3600 / self.seconds_a_row(config) / max(1.0, self.plies * config.full_search_fraction)


def settings_for(game: Game) -> dict[str, Any]:
    """What suits a game, where it is not the default."""
    settings: dict[str, Any] = {"search": "puct"} if game.simultaneous else {}
    shape = game.observation
    if shape is None:
        settings["network"] = "graph"
    elif len(shape) != 3 or min(shape[1:]) < 3:
        settings |= {"network": "mlp", "blocks": 2, "width": 128}
    elif shape[1] * shape[2] <= 16:
        settings |= {"blocks": 2, "width": 32, "iteration_rows": 2048, "window_rows": 8192, "batch_size": 256}
    if game.most_legal > 16:
        settings["simulations"] = 32
    if fastest_engine() == "cuda":
        settings |= {"concurrent_learning": True, "batch_size": 2048, "iteration_rows": 65536, "window_rows": 100_000}
    return settings


def check_fit(game: Game, config: Config) -> None:
    """Refuse settings that this game cannot be trained with."""
    for name in ("gating", "gating_uct", "resign_threshold"):
        if getattr(config, name) and not is_two_player_zero_sum(game):
            raise BadOption(f"{name} is for two rivals who move in turn; {game.name} is not such a game")
    if config.evaluate_every:
        read_positions(Path(config.evaluation_positions), game)  # or refuse it now, not after the first iteration
    if config.search == "gumbel" and game.simultaneous:
        raise BadOption(f"search = gumbel is for games in which players move in turn; {game.name} needs search = puct")
    if config.network == "graph" and game.simultaneous:
        raise BadOption(f"network = graph is for games in which players move in turn; {game.name} needs mlp")


def measure(game: Game, config: Config) -> Measured:
    """Play and learn for some seconds with an ignorant network, apart from the run: its random numbers stay unused."""
    check_fit(game, config)
    game.compile()
    network = config.make_network(game)
    device = device_of(config)
    engine, samples = _choose_engine(config, network)

    def made(games: int, count: int) -> list[SelfPlay]:
        evaluators = make_evaluators(game, network, engine, count)
        if engine == "int8":
            load_all(evaluators, network, samples)
        return [SelfPlay(game, config, each, max(1, games // count), seed) for seed, each in enumerate(evaluators)]

    best = _Played(0, 0.0, [], None)
    for games in [config.parallel_games] if config.parallel_games else GAMES[device]:
        workers = made(games, config.workers or (cpu_count() if device == "cpu" else FORESTS))
        if device == "cuda" and not workers[0].on_gpu and not config.workers:
            workers = made(games, cpu_count())
        warm = play_all(workers, 1, 2, lambda: False)  # compiles
        if config.rating_games and is_two_player_zero_sum(game):
            judge = workers[0].evaluator
            play_off(game, judge, judge, 2, 2, 1, 0, config.gating_uct and 2)  # likewise
        for worker in workers:
            worker.restart()  # positions late in a game are not like the others
        played = _play(games, workers, config, warm)
        if played.simulations > WORTH_IT * best.simulations:
            best = played
    workers, rows = best.workers, best.rows
    evaluations = _evaluate(workers)
    window = Window(game, config, rows)
    speed, threads = 0.0, config.learner_threads or 1
    for tried in [threads] if config.learner_threads or device == "cuda" else sorted({1, cpu_count()}):
        learned = _learn(Learner(game, network, config, device, tried), window)
        if learned > speed:
            speed, threads = learned, tried
    finished = sum(worker.finished for worker in workers)
    plies = sum(worker.plies_finished for worker in workers) / max(1, finished)
    window_bytes = int(rows.bytes / max(1, len(rows)) * config.window_limit)
    return Measured(
        parameters=sum(weight.numel() for weight in network.parameters()),
        evaluations=evaluations,
        simulations=best.simulations,
        plies=plies,
        learned=speed,
        engine=engine,
        parallel_games=best.games,
        workers=len(workers),
        learner_threads=threads,
        memory=sum(worker.forest.bytes for worker in workers) + window_bytes,
        trees=told_of(workers[0]),
    )


def told_of(worker: SelfPlay) -> str:
    if worker.off_gpu:
        return f"; the trees stay on the processor: {worker.off_gpu}"
    return "; the trees grow on the GPU" if worker.on_gpu else ""


def _choose_engine(config: Config, network: Any) -> tuple[str, Any]:
    """What runs the network in self-play, with some planes to find ranges by: integers, where this processor is clearly
    faster with them."""
    from torch import nn

    convolutions = any(isinstance(module, nn.Conv2d) for module in network.modules())
    if config.engine not in ("auto", "int8") or not convolutions or fastest_engine() == "torch":
        return config.engine, None
    planes = np.random.default_rng(0).integers(0, 2, (64, *network.sizes.observation)).astype(np.float32)
    if network.sizes.mask is not None:
        planes[:, network.sizes.mask] = 1.0  # a board is never nowhere
    if config.engine == "int8" or fastest_engine() == "cuda":
        return config.engine, planes
    rates = []
    for name in ("onnx", "int8"):
        engine = make_engine(name)
        engine.load(network, planes)
        rates.append(_rate(partial(engine.run, planes), 0.3))
    return "int8" if rates[1] > FASTER * rates[0] else "auto", planes


def _rate(work: Callable[[], Any], seconds: float) -> float:
    """How often it is done in a second."""
    work()
    began, count = time.perf_counter(), 0
    while time.perf_counter() < began + seconds:
        work()
        count += 1
    return count / (time.perf_counter() - began)


class _Played(NamedTuple):
    games: int
    simulations: float
    """A second."""
    workers: list[SelfPlay]
    rows: Any


def _play(games: int, workers: list[SelfPlay], config: Config, warm: Rows) -> _Played:
    began = time.perf_counter()
    before = sum(worker.simulations for worker in workers)
    deadline = began + SECONDS

    def enough() -> bool:
        return time.perf_counter() > deadline

    rows = join([warm, play_all(workers, 1 << 40, config.simulations, enough)])
    spent = time.perf_counter() - began
    return _Played(games, (sum(worker.simulations for worker in workers) - before) / spent, workers, rows)


def _evaluate(workers: list[SelfPlay]) -> float:
    """The network alone, on batches as large as self-play's."""
    from concurrent.futures import ThreadPoolExecutor

    def run(worker: SelfPlay) -> int:
        sample = worker.evaluator.sample(worker.forest)
        count = 0
        deadline = time.perf_counter() + SECONDS
        while time.perf_counter() < deadline:
            worker.evaluator.engine.run(sample)
            count += worker.games * worker.evaluator.views
        return count

    with ThreadPoolExecutor(len(workers)) as threads:
        return sum(threads.map(run, workers)) / SECONDS


def _learn(learner: Learner, window: Window) -> float:
    choose = np.random.default_rng(0)
    learner.learn(window, 2 if learner.card is None else WARM + 1, 0.0, choose, lambda: False)
    began = time.perf_counter()
    steps = learner.steps
    learner.learn(window, 1 << 30, 0.0, choose, lambda: time.perf_counter() > began + SECONDS)
    return (learner.steps - steps) * learner.config.batch_size / (time.perf_counter() - began)


def plan(config: Config, measured: Measured, seconds: float | None, games: int | None, steps: int | None) -> Config:
    """The configuration with what budget and measurement say: how many rows there will be, and who does what."""
    rows = 0.0
    if seconds is not None:
        rows = seconds / measured.seconds_a_row(config)
    if games is not None:
        rows = games * max(1.0, measured.plies) * config.full_search_fraction
    if steps is not None:
        rows = steps * config.batch_size / max(config.reuse, 1e-9)
    rounds, batch = int(rows / ROUNDS), int(rows * config.reuse / STEPS)
    parallel_games = measured.parallel_games
    if seconds is not None and not config.parallel_games:  # or the first games would end late
        affordable = seconds * FIRST_GAMES * measured.simulations / (max(1.0, measured.plies) * config.simulations)
        parallel_games = min(parallel_games, max(8 * measured.workers, int(affordable)))
    return dataclasses.replace(
        config,
        planned_rows=config.planned_rows or int(rows),
        iteration_rows=min(config.iteration_rows, max(256, rounds)),
        batch_size=min(config.batch_size, max(64, batch)),
        engine=measured.engine,
        parallel_games=parallel_games,
        workers=measured.workers,
        learner_threads=measured.learner_threads,
    )
