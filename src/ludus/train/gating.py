"""Gating: a new network plays the best so far, and replaces it only if it wins often enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.native import kernel
from ludus.rules import outcome, play, to_move
from ludus.search.forest import Forest
from ludus.search.puct import Puct
from ludus.train.selfplay import begin_games

if TYPE_CHECKING:
    from ludus.game import Game


@kernel
def play_edges(rules, states, edges, trees, mask, over, results):
    """In every game of `mask` bool [B], play the edge that the search decided on: edges int32 [B, 1]."""
    for tree in range(mask.size):
        if mask[tree]:
            play(rules, states[tree], trees.edges[edges[tree, 0]].action)
            over[tree] = outcome(rules, states[tree], results[tree])


@kernel
def movers_of(rules, states, over, movers):
    """Who moves in every game, -1 where it is over."""
    for tree in range(movers.size):
        movers[tree] = -1 if over[tree] else to_move(rules, states[tree])


def play_off(
    game: Game, new: Any, old: Any, games: int, simulations: int, openings: int, seed: int
) -> tuple[int, int, int]:
    """Wins, draws and losses of the evaluator `new`, in pairs of games: the same random opening, both seats."""
    from ludus.chance import generators

    pairs = -(-games // 2)
    starts = game.new_states(pairs)
    begin_games(
        game.rules,
        starts,
        generators(seed, pairs),
        np.ones(pairs, np.bool_),
        openings,
        np.zeros(game.most_legal, np.int32),
        np.zeros(game.players, np.int32),
        np.zeros(game.players, np.float32),
    )
    states = np.concatenate([starts, starts])
    count = len(states)
    seat = np.repeat([0, 1], pairs)  # of the new network
    forest = Forest(game, Puct(), trees=count, nodes=simulations + 1, seed=seed)
    over, movers = np.zeros(count, np.bool_), np.zeros(count, np.int8)
    results = np.zeros((count, game.players), np.float32)
    while not over.all():
        movers_of(game.rules, states, over, movers)
        for evaluator, mask in ((new, movers == seat), (old, (movers >= 0) & (movers != seat))):
            if mask.any():
                forest.plant(states)
                forest.search(evaluator, simulations=np.where(mask, simulations, 0))
                play_edges(game.rules, states, forest.conclude()[0], forest.trees, mask, over, results)
    mine = results[np.arange(count), seat]
    return int((mine > 0).sum()), int((mine == 0).sum()), int((mine < 0).sum())


def passes(gate: float, wins: int, draws: int, losses: int) -> bool:
    """Is that enough? A gate up to 1 is the score to reach; above, how many wins there must be for every loss."""
    if gate > 1:
        return wins > gate * losses
    return (wins + draws / 2) >= gate * (wins + draws + losses)
