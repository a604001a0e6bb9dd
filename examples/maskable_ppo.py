"""Learn a game with MaskablePPO of sb3-contrib through ludus.envs, then play the model against `random`.

pip install 'ludus[envs]' sb3-contrib
python examples/maskable_ppo.py hive
python examples/maskable_ppo.py connect4
python examples/maskable_ppo.py tictactoe --steps 50000

Hive is won by two neighbours of the other's queen here, and seen as an adjacency matrix. The model plays anywhere in
Ludus as the agent `sb3:hive.zip`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import DummyVecEnv

import ludus
from ludus.envs import GymEnv

OPTIONS: dict[str, dict[str, Any]] = {"hive": {"surround": 2, "view": "adjacency", "limit": 100}}
"""The options of each game that is not learned with its defaults."""


def learn(name: str, steps: int, games: int, path: Path, seed: int = 0) -> MaskablePPO:
    """Learn a game by playing `games` games at once against random moves, and save the model."""
    options = OPTIONS.get(name, {})
    envs = DummyVecEnv([lambda: GymEnv(name, opponents="random", **options)] * games)
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=128,
        batch_size=256,
        n_epochs=4,
        learning_rate=5e-4,
        gamma=0.99,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=seed,
        device="cpu",
        verbose=1,
    )
    model.learn(steps)
    model.save(path)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description="Learn a game with MaskablePPO, then play the model against random.")
    parser.add_argument("game", nargs="?", default="hive")
    parser.add_argument("--steps", type=int, default=300_000)
    parser.add_argument("--envs", type=int, default=16, help="Number of games at once.")
    parser.add_argument("--match", type=int, default=400, help="Number of games against random at the end.")
    parser.add_argument("--model", type=Path, help="File for the model; by default the name of the game and .zip.")
    given = parser.parse_args()
    torch.set_num_threads(1)  # the networks are small: more threads would wait for each other
    path = given.model or Path(f"{given.game}.zip")
    learn(given.game, given.steps, given.envs, path)
    game = ludus.make(given.game, **OPTIONS.get(given.game, {}))
    result = ludus.play_match(game, [f"sb3:{path}", "random"], games=given.match, parallel=1)
    won, drawn, lost = result.tally(0)
    print(f"sb3:{path} against random: {won} won, {drawn} drawn, {lost} lost; score {result.score(0)}")


if __name__ == "__main__":
    main()
