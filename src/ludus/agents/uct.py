"""Tree search with random playouts: needs nothing but the rules, and plays every kind of game.

uct:10000            simulations a move        uct:2s        seconds a move
c=0.7                weight of the uncertainty in UCB1: more explores more
transpositions=yes   positions that are reached in two ways share their statistics
memory=256MB         the limit for the tree; when it is full, the search goes on without growing it
reuse=no             start every move with an empty tree, instead of with the part that the last search built
threads=2            threads that search one tree. By default one for each core; 1 in the games of a match or an arena,
                     where the other cores play other games. Two or more grow the same tree, one thread another. Games
                     with simultaneous moves, games in ordinary Python, and trees with transpositions have one
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ludus.agents.budget import Budget
from ludus.agents.naming import number_from_0, size, whole_from_1, yes_or_no
from ludus.agents.search import SearchAgent, nodes_for
from ludus.machine import usual_threads

if TYPE_CHECKING:
    from ludus.agents.naming import Spec
    from ludus.game import Game
    from ludus.search.forest import Forest

BUDGET = Budget(simulations=10_000)
OPTIONS = {
    "c": number_from_0,
    "transpositions": yes_or_no,
    "memory": size,
    "reuse": yes_or_no,
    "threads": whole_from_1,
}


class UctAgent(SearchAgent):
    """UCB1 over random playouts."""

    def __init__(
        self,
        game: Game,
        name: str = "uct",
        budget: Budget | None = None,
        seed: int = 0,
        c: float = 1.0,
        transpositions: bool = False,
        memory: int = 1 << 28,
        reuse: bool = True,
        threads: int = 0,
    ):
        super().__init__(game, name, budget or BUDGET, seed, reuse)
        self.c, self.transpositions, self.memory = c, transpositions, memory
        self.threads = threads or usual_threads()

    def make_forest(self, nodes: int | None) -> Forest:
        from ludus.search.forest import Forest
        from ludus.search.ucb1 import Ucb1

        return Forest(
            self.game,
            Ucb1(self.c),
            nodes=nodes,
            memory=self.memory,
            transpositions=self.transpositions,
            threads=self.threads,
            seed=self.seed,
        )

    def nodes_to_prepare(self) -> int:
        from ludus.search.parcels import FEWEST

        needed = nodes_for(self.budget)
        return FEWEST if self.threads > 1 and (needed is None or needed >= FEWEST) else super().nodes_to_prepare()


def make(spec: Spec, game: Game, seed: int) -> UctAgent:
    return UctAgent(game, spec.text, spec.budget, seed, **spec.read(**OPTIONS))
