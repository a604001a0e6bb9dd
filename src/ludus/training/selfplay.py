"""Self-play as a seam: weights in, rows and counts out. The learner does not know where the games are played.

`LocalSelfPlay` plays on threads of this process, with network and trees on the CPU or on a GPU. `ClusterSelfPlay`
(cluster_play.py) and `LockstepSelfPlay` (lockstep.py) play on the nodes of a cluster.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ludus.nets.evaluator import make_evaluator
from ludus.nets.rows import Rows, join
from ludus.rng import derived_seed
from ludus.stopping import NEVER, Stop
from ludus.training.state import State, with_prefix
from ludus.training.watching import WatchedGame
from ludus.training.worker import Worker

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config


class Counts(NamedTuple):
    """The numbers of one call of `play`."""

    games: int
    """Games finished."""
    plies: int
    """Plies of the finished games."""
    simulations: int
    seconds: float
    resign_error: float
    """The fraction of resignations that would have been wrong, since the run began; 0 without resignation."""
    wins: tuple[int, ...] = ()
    """For each seat, finished games with a positive result."""
    draws: int = 0
    """Finished games whose results are all 0."""
    watched: dict[str, Any] | None = None
    """A finished game for people to watch (see watching.py)."""


class Played(NamedTuple):
    """The result of one call of `play`."""

    rows: Rows
    counts: Counts


class SelfPlay(Protocol):
    """Plays games with the weights that it was given last."""

    def load(self, network: Any, calibration: Any = None) -> None:
        """Play with the weights of a network from now on; `calibration` as for Engine.load."""

    def play(self, rows: int, simulations: int, stop: Stop = NEVER) -> Played:
        """Play until there are at least `rows` new rows of finished games, with `simulations` per move.

        If stopped, fewer rows. Games under way continue in the next call.
        """

    def state(self) -> State:
        """All that is needed to continue with the same games and random numbers."""

    def restore(self, state: State) -> None:
        """Continue from a state. The weights are not part of it."""

    def close(self) -> None:
        """Release the processes that play. The object cannot play afterwards."""


class MakeSelfPlay(Protocol):
    """Makes the self-play of a run; the parameters are those of LocalSelfPlay."""

    def __call__(
        self, game: Game, config: Config, network: Any, *, games: int, workers: int, seed: int
    ) -> SelfPlay: ...


class LocalSelfPlay:
    """Self-play on threads of this process, with one worker each."""

    def __init__(
        self,
        game: Game,
        config: Config,
        network: Any,
        *,
        games: int,
        workers: int,
        seed: int,
        watch: bool = True,
    ):
        """Split `games` games among `workers` workers; worker i draws from the seed `seed` + i.

        With `watch`, a game of the first worker is recorded for people to watch.
        """
        evaluator = make_evaluator(game, network, config.engine)
        evaluators = [evaluator, *(evaluator.share() for _ in range(workers - 1))]
        self.games, self.seed = games, seed
        self.workers = [
            Worker(game, config, each, share, seed + i)
            for i, (each, share) in enumerate(zip(evaluators, shares_of(games, workers), strict=True))
        ]
        if watch and not game.simultaneous:
            self.workers[0].watched = WatchedGame(game)

    def load(self, network: Any, calibration: Any = None) -> None:
        self.workers[0].evaluator.load(network, calibration)  # the others share its weights

    def play(self, rows: int, simulations: int, stop: Stop = NEVER) -> Played:
        """See SelfPlay.play. The order of the rows does not depend on the order in which the threads finish."""
        began, before = time.perf_counter(), self._totals()
        share = -(-rows // len(self.workers))
        if len(self.workers) == 1:
            found = self.workers[0].play(share, simulations, stop)
        else:
            with ThreadPoolExecutor(len(self.workers)) as threads:
                found = join(list(threads.map(lambda worker: worker.play(share, simulations, stop), self.workers)))
        seconds = time.perf_counter() - began
        games, plies, run, draws, *wins = (self._totals() - before).tolist()
        error = max(each.resigning.error for each in self.workers)
        watched = self.workers[0].watched
        shown = None if watched is None else watched.take()
        return Played(found, Counts(games, plies, run, seconds, error, tuple(wins), draws, shown))

    def _totals(self) -> np.ndarray:
        """Games, plies, simulations, draws, and wins of each seat so far, int64 [4 + P]."""
        counts = [
            (each.finished, each.plies_finished, each.simulations, each.draws, *each.wins) for each in self.workers
        ]
        return np.sum(counts, axis=0)

    def state(self) -> State:
        state = State(facts={"workers": len(self.workers)})
        for i, worker in enumerate(self.workers):
            copies = {name: array.copy() for name, array in worker.state().arrays.items()}
            state |= State(arrays=with_prefix(f"worker{i}.", copies))
        return state

    def restore(self, state: State) -> None:
        for i, worker in enumerate(self.workers):
            arrays = state.arrays_of(f"worker{i}.")
            if arrays:
                worker.restore(State(arrays=arrays))
            else:  # a free-running cluster has trained the run: new games, with random numbers not yet used
                worker.restart(derived_seed(self.seed, state.facts["cluster"]["batches"], i))

    def close(self) -> None:
        pass  # the threads end with each call of `play`

    # --- for the preflight --------------------------------------------------------------------------------------------

    def restart(self) -> None:
        """Drop all games under way, and begin new ones."""
        for worker in self.workers:
            worker.restart()

    @property
    def bytes(self) -> int:
        """The memory of the trees."""
        return sum(worker.forest.bytes for worker in self.workers)

    def measure_network(self, seconds: float) -> float:
        """Evaluations per second of the network alone, on batches as large as those of self-play."""
        with ThreadPoolExecutor(len(self.workers)) as threads:
            measured = threads.map(lambda each: each.evaluator.measure(each.forest.batch, seconds), self.workers)
            return sum(measured)


def shares_of(games: int, workers: int) -> list[int]:
    """The number of games of each worker, at least one."""
    return [max(1, int(share)) for share in np.diff(np.linspace(0, games, workers + 1).round())]
