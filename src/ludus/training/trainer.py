"""The training loop: play, remember, learn, save; and all that a run needs to go on where it was."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ludus.nets.engines import fastest_engine
from ludus.nets.evaluator import load_all, make_evaluator, make_evaluators
from ludus.nets.network import is_two_player_zero_sum
from ludus.nets.rows import Rows, empty_rows, join
from ludus.runs.files import Writer
from ludus.runs.run import detached, first_weights
from ludus.training.evaluation import open_evaluation
from ludus.training.gating import Ladder, UctGate, passes, play_off
from ludus.training.learner import Learner, Losses
from ludus.training.replay import Window
from ludus.training.selfplay import SelfPlay, Step

if TYPE_CHECKING:
    from ludus.runs.config import Config
    from ludus.runs.run import Run

GAMES = 128
"""Games at once, where nobody measured how many are best."""
SAMPLES = 256
"""Positions by which an engine that rounds finds the ranges of its numbers."""
RATING_PART = 0.04
"""The part of the time that may go into the running rating."""


@dataclass
class Report:
    """What one iteration did."""

    iteration: int
    rows: int
    """In all, since the run began."""
    games: int
    steps: int
    seconds: float
    plies: float
    """Mean length of the games of this iteration."""
    simulations_per_second: float
    rows_per_second: float
    """Rows that the learner took in, in a second of learning."""
    play_seconds: float
    learn_seconds: float
    simulations: int
    losses: Losses
    rating: float | None
    """Elo above the untrained network, where two rivals play (see gating.Ladder)."""
    gate: tuple[int, int, int, bool] | None
    """With gating: wins, draws and losses of the new network, and whether it plays from now on."""
    resign_error: float
    """Of the games given up, the part that would not have been lost."""
    graded: float | None
    """The part of outcomes that the network alone keeps on solved positions, where an exam was due (see exam.py)."""

    def line(self) -> dict[str, Any]:
        facts = {**self.__dict__, **self.losses._asdict()}
        facts.pop("losses")
        return {key: round(value, 5) if isinstance(value, float) else value for key, value in facts.items()}


class Trainer:
    """Everything of a run that is in memory. `iterate` does one round; `save` and `restore` keep and bring it back."""

    def __init__(self, run: Run):
        self.run, self.game, self.config = run, run.game.compile(), run.config
        config = self.config
        self.exam = open_evaluation(run)
        workers = config.workers or 1
        torch.manual_seed(config.seed)
        network = config.make_network(self.game)
        if config.initial_run and run.whole_checkpoint() is None:
            network.load_state_dict(first_weights(config.initial_run, self.game, network))
        self.learner = Learner(self.game, network, config, device_of(config), config.learner_threads or 1)
        self.choose = np.random.default_rng(config.seed)
        gated = config.gating or config.gating_uct
        self.best = copy.deepcopy(self.learner.player) if gated else self.learner.player
        """The weights that play: with gating, those that were not yet beaten."""
        self.evaluators = make_evaluators(self.game, self.best, config.engine, workers)
        shares = np.diff(np.linspace(0, config.parallel_games or GAMES, workers + 1).round().astype(int))
        self.workers = [
            SelfPlay(self.game, config, evaluator, max(1, int(share)), 7919 * config.seed + i)
            for i, (evaluator, share) in enumerate(zip(self.evaluators, shares, strict=True))
        ]
        self.window = Window(self.game, config, empty_rows(self.game.new_states(1), self.game.players))
        self.writer = Writer(beside=config.concurrent_learning)
        self.iteration = 0
        self.seconds = 0.0
        self.counted = time.perf_counter()
        """Until when `seconds` counts."""
        self.rating_seconds = 0.0
        self.steps_owed = 0.0
        self.uct_gate = UctGate(config.gating_uct)
        self.ladder = Ladder(self.learner.player) if config.rating_games and is_two_player_zero_sum(self.game) else None
        self.gate: tuple[int, int, int, bool] | None = None
        """Wins, draws and losses of the last new network against the best, and whether it took its place."""

    # --- one round ----------------------------------------------------------------------------------------------------

    @property
    def progress(self) -> float:
        """How far the run has come, from 0 to 1, by its own plan."""
        return min(1.0, self.window.total / self.config.planned_rows) if self.config.planned_rows else 0.0

    @property
    def simulations(self) -> int:
        """Simulations a move, by the plan."""
        first, last = self.config.simulations, self.config.simulations_end or self.config.simulations
        return round(first * (last / first) ** self.progress)

    def iterate(self, stop: Callable[[], bool] = lambda: False) -> Report | None:
        """Play, learn, save. None where `stop` came in between: then nothing has changed on disk."""
        before = sum(worker.simulations for worker in self.workers)
        games = sum(worker.finished for worker in self.workers)
        plies = sum(worker.plies_finished for worker in self.workers)
        if (
            self.config.concurrent_learning
        ):  # the learner has the rows of the iterations before, so neither waits for the other
            with ThreadPoolExecutor(1) as beside:
                learning = beside.submit(timed, lambda: self._learn(stop))
                rows, play_seconds = timed(lambda: self._play(stop))
                (losses, steps), learn_seconds = learning.result()
            self._add(rows)
        else:
            rows, play_seconds = timed(lambda: self._play(stop))
            if stop():
                return None
            self._add(rows)
            (losses, steps), learn_seconds = timed(lambda: self._learn(stop))
        if stop():
            return None
        self._gate()
        self.iteration += 1
        self._give_weights()
        self._rate()
        graded = self.exam.grade(self.best, self.iteration) if self.exam else None
        now = time.perf_counter()
        self.seconds, self.counted = self.seconds + now - self.counted, now
        finished = sum(worker.finished for worker in self.workers)
        lengths = sum(worker.plies_finished for worker in self.workers) - plies
        report = Report(
            iteration=self.iteration,
            rows=self.window.total,
            games=finished,
            steps=self.learner.steps,
            seconds=self.seconds,
            plies=lengths / max(1, finished - games),
            simulations_per_second=(sum(worker.simulations for worker in self.workers) - before) / play_seconds,
            rows_per_second=steps * self.config.batch_size / max(1e-9, learn_seconds),
            play_seconds=play_seconds,
            learn_seconds=learn_seconds,
            simulations=self.simulations,
            losses=losses,
            rating=self.ladder.rating if self.ladder else None,
            gate=self.gate,
            resign_error=max(worker.resigning.error for worker in self.workers),
            graded=graded,
        )
        iteration = self.iteration
        self.writer.write(lambda: self.run.save_rows(iteration, rows))
        self.run.add_to_log(report.line())
        return report

    def _play(self, stop: Callable[[], bool]) -> Rows:
        return play_all(self.workers, -(-self.config.iteration_rows // len(self.workers)), self.simulations, stop)

    def _add(self, rows: Rows) -> None:
        self.window.add(rows)
        self.steps_owed += len(rows) * self.config.reuse / self.config.batch_size

    def _learn(self, stop: Callable[[], bool]) -> tuple[Losses, int]:
        """As many steps as the rows so far are worth."""
        steps = int(self.steps_owed)
        losses = self.learner.learn(self.window, steps, self.progress, self.choose, stop)
        self.steps_owed -= steps
        return losses, steps

    def _gate(self) -> None:
        """With gating, the learner's weights become the best only by doing better."""
        config = self.config
        if not (config.gating or config.gating_uct):
            return
        new = make_evaluator(self.game, self.learner.player, config.engine)
        old = None if config.gating_uct else make_evaluator(self.game, self.best, config.engine)
        uct = self.uct_gate.simulations
        result = self._play_off(new, old, config.gating_games, 1, uct)
        passed = self.uct_gate.passes(*result) if uct else passes(config.gating, *result)
        self.gate = (*result, passed)
        if passed:
            self.best.load_state_dict(self.learner.player.state_dict())

    def _rate(self) -> None:
        """Some games against the rival of the ladder, as long as that takes no more than a small part of the time."""
        if self.ladder is None or self.rating_seconds > RATING_PART * self.seconds + 1.0:
            return
        began = time.perf_counter()
        new, old = (make_evaluator(self.game, each, self.config.engine) for each in (self.best, self.ladder.rival))
        self.ladder.add(self.best, *self._play_off(new, old, self.config.rating_games, 2))
        self.rating_seconds += time.perf_counter() - began

    def _play_off(self, new: Any, old: Any, games: int, salt: int, uct: int = 0) -> tuple[int, int, int]:
        config = self.config
        seed = salt + config.seed + 7919 * self.iteration
        return play_off(self.game, new, old, games, self.simulations, max(2, config.opening_plies), seed, uct)

    def _give_weights(self) -> None:
        """Let everyone play with the new weights."""
        samples = None
        if self.config.engine == "int8" and len(self.window.rows):
            choose = np.random.default_rng([self.config.seed, self.iteration])
            samples = self.learner.sampler.draw(self.window.rows, SAMPLES, choose)[0].numpy()
        load_all(self.evaluators, self.best, samples)

    # --- keeping ------------------------------------------------------------------------------------------------------

    def save(self, wait: bool = True) -> None:
        """Write a checkpoint of all this; without `wait`, if `at_once`, it may be on disk only after `finish`."""
        config = self.config
        learner = {f"network.{key}": value for key, value in self.learner.network.state_dict().items()}
        packed = self.learner.optimiser.state_dict()["state"]
        for index, moments in packed.items():
            learner |= {f"optimiser.{index}.{key}": torch.as_tensor(value) for key, value in moments.items()}
        learner["torch"] = torch.get_rng_state()
        facts: dict[str, Any] = {
            "rows": self.window.total,
            "steps": self.learner.steps,
            "seconds": self.seconds,
            "games": sum(worker.finished for worker in self.workers),
        }
        if self.ladder:
            learner |= {f"rival.{key}": value for key, value in self.ladder.rival.state_dict().items()}
            facts |= {"ladder": [self.ladder.base, self.ladder.points, self.ladder.games]}
        if config.gating_uct:
            facts |= {"uct_gate": [self.uct_gate.simulations, self.uct_gate.best]}
        if config.gating or config.gating_uct:
            learner |= {f"average.{key}": value for key, value in self.learner.player.state_dict().items()}
        state: dict[str, np.ndarray] = {
            "facts": np.array(json.dumps({**facts, "owed": self.steps_owed, "workers": len(self.workers)})),
            "choose": np.array(json.dumps(self.choose.bit_generator.state)),
        }
        for i, worker in enumerate(self.workers):
            state |= {f"worker{i}.{key}": value.copy() for key, value in pack(worker).items()}
        iteration, player, learner = self.iteration, detached(self.best.state_dict()), detached(learner)
        self.writer.write(lambda: self.run.save(iteration, player, learner, state, facts))
        if wait:
            self.finish()

    def finish(self) -> None:
        """Wait until all that was to be saved is on disk."""
        self.writer.finish()

    def restore(self, iteration: int) -> None:
        """Be what was saved."""
        learner, state = self.run.load_state(iteration)
        player, _ = self.run.load_player(iteration)
        facts = json.loads(str(state["facts"]))

        def part(name: str) -> dict[str, Any]:
            return {key.removeprefix(name): value for key, value in learner.items() if key.startswith(name)}

        self.best.load_state_dict(player.state_dict())
        self.learner.take(part("network."), part("average.") or player.state_dict())
        if self.ladder:
            self.ladder.rival.load_state_dict(part("rival."))
            self.ladder.base, self.ladder.points, self.ladder.games = facts["ladder"]
        if self.config.gating_uct:
            self.uct_gate.simulations, self.uct_gate.best = facts["uct_gate"]
        moments: dict[int, dict[str, Any]] = {}
        for key, value in learner.items():
            if key.startswith("optimiser."):
                _, index, name = key.split(".")
                moments.setdefault(int(index), {})[name] = value
        whole = self.learner.optimiser.state_dict()
        self.learner.optimiser.load_state_dict({**whole, "state": moments})
        torch.set_rng_state(learner["torch"])
        self.choose.bit_generator.state = json.loads(str(state["choose"]))
        self.iteration, self.seconds, self.steps_owed = iteration, facts["seconds"], facts["owed"]
        self.learner.steps = facts["steps"]
        for i, worker in enumerate(self.workers):
            prefix = f"worker{i}."
            unpack(worker, {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
        self.run.forget_after(iteration)
        self.window.total = facts["rows"]
        parts = self.run.load_rows(iteration, self.window.size)
        self.window.total = facts["rows"] - sum(len(rows) for rows in parts)
        for rows in parts:
            self.window.add(rows)
        self._give_weights()
        self.counted = time.perf_counter()


def play_all(workers: list[SelfPlay], rows: int, simulations: int, stop: Callable[[], bool]) -> Rows:
    """Every worker plays so many rows, on a thread of its own; who is first does not change their order."""
    if len(workers) == 1:
        return workers[0].play(rows, simulations, stop)
    with ThreadPoolExecutor(len(workers)) as threads:
        return join(list(threads.map(lambda worker: worker.play(rows, simulations, stop), workers)))


def pack(worker: SelfPlay) -> dict[str, np.ndarray]:
    """What a worker needs to go on: its games under way, their rows, and its random numbers."""
    rows = (
        join([step.rows for step in worker.steps]) if worker.steps else empty_rows(worker.states, worker.game.players)
    )
    return {
        "states": worker.states,
        "plies": worker.plies,
        "random": worker.random,
        "trees": worker.forest.trees.random,
        "choose": np.array(json.dumps(worker.choose.bit_generator.state)),
        "exempt": worker.resigning.exempt,
        "loser": worker.resigning.loser,
        "resigned": worker.resigning.counts,
        "counts": np.array([worker.finished, worker.plies_finished, worker.simulations, worker.moves]),
        "step_sizes": np.array([len(step.trees) for step in worker.steps], np.int64),
        "step_numbers": np.array([step.number for step in worker.steps], np.int64),
        "step_trees": np.concatenate([np.zeros(0, np.int64), *(step.trees for step in worker.steps)]),
        **{f"rows.{name}": value for name, value in rows._asdict().items()},
    }


def unpack(worker: SelfPlay, state: dict[str, np.ndarray]) -> None:
    from ludus.nets.rows import pick_rows

    worker.states[...] = state["states"]
    worker.plies[...] = state["plies"]
    worker.random[...] = state["random"]
    worker.forest.trees.random[...] = state["trees"]
    worker.choose.bit_generator.state = json.loads(str(state["choose"]))
    worker.resigning.exempt[...] = state["exempt"]
    worker.resigning.loser[...] = state["loser"]
    worker.resigning.counts[...] = state["resigned"]
    worker.finished, worker.plies_finished, worker.simulations, worker.moves = state["counts"].tolist()
    rows = Rows(**{name: state[f"rows.{name}"] for name in Rows._fields})
    worker.steps, worker.rows_known = [], 0
    begin = 0
    for size, number in zip(state["step_sizes"].tolist(), state["step_numbers"].tolist(), strict=True):
        chosen = np.arange(begin, begin + size)
        known = np.zeros(size, np.bool_)
        worker.steps.append(Step(pick_rows(rows, chosen), state["step_trees"][chosen], known, number))
        begin += size


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it returns, and how many seconds it took."""
    began = time.perf_counter()
    return work(), time.perf_counter() - began


def device_of(config: Config) -> str:
    """Where the learner works: on the card, if the network plays there."""
    return "cuda" if fastest_engine(config.engine) == "cuda" else "cpu"
