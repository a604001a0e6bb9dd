"""What the trees cost beside the network, and against mctx: python -m benchmarks.selfplay [--peer PYTHON]

PYTHON: an interpreter that has jax, mctx and pgx. Connect-4, all cores; both sides search with Gumbel.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from pathlib import Path

import ludus
from benchmarks.measuring import Table
from ludus.train import preflight
from ludus.train.config import Config, with_settings

NETWORKS = ((2, 32), (4, 32), (5, 64))
ROUNDS = 3
PEER_GAMES = (64, 256)


def peer(python: str, blocks: int, width: int, games: int) -> float:
    command = [python, str(Path(__file__).parent / "mctx_peer.py"), *map(str, (blocks, width, games, 32))]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def run(report: Table, python: str | None) -> None:
    game = ludus.make("connect4")
    preflight.SECONDS = 3.0
    for blocks, width in NETWORKS:
        config = with_settings(Config(), {"blocks": blocks, "width": width, "simulations": 32})
        found = [preflight.measure(game, config) for _ in range(ROUNDS)]
        part = statistics.median(each.simulations / each.evaluations for each in found)
        ours = statistics.median(each.simulations for each in found)
        raw = statistics.median(each.evaluations for each in found)
        what = (
            f"Self-play, connect4, {blocks} blocks of {width}, 32 simulations, {found[0].games_at_once} games at once"
        )
        report(what, f"{ours:,.0f} simulations/s", f"{100 * part:.0f} % of the network alone ({raw:,.0f}/s)", "75 %")
        if python is not None:
            theirs = max(peer(python, blocks, width, games) for games in PEER_GAMES)
            goal = "5 times" if (blocks, width) == (5, 64) else ""
            report(what + ", mctx + pgx", f"{theirs:,.0f} simulations/s", f"ours: {ours / theirs:.1f} times", goal)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", help="a Python that has jax, mctx and pgx")
    given = parser.parse_args()
    table = Table()
    run(table, given.peer)
    table.finish("python -m benchmarks.selfplay --peer PYTHON")
