"""Training from nothing, and the player's strength: python -m benchmarks.learning WHAT [--minutes M] [--run FOLDER]

tictactoe   45 seconds, then mistakes in every position that the player can reach, from either seat
hive        five minutes with a win at two neighbours, then 100 games against random
connect4    ten minutes, then mistakes on positions of known value (benchmarks.grading)
"""

from __future__ import annotations

import argparse
import tempfile
from typing import Any

import ludus
from benchmarks import grading
from ludus.agents import make_agent
from ludus.game import Game, Position
from ludus.options import split_assignment
from ludus.search.solver import solve
from ludus.training.events import IterationDone


def mistakes_anywhere(game: Game, name: str, seat: int) -> tuple[int, int]:
    """The number of positions that the agent can reach from this seat against any opponent, and its mistakes there."""
    agent = make_agent(name, game)
    known: dict[str, Position] = {}
    wrong = 0
    waiting = [game.start()]
    while waiting:
        position = waiting.pop()
        if position.is_over or position.text in known:
            continue
        known[position.text] = position
        if position.to_move != seat:
            waiting += [position.play(action) for action in position.actions]
            continue
        agent.new_game(0)
        action = agent.choose(position).action
        wrong += action not in solve(position).best
        waiting.append(position.play(action))
    return sum(position.to_move == seat for position in known.values()), wrong


def train(name: str, folder: str, minutes: float, settings: dict[str, str], **options: Any) -> Game:
    game = ludus.make(name, **options).compile()
    ludus.train(game, minutes=minutes, run=folder, settings=settings, on_event=show)
    return game


def show(event: Any) -> None:
    """Print a line for each iteration."""
    if isinstance(event, IterationDone):
        print(event.report.line(), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("tictactoe", "hive", "connect4"))
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--run")
    parser.add_argument("--set", action="append", default=[])
    given = parser.parse_args()
    settings = dict(split_assignment(text, "--set") for text in given.set)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.run or f"{scratch}/run"
        if given.what == "tictactoe":
            game = train("tictactoe", folder, given.minutes or 0.75, settings)
            for name in (f"policy:{folder}", f"zero:{folder}:50"):
                found = [mistakes_anywhere(game, name, seat) for seat in (0, 1)]
                shown = ", ".join(f"as player {seat + 1} {wrong} of {n}" for seat, (n, wrong) in enumerate(found))
                print(f"{name.split(':')[0]}: mistakes {shown} positions", flush=True)
        elif given.what == "hive":
            settings = {"network": "mlp", "blocks": "2", "width": "128", **settings}
            game = train("hive", folder, given.minutes or 5.0, settings, surround=2, view="adjacency")
            for name in (f"zero:{folder}:32", f"policy:{folder}"):
                result = ludus.play_match(game, [name, "random"], 100, seed=1, parallel=1)
                print(f"{name.split(':')[0]} against random: {result.score(0)}, {result.tally(0)}", flush=True)
        else:
            train("connect4", folder, given.minutes or 10.0, settings)
            grading.main([folder])


if __name__ == "__main__":
    main()
