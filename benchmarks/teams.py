"""A trained player against UCT in games of partners: python -m benchmarks.teams GAME RUN [--seconds 2] [--games 50]

GAME is gdl:babel, where all players win or lose together, or gdl:pacman, one against two. The network plays all seats
of one team and `uct` the others; for comparison `uct` plays all seats. With `--others zero`, the network plays the
others in both cases. Printed is the mean value of the team, from -1 to 1, with its 95 % interval. Every agent has the
same time a move and one core; the first two joint moves are random.
"""

import argparse
import math
import statistics
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from random import Random

import ludus
from ludus.agents.agent import Agent
from ludus.agents.naming import make_agent
from ludus.game import Game
from ludus.machine import cpu_count
from ludus.rules import EVERYONE

TEAMS = {"gdl:babel": {"all": (0, 1, 2)}, "gdl:pacman": {"pacman": (0,), "ghosts": (1, 2)}}
RANDOM_MOVES = 2


@cache
def seat_agents(name: str, agents: tuple[str, ...]) -> tuple[Game, list[Agent]]:
    """The game, and an agent for each seat, made once in a process."""
    game = ludus.make(name).compile()
    return game, [make_agent(each, game) for each in agents]


def play(name: str, agents: tuple[str, ...], seed: int) -> list[float]:
    """The values of one game, with an agent for each seat."""
    game, seated = seat_agents(name, agents)
    for seat, agent in enumerate(seated):
        agent.new_game(seed + 1000 * seat)
    position, random = game.start(seed), Random(seed)
    for _ in range(RANDOM_MOVES):
        if position.to_move == EVERYONE:
            joint = [
                random.choice(moves) if (moves := position.actions_of(seat)) else -1 for seat in range(len(agents))
            ]
            position = position.play(tuple(joint))
        else:
            position = position.play(random.choice(position.actions))
    while not position.is_over:
        if position.to_move == EVERYONE:
            chosen = [
                agent.choose(position, player=seat).action if position.actions_of(seat) else -1
                for seat, agent in enumerate(seated)
            ]
            position = position.play(tuple(chosen))
        else:
            position = position.play(seated[position.to_move].choose(position).action)
    return list(position.values)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("game", choices=TEAMS)
    reader.add_argument("run")
    reader.add_argument("--seconds", type=float, default=2.0)
    reader.add_argument("--games", type=int, default=50)
    reader.add_argument("--others", choices=["uct", "zero"], default="uct")
    reader.add_argument("--parallel", type=int, default=cpu_count())
    given = reader.parse_args()
    zero, uct = f"zero:{given.run}:{given.seconds}s:threads=1", f"uct:{given.seconds}s"
    others = zero if given.others == "zero" else uct
    with ProcessPoolExecutor(given.parallel, mp_context=get_context("spawn")) as pool:
        for team, seats in TEAMS[given.game].items():
            for agent in (zero, uct):
                agents = tuple(agent if seat in seats else others for seat in range(3))
                jobs = [pool.submit(play, given.game, agents, seed) for seed in range(given.games)]
                values = [job.result()[seats[0]] for job in jobs]
                half = 1.96 * statistics.stdev(values) / math.sqrt(len(values))
                print(
                    f"{given.game}, {team}: {'network' if agent == zero else 'uct'} "
                    f"{statistics.mean(values):+.3f} +- {half:.3f} in {len(values)} games",
                    flush=True,
                )


if __name__ == "__main__":
    main()
