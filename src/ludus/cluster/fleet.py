"""The fleet: one actor in every slot of the cluster, each with its work under way.

Slots follow the nodes: a node that joins gets its actors within REFRESH seconds, and an actor that ends is replaced. A
piece of work (a job) has an id. Its result is handed over once. If its actor or node ends before that, the job is
handed over as lost, and the caller gives it to another actor. Ray itself repeats nothing: a call of an actor runs at
most once.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ludus.cluster.connection import ClusterFailed, Connection
from ludus.cluster.events import ActorLost, ClusterChanged, ClusterEvent
from ludus.cluster.placement import Node, Slot

REFRESH = 1.0
"""Seconds between two checks of the nodes of the cluster."""
RETRY = 2.0
"""Seconds before an actor is started in a slot whose last actor failed, for each failure in a row."""
MOST_FAILURES = 3
"""Failures in a row, without a result in between, after which a slot is left empty."""


@dataclass(eq=False)
class Member:
    """An actor and its jobs under way."""

    number: int
    """The number of the actor; no two actors of a fleet have the same."""
    slot: Slot
    handle: Any
    """Ray's handle of the actor."""
    jobs: dict[Any, int] = field(default_factory=dict)
    """The jobs under way by the references of their results, oldest first."""


class Result(NamedTuple):
    """The end of a job."""

    job: int
    member: Member
    value: Any
    """The return value of the actor's method; None if the job is lost."""
    is_lost: bool


@dataclass
class Failures:
    """The failures of a slot since its last result."""

    count: int
    again: float
    """When the next actor may be started in the slot, by time.monotonic()."""
    reason: str


class Fleet:
    """The actors of one purpose. All methods must be called from one thread at a time."""

    def __init__(
        self,
        connection: Connection,
        actor: type,
        arguments: tuple[Any, ...],
        place: Callable[[Sequence[Node]], list[Slot]],
        first: int = 0,
    ):
        """Actors are made as `actor(slot, number, *arguments)` in the slots that `place` gives; numbers from `first`.

        `arguments` are put into the object store once.
        """
        self.ray = connection.ray
        self.connection, self.place = connection, place
        self.actor = self.ray.remote(max_restarts=0, max_task_retries=0)(actor)
        self.arguments = [self.ray.put(each) for each in arguments]
        self.next_number = first
        self.members: list[Member] = []
        self.events: deque[ClusterEvent] = deque()
        """Events that the caller has not told yet."""
        self._failures: dict[Slot, Failures] = {}
        self._lost: list[Result] = []
        self._refreshed = -REFRESH

    # --- actors -------------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Follow the nodes, at most every REFRESH seconds: fill empty slots, and let actors of dead nodes go.

        ClusterFailed if there are slots and the actors of all of them fail again and again.
        """
        if time.monotonic() < self._refreshed + REFRESH:
            return
        self._refreshed = time.monotonic()
        wanted = self.place(self.connection.nodes())
        before = [member.number for member in self.members]
        for member in [each for each in self.members if each.slot not in wanted]:
            self._let_go(member, "its node left the cluster")
        taken = {member.slot for member in self.members}
        for slot in wanted:
            if slot not in taken and self._may_start(slot):
                self._start(slot)
        if wanted and not self.members and all(self._is_barred(slot) for slot in wanted):
            raise ClusterFailed(f"no node can run an actor: {self._failures[wanted[0]].reason}")
        if [member.number for member in self.members] != before:
            self._tell_size()

    def _may_start(self, slot: Slot) -> bool:
        failed = self._failures.get(slot)
        return failed is None or (failed.count < MOST_FAILURES and time.monotonic() >= failed.again)

    def _is_barred(self, slot: Slot) -> bool:
        failed = self._failures.get(slot)
        return failed is not None and failed.count >= MOST_FAILURES

    def _start(self, slot: Slot) -> None:
        place = self.connection.on_node(slot.node)
        options = {"num_cpus": slot.cores, "num_gpus": slot.gpus, "scheduling_strategy": place}
        handle = self.actor.options(**options).remote(slot, self.next_number, *self.arguments)
        self.members.append(Member(self.next_number, slot, handle))
        self.next_number += 1

    def _let_go(self, member: Member, reason: str) -> None:
        """End an actor. Its jobs are lost."""
        self.members.remove(member)
        self.ray.kill(member.handle)
        self._lost += [Result(job, member, None, True) for job in member.jobs.values()]
        member.jobs = {}
        self.events.append(ActorLost(member.slot.address, reason))

    def _tell_size(self) -> None:
        slots = [member.slot for member in self.members]
        nodes = len({slot.node for slot in slots})
        threads, gpus = sum(slot.threads for slot in slots), sum(slot.gpus for slot in slots)
        self.events.append(ClusterChanged(nodes, len(slots), threads, gpus))

    # --- jobs ---------------------------------------------------------------------------------------------------------

    def submit(self, member: Member, job: int, method: str, *arguments: Any) -> None:
        """Give a job to an actor, which does its jobs one after the other."""
        reference = getattr(member.handle, method).remote(*arguments)
        member.jobs[reference] = job

    def collect(self, seconds: float) -> list[Result]:
        """The jobs that have ended or were lost since the last call; waits for at most `seconds` if there are none."""
        under_way = {reference: member for member in self.members for reference in member.jobs}
        if under_way and not self._lost:
            self.ray.wait(list(under_way), num_returns=1, timeout=seconds)
        elif not self._lost:
            time.sleep(seconds)
        results, self._lost = self._lost, []
        ended: list[Any] = []
        if under_way:
            ended, _ = self.ray.wait(list(under_way), num_returns=len(under_way), timeout=0)
        for reference in ended:
            member = under_way[reference]
            if reference not in member.jobs:
                continue  # the actor failed at an earlier job of this call
            try:
                value = self.ray.get(reference)
            except self.ray.exceptions.RayError as error:
                self._fail(member, reason_of(error))
                continue
            results.append(Result(member.jobs.pop(reference), member, value, False))
            self._failures.pop(member.slot, None)
        results += self._lost
        self._lost = []
        return results

    def _fail(self, member: Member, reason: str) -> None:
        count = self._failures[member.slot].count + 1 if member.slot in self._failures else 1
        self._failures[member.slot] = Failures(count, time.monotonic() + RETRY * count, reason)
        self._let_go(member, reason)
        self._tell_size()

    def drop_busy(self) -> None:
        """End the actors that have jobs, and forget the jobs. The slots are filled again by `refresh`."""
        for member in [each for each in self.members if each.jobs]:
            self.ray.kill(member.handle)
            self.members.remove(member)

    def close(self) -> None:
        """End all actors. Their jobs are forgotten."""
        for member in self.members:
            self.ray.kill(member.handle)
        self.members = []


def reason_of(error: BaseException) -> str:
    """The reason in an exception of Ray, as one line: the last line of the traceback that it holds."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:300]
