"""This machine: the name of its CPU, the cores that this process may use, and its memory."""

from __future__ import annotations

import functools
import os
import platform
import sys
from pathlib import Path


def cpu_count() -> int:
    """The number of CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usual_threads() -> int:
    """The number of threads of one search: OMP_NUM_THREADS, which Ludus sets to 1 for processes that play games side by
    side; without it, one for each CPU core."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return min(int(given), cpu_count()) if given.isdecimal() and int(given) else cpu_count()


@functools.cache
def cpu_name() -> str:
    """The model of the CPU, as the operating system names it."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text().splitlines():
            if "model name" in line:
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


@functools.cache
def has_fast_int8() -> bool:
    """True if this CPU is known to run networks faster in 8-bit integers: one with AVX2, or with Arm's dot product."""
    cpuinfo = Path("/proc/cpuinfo")
    words = set(cpuinfo.read_text().split()) if cpuinfo.is_file() else set()
    return bool(words & {"avx2", "asimddp"})


def peak_memory() -> int:
    """The largest memory that this process has had so far, in bytes; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def memory_size() -> int:
    """The memory of this machine in bytes; 2**40 if the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 40
