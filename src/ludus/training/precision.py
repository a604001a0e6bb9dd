"""Whether the learner can multiply in bfloat16 on this CPU.

Some virtual machines list the instructions and end a process that uses them. So they are tried in another process.
"""

from __future__ import annotations

import functools
import subprocess
import sys
from pathlib import Path

INSTRUCTIONS = {"avx512_bf16", "amx_bf16"}
"""Without these instructions bfloat16 is slower than float32."""
TRIAL = """
import torch
torch.set_num_threads(1)
layer = torch.nn.Conv2d(16, 16, 3, padding=1).to(memory_format=torch.channels_last)
planes = torch.randn(8, 16, 6, 7).to(memory_format=torch.channels_last)
with torch.autocast("cpu", torch.bfloat16):
    loss = torch.nn.functional.linear(layer(planes).flatten(1), torch.randn(4, 672)).square().mean()
loss.backward()
assert torch.isfinite(layer.weight.grad).all()
"""
SECONDS = 60.0
"""The longest time of the trial: importing PyTorch takes long on a busy machine."""


@functools.cache
def can_use_bfloat16() -> bool:
    """True if this CPU has the instructions, and a process that uses them lives."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.is_file() or INSTRUCTIONS.isdisjoint(cpuinfo.read_text().split()):
        return False
    try:
        done = subprocess.run([sys.executable, "-c", TRIAL], capture_output=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
