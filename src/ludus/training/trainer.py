"""The trainer: one run in memory, and one iteration of the algorithm in `Trainer.iterate`."""

from __future__ import annotations

import json
import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ludus.errors import BadOption
from ludus.nets.calibrating import usual_inputs
from ludus.nets.engines import ENGINES
from ludus.nets.evaluator import make_evaluator
from ludus.nets.families import family_of
from ludus.nets.rows import empty_rows
from ludus.runs.files import Writer
from ludus.runs.players import first_weights
from ludus.runs.run import detached
from ludus.stopping import NEVER, Stop
from ludus.training.boards import Board, add_counts, further_games
from ludus.training.evaluation import open_evaluation
from ludus.training.gating import GateResult, make_gate
from ludus.training.ladder import Ladder
from ludus.training.learner import Learner, Losses, learner_device
from ludus.training.playoff import Tally, play_off
from ludus.training.replay import Window
from ludus.training.selfplay import LocalSelfPlay, MakeSelfPlay, Played, SelfPlay
from ludus.training.state import State, pack_rng, unpack_rng

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.run import Run

GAMES = 128
"""Games played side by side if no preflight has chosen their number."""
CALIBRATION_ROWS = 256
"""Positions by which an engine that quantises finds the ranges of activations."""
RATING_FRACTION = 0.04
"""The fraction of the time that the running rating may take."""


@dataclass(frozen=True)
class Report:
    """The figures of one iteration; a line of log.jsonl."""

    iteration: int
    rows: int
    """Rows since the run began."""
    games: int
    """Games finished since the run began."""
    steps: int
    """Gradient steps since the run began."""
    seconds: float
    """Seconds of training since the run began."""
    plies: float
    """Mean length of the games of this iteration."""
    simulations_per_second: float
    rows_per_second: float
    """Rows learned from in a second of learning."""
    play_seconds: float
    learn_seconds: float
    simulations: int
    """Simulations per move."""
    losses: Losses
    rating: float | None
    """Elo above the untrained network, in two-player zero-sum games (see ladder.py)."""
    gate: GateResult | None
    """With gating, the match of the new network."""
    resign_error: float
    """The fraction of resignations that would have been wrong."""
    graded: float | None
    """The fraction of outcomes that the network alone keeps on solved positions; None if no evaluation was due."""
    rating_low: float | None = None
    """Lower end of the 95 % interval of the rating; None if no games were played against the present rival."""
    rating_high: float | None = None
    """Upper end of the 95 % interval of the rating."""
    wins: tuple[int, ...] = ()
    """For each seat, games of this iteration with a positive result."""
    draws: int = 0
    """Games of this iteration whose results are all 0."""

    def line(self) -> dict[str, Any]:
        """The figures as a line of log.jsonl."""
        facts = {**self.__dict__, **self.losses._asdict(), "wins": list(self.wins)}
        facts.pop("losses")
        return {key: round(value, 5) if isinstance(value, float) else value for key, value in facts.items()}


class Learned(NamedTuple):
    """The result of one round of learning."""

    losses: Losses
    steps: int
    seconds: float


