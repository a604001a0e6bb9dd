"""Steps per second of environments: ludus.envs beside PettingZoo's and OpenSpiel's own Connect-4, in one run.

python -m benchmarks.envs

It needs OpenSpiel and pettingzoo[classic]. All sides draw random legal actions and take an observation and the legal
actions in every step. A step is one move of one player.
"""

import random
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.measuring import Table, in_turn, rate
from ludus.envs import AECEnv, GymEnv, VectorEnv

GAMES = 1024
STEPS = 100
"""The number of steps of a vector environment in one measurement."""
GOAL = "20 times"

report = Table()


def vector_steps(**given) -> Callable[[], int]:
    """Steps of all games at once, with actions drawn by NumPy."""
    envs = VectorEnv("connect4", GAMES, **given)
    rng = np.random.default_rng(0)
    envs.reset(seed=0)

    def run() -> int:
        masks = envs.action_masks()
        for _ in range(STEPS):
            chosen = (rng.random(masks.shape, np.float32) * masks).argmax(1)
            masks = envs.step(chosen)[4]["action_mask"]
        return STEPS * GAMES

    run()
    return run


def zoo_steps(env, games: int) -> Callable[[], int]:
    """Moves in whole games of an AEC environment of PettingZoo."""

    def run() -> int:
        steps = 0
        for _ in range(games):
            env.reset()
            while True:
                seen, _, over, _, _ = env.last()
                if over:
                    break
                env.step(random.choice(np.flatnonzero(seen["action_mask"])))
                steps += 1
        return steps

    return run


def gym_steps(games: int) -> Callable[[], int]:
    """Steps of the learner of GymEnv, with the random opponent's moves."""
    env = GymEnv("connect4")

    def run() -> int:
        steps = 0
        for _ in range(games):
            _, info = env.reset()
            over = False
            while not over:
                _, _, over, _, info = env.step(random.choice(np.flatnonzero(info["action_mask"])))
                steps += 1
        return steps

    run()
    return run


def openspiel_environment(games: int) -> Callable[[], int]:
    """Moves in OpenSpiel's environment for reinforcement learning."""
    from open_spiel.python.rl_environment import Environment

    env = Environment("connect_four")

    def run() -> int:
        steps = 0
        for _ in range(games):
            step = env.reset()
            while not step.last():
                legal = step.observations["legal_actions"][step.current_player()]
                step = env.step([random.choice(legal)])
                steps += 1
        return steps

    return run


def openspiel_states(games: int) -> Callable[[], int]:
    """Moves on OpenSpiel's C++ states, called from Python with no environment around them."""
    import pyspiel

    game = pyspiel.load_game("connect_four")

    def run() -> int:
        steps = 0
        for _ in range(games):
            state = game.new_initial_state()
            while not state.is_terminal():
                np.array(state.observation_tensor(), np.float32)
                state.apply_action(random.choice(state.legal_actions()))
                steps += 1
        return steps

    return run


def main() -> None:
    from pettingzoo.classic import connect_four_v3

    warnings.simplefilter("ignore")
    ours = vector_steps(opponents="self")
    peers = {
        "PettingZoo connect_four_v3": zoo_steps(connect_four_v3.env(), 50),
        "OpenSpiel rl_environment": openspiel_environment(50),
        "OpenSpiel states from Python": openspiel_states(500),
    }
    for name, theirs in peers.items():
        mine, other, ratio = in_turn(ours, theirs)
        what = f"VectorEnv, self-play, {GAMES} games, beside {name}"
        report(what, f"{mine:,.0f} steps/s", f"{ratio:.0f} times ({other:,.0f}/s)", GOAL)
    with_random = vector_steps(opponents="random")
    report(f"VectorEnv, random opponent, {GAMES} games", f"{rate(with_random):,.0f} steps/s")
    report("GymEnv, random opponent", f"{rate(gym_steps(100)):,.0f} steps/s")
    mine, other, ratio = in_turn(zoo_steps(AECEnv("connect4"), 50), peers["PettingZoo connect_four_v3"])
    report("AECEnv, beside PettingZoo connect_four_v3", f"{mine:,.0f} steps/s", f"{ratio:.1f} times ({other:,.0f}/s)")
    report.finish("python -m benchmarks.envs")


if __name__ == "__main__":
    main()
