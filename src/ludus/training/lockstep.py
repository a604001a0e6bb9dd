"""Self-play on a cluster in lockstep: the same rows as on threads of one machine, whichever nodes play them.

The run has a fixed number of workers, as on one machine. An iteration of a worker is one job: the state of the worker
goes to any actor, and its rows and its next state come back. A job that is lost with its actor is given to another one
and has the same result. So the same settings give the same weights, bit for bit, as on one machine with this number of
workers, also if nodes die or join; all nodes must have the same kind of CPU. The price: an iteration ends with its
slowest worker, and actors wait while the learner learns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.cluster.fleet import Fleet, Member
from ludus.cluster.placement import place_single_threads
from ludus.nets.rows import empty_rows
from ludus.rng import derived_seed
from ludus.stopping import NEVER, Stop
from ludus.training.cluster_actor import Batch, SeatPlayer, Weights, recipe_for, weights_of
from ludus.training.cluster_play import POLL, add_up
from ludus.training.selfplay import Played, shares_of
from ludus.training.state import State, with_prefix

if TYPE_CHECKING:
    from ludus.cluster.connection import Connection
    from ludus.cluster.events import ClusterEvent
    from ludus.game import Game
    from ludus.runs.config import Config


class LockstepSelfPlay:
    """Self-play by actors on the nodes of a cluster that repeats; see SelfPlay."""

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
        """`games`, `workers` and `seed` as for LocalSelfPlay."""
        self.connection, self.game, self.seed = connection, game, seed
        self.tell = on_event or (lambda event: None)
        self.shares = shares_of(games, workers)
        self.states: list[dict[str, np.ndarray] | None] = [None] * workers
        """The state of each worker; None before its first iteration."""
        self.fleet = Fleet(connection, SeatPlayer, (recipe_for(game, config),), place_single_threads)
        self.weights = Weights(0, [connection.ray.put((weights_of(network), None))])
        self.jobs = 0
        self.homes: dict[int, int] = {}
        """The number of the actor that played each worker last: it keeps the worker's trees."""

    def load(self, network: Any, calibration: Any = None) -> None:
        reference = self.connection.ray.put((weights_of(network), calibration))
        self.weights = Weights(self.weights.version + 1, [reference])

    def play(self, rows: int, simulations: int, stop: Stop = NEVER) -> Played:
        """See SelfPlay.play. If stopped, no rows are returned, and the iteration begins again with the next call."""
        began = time.perf_counter()
        share = -(-rows // len(self.shares))
        waiting = list(range(len(self.shares)))
        seats: dict[int, int] = {}
        """The worker of each job of this call that is under way."""
        done: dict[int, Batch] = {}
        while len(done) < len(self.shares):
            if stop.is_set():
                return add_up([], self._no_rows(), time.perf_counter() - began)
            self.fleet.refresh()
            while self.fleet.events:
                self.tell(self.fleet.events.popleft())
            for member in self.fleet.members:
                if waiting and not member.jobs:
                    seat = self._choose(member, waiting)
                    waiting.remove(seat)
                    seats[self.jobs] = seat
                    self._submit(member, seat, share, simulations)
            for result in self.fleet.collect(POLL):
                ended = seats.pop(result.job, None)
                if ended is None:
                    continue  # a job of a call that was stopped
                if result.is_lost:
                    waiting.append(ended)
                else:
                    done[ended] = result.value
                    self.homes[ended] = result.member.number
        batches = [done[each] for each in range(len(self.shares))]
        self.states = [batch.state for batch in batches]
        return add_up([batch.played for batch in batches], self._no_rows(), time.perf_counter() - began)

    def _choose(self, member: Member, waiting: list[int]) -> int:
        """The worker to play next: one that this actor played last, else one whose actor is gone."""
        alive = {each.number for each in self.fleet.members}
        return min(waiting, key=lambda seat: (self.homes.get(seat) != member.number, self.homes.get(seat) in alive))

    def _submit(self, member: Member, seat: int, rows: int, simulations: int) -> None:
        job, self.jobs = self.jobs, self.jobs + 1
        which = seat, self.shares[seat], self.seed + seat, self.states[seat]
        self.fleet.submit(member, job, "play", job, self.weights, *which, rows, simulations)

    def _no_rows(self) -> Any:
        return empty_rows(self.game.new_states(1), self.game.players)

    def state(self) -> State:
        """The same as the state of LocalSelfPlay: either continues from the other's."""
        state = State(facts={"workers": len(self.shares)})
        for i, arrays in enumerate(self.states):
            state |= State(arrays=with_prefix(f"worker{i}.", arrays or {}))
        return state

    def restore(self, state: State) -> None:
        found = [state.arrays_of(f"worker{i}.") for i in range(len(self.shares))]
        if all(found):
            self.states = list(found)
        else:  # a free-running cluster has trained the run: new games
            self.seed = derived_seed(self.seed, state.facts["cluster"]["batches"])

    def close(self) -> None:
        """End the actors."""
        self.fleet.close()