class Trainer:
    """A run in memory. `iterate` does one iteration; `save` writes a checkpoint and `restore` continues from one."""

    def __init__(self, run: Run, make_selfplay: MakeSelfPlay | None = None):
        """`make_selfplay` makes the self-play of the run; without it, threads of this process play."""
        self.run, self.game, self.config = run, run.game.compile(), run.config
        config = self.config
        self.evaluation = open_evaluation(run)
        self.rng, self.iteration = np.random.default_rng(config.seed), 0
        torch.manual_seed(config.seed)
        network = config.make_network(self.game)
        if config.initial_run and run.whole_checkpoint() is None:
            network.load_state_dict(first_weights(config.initial_run, self.game, network))
        further = further_games(self.game, config)
        threads = config.learner_threads or 1
        self.learner = Learner(self.game, network, config, learner_device(config), threads, further)
        self.gate = make_gate(config, self.learner.player)
        staged = config.curriculum and config.planned_rows and make_selfplay is None
        stages = list(self.game.curriculum()) if staged else []
        self.stages = stages[-1:] if config.initial_run else stages
        """The curriculum: until which fraction of the run each version of the game is played. A cluster has none, and
        weights that were trained before begin with its last version."""
        self.window = Window(config, empty_rows(self.game.new_states(1), self.game.players))
        self._make_selfplay = make_selfplay or LocalSelfPlay
        self.boards: list[Board] = []
        """Further boards, which are played and learned as well."""
        self.selfplay = self._begin_stage()
        if further and make_selfplay is not None:
            raise BadOption("boards are not for a cluster: train on one machine, or without boards")
        self.boards += [
            Board(number, game, config, self.gate.best, self._parallel_games, config.workers or 1)
            for number, game in enumerate(further, 1)
        ]
        if self._quantises:  # without calibration, the first iteration would be played in float32
            self._load_weights()
        rated = config.rating_games and self.game.two_player_zero_sum
        self.ladder = Ladder(self.learner.player) if rated else None
        self.writer = Writer(beside=config.concurrent_learning)
        self.games = 0
        """Games finished since the run began."""
        self.steps_owed = 0.0
        """Gradient steps that the rows so far are worth and that were not yet taken."""
        self.seconds = 0.0
        """Seconds of training since the run began, up to `timed_until`."""
        self.timed_until = time.perf_counter()
        self.rating_seconds = 0.0

    # --- one iteration ------------------------------------------------------------------------------------------------

    def iterate(self, stop: Stop = NEVER, games_left: int | None = None) -> Report | None:
        """One iteration: play, learn, choose the weights that play. None if stopped: then nothing changes on disk.

        Where a run ends after so many more games (`games_left`), its last iteration is as short as that.
        """
        self._follow_curriculum()
        if self.config.concurrent_learning:  # the learner has the rows of earlier iterations, so neither waits
            with ThreadPoolExecutor(1) as beside:
                learning = beside.submit(self._learn, stop)
                played = self._play(stop, games_left)
                learned = learning.result()
            self._remember(played)
        else:
            played = self._play(stop, games_left)
            if stop.is_set():
                return None
            self._remember(played)
            learned = self._learn(stop)
        if stop.is_set():
            return None
        self.gate.decide(self._match_at_gate)
        self.iteration += 1
        self._load_weights()
        self._rate()
        graded = self.evaluation.grade(self.gate.best, self.iteration) if self.evaluation else None
        report = self._report(played, learned, graded)
        self._log(report, played)
        return report

    @property
    def stage(self) -> Game:
        """The version of the game that the curriculum asks for at the progress of the run."""
        last = self.stages[-1][1] if self.stages else self.game
        return next((game for until, game in self.stages if self.progress < until), last)

    def _begin_stage(self) -> SelfPlay:
        """New self-play of the stage, whose rules the learner sees positions by as well."""
        config = self.config
        self.learner.samplers[0].game = self.stage
        return self._make_selfplay(
            self.stage,
            config,
            self.gate.best,
            games=self._parallel_games,
            workers=config.workers or 1,
            seed=7919 * config.seed,
        )

    def _follow_curriculum(self) -> None:
        """Begin the next stage when its time has come. Games under way continue in it."""
        if self.stage is self.learner.samplers[0].game:
            return
        state = self.selfplay.state()
        self.selfplay.close()
        del self.selfplay  # its trees may take most of a GPU's memory
        self.selfplay = self._begin_stage()
        self.selfplay.restore(state)
        self.selfplay.load(self.gate.best, self._calibration())

    @property
    def _parallel_games(self) -> int:
        """Games of each board that are played side by side."""
        return self.config.parallel_games or GAMES

    def _play(self, stop: Stop, games_left: int | None) -> list[Played]:
        """Play on every board, each for its share of the rows."""
        rows = self.config.iteration_rows
        if games_left is not None:  # the plan knows the length of random games only, so the first iteration is short
            left = games_left * self.rows / self.games if self.games else (self.config.planned_rows or rows) / 2
            rows = min(rows, math.ceil(left))
        share = max(1, rows // (1 + len(self.boards)))
        every = [self.selfplay, *(board.selfplay for board in self.boards)]
        return [selfplay.play(share, self.simulations, stop) for selfplay in every]

    def _remember(self, played: list[Played]) -> None:
        """Put new rows into the replay windows. They are worth `reuse` times their number of learned rows."""
        for window, each in zip(self._windows, played, strict=True):
            window.add(each.rows)
            self.games += each.counts.games
            self.steps_owed += len(each.rows) * self.config.reuse / self.config.batch_size

    @property
    def _windows(self) -> list[Window]:
        return [self.window, *(board.window for board in self.boards)]

    @property
    def rows(self) -> int:
        """Rows since the run began."""
        return sum(window.total for window in self._windows)

    def _learn(self, stop: Stop) -> Learned:
        """Take the gradient steps that are owed."""
        began, steps = time.perf_counter(), int(self.steps_owed)
        windows = [window.rows for window in self._windows]
        losses = self.learner.learn(windows, steps, self.progress, self.rng, stop)
        self.steps_owed -= steps
        return Learned(losses, steps, time.perf_counter() - began)

    def _match_at_gate(self, new: Any, old: Any, uct: int) -> Tally:
        return self._play_off(new, old, self.config.gating_games, salt=1, uct=uct)

    def _rate(self) -> None:
        """Play against the rival of the ladder, unless that would take more than a small fraction of the time."""
        if self.ladder is None or self.rating_seconds > RATING_FRACTION * self.seconds + 1.0:
            return
        began = time.perf_counter()
        best = self.gate.best
        self.ladder.add(best, self._play_off(best, self.ladder.rival, self.config.rating_games, salt=2))
        self.rating_seconds += time.perf_counter() - began

    def _play_off(self, new: Any, old: Any, games: int, salt: int, uct: int = 0) -> Tally:
        config, game = self.config, self.stage  # few games of the full rules end while a curriculum begins
        seed = salt + config.seed + 7919 * self.iteration
        mine = make_evaluator(game, new, config.engine)
        theirs = None if old is None else make_evaluator(game, old, config.engine)
        return play_off(game, mine, theirs, games, self.simulations, max(2, config.opening_plies), seed, uct)

    def _load_weights(self) -> None:
        """Play with the weights of the gate from now on, on all boards."""
        self.selfplay.load(self.gate.best, self._calibration())
        for number, board in enumerate(self.boards, 1):
            board.load(self.gate.best, self._calibration(number))

    @property
    def _quantises(self) -> bool:
        """True if the engine of self-play needs calibration."""
        engine = ENGINES.get(self.config.engine)
        return engine is not None and engine.quantises

    def _calibration(self, board: int = 0) -> Any:
        """The network's inputs for recent positions of a board, if the engine quantises (see Engine.load).

        Before the first rows, positions after random moves take their place.
        """
        rows = self._windows[board].rows
        if not self._quantises:
            return None
        if not len(rows):
            return usual_inputs(self.learner.samplers[board].game, family_of(self.gate.best))
        rng = np.random.default_rng([self.config.seed, self.iteration])
        return self.learner.samplers[board].draw(rows, CALIBRATION_ROWS, rng).inputs()

    # --- figures ------------------------------------------------------------------------------------------------------

    @property
    def progress(self) -> float:
        """The progress of the run by its own plan, from 0 to 1."""
        return min(1.0, self.rows / self.config.planned_rows) if self.config.planned_rows else 0.0

    @property
    def simulations(self) -> int:
        """The simulations per move, which change geometrically with the progress of the run."""
        first, last = self.config.simulations, self.config.simulations_end or self.config.simulations
        return round(first * (last / first) ** self.progress)

    def _report(self, played: list[Played], learned: Learned, graded: float | None) -> Report:
        now = time.perf_counter()
        self.seconds, self.timed_until = self.seconds + now - self.timed_until, now
        counts = add_counts([each.counts for each in played])
        interval = self.ladder.interval if self.ladder else None
        return Report(
            iteration=self.iteration,
            rows=self.rows,
            games=self.games,
            steps=self.learner.steps,
            seconds=self.seconds,
            plies=counts.plies / max(1, counts.games),
            simulations_per_second=counts.simulations / counts.seconds,
            rows_per_second=learned.steps * self.config.batch_size / max(1e-9, learned.seconds),
            play_seconds=counts.seconds,
            learn_seconds=learned.seconds,
            simulations=self.simulations,
            losses=learned.losses,
            rating=self.ladder.rating if self.ladder else None,
            gate=self.gate.result,
            resign_error=counts.resign_error,
            graded=graded,
            rating_low=interval[0] if interval else None,
            rating_high=interval[1] if interval else None,
            wins=counts.wins,
            draws=counts.draws,
        )

    def _log(self, report: Report, played: list[Played]) -> None:
        self.writer.write(lambda: self._keep(report.iteration, played))
        self.run.add_to_log(report.line())

    def _keep(self, iteration: int, played: list[Played]) -> None:
        for board, each in enumerate(played):
            self.run.save_rows(iteration, each.rows, board)
        watched = played[0].counts.watched
        if watched is not None:
            self.run.add_watched({"iteration": iteration, **watched})

    # --- checkpoints --------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """All that is needed to continue, except the weights that play and the rows of self-play."""
        state = self.learner.state() | self.gate.state() | self.selfplay.state() | self.window.state()
        for board in self.boards:
            state |= board.state()
        if self.ladder:
            state |= self.ladder.state()
        facts = {"seconds": self.seconds, "games": self.games, "owed": self.steps_owed}
        return state | State(arrays={"choose": pack_rng(self.rng)}, facts=facts)

    def save(self, wait: bool = True) -> None:
        """Write a checkpoint. Without `wait` it may be on disk only after `finish`."""
        state, iteration = self.state(), self.iteration
        player, learner = detached(self.gate.best.state_dict()), detached(state.tensors)
        arrays = {**state.arrays, "facts": np.array(json.dumps(state.facts))}
        self.writer.write(lambda: self.run.save(iteration, player, learner, arrays, state.facts))
        if wait:
            self.finish()

    def finish(self) -> None:
        """Wait until all files are on disk."""
        self.writer.finish()

    def close(self) -> None:
        """Wait until all files are on disk, and end self-play."""
        try:
            self.finish()
        finally:
            for each in (self.selfplay, *(board.selfplay for board in self.boards)):
                each.close()

    def restore(self, iteration: int) -> None:
        """Continue from a checkpoint of the run."""
        learner, arrays = self.run.load_state(iteration)
        player, _ = self.run.load_player(iteration)
        state = State(learner, arrays, json.loads(str(arrays["facts"])))
        self.learner.restore(state)
        self.gate.restore(state, player.state_dict())
        self.selfplay.restore(state)
        if self.ladder:
            self.ladder.restore(state)
        unpack_rng(self.rng, arrays["choose"])
        self.iteration, self.seconds, self.games = iteration, state.facts["seconds"], state.facts["games"]
        self.steps_owed = state.facts["owed"]
        self.run.forget_after(iteration)
        self.window.restore(state, lambda wanted: self.run.load_rows(iteration, wanted))
        for number, board in enumerate(self.boards, 1):
            board.restore(state, partial(self.run.load_rows, iteration, board=number))
        self._load_weights()
        self.timed_until = time.perf_counter()
