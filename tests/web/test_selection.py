"""How clicks become a move, and the ticks of charts: functions of selection.js and charts.js, run by node."""

import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed; it runs these tests")
def test_clicks_become_moves_and_ticks_are_told_apart():
    test = Path(__file__).with_name("selection.test.mjs")
    done = subprocess.run(["node", "--test", str(test)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
