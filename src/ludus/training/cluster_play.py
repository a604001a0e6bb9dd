"""Self-play on a cluster, free-running: every actor plays on all the time, and the learner takes what has arrived.

A thread keeps two jobs at each actor, takes in batches as they arrive, and starts actors on new nodes. `play` returns
as soon as enough rows have arrived from any actors, so a slow actor delays nobody. A job has an id. Its batch counts
once, when it arrives; a job that was lost with its actor never counts, and new games are played instead. When rows
arrive faster than the learner learns, actors pause: the rows that wait for the learner are bounded.

Which games reach which step of the learner depends on the speed of the nodes, so a seed does not repeat the weights.
lockstep.py does repeat them.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ludus.cluster.fleet import Fleet
from ludus.cluster.placement import place_selfplay
from ludus.nets.rows import Rows, empty_rows, join
from ludus.stopping import NEVER, Stop
from ludus.training.cluster_actor import Batch, Player, Share, Weights, recipe_for, weights_of
from ludus.training.learner import learner_device
from ludus.training.selfplay import Counts, Played
from ludus.training.state import State, with_prefix

if TYPE_CHECKING:
    from ludus.cluster.connection import Connection
    from ludus.cluster.events import ClusterEvent
    from ludus.game import Game
    from ludus.runs.config import Config

SECONDS = 1.0
"""Least seconds of play in one job: new weights are used within two jobs."""
MOST_CALLS = 200.0
"""Jobs per second of all actors together: with more actors, jobs are longer."""
DEPTH = 2
"""Jobs under way at each actor: it begins the next while its last batch travels."""
AHEAD = 2.0
"""Actors pause when this multiple of an iteration's rows waits for the learner."""
POLL = 0.1
"""Seconds between two checks of the stop signal."""


