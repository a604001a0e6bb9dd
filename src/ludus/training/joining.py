"""How a training uses a cluster: which self-play it gets, and what the cluster adds to the plan of a run."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ludus.cluster.connection import Connection, connect
from ludus.cluster.placement import place_selfplay, place_single_threads
from ludus.errors import BadOption
from ludus.machine import cpu_count
from ludus.training.cluster_play import ClusterSelfPlay
from ludus.training.learner import learner_device
from ludus.training.lockstep import LockstepSelfPlay

if TYPE_CHECKING:
    from ludus.cluster.placement import Slot
    from ludus.runs.config import Config
    from ludus.training.events import Listener
    from ludus.training.preflight import Measured
    from ludus.training.selfplay import MakeSelfPlay


@dataclass(frozen=True)
class Joined:
    """A cluster that a training has joined."""

    connection: Connection
    lockstep: bool
    emit: Listener

    def prepare(self, config: Config) -> Config:
        """The settings of a new run: in lockstep, one worker for each core of the cluster, unless a number is given."""
        if not self.lockstep or config.workers:
            return config
        return dataclasses.replace(config, workers=max(1, len(place_single_threads(self.connection.nodes()))))

    def scale(self, measured: Measured, config: Config) -> Measured:
        """The figures of this machine as figures of the cluster (see `speed_up`)."""
        nodes = self.connection.nodes()
        slots = place_single_threads(nodes) if self.lockstep else place_selfplay(nodes, measured.learner_threads)
        factor = speed_up(slots, learner_device(config), min(measured.workers, cpu_count()))
        return dataclasses.replace(
            measured,
            evaluations=factor * measured.evaluations,
            simulations=factor * measured.simulations,
            at_once=not self.lockstep,
            idle_gpus=0,
        )

    @property
    def make_selfplay(self) -> MakeSelfPlay:
        kind = LockstepSelfPlay if self.lockstep else ClusterSelfPlay
        return partial(kind, self.connection, on_event=self.emit)


@contextlib.contextmanager
def join_cluster(address: str | None, lockstep: bool, emit: Listener) -> Iterator[Joined | None]:
    """Join the cluster at an address (see cluster/connection.py); None without an address."""
    if address is None:
        if lockstep:
            raise BadOption("lockstep is for a cluster: add --cluster auto, or the address of one")
        yield None
        return
    with connect(address) as connection:
        yield Joined(connection, lockstep, emit)


def speed_up(slots: Sequence[Slot], device: str, threads: int) -> float:
    """The speed of a cluster relative to one machine that was measured on its `device` with `threads` threads.

    Every GPU, or without one every thread, counts as much as one of the measured machine. Nodes of the other kind are
    not counted, because nothing is known of their speed.
    """
    if device == "cuda":
        return max(1.0, float(sum(slot.gpus for slot in slots)))
    return max(1, sum(slot.threads for slot in slots if not slot.gpus)) / max(1, threads)
