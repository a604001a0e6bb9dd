"""Analyse every position of a game with `ludus analyse --json`, several at once.

python examples/json_analysis.py connect4 d d c e
"""

from __future__ import annotations

import json
import subprocess
import sys


def values(game: str, moves: list[str], agent: str = "uct:20000") -> dict[int, float]:
    """The value of each position for its player to move, by the number of moves before it."""
    command = [sys.executable, "-m", "ludus.cli", "analyse", "--json"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdin is not None
        assert engine.stdout is not None
        for ply in range(len(moves) + 1):
            request = {"id": f"after {ply}", "game": game, "moves": moves, "plies": [ply], "agent": agent}
            print(json.dumps(request), file=engine.stdin)
        engine.stdin.close()  # the engine answers all requests, then it ends
        found = {}
        for line in engine.stdout:
            result = json.loads(line)
            if result["type"] == "error":
                raise RuntimeError(result["message"])
            if result["type"] == "final":
                found[result["ply"]] = result["snapshot"]["value"]
        return found


if __name__ == "__main__":
    game, *moves = sys.argv[1:] or ["connect4", "d", "d", "c", "e"]
    for ply, value in sorted(values(game, moves).items()):
        print(f"after {ply} moves: {value:+.3f} for the player to move")
