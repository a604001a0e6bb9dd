"""Events of a cluster as lines of text."""

from __future__ import annotations

from ludus.cluster.events import ActorLost, ClusterEvent
from ludus.terminal.show import plain


def cluster_line(event: ClusterEvent) -> str:
    """An event of a cluster in one line."""
    if isinstance(event, ActorLost):
        return plain(f"Cluster: an actor on {event.node} ended: {event.reason}")
    gpus = f", {event.gpus} GPU{'s' * (event.gpus > 1)}" if event.gpus else ""
    return (
        f"Cluster: {event.actors} actor{'s' * (event.actors != 1)} on {event.nodes} node{'s' * (event.nodes != 1)}, "
        f"{event.threads} thread{'s' * (event.threads != 1)}{gpus}"
    )
