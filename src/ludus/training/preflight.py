"""The preflight: some seconds before a run, measure what this machine does with these settings."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus import gpu
from ludus.errors import BadOption
from ludus.machine import cpu_count, memory_size, peak_memory
from ludus.nets.calibrating import usual_inputs
from ludus.nets.engines import FLOAT32_ON_CPU, fastest_engine
from ludus.nets.evaluator import calls_per_second
from ludus.nets.families import FAMILIES
from ludus.nets.rows import Rows, join
from ludus.stopping import NEVER, Deadline, Stopped
from ludus.training.boards import further_games
from ludus.training.learner import Learner, learner_device
from ludus.training.planning import check_fit, mean_plies
from ludus.training.playoff import play_off
from ludus.training.precision import can_use_bfloat16
from ludus.training.replay import window_size
from ludus.training.selfplay import LocalSelfPlay

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config
    from ludus.stopping import Stop

SECONDS = 1.5
"""The time for each figure."""
SAMPLES = 64
"""Positions of random games to calibrate with."""
GAMES = {"cpu": (64, 128, 256), "cuda": (1024, 4096)}
"""The numbers of games side by side that are tried."""
WORTH_IT = 1.05
"""More games side by side must be faster by this factor: fewer games shorten the delay from learning to playing."""
FASTER = 1.2
"""Self-play uses int8, and the learner bfloat16, where that is faster than float32 by this factor."""
USUAL_PEAK = 500 << 20
"""The memory of a process with PyTorch and a compiled game, where the system does not tell."""
LATER = 150 << 20
"""The memory for what a run compiles and loads after the preflight."""
FORESTS = 2
"""Workers on a GPU: while it searches for one, the CPU plays the moves of the other."""

Progress = Callable[[str, float], None]
"""Called with the name of the next measurement, and the progress of the preflight from 0 to 1."""


@dataclass(frozen=True)
class Measured:
    """What a machine does with a game and its settings."""

    parameters: int
    """Parameters of the network."""
    evaluations: float
    """Evaluations per second of the network alone, on all workers."""
    simulations: float
    """Simulations per second of self-play, over all boards."""
    plies: float
    """Mean length of a random game. Of games under way for some seconds, only the shortest would have ended."""
    learned: float
    """Rows per second that the learner takes in."""
    engine: str
    parallel_games: int
    workers: int
    learner_threads: int
    learner_precision: str
    """The setting of that name."""
    peak: int
    """The largest memory of this process so far, in bytes; 0 where the system does not tell."""
    tree_bytes: int
    """The memory of the trees."""
    row_bytes: float
    """The memory of one row in the replay window."""
    trees_on_gpu: bool
    why_not_on_gpu: str
    """The reason why the trees are on the CPU although the network is on a GPU, else empty."""
    at_once: bool = False
    """True if games are played elsewhere while the learner works."""
    idle_gpus: int = 0
    """GPUs of this machine that the run does not use: one process uses one, and a cluster uses all."""

    def seconds_per_row(self, config: Config) -> float:
        """The time to play one row and to learn from it, in the mean over the whole run."""
        last = config.simulations_end or config.simulations
        searched = (config.simulations + last) / 2 + config.fast_simulations * (1 / config.full_search_fraction - 1)
        play, learn = searched / self.simulations, config.reuse / self.learned
        return max(play, learn) if self.at_once else play + learn

    def memory(self, config: Config) -> int:
        """An upper limit for the memory of the process, in bytes.

        The preflight has made trees, network and learner once, and so has the run. The replay window is there twice
        while rows are added to it.
        """
        share = config.planned_rows // config.board_count
        window = config.board_count * self.row_bytes * min(window_size(config, share), max(1, share))
        return int(1.1 * (max(self.peak, USUAL_PEAK) + self.tree_bytes + 2 * window)) + LATER

    def games_per_hour(self, config: Config) -> float:
        """Games per hour at the start of the run."""
        return 3600 / self.seconds_per_row(config) / max(1.0, self.plies * config.full_search_fraction)


class _Candidate(NamedTuple):
    """Self-play with one number of games, and its figures."""

    selfplay: LocalSelfPlay
    simulations: float
    """Simulations per second."""
    rows: Rows


def measure(
    game: Game, config: Config, progress: Progress | None = None, stop: Stop = NEVER, seconds: float = SECONDS
) -> Measured:
    """Play and learn with an untrained network, apart from any run, `seconds` for each figure.

    Raises Stopped if stopped. In hundredths of a second, everything is compiled and no figure means anything.
    """
    check_fit(game, config)
    game.compile()
    network = config.make_network(game)
    device = learner_device(config)
    tried = [config.parallel_games] if config.parallel_games else GAMES[device]
    threads = [config.learner_threads or 1] if config.learner_threads or device == "cuda" else sorted({1, cpu_count()})
    further = further_games(game, config)
    stages = 3 + len(tried) + len(threads) + len(further)
    stage = 0

    def begin(what: str) -> None:
        nonlocal stage
        if stop.is_set():
            raise Stopped("stopped before the run began: nothing was written")
        if progress is not None:
            progress(what, stage / stages)
        stage += 1

    begin("engines")
    engine, calibration = _choose_engine(game, config, network)
    config = dataclasses.replace(config, engine=engine)
    best: _Candidate | None = None
    for games in tried:
        begin(f"self-play of {games} games")
        candidate = _measure_selfplay(game, config, network, games, calibration, stop, seconds)
        if best is None or candidate.simulations > WORTH_IT * best.simulations:
            best = candidate
    assert best is not None
    selfplay, rows = best.selfplay, best.rows
    speeds, tree_bytes = [best.simulations], selfplay.bytes
    for each in further:
        begin(f"self-play of {each!r}")
        inputs = None if calibration is None else usual_inputs(each, FAMILIES[config.network], SAMPLES)
        other = _measure_selfplay(each, config, config.make_network(each), selfplay.games, inputs, stop, seconds)
        speeds.append(other.simulations)
        tree_bytes += other.selfplay.bytes
    begin("the network alone")
    evaluations = selfplay.measure_network(seconds)
    learned = {}
    for count in threads:
        begin(f"the learner on {count} thread{'s' * (count > 1)}")
        learned[count] = _measure_learner(Learner(game, network, config, device, count), rows, stop, seconds)
    fastest = max(learned, key=lambda count: learned[count])
    begin("the learner in bfloat16")
    precision, speed = _choose_precision(game, config, device, fastest, rows, learned[fastest], stop, seconds)
    begin("done")
    forest = selfplay.workers[0].forest
    return Measured(
        parameters=sum(weight.numel() for weight in network.parameters()),
        evaluations=evaluations,
        simulations=len(speeds) / sum(1 / speed for speed in speeds),
        plies=mean_plies(game),
        learned=speed,
        engine=engine,
        parallel_games=selfplay.games,
        workers=len(selfplay.workers),
        learner_threads=fastest,
        learner_precision=precision,
        peak=peak_memory(),
        tree_bytes=tree_bytes,
        row_bytes=rows.bytes / max(1, len(rows)),
        trees_on_gpu=forest.on_gpu,
        why_not_on_gpu=forest.why_not_on_gpu,
        idle_gpus=gpu.count() - 1 if device == "cuda" else 0,
    )


def _choose_engine(game: Game, config: Config, network: Any) -> tuple[str, Any]:
    """The engine of self-play, and inputs to calibrate it with: int8 where this machine is clearly faster with it."""
    family = FAMILIES[config.network]
    if config.engine not in ("auto", "int8") or "int8" not in family.engines or not network.quantisable:
        return config.engine, None
    fastest = fastest_engine(family.engines)
    if config.engine == "auto" and fastest not in FLOAT32_ON_CPU:
        return "auto", None
    inputs = usual_inputs(game, family, SAMPLES)
    if config.engine == "int8":
        return "int8", inputs
    rates = []
    for name in (fastest, "int8"):
        engine = family.make_engine(name)
        engine.load(network, inputs)
        rates.append(calls_per_second(partial(engine.run, inputs), 0.3))
    return "int8" if rates[1] > FASTER * rates[0] else "auto", inputs


def _measure_selfplay(
    game: Game, config: Config, network: Any, games: int, calibration: Any, stop: Stop, seconds: float
) -> _Candidate:
    """Self-play of untrained networks from the start of their games."""

    def make(workers: int) -> LocalSelfPlay:
        try:
            made = LocalSelfPlay(game, config, network, games=games, workers=workers, seed=0)
        except MemoryError:
            made = None
        if made is None or made.bytes > memory_size():
            told = f"the trees of {games:,} games with {config.simulations:,} simulations do not fit into the memory"
            raise BadOption(f"{told}: reduce parallel_games or simulations")
        return made

    on_gpu = learner_device(config) == "cuda"
    selfplay = make(config.workers or (FORESTS if on_gpu else cpu_count()))
    if on_gpu and not config.workers and not selfplay.workers[0].forest.on_gpu:
        selfplay = make(cpu_count())
    if calibration is not None:
        selfplay.load(network, calibration)
    warm = selfplay.play(1, 2)  # compiles
    if config.rating_games and game.two_player_zero_sum:
        evaluator = selfplay.workers[0].evaluator
        play_off(game, evaluator, evaluator, 2, 2, 1, 0, config.gating_uct and 2)  # compiles too
    selfplay.restart()  # positions late in a game are not like the others
    played = selfplay.play(1 << 40, config.simulations, Deadline(seconds, stop))
    return _Candidate(selfplay, played.counts.simulations / played.counts.seconds, join([warm.rows, played.rows]))


def _choose_precision(
    game: Game, config: Config, device: str, threads: int, rows: Rows, float32: float, stop: Stop, seconds: float
) -> tuple[str, float]:
    """The precision of the learner, and its rows per second: bfloat16 where it is clearly faster than float32."""
    if device != "cpu" or config.learner_precision != "auto" or not can_use_bfloat16():
        return config.learner_precision, float32
    config = dataclasses.replace(config, learner_precision="bfloat16")
    speed = _measure_learner(Learner(game, config.make_network(game), config, device, threads), rows, stop, seconds)
    return ("bfloat16", speed) if speed > FASTER * float32 else ("float32", float32)


def _measure_learner(learner: Learner, rows: Rows, stop: Stop, seconds: float) -> float:
    """Rows per second of a learner."""
    rng = np.random.default_rng(0)
    learner.learn(rows, learner.stepper.warm_up, 0.0, rng)
    began, steps = time.perf_counter(), learner.steps
    learner.learn(rows, 1 << 30, 0.0, rng, Deadline(seconds, stop))
    return (learner.steps - steps) * learner.config.batch_size / (time.perf_counter() - began)
