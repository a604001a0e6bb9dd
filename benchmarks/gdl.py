"""Games in GDL in figures: python -m benchmarks.gdl (some minutes; clingo must be installed).

Random playouts are counted whole: legal moves, choice, next state and goals, on one core. The peer is Sancho, the
champion of 2014, on another machine with two cores; its figures are quoted. Sancho played the published descriptions,
Ludus plays its own rule sheets. Connect-4 and Breakthrough are the same games in other words. The rule sheets of Babel
and Pacman are other, smaller games than the published ones (192 instead of 6,400 ground rules, 2,000 instead of
69,000), so no ratio is given for them.
"""

import itertools
import statistics
import subprocess
import sys

import numpy as np

import ludus
from benchmarks.measuring import Table, in_turn, rate
from ludus.gdl.game import GdlGame, make
from ludus.gdl.reasoned import ReasonedGame
from ludus.gdl.wide import make_lanes, play_out_all
from ludus.rng import generator
from ludus.search.random_play import play_games

SANCHO = {
    "connect4-8x6": 51_000,
    "connect4": 28_000,
    "breakthrough-8x8": 14_000,
    "breakthrough-6x6": 33_000,
    "babel": 13_000,
    "pacman": 10_000,
}
"""Playouts a second."""
OTHER_GAMES = ("babel", "pacman")
"""Rule sheets that are other games than the published ones of that name."""
LOAD_GOALS = {"connect4": "1 s", "breakthrough-8x8": "3 s"}
NATIVE = {
    "connect4": ("connect4", {}),
    "breakthrough-8x8": ("breakthrough", {}),
    "breakthrough-6x6": ("breakthrough", {"height": 6, "width": 6}),
}
ROUNDS = 5
SIMULATIONS = 20_000


SEEDS = itertools.count(1)
"""The reasoner remembers positions, so no game may be measured twice."""


def single_playouts(game: GdlGame | ReasonedGame, count: int) -> int:
    """Play games one after the other."""
    start = game.start().states
    actions, joint = np.zeros(game.most_legal, np.int32), np.zeros(game.players, np.int32)
    values = np.zeros(game.players, np.float32)
    play_games(game.rules, start, game.new_states(1), generator(next(SEEDS)), actions, joint, values, count)
    return count


def wide_playouts(game: GdlGame, count: int) -> int:
    """Play 512 games at once."""
    starts = np.repeat(game.start().states, count, 0)
    results = np.zeros((count, game.players), np.float32)
    play_out_all(game.rules, starts, generator(1), make_lanes(game.rules), results)
    return count


def playouts(report: Table) -> None:
    for name, peer in SANCHO.items():
        game = make(name)
        wide_playouts(game, 1000)  # compiles
        single_playouts(game, 10)
        wide, single, _ = in_turn(
            lambda game=game: wide_playouts(game, 40_000), lambda game=game: single_playouts(game, 500), ROUNDS
        )
        what = f"gdl:{name}, random playouts a second, 512 games at once"
        if name in OTHER_GAMES:
            report(what, f"{wide:,.0f}", f"Sancho {peer:,} on another description", "")
        else:
            report(what, f"{wide:,.0f}", f"Sancho {peer:,}: {wide / peer:.1f} times", "5 times")
        report(f"gdl:{name}, random playouts a second, one game at a time", f"{single:,.0f}")


def searches(report: Table) -> None:
    """Simulations a second of uct on a description and on the native game."""
    for name, (native, options) in NATIVE.items():
        games = make(name), ludus.make(native, **options)
        positions = [game.start() for game in games]
        agents = [ludus.make_agent(f"uct:{SIMULATIONS}", game) for game in games]

        def search(which: int, agents=agents, positions=positions) -> int:
            agents[which].new_game(0)
            agents[which].choose(positions[which])
            return SIMULATIONS

        search(0), search(1)
        mine, theirs, ratio = in_turn(lambda: search(0), lambda: search(1), ROUNDS)
        report(f"gdl:{name}, uct simulations a second", f"{mine:,.0f}", f"native {theirs:,.0f}: {ratio:.3f}", "0.25")


def loading(report: Table) -> None:
    """From the file to the list of legal moves: in a process that has played before, and as the first in a process."""
    code = "import time, ludus\nfor _ in range(2):\n    began = time.perf_counter()\n"
    code += "    ludus.make({name!r}).start().moves\n    print(time.perf_counter() - began)"
    for name in [*SANCHO, "othello", "tron"]:
        command = [sys.executable, "-c", code.format(name=f"gdl:{name}")]
        runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(ROUNDS)]
        first, again = (statistics.median(float(run.stdout.split()[i]) for run in runs) for i in range(2))
        what = f"gdl:{name}, from the file to the first legal moves"
        report(what, f"{again:.2f} s", f"with all imports {first:.2f} s", LOAD_GOALS.get(name, ""))


def reasoning(report: Table) -> None:
    """The reasoner, which needs no grounding, plays whole games."""
    for name in ("tictactoe", "connect4", "breakthrough-6x6"):
        game = make(name, reasoner=True).compile()
        single_playouts(game, 1)
        figure = statistics.median(rate(lambda game=game: single_playouts(game, 10)) for _ in range(ROUNDS))
        report(f"gdl:{name}, random playouts a second by the reasoner", f"{figure:,.1f}")


if __name__ == "__main__":
    table = Table()
    loading(table)
    playouts(table)
    searches(table)
    reasoning(table)
    table.finish("python -m benchmarks.gdl")
