"""Games between networks, all at once in one forest, that decide or measure who is better.

With gating, a new network plays the best so far, or UCT, and takes its place only if it does well enough. The ladder
gives a running rating: each network plays an earlier one that it does not yet beat at will.
"""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.native import kernel
from ludus.rules import outcome, play, to_move
from ludus.search.forest import Forest
from ludus.search.puct import Puct
from ludus.search.ucb1 import Ucb1
from ludus.training.selfplay import begin_games

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
    game: Game, new: Any, old: Any, games: int, simulations: int, openings: int, seed: int, uct: int = 0
) -> tuple[int, int, int]:
    """Wins, draws and losses of the evaluator `new`, in pairs of games: the same random opening, both seats.

    With `uct`, the other side is not `old` but UCT with so many simulations.
    """
    from ludus.rng import generators

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
    mine = Forest(game, Puct(), trees=count, nodes=simulations + 1, seed=seed)
    other = Forest(game, Ucb1(), trees=count, nodes=uct + 1, seed=seed + 1) if uct else mine
    over, movers = np.zeros(count, np.bool_), np.zeros(count, np.int8)
    results = np.zeros((count, game.players), np.float32)
    while not over.all():
        movers_of(game.rules, states, over, movers)
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
    return int((points > 0).sum()), int((points == 0).sum()), int((points < 0).sum())


def passes(gate: float, wins: int, draws: int, losses: int) -> bool:
    """Is that enough? A gate up to 1 is the score to reach; above, how many wins there must be for every loss."""
    if gate > 1:
        return wins > gate * losses
    return (wins + draws / 2) >= gate * (wins + draws + losses)


class UctGate:
    """Keeps the network that does best against UCT, whose simulations are doubled when one wins all its games."""

    def __init__(self, simulations: int):
        self.simulations = simulations
        self.best = -1.0
        """The score of the network that plays, against UCT as it is now."""

    def passes(self, wins: int, draws: int, losses: int) -> bool:
        score = (wins + draws / 2) / (wins + draws + losses)
        better = score > self.best
        if better:
            self.best = score
        if not draws and not losses:
            self.simulations *= 2
            self.best = -1.0
        return better


class Ladder:
    """A rating while training, in Elo above the untrained network with the same search.

    Networks play a rival, an earlier one; results count less with every round. Whoever scores three quarters against
    the rival becomes the next one. Errors add up over the rungs, so this is for watching; an arena measures better.
    """

    FADES = 0.7
    """What the results so far count for after a round."""

    def __init__(self, rival: Any):
        self.rival = copy.deepcopy(rival)
        self.base = 0.0
        """The rival's rating."""
        self.points = 0.0
        self.games = 0.0

    @property
    def rating(self) -> float | None:
        """By the score against the rival, with half a win and half a loss added so that it stays finite; None before
        the first game."""
        if not self.games and not self.base:
            return None
        score = (self.points + 0.5) / (self.games + 1.0)
        return self.base + 400.0 * math.log10(score / (1.0 - score))

    def add(self, network: Any, wins: int, draws: int, losses: int) -> None:
        self.points = self.FADES * self.points + wins + draws / 2
        self.games = self.FADES * self.games + wins + draws + losses
        if self.games >= 20 and self.points >= 0.75 * self.games:
            self.base = self.rating or 0.0
            self.rival.load_state_dict(network.state_dict())
            self.points = self.games = 0.0
