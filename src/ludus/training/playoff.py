"""Games between two networks, or a network and UCT, all in one forest: for gating and for the running rating."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ludus.native import kernel
from ludus.rng import generators
from ludus.rules import outcome, play, to_move
from ludus.search.forest import Forest
from ludus.search.puct import Puct
from ludus.search.random_play import begin_games
from ludus.search.ucb1 import Ucb1

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.search.forest import Evaluator


class Tally(NamedTuple):
    """The results of one side."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        return sum(self)

    @property
    def score(self) -> float:
        """The fraction of points won; a draw counts one half."""
        return (self.wins + self.draws / 2) / self.games


@kernel
def play_edges(rules, states, edges, trees, mask, over, results):
    """Play the edges int32 [B, 1] that the search decided on, in the games where mask bool [B] is True.

    Fills over bool [B] and results float32 [B, P] of those games.
    """
    for tree in range(mask.size):
        if mask[tree]:
            play(rules, states[tree], trees.edges[edges[tree, 0]].action)
            over[tree] = outcome(rules, states[tree], results[tree])


@kernel
def write_movers(rules, states, over, movers):
    """Write the player to move in every game into movers int8 [B], -1 where the game is over."""
    for tree in range(movers.size):
        movers[tree] = -1 if over[tree] else to_move(rules, states[tree])


def play_off(
    game: Game,
    new: Evaluator,
    old: Evaluator | None,
    games: int,
    simulations: int,
    opening_plies: int,
    seed: int,
    uct: int = 0,
) -> Tally:
    """The results of the evaluator `new` in pairs of games, each pair from the same random opening, from both seats.

    The opponent is the evaluator `old`, or UCT with `uct` simulations if that is not 0. For two-player zero-sum games.
    """
    pairs = -(-games // 2)
    starts = game.new_states(pairs)
    scratch = np.zeros(game.most_legal, np.int32), np.zeros(game.players, np.int32), np.zeros(game.players, np.float32)
    begin_games(game.rules, starts, generators(seed, pairs), np.ones(pairs, np.bool_), opening_plies, *scratch)
    states = np.concatenate([starts, starts])
    count = len(states)
    seat = np.repeat([0, 1], pairs)  # of the new network
    mine = Forest(game, Puct(), trees=count, nodes=simulations + 1, seed=seed)
    other = Forest(game, Ucb1(), trees=count, nodes=uct + 1, seed=seed + 1) if uct else mine
    over, movers = np.zeros(count, np.bool_), np.zeros(count, np.int8)
    results = np.zeros((count, game.players), np.float32)
    while not over.all():
        write_movers(game.rules, states, over, movers)
        sides = (
            (mine, new, simulations, movers == seat),
            (other, None if uct else old, uct or simulations, (movers >= 0) & (movers != seat)),
        )
        for forest, evaluator, budget, mask in sides:
            if mask.any():
                forest.plant(states)
                forest.search(evaluator, simulations=np.where(mask, budget, 0))
                play_edges(game.rules, states, forest.conclude()[0], forest.trees, mask, over, results)
    points = results[np.arange(count), seat]
    return Tally(int((points > 0).sum()), int((points == 0).sum()), int((points < 0).sum()))
