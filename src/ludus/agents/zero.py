"""Tree search with a trained network, the method of AlphaZero.

zero:RUN             the latest checkpoint of a run, 400 simulations a move
zero:RUN@40          checkpoint 40          zero:RUN:800   zero:RUN:2s   simulations or seconds a move
c=1.5                weight of the network's policy: more follows it further
batch=8              positions that the network evaluates at once
engine=onnx          the engine that runs the network: auto, onnx, torch, cuda
memory=256MB  reuse=no   as for uct

The run may be one of another board size, if its network is free of sizes (`groups`, `graph`, or `residual` with
`size_free`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ludus.agents.budget import Budget
from ludus.agents.naming import number_from_0, size, whole_from_1, yes_or_no
from ludus.agents.search import SearchAgent
from ludus.errors import BadAgent

if TYPE_CHECKING:
    from ludus.agents.naming import Spec
    from ludus.game import Game
    from ludus.search.forest import Evaluator, Forest


BUDGET = Budget(simulations=400)


class ZeroAgent(SearchAgent):
    """PUCT over the policy and the values of a network."""

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        name: str = "zero",
        budget: Budget | None = None,
        seed: int = 0,
        c: float = 1.5,
        memory: int = 1 << 28,
        reuse: bool = True,
        batch: int = 8,
    ):
        super().__init__(game, name, budget or BUDGET, seed, reuse)
        self.evaluator, self.c, self.memory, self.batch = evaluator, c, memory, batch

    def make_forest(self, nodes: int | None) -> Forest:
        from ludus.search.forest import Forest
        from ludus.search.puct import Puct

        # At most a sixteenth of the search at once: more leaves would be chosen before their siblings are known.
        few = self.batch if self.budget.simulations is None else max(1, min(self.batch, self.budget.simulations // 16))
        return Forest(self.game, Puct(self.c), nodes=nodes, memory=self.memory, batch=few, seed=self.seed)


def load_evaluator(spec: Spec, game: Game, engine: str) -> Any:
    """The evaluator of the run that an agent's name gives as RUN or RUN@CHECKPOINT."""
    from ludus.nets.evaluator import make_evaluator
    from ludus.runs.run import open_checkpoint

    run, checkpoint = open_checkpoint(run_named(spec), game)
    network, _ = run.load_player(checkpoint)
    return make_evaluator(game, network, engine)


def run_named(spec: Spec) -> str:
    if len(spec.words) != 1:
        raise BadAgent(f"{spec.text}: name one run, as in {spec.kind}:runs/connect4")
    return spec.words[0]


def engine_name(text: str) -> str:
    from ludus.nets.engines import EXACT_ENGINE_NAMES

    if text not in EXACT_ENGINE_NAMES:
        raise ValueError(f"one of {', '.join(EXACT_ENGINE_NAMES)}")
    return text


OPTIONS = {"c": number_from_0, "memory": size, "reuse": yes_or_no, "batch": whole_from_1, "engine": engine_name}


def make(spec: Spec, game: Game, seed: int) -> ZeroAgent:
    options = spec.read_options(OPTIONS)
    evaluator = load_evaluator(spec, game, options.pop("engine", "auto"))
    return ZeroAgent(game, evaluator, spec.text, spec.budget, seed, **options)
