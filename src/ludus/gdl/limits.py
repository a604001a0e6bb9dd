"""Limits for work on descriptions in GDL, whose rules may describe anything. A server lowers them for its process."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Limits:
    """Limits of this process from now on."""

    grounding_seconds: float = 60.0
    """Seconds of waiting for a grounding."""
    grounding_cpu_seconds: float = 25.0
    """CPU seconds that each of its two processes may take. What takes longer has not been seen to end, so on a machine
    that is not busy it is known early that there will be no network."""
    grounding_megabytes: int = 8192
    """Address space of each of the two processes of a grounding, and of a proof."""
    query_seconds: float = 30.0
    """Time for one query of the reasoner."""
    query_megabytes: int = 2048
    """Memory that one query of the reasoner may add to this process."""


LIMITS = Limits()
