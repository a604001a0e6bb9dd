"""The speed of self-play, relative to the network alone and to mctx: python -m benchmarks.selfplay [--peer PYTHON]

PYTHON is an interpreter with jax, mctx and pgx. Connect-4, all cores, 32 simulations a move; both sides use Gumbel
search. Ludus is measured in float32, and with 8-bit convolutions.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from pathlib import Path

import ludus
from benchmarks.measuring import Table
from ludus.runs.config import Config, with_settings
from ludus.training import preflight

NETWORKS = ((2, 32), (4, 32), (5, 64))
ROUNDS = 3
PEER_GAMES = (64, 256)


def peer(python: str, blocks: int, width: int, games: int, numbers: str = "float32") -> float:
    """Simulations a second of mctx + pgx."""
    command = [python, str(Path(__file__).parent / "mctx_peer.py"), *map(str, (blocks, width, games, 32)), numbers]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def run(report: Table, python: str | None) -> None:
    game = ludus.make("connect4")
    preflight.SECONDS = 3.0
    for blocks, width in NETWORKS:
        theirs = max(peer(python, blocks, width, games) for games in PEER_GAMES) if python else 0.0
        if theirs:
            report(f"mctx + pgx, {blocks} blocks of {width}", f"{theirs:,.0f} simulations/s", "", "")
        for engine in ("onnx", "int8"):
            settings = {"blocks": blocks, "width": width, "simulations": 32, "engine": engine}
            found = [preflight.measure(game, with_settings(Config(), settings)) for _ in range(ROUNDS)]
            part = statistics.median(each.simulations / each.evaluations for each in found)
            ours = statistics.median(each.simulations for each in found)
            raw = statistics.median(each.evaluations for each in found)
            numbers = "float32" if engine == "onnx" else engine
            what = f"{blocks} blocks of {width}, {numbers}, {found[0].parallel_games} games at once"
            rate = f"{ours:,.0f} simulations/s"
            report(what, rate, f"{100 * part:.0f} % of the network alone ({raw:,.0f}/s)", "75 %")
            if theirs:
                goal = "5 times" if (blocks, width) == (5, 64) else ""
                report(what, rate, f"{ours / theirs:.1f} times mctx + pgx", goal)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", help="a Python that has jax, mctx and pgx")
    given = parser.parse_args()
    table = Table()
    run(table, given.peer)
    table.finish("python -m benchmarks.selfplay --peer PYTHON")
