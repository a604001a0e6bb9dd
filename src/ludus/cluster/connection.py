"""The connection to a Ray cluster, or to a Ray of this machine alone that is started for the purpose."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
from collections.abc import Iterator
from typing import Any

from ludus.cluster.placement import Node
from ludus.errors import BadOption, LudusError

AUTO = "auto"
"""The address that means: the Ray of this machine if one runs, else a new one that only this machine can reach."""
OBJECT_STORE = 512 << 20
"""Bytes of shared memory for objects of a Ray that Ludus starts itself."""
LOOPBACK = "127.0.0.1"


class ClusterFailed(LudusError):
    """The cluster cannot do its work: no node can run an actor."""


def import_ray() -> Any:
    """The package ray; BadOption says how to install it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning about GPUs of CPU actors
    try:
        return importlib.import_module("ray")
    except ImportError:
        raise BadOption("a cluster needs Ray, which is not installed: pip install 'ludus[cluster]'") from None


class Connection:
    """A connection to a cluster."""

    def __init__(self, ray: Any):
        self.ray = ray

    def nodes(self) -> list[Node]:
        """The nodes that are alive, in the order of their ids."""
        ours = self.ray.get_runtime_context().get_node_id()
        found = [
            Node(
                id=each["NodeID"],
                address=each["NodeManagerAddress"],
                cpus=int(each["Resources"].get("CPU", 0)),
                gpus=int(each["Resources"].get("GPU", 0)),
                is_ours=each["NodeID"] == ours,
            )
            for each in self.ray.nodes()
            if each["Alive"]
        ]
        return sorted(found, key=lambda node: node.id)

    def on_node(self, node: str) -> Any:
        """Ray's strategy that runs an actor on the node of this id, and nowhere else."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node, soft=False)


@contextlib.contextmanager
def connect(address: str = AUTO) -> Iterator[Connection]:
    """Connect this process to the Ray cluster at HOST:PORT, or `auto`; it is disconnected at the end of the block.

    A connection that the program has made before is used, and left as it is.
    """
    ray = import_ray()
    if address.startswith("ray://"):
        raise BadOption(f"{address}: Ray's client is not supported; run the command on a node, with HOST:PORT or auto")
    if ray.is_initialized():
        yield Connection(ray)
        return
    quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False, "namespace": "ludus"}
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        if address != AUTO:
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            hint = "ray start --head starts a cluster, and --cluster auto uses this machine alone"
            raise BadOption(f"no Ray cluster can be used at {address} ({why}); {hint}") from None
        ray.init(
            address="local",
            include_dashboard=False,
            object_store_memory=OBJECT_STORE,
            _node_ip_address=LOOPBACK,
            **quiet,
        )
    try:
        yield Connection(ray)
    finally:
        ray.shutdown()
