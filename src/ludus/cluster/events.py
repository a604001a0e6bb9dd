"""Events of a cluster, for the callbacks of trainings, matches and arenas."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ClusterChanged:
    """Actors were started or lost."""

    nodes: int
    """Nodes that have an actor."""
    actors: int
    threads: int
    """CPU threads of all actors."""
    gpus: int
    """GPUs of all actors."""


@dataclass(frozen=True)
class ActorLost:
    """An actor ended. Its work under way is done again by others, and its node gets a new actor if it still exists."""

    node: str
    """The address of the node."""
    reason: str


ClusterEvent = ClusterChanged | ActorLost