class ClusterSelfPlay:
    """Self-play by actors on the nodes of a cluster; see SelfPlay."""

    def __init__(
        self,
        connection: Connection,
        game: Game,
        config: Config,
        network: Any,
        *,
        games: int,
        workers: int,
        seed: int,
        on_event: Callable[[ClusterEvent], None] | None = None,
    ):
        """`games` and `workers` are those of the machine that the run was planned on; actors get shares by their
        threads. The seed of an actor follows from `seed` and the number of the actor.
        """
        self.connection, self.game, self.config = connection, game, config
        self.arguments = recipe_for(game, config), Share(games, workers, learner_device(config), seed)
        self.tell = on_event or (lambda event: None)
        self.fleet: Fleet | None = None
        """The actors; None until the first call of `play`."""
        self.jobs = 0
        """Jobs begun since the run began: the id of the next one."""
        self.batches = 0
        """Batches that have arrived since the run began."""
        self.lost = 0
        """Jobs lost with their actors, since this object was made."""
        self.actors = 0
        """Actors started since the run began."""
        self.open: set[int] = set()
        """The ids of the jobs under way."""
        self.inbox: deque[Played] = deque()
        """What has arrived and was not yet handed to the learner, oldest first."""
        self.weights = self._put(network, None, 0)
        self.wanted_rows = self.simulations = 0
        """The arguments of the latest call of `play`."""
        self.began = time.perf_counter()
        """When the counts of the next call of `play` begin."""
        self.failure: BaseException | None = None
        self.lock = threading.Condition()
        """Guards the fields above between the caller and the thread."""
        self.thread: threading.Thread | None = None
        self.ending = threading.Event()

    def _put(self, network: Any, calibration: Any, version: int) -> Weights:
        """Put weights into the object store, from where every node fetches them once."""
        return Weights(version, [self.connection.ray.put((weights_of(network), calibration))])

    # --- the methods of SelfPlay --------------------------------------------------------------------------------------

    def load(self, network: Any, calibration: Any = None) -> None:
        weights = self._put(network, calibration, self.weights.version + 1)
        with self.lock:
            self.weights = weights

    def play(self, rows: int, simulations: int, stop: Stop = NEVER) -> Played:
        """See SelfPlay.play. The counts cover the time since the last call: actors also play between calls."""
        with self.lock:
            self.wanted_rows, self.simulations = rows, simulations
            if self.thread is None:
                self.began = time.perf_counter()
                self.fleet = Fleet(self.connection, Player, self.arguments, self._place, self.actors)
                self.thread = threading.Thread(target=self._run, args=(self.fleet,), name="ludus cluster", daemon=True)
                self.thread.start()
            self._tell_events()
            while self._rows_waiting() < rows and not stop.is_set() and self.failure is None:
                self.lock.wait(POLL)
                self._tell_events()
            if self.failure is not None:
                raise self.failure
            taken: list[Played] = []
            count = 0
            while self.inbox and count < rows:
                taken.append(self.inbox.popleft())
                count += len(taken[-1].rows)
            now = time.perf_counter()
            seconds, self.began = now - self.began, now
            return add_up(taken, self._no_rows(), seconds)

    def state(self) -> State:
        """The rows that have arrived and were not yet handed over. Games under way at the actors are not part of it."""
        with self.lock:
            waiting = add_up(list(self.inbox), self._no_rows(), 0.0)
            counts = waiting.counts
            facts = {
                "jobs": self.jobs,
                "batches": self.batches,
                "actors": self.fleet.next_number if self.fleet else self.actors,
                "waiting": [counts.games, counts.plies, counts.simulations, counts.draws, *counts.wins],
            }
        return State(arrays=with_prefix("inbox.", waiting.rows._asdict()), facts={"cluster": facts})

    def restore(self, state: State) -> None:
        """Continue a run. Actors get numbers, and so seeds, that the run has not used; they begin with new games."""
        facts = state.facts.get("cluster")
        if facts is None:
            return  # the run was not trained on a cluster before
        self.jobs, self.batches, self.actors = facts["jobs"], facts["batches"], facts["actors"]
        games, plies, simulations, draws, *wins = facts["waiting"]
        rows = Rows(**state.arrays_of("inbox."))
        self.inbox.clear()
        if len(rows) or games:
            self.inbox.append(Played(rows, Counts(games, plies, simulations, 0.0, 0.0, tuple(wins), draws)))

    def close(self) -> None:
        """End the actors."""
        self.ending.set()
        if self.thread is not None:
            self.thread.join()
        if self.fleet is not None:
            self.fleet.close()

    # --- the thread ---------------------------------------------------------------------------------------------------

    def _run(self, fleet: Fleet) -> None:
        try:
            while not self.ending.is_set():
                fleet.refresh()
                self._give_jobs(fleet)
                for result in fleet.collect(POLL):
                    self._take(result.job, result.value)
        except BaseException as error:
            with self.lock:
                self.failure = error
                self.lock.notify_all()

    def _give_jobs(self, fleet: Fleet) -> None:
        with self.lock:
            if self._rows_waiting() >= AHEAD * self.wanted_rows:
                return
            weights, simulations = self.weights, self.simulations
        seconds = max(SECONDS, len(fleet.members) / MOST_CALLS)
        for member in fleet.members:
            while len(member.jobs) < DEPTH:
                with self.lock:
                    job, self.jobs = self.jobs, self.jobs + 1
                    self.open.add(job)
                fleet.submit(member, job, "play", job, weights, simulations, seconds)

    def _take(self, job: int, batch: Batch | None) -> None:
        """Count a batch that has arrived, or forget a job that was lost."""
        with self.lock:
            if job not in self.open:
                raise RuntimeError(f"the batch of job {job} arrived twice")
            self.open.remove(job)
            if batch is None:
                self.lost += 1
                return
            self.batches += 1
            self.inbox.append(batch.played)
            self.lock.notify_all()

    def _rows_waiting(self) -> int:
        return sum(len(played.rows) for played in self.inbox)

    def _tell_events(self) -> None:
        """Tell the events of the fleet in the thread of the caller."""
        while self.fleet is not None and self.fleet.events:
            self.tell(self.fleet.events.popleft())

    @property
    def _place(self) -> Any:
        return partial(place_selfplay, learner_threads=max(1, self.config.learner_threads))

    def _no_rows(self) -> Rows:
        return empty_rows(self.game.new_states(1), self.game.players)


def add_up(parts: list[Played], nothing: Rows, seconds: float) -> Played:
    """The rows of all parts, and the sums of their counts; `nothing` are rows of the right type, none of them."""
    counts = [part.counts for part in parts]
    players = nothing.results.shape[1]
    wins = [sum(each.wins[player] for each in counts) for player in range(players)]
    total = Counts(
        games=sum(each.games for each in counts),
        plies=sum(each.plies for each in counts),
        simulations=sum(each.simulations for each in counts),
        seconds=max(seconds, 1e-9),
        resign_error=max((each.resign_error for each in counts), default=0.0),
        wins=tuple(wins),
        draws=sum(each.draws for each in counts),
        watched=next((each.watched for each in reversed(counts) if each.watched is not None), None),
    )
    return Played(join([nothing, *(part.rows for part in parts)]), total)
