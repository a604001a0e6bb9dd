"""Placement: which actors run on which node. Everything here is a pure function of the nodes.

The actors of a node depend on that node alone, so nodes that join or leave change nothing on the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MOST_THREADS = 4
"""Threads of one self-play actor on CPUs: more share the interpreter's lock, fewer take more memory for each core."""


@dataclass(frozen=True)
class Node:
    """A machine of the cluster, with the resources that it offers to Ray."""

    id: str
    address: str
    cpus: int
    gpus: int = 0
    is_ours: bool = False
    """True for the node of this process, where the learner works."""


@dataclass(frozen=True)
class Slot:
    """The place of one actor."""

    node: str
    """The id of the node."""
    address: str
    """The address of the node."""
    index: int
    """The number of the slot on its node, from 0."""
    threads: int
    """CPU threads of the actor."""
    gpus: int = 0
    """GPUs of the actor, 0 or 1."""
    cores: float = 1
    """CPU cores that the actor reserves: its threads, or less where a node has more GPUs than cores."""


def place_selfplay(nodes: Sequence[Node], learner_threads: int = 1) -> list[Slot]:
    """The actors of free-running self-play.

    A node with GPUs has one actor for each, which share its cores, even if those are fewer. A node without has one
    actor for every MOST_THREADS cores. On the node of the learner, the cores that the learner uses are left out, but
    one core always plays. The learner uses the first GPU of its node together with the actor of that GPU.
    """
    return [slot for node in nodes for slot in _place_on(node, learner_threads)]


def _place_on(node: Node, learner_threads: int) -> list[Slot]:
    cores = max(1, node.cpus - learner_threads) if node.is_ours and node.cpus else node.cpus
    if node.gpus:
        shares, gpus = _shares(max(cores, node.gpus), node.gpus), 1
    else:
        shares, gpus = _shares(cores, -(-cores // MOST_THREADS)), 0
    fewer = len(shares) > node.cpus  # than GPUs; Ray starts no actor before the cores that it reserves are free
    part = node.cpus * 1000 // max(1, len(shares)) / 1000
    return [
        Slot(node.id, node.address, index, threads, gpus, part if fewer else threads)
        for index, threads in enumerate(shares)
    ]


def place_single_threads(nodes: Sequence[Node]) -> list[Slot]:
    """An actor of one thread for each core of each node: for the arena, and for self-play in lockstep."""
    return [Slot(node.id, node.address, index, 1) for node in nodes for index in range(node.cpus)]


def _shares(total: int, parts: int) -> list[int]:
    """`total` split into `parts` numbers that differ by at most 1, the larger ones first."""
    return [(total + parts - 1 - index) // parts for index in range(parts)]
