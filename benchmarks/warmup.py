"""Dead hidden units of the value head, with and without a warm-up: python -m benchmarks.warmup (about two minutes)

A network learns the results of random games of Breakthrough for 50 steps. A hidden unit is dead if it is 0 for every
position of a batch. Each variant is run with three seeds.
"""

from random import Random

import numpy as np
import torch

import ludus
from ludus.runs.config import Config, with_settings

POSITIONS, BATCH, STEPS = 4000, 256, 50
WARMUPS = (0, 25, 50, 100)
SEEDS = 3


def random_positions(name: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Observations of positions from random games, and the results for the players to move."""
    game, random = ludus.make(name).compile(), Random(1)
    observations: list[np.ndarray] = []
    results: list[float] = []
    while len(observations) < POSITIONS:
        position = game.start()
        while not position.is_over:
            position = position.play(random.choice(position.actions))
        for earlier in position.history[:-1][::3]:
            observations.append(earlier.observe(earlier.to_move))
            results.append(position.values[earlier.to_move])
    return torch.from_numpy(np.stack(observations)).float(), torch.tensor(results)


def dead_share(name: str, data: tuple[torch.Tensor, torch.Tensor], warmup: int, seed: int) -> tuple[float, float]:
    """The share of dead units after training, and the value loss of the last step."""
    observations, results = data
    torch.manual_seed(seed)
    config = with_settings(Config(), {"blocks": 1, "width": 64})
    network = config.make_network(ludus.make(name)).train()
    optimiser = torch.optim.AdamW(network.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay)
    active: list[torch.Tensor] = []
    network.value[4].register_forward_hook(lambda module, inputs, output: active.append(output.max(0).values > 0))
    loss = torch.zeros(())
    for step in range(STEPS):
        for group in optimiser.param_groups:
            group["lr"] = config.learning_rate * (min(1.0, (step + 1) / warmup) if warmup else 1.0)
        rows = torch.randint(len(results), (BATCH,))
        loss = ((torch.tanh(network(observations[rows])[-1][:, 0]) - results[rows]) ** 2).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), config.gradient_clip)
        optimiser.step()
    return 1.0 - float(active[-1].float().mean()), float(loss)


def main() -> None:
    data = random_positions("breakthrough")
    print("warm-up   dead hidden units   value loss of the last step, for each seed")
    for warmup in WARMUPS:
        results = [dead_share("breakthrough", data, warmup, seed) for seed in range(SEEDS)]
        shares = " ".join(f"{share:5.0%}" for share, _ in results)
        print(f"{warmup:7}   {shares:17}   {' '.join(f'{loss:.3f}' for _, loss in results)}", flush=True)


if __name__ == "__main__":
    main()
