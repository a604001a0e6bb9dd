"""Networks that predict a strong search at Sevn: python -m benchmarks.groups [--rows N] [--epochs N] [FAMILY ...]

Positions of base 7 after 6 to 23 random plies, each searched by UCT with 6,000 simulations. The network learns the
visits and the value of the search, and is tested on the last fifth of the positions. It takes about four minutes for
the positions and two for each network on one quiet core.
"""

import argparse
import time
from typing import Any

import numpy as np

import ludus
from ludus.nets.evaluator import make_evaluator
from ludus.nets.rows import Rows, join, pick_rows
from ludus.runs.config import Config, with_settings
from ludus.search.batch import Batch, make_buffer
from ludus.search.forest import Forest
from ludus.search.ucb1 import Ucb1
from ludus.training.learner import Learner

SIMULATIONS = 6000
TREES = 64
BATCH = 256
SETTINGS = {
    "batch_size": BATCH,
    "learning_rate": 0.004,
    "learning_rate_end": 0.0001,
    "outcome_fraction": 0.0,
    "ema_decay": 0.95,
    "engine": "torch",
}


def random_positions(game: ludus.Game, count: int, rng: np.random.Generator) -> list[ludus.Position]:
    """Positions with a choice of moves, after 6 to 23 random plies."""
    found: list[ludus.Position] = []
    while len(found) < count:
        position = game.start(seed=int(rng.integers(1 << 40)))
        for _ in range(int(rng.integers(6, 24))):
            if not position.is_over:
                position = position.play(int(rng.choice(position.actions)))
        if not position.is_over and len(position.actions) > 1:
            found.append(position)
    return found


def searched_rows(game: ludus.Game, count: int) -> Rows:
    """Rows of positions with the visits and the value of a search by UCT."""
    rng = np.random.default_rng(1)
    forest = Forest(game, Ucb1(1.0), trees=TREES, nodes=SIMULATIONS + 1, seed=3)
    parts = []
    for _ in range(-(-count // TREES)):
        positions = random_positions(game, TREES, rng)
        forest.plant(positions)
        forest.search(simulations=SIMULATIONS)
        roots = [forest.roots(i)[0] for i in range(TREES)]
        movers = np.array([root.player for root in roots], np.int8)
        values = np.array([root.value for root in roots], np.float32)
        parts.append(
            Rows(
                states=np.concatenate([position.states for position in positions]),
                players=movers,
                starts=np.cumsum([0, *(len(root.actions) for root in roots)]),
                actions=np.concatenate([root.actions for root in roots]),
                policy=np.concatenate([root.visits / root.visits.sum() for root in roots]).astype(np.float32),
                results=np.where(movers[:, None] == np.arange(2), values[:, None], -values[:, None]),
                search=values,
                weights=np.ones(TREES, np.float32),
                replies=np.full(TREES, -1, np.int32),
            )
        )
    return join(parts)


def as_batch(game: ludus.Game, rows: Rows) -> tuple[Batch, Any, Any]:
    """Rows as a batch for an evaluator, with the search's policy and a mask of the moves [K, R]."""
    buffer = make_buffer(game, len(rows), 1)
    counts = np.diff(rows.starts)
    there = np.arange(buffer.actions.shape[1]) < counts[:, None]
    batch = Batch(rows.states, rows.players, buffer.actions, buffer.counts, buffer.logits, buffer.values)
    batch.counts[:, 0] = counts
    batch.actions[there] = rows.actions
    policy = np.zeros(there.shape, np.float32)
    policy[there] = rows.policy
    return batch, policy, there


def measure(game: ludus.Game, player: Any, rows: Rows) -> str:
    """How well a network predicts the search on rows that it has not learned from."""
    batch, policy, there = as_batch(game, rows)
    evaluator = make_evaluator(game, player, "torch")
    for k in range(0, len(rows), 500):
        evaluator.evaluate(Batch(*(each[k : k + 500] for each in batch)))
    logits = np.where(there, batch.logits, -1e9)
    logs = logits - logits.max(1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(1, keepdims=True))
    loss, floor = (-(policy * each).sum(1).mean() for each in (logs, np.log(np.maximum(policy, 1e-9))))
    best = (logits.argmax(1) == policy.argmax(1)).mean()
    error = np.square(batch.values[np.arange(len(rows)), rows.players] - rows.search).mean()
    return f"policy loss {loss:.3f} (floor {floor:.3f}), best move {best:.1%}, value error {error:.4f}"


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("families", nargs="*", default=["residual", "groups"])
    arguments.add_argument("--rows", type=int, default=20_000)
    arguments.add_argument("--epochs", type=int, default=6)
    arguments.add_argument("--blocks", type=int, default=4)
    arguments.add_argument("--width", type=int, default=32)
    given = arguments.parse_args()
    game = ludus.make("sevn").compile()
    rows = searched_rows(game, given.rows)
    learned = len(rows) * 4 // 5
    first, last = (pick_rows(rows, np.arange(*span)) for span in ((learned,), (learned, len(rows))))
    for family in given.families:
        settings = {"network": family, "blocks": given.blocks, "width": given.width, **SETTINGS}
        config = with_settings(Config(), settings)
        learner = Learner(game, config.make_network(game), config)
        rng, began = np.random.default_rng(0), time.perf_counter()
        for epoch in range(given.epochs):
            learner.learn(first, learned // BATCH, epoch / max(1, given.epochs - 1), rng)
        parameters = sum(weight.numel() for weight in learner.network.parameters())
        told = measure(game, learner.player, last)
        print(f"{family}, {parameters:,} parameters: {told}; {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
