"""The time of a round of a search on a GPU: python -m benchmarks.gpu_rounds GAME [NAME=VALUE ...]

A round evaluates one leaf of every tree by the network, and grows the trees. Both are timed for forests of several
sizes, with positions from random games and a network with random weights. The names are options of the game, and
`network`, `blocks`, `width`, `plies` (the most random plies before a position) and `trees` (sizes, with commas).
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import ludus
from ludus.nets.evaluator import make_evaluator
from ludus.nets.families import make_network, suggest_settings
from ludus.rng import generators
from ludus.search.gumbel import gumbel
from ludus.search.random_play import begin_games

SIMULATIONS = 32


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    """The time that `work` takes on the GPU, in the mean."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    work()
    torch.cuda.synchronize()
    begin.record()
    for _ in range(repeats):
        work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) / repeats


def random_states(game: Any, count: int, most_plies: int) -> np.ndarray:
    """States [count] after 0 to `most_plies` random plies."""
    states, scratch = game.new_states(count), np.zeros(game.most_legal, np.int32)
    rest = np.zeros(game.players, np.int32), np.zeros(game.players, np.float32)
    begin_games(game.rules, states, generators(1, count), np.ones(count, np.bool_), most_plies, scratch, *rest)
    return states


def measure(game: Any, family: str, design: dict[str, Any], count: int, most_plies: int) -> None:
    network = make_network(family, game, **design)
    evaluator: Any = make_evaluator(game, network, "cuda")
    rule = gumbel(SIMULATIONS, min(16, game.most_legal))
    forest: Any = evaluator.make_forest([rule], trees=count, nodes=SIMULATIONS + 1, seed=0)
    if not forest.on_gpu:
        sys.exit(f"the trees are not on the GPU: {forest.why_not_on_gpu}")
    states = random_states(game, count, most_plies)

    def search() -> None:
        forest.plant(states)
        forest.search(simulations=SIMULATIONS)

    with torch.cuda.stream(forest.engine.stream):
        whole = milliseconds(search, 3)
        forest.plant(states)
        forest._search().run(0)  # leaves for the network to see
        alone = torch.cuda.CUDAGraph()
        with torch.inference_mode(), torch.cuda.graph(alone, stream=forest.engine.stream):
            for mine, answer in zip(forest._answers, forest._evaluate(), strict=True):
                mine.copy_(answer)
        network_alone = milliseconds(alone.replay, 10)
    print(
        f"{count:6} trees: {SIMULATIONS * count / whole / 1e3:.2f} million simulations/s, a round "
        f"{whole / (SIMULATIONS + 1):.2f} ms, of which the network takes {network_alone:.2f} ms",
        flush=True,
    )


def main() -> None:
    name, *rest = sys.argv[1:]
    given = dict(each.split("=", 1) for each in rest)
    sizes = {"blocks": int(given.pop("blocks", 5)), "width": int(given.pop("width", 48))}
    plies, wanted = int(given.pop("plies", 40)), given.pop("network", "")
    counts = [int(each) for each in given.pop("trees", "1024,4096,16384").split(",")]
    game = ludus.make(name, **given).compile()
    design = {**({"network": wanted} if wanted else suggest_settings(game)), **sizes}
    family = design.pop("network")
    print(f"{game.identity}, {family}, {design}, {torch.cuda.get_device_name()}", flush=True)
    for count in counts:
        measure(game, family, design, count, plies)


if __name__ == "__main__":
    main()
