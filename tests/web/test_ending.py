"""A server whose threads wait for clingo: other requests are answered, Ctrl-C ends it, and memory is bounded."""

import contextlib
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.web.serving import wait_for

DIGITS = " ".join(f"(d {n})" for n in range(40))
ENDLESS = f"""(role r) {DIGITS} (init p) (<= (e ?x) (d ?x) (distinct ?x 99))
(<= (big ?a ?b ?c ?d ?e ?f) (e ?a) (e ?b) (e ?c) (e ?d) (e ?e) (e ?f))
(<= (legal r (go ?a ?b ?c ?d ?e ?f)) (true p) (big ?a ?b ?c ?d ?e ?f))
(<= (next q) (does r ?m)) (<= terminal (true q)) (goal r 100)"""
"""A description with four thousand million moves: grounding it fills the memory, or takes minutes. Their number is not
seen before, since they are made of a derived relation; else grounding would not be tried."""


def grounders(server):
    """The processes of clingo that a server has started."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            is_child = re.search(r"PPid:\s+(\d+)", (folder / "status").read_text())[1] == str(server)
            if is_child and b"ludus.gdl.grounder" in (folder / "cmdline").read_bytes():
                found.append(folder)
        except OSError:  # it has ended meanwhile
            continue
    return found


@pytest.mark.skipif(not Path("/proc/self/limits").exists(), reason="needs /proc, which shows the limits of a process")
def test_a_server_that_grounds_answers_others_and_ends_at_once(tmp_path):
    rules = tmp_path / "endless.kif"
    rules.write_text(ENDLESS)
    command = [sys.executable, "-c", "from ludus.cli import main; main()", "web", "--port", "0", "--no-browser"]
    command += ["--games", str(tmp_path / "games"), "--game", str(rules), "--memory", "64MB"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server:
        try:
            address = re.search(r"http://\S+", server.stdout.readline())[0]

            def ask():
                with contextlib.suppress(httpx.HTTPError):  # the server ends before it can answer
                    httpx.post(f"{address}api/games", json={"game": "file:endless.kif"}, timeout=60)

            asking = [threading.Thread(target=ask) for _ in range(9)]  # more than there are threads for clicks
            for each in asking:
                each.start()
            found = wait_for(lambda: grounders(server.pid))
            limit = wait_for(lambda: re.search(r"Max address space\s+(\d+)", (found[0] / "limits").read_text()))
            assert int(limit[1]) == 512 << 20
            began = time.monotonic()
            made = httpx.post(f"{address}api/games", json={"game": "tictactoe"}, timeout=60).json()
            assert httpx.get(f"{address}api/games/{made['id']}", timeout=60).json()["title"] == "Tic-tac-toe"
            assert time.monotonic() - began < 20
            server.send_signal(signal.SIGINT)
            began = time.monotonic()
            assert server.wait(20) == 0
            assert time.monotonic() - began < 15  # two seconds, if other processes leave the cores alone
            wait_for(lambda: not any(folder.exists() for folder in found))
            for each in asking:
                each.join()
        finally:
            server.kill()
