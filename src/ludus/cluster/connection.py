"""The connection to a Ray cluster, or to a Ray of this machine alone that is started for the purpose."""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ludus.cluster.placement import Node
from ludus.errors import BadOption, LudusError

AUTO = "auto"
"""The address that means: the Ray of this machine if one runs, else a new one that only this machine can reach."""
OBJECT_STORE = 512 << 20
"""Bytes of shared memory for objects of a Ray that Ludus starts itself."""
LOOPBACK = "127.0.0.1"
QUIET: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False, "namespace": "ludus"}
"""Arguments of ray.init that keep Ray from printing."""
CONNECT_LIMIT = 5.0
"""Seconds within which a cluster must accept a connection."""


class ClusterFailed(LudusError):
    """The cluster cannot do its work: no node can run an actor."""


def import_ray() -> Any:
    """The package ray; BadOption says how to install it."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # silences a warning about GPUs of CPU actors
    os.environ.setdefault("RAY_TQDM_PATCH_PRINT", "0")  # Ray would replace `print`, and rules that print not compile
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
    if ray.is_initialized():
        yield Connection(ray)
        return
    found = running_address() if address == AUTO else checked_address(address)
    if found is None:
        with start_alone() as connection:
            yield connection
        return
    with _staying_on_loopback() if _is_loopback(found) else contextlib.nullcontext():
        try:
            # For `auto`, Ray sends this user's token by itself; never to an address, which may be anyone's.
            ray.init(address=address, **QUIET)
        except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
            why = (str(error).strip() or type(error).__name__).splitlines()[0]
            hint = "if it asks for a token, set RAY_AUTH_MODE=token (ludus docs cluster)"
            raise BadOption(f"the Ray cluster at {found} cannot be used: {why}; {hint}") from None
    try:
        yield Connection(ray)
    finally:
        ray.shutdown()


@contextlib.contextmanager
def start_alone(cores: int | None = None) -> Iterator[Connection]:
    """Start a Ray that only this machine can reach, with all its cores or as if it had `cores`, for the block."""
    ray = import_ray()
    alone = {"include_dashboard": False, "object_store_memory": OBJECT_STORE, "_node_ip_address": LOOPBACK}
    with _staying_on_loopback():
        ray.init(address="local", num_cpus=cores, **alone, **QUIET)
    try:
        yield Connection(ray)
    finally:
        ray.shutdown()


def checked_address(address: str) -> str:
    """An address HOST:PORT that a user gave; BadOption unless something answers there."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isdecimal() or "/" in host:
        raise BadOption(f"--cluster takes auto, or the address HOST:PORT of a Ray cluster, not {address!r}")
    if not _answers(address):
        hint = "ray start --head starts a cluster, and --cluster auto uses this machine alone"
        raise BadOption(f"nothing answers at {address}; {hint}")
    return address


def running_address() -> str | None:
    """The address of the cluster that this user has started with `ray start` on this machine, or of $RAY_ADDRESS."""
    given = os.environ.get("RAY_ADDRESS")
    if given:
        return checked_address(given)
    file = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray" / "ray_current_cluster"
    if not file.is_file() or (hasattr(os, "getuid") and file.stat().st_uid != os.getuid()):
        return None
    address = file.read_text().strip()
    return address if _answers(address) else None


def _answers(address: str) -> bool:
    """True if a program listens at HOST:PORT. Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_LIMIT):
            return True
    except (OSError, ValueError, OverflowError):
        return False


def _is_loopback(address: str) -> bool:
    host = address.rpartition(":")[0].strip("[]")
    return host == "localhost" or host.startswith("127.") or host == "::1"


@contextlib.contextmanager
def _staying_on_loopback() -> Iterator[None]:
    """Ray replaces 127.0.0.1 by an address that other machines can reach, except where it supports no clusters, as on
    macOS and Windows. In this block, and in the processes started in it, it takes this machine for one of those."""
    constants: Any = importlib.import_module("ray._private.ray_constants")
    before, variable = constants.ENABLE_RAY_CLUSTER, constants.ENABLE_RAY_CLUSTERS_ENV_VAR
    given = os.environ.get(variable)
    constants.ENABLE_RAY_CLUSTER, os.environ[variable] = False, "0"
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before
        if given is None:
            del os.environ[variable]
        else:
            os.environ[variable] = given
