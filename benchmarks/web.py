"""The load test of the web server, and the viewer of its trees.

    python -m benchmarks.web [--games 50] [--seconds 30] [--agent uct:2s]
    python -m benchmarks.web --tree 1000000      opens nodes of a tree of this size in Chromium

Starts `ludus web` in a process of its own and plays many games at once over WebSockets, each a person against an agent.
The person moves as soon as the agent has moved, so nearly all agents think all the time. A click is a move of the
person, and is answered when the state after it arrives. The client runs on the same cores as the server.
"""

import argparse
import asyncio
import json
import os
import random
import re
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import websockets

from benchmarks.measuring import Table

GAMES = ("connect4", "breakthrough", "tictactoe", "cachex", "sevn")
RAMP = 3.0
"""Seconds in which the games begin, one after the other."""
GOAL = 100.0
"""Milliseconds at the 95th percentile."""


class Load:
    """Games under way, and what was measured."""

    def __init__(self, address: str, agent: str, until: float):
        self.address, self.agent, self.until = address, agent, until
        self.client = httpx.AsyncClient(base_url=address, timeout=60)
        self.clicks: list[float] = []
        self.simulations = 0
        self.thinking: set[object] = set()
        self.samples: list[int] = []
        self.random = random.Random(1)

    async def play(self, game: str, wait: float = 0.0) -> None:
        """Play games until the time is over, after a first wait: people do not begin in the same moment."""
        await asyncio.sleep(wait)
        while time.perf_counter() < self.until:
            port = self.address.rpartition(":")[2]
            browser = {"Cookie": f"ludus_browser_{port}={secrets.token_urlsafe(24)}"}
            request = {"game": game, "seats": ["human", self.agent]}
            made = await self.client.post("/api/games", json=request, headers=browser)
            made.raise_for_status()
            address = f"{self.address.replace('http', 'ws', 1)}/api/games/{made.json()['id']}/live"
            async with websockets.connect(address, additional_headers=browser) as socket:
                await self.play_one(socket)

    async def play_one(self, socket: websockets.ClientConnection) -> None:
        clicked, ply = None, -1
        async for text in socket:
            message = json.loads(text)
            if message["type"] == "error":
                raise RuntimeError(message["message"])
            if message["type"] != "state":
                continue
            if clicked is not None and message["ply"] > ply:
                self.clicks.append(1000 * (time.perf_counter() - clicked))
                clicked = None
                self.thinking.add(socket)
            if message["result"] or time.perf_counter() > self.until:
                self.thinking.discard(socket)
                return
            if message["moves"] and clicked is None and message["ply"] > ply - 1:
                if message["ply"] > 0 and message["ply"] > ply:
                    self.thinking.discard(socket)
                    self.simulations += message["history"][-1]["simulations"]
                ply = message["ply"]
                clicked = time.perf_counter()
                action = self.random.choice(message["moves"])["action"]
                await socket.send(json.dumps({"type": "play", "player": 0, "action": action}))

    async def sample(self) -> None:
        while time.perf_counter() < self.until:
            self.samples.append(len(self.thinking))
            await asyncio.sleep(0.5)


async def measure(address: str, games: int, seconds: float, agent: str) -> Load:
    warm = Load(address, "uct:50", time.perf_counter() + 1)
    for game in GAMES:  # compiled and loaded, which is not what is measured
        warm.until = time.perf_counter() + 1
        await warm.play(game)
    load = Load(address, agent, time.perf_counter() + seconds)
    await asyncio.gather(load.sample(), *(load.play(GAMES[n % len(GAMES)], RAMP * n / games) for n in range(games)))
    return load


OPEN_NODES = """async (count) => {
  const times = [];
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const rows = () => [...document.querySelectorAll(".tree-rows .tree-row")];
  for (let opened = 0; opened < count; opened++) {
    const closed = rows().filter((row) => row.getAttribute("aria-expanded") === "false");
    const row = closed[opened % Math.min(3, closed.length)];
    if (!row) break;
    const key = row.dataset.path;
    const began = performance.now();
    row.querySelector(".twist").click();
    for (let next = null; next === null || !next.dataset.path.startsWith(key + "\\n"); ) {
      await frame();
      next = rows().find((each) => each.dataset.path === key)?.nextElementSibling ?? null;
    }
    await frame();
    times.push(performance.now() - began);
    const grid = document.querySelector(".tree-grid");
    grid.scrollTop = rows().find((each) => each.dataset.path === key).getAttribute("aria-rowindex") * 34 - 80;
    await frame();
    await frame();
  }
  return times;
}"""
TREE_AGENT = "uct:memory=1GB"


def open_nodes(report: Table, address: str, nodes: int, count: int = 60) -> None:
    """Let Chromium open nodes of a tree, while it is searched and after that."""
    from playwright.sync_api import sync_playwright

    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync", "--no-first-run"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(300_000)
        page.goto(f"{address}/#/analyse")
        page.select_option("select[name=game]", "connect4")
        page.click("form button[type=submit]")
        agents = page.get_by_label("Agent that analyses")
        agents.locator("option").first.wait_for(state="attached")
        agents.evaluate("(select, name) => select.append(new Option(name, name, true, true))", TREE_AGENT)
        page.get_by_role("button", name="Analyse", exact=True).click()
        page.wait_for_selector(".analysis-bars tr.best")
        page.get_by_role("tab", name="Tree").click()
        size = 0
        while size < nodes:
            page.get_by_role("button", name="Read the tree").click()
            page.wait_for_timeout(1000)
            size = int(page.evaluate("document.querySelector('.tree').dataset.size"))
        for when in ("while it is searched", "when the search has ended"):
            if when != "while it is searched":
                page.get_by_role("tab", name="Analysis").click()
                page.get_by_role("button", name="Stop analysis").click()
                page.get_by_role("tab", name="Tree").click()
                page.wait_for_timeout(1000)
            page.get_by_role("button", name="Read the tree").click()
            page.wait_for_timeout(500)
            size = int(page.evaluate("document.querySelector('.tree').dataset.size"))
            times = sorted(page.evaluate(OPEN_NODES, count))
            told = f"a node of a tree of {size:,} nodes is opened {when}"
            report(f"{told}, median of {len(times)}", f"{statistics.median(times):.0f} ms")
            report(f"{told}, 95th percentile", f"{times[int(0.95 * len(times))]:.0f} ms", "", f"{GOAL:.0f} ms")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--agent", default="uct:2s")
    parser.add_argument("--tree", type=int, default=0, metavar="NODES")
    given = parser.parse_args()
    report = Table()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "ludus.cli", "web", "--port", "0", "--no-browser", "--games", folder]
        command += ["--memory", "8GB"] if given.tree else []
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
            try:
                assert server.stdout is not None
                found = re.search(r"http://\S+?(?=/\s)", server.stdout.readline())
                assert found is not None
                if given.tree:
                    open_nodes(report, found[0], given.tree)
                    report.finish(f"python -m benchmarks.web --tree {given.tree}")
                    return
                load = asyncio.run(measure(found[0], given.games, given.seconds, given.agent))
                status = Path(f"/proc/{server.pid}/status")
                peak = re.search(r"VmHWM:\s+(\d+)", status.read_text()) if status.exists() else None
            finally:
                server.terminate()
    ordered = sorted(load.clicks)
    told = f"{given.games} games against {given.agent}"
    report(f"{told}: clicks in {given.seconds:g} s", f"{len(ordered):,}")
    report(f"{told}: agents thinking at once, median", f"{statistics.median(load.samples):.0f}")
    report("a click is answered, median", f"{statistics.median(ordered):.0f} ms")
    report("a click is answered, 95th percentile", f"{ordered[int(0.95 * len(ordered))]:.0f} ms", "", f"{GOAL:.0f} ms")
    report("a click is answered, longest", f"{ordered[-1]:.0f} ms")
    report("simulations of all agents", f"{load.simulations / given.seconds:,.0f} a second")
    if peak is not None:
        report("memory of the server at most", f"{int(peak[1]) >> 10:,} MB")
    report.finish("python -m benchmarks.web")


if __name__ == "__main__":
    main()
