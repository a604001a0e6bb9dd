"""Self-play: many games at once in one forest, a row for every decision that was searched in full.

Everything here hangs on the seed and on the network alone. Trees are not kept from move to move, so all there is to
remember of a game under way is its position, its random numbers, and the rows that wait for its result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.errors import Unsuitable
from ludus.native import below, kernel, part, uniform
from ludus.nets.rows import Rows, empty_rows, join, pick_rows
from ludus.rng import generators
from ludus.rules import EVERYONE, legal, outcome, play, play_together, reset, to_move
from ludus.search.forest import Forest
from ludus.search.gumbel import gumbel
from ludus.search.puct import Puct
from ludus.search.tree import LOST, NOTHING

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.runs.config import Config


@part
def random_move(rules, state, random, actions, joint):
    """Any legal move of whoever moves."""
    mover = to_move(rules, state)
    if mover != EVERYONE:
        play(rules, state, actions[below(random, legal(rules, state, mover, actions))])
        return
    for player in range(joint.size):
        count = legal(rules, state, player, actions)
        joint[player] = actions[below(random, count)] if count > 0 else -1
    play_together(rules, state, joint)


@kernel
def begin_games(rules, states, random, which, openings, actions, joint, values):
    """New games where `which` bool [B] says so, each with 0 to `openings` random moves, short of the end."""
    for tree in range(which.size):
        while which[tree]:
            reset(rules, states[tree], random[tree])
            for _ in range(below(random[tree], openings + 1)):
                if not outcome(rules, states[tree], values):
                    random_move(rules, states[tree], random[tree], actions, joint)
            if not outcome(rules, states[tree], values):
                break


@kernel
def concentrate(rules, states, alpha, actions, shapes):
    """The parameters of Dirichlet noise for the moves of every position: `alpha` over the number of legal moves, for
    each player who decides there. shapes float32 [B, R], as the moves lie in a tree's root."""
    blocks = shapes.shape[1] // actions.size
    for tree in range(shapes.shape[0]):
        shapes[tree, :] = 0.0
        mover = to_move(rules, states[tree])
        begin = 0
        for block in range(blocks):
            if mover != EVERYONE and block > 0:
                break
            count = legal(rules, states[tree], block if mover == EVERYONE else mover, actions)
            shapes[tree, begin : begin + count] = alpha / max(1, count)
            begin += count


@kernel
def record(trees, edges, policy, players, starts, actions, probabilities, expected, surprise):
    """What the search found at every root: a row for each player who decides there, in the order of trees and players.

    edges int32 [B, D] and policy float32 [B, R] as `conclude` gives them. Fills players int8 [B * D] (-1 where nobody
    decides), starts int64 [B * D + 1], actions and probabilities [B * R], expected and surprise float32 [B * D]: how
    far the search's policy is from the network's (the Kullback-Leibler divergence).
    """
    blocks = edges.shape[1]
    starts[0] = 0
    for tree in range(edges.shape[0]):
        root = trees.nodes[trees.root[tree]]
        first = np.int64(root.first)
        for block in range(blocks):
            row = tree * blocks + block
            at = starts[row]
            players[row] = -1
            surprise[row] = 0.0
            if edges[tree, block] != NOTHING:
                player = block if root.mover == EVERYONE else root.mover
                players[row] = player
                total = np.float64(root.value[player])
                visits = 1
                begin = first - root.first
                for i in range(root.counts[block]):
                    edge = trees.edges[first + i]
                    actions[at] = edge.action
                    chance = policy[tree, begin + i]
                    probabilities[at] = chance
                    at += 1
                    if chance > 0.0:
                        surprise[row] += chance * math.log(chance / max(abs(edge.prior), 1e-6))
                    if edge.visits > 0:
                        total += -np.float64(edge.visits) if edge.total == LOST else edge.total
                        visits += edge.visits
                expected[row] = root.value[player] if root.solved else total / visits
                first += root.counts[block]
            starts[row + 1] = at


@kernel
def play_moves(
    rules, states, random, edges, trees, players, starts, actions, probabilities, sampled, joint, played, results, over
):
    """Play in every game: a draw from the policy where `sampled` bool [B] says so, else the search's decision.

    Fills played int32 [B] (where one player moves), over bool [B], and results float32 [B, P] where a game is over.
    """
    blocks = edges.shape[1]
    for tree in range(edges.shape[0]):
        joint[:] = -1
        for block in range(blocks):
            row = tree * blocks + block
            if players[row] < 0:
                continue
            chosen = trees.edges[edges[tree, block]].action
            if sampled[tree]:
                left = uniform(random[tree])
                for i in range(starts[row], starts[row + 1]):
                    if probabilities[i] > 0.0:
                        chosen = actions[i]
                        left -= probabilities[i]
                        if left < 0.0:
                            break
            joint[block] = chosen
        played[tree] = joint[0]
        if to_move(rules, states[tree]) == EVERYONE:
            play_together(rules, states[tree], joint)
        else:
            play(rules, states[tree], joint[0])
        over[tree] = outcome(rules, states[tree], results[tree])


@kernel
def settle(over, results, trees, known, kept):
    """Give the rows of games that are over, bool [B], their results float32 [B, P]: trees int64 [n] is the game of each
    row, known bool [n], kept float32 [n, P]. Returns how many rows there were."""
    count = 0
    for row in range(trees.size):
        if over[trees[row]] and not known[row]:
            known[row] = True
            count += 1
            for player in range(results.shape[1]):
                kept[row, player] = results[trees[row], player]
    return count


@dataclass
class Step:
    """One move of all games: its rows, and what became of them."""

    rows: Rows
    trees: np.ndarray  # int64 [n]: the game of each row
    known: np.ndarray  # bool [n]: is the result known?
    number: int  # of the move, since the worker began


class Resigning:
    """Games given up before their end, when the search expects next to nothing; for two rivals who move in turn.

    Every tenth game is played to its end all the same. If of those that would have been given up more than one in
    twenty is not lost in the end, nobody resigns any more.
    """

    def __init__(self, threshold: float, games: int):
        self.threshold = threshold
        self.exempt = np.zeros(games, np.bool_)
        self.loser = np.full(games, -1, np.int8)
        """Who would have resigned in a game that is exempt."""
        self.counts = np.zeros(2, np.int64)
        """Games that were checked, and those that were not lost."""

    @property
    def error(self) -> float:
        """The part of games given up that would not have been lost."""
        return self.counts[1] / max(1, self.counts[0])

    def check(self, players: Any, expected: Any, full: Any, over: Any, results: Any) -> None:
        """End the games that are given up: sets over bool [B] and results float32 [B, 2]."""
        if self.counts[0] >= 20 and self.error > 0.05:
            return
        hopeless = (expected < -self.threshold) & full & ~over & (players >= 0)
        noted = hopeless & self.exempt & (self.loser < 0)
        self.loser[noted] = players[noted]
        for tree in np.flatnonzero(hopeless & ~self.exempt):
            over[tree] = True
            results[tree, players[tree]], results[tree, 1 - players[tree]] = -1.0, 1.0

    def begin(self, over: Any, results: Any, choose: np.random.Generator) -> None:
        """Check the exempt games that are over, and draw which of the new ones are exempt."""
        if not self.threshold:
            return
        checked = np.flatnonzero(over & (self.loser >= 0))
        self.counts += len(checked), int((results[checked, self.loser[checked]] > -1.0).sum())
        self.loser[over] = -1
        self.exempt[over] = choose.random(int(over.sum())) < 0.1


class SelfPlay:
    """B games in one forest. `play` goes on until there are enough rows whose games are over."""

    def __init__(self, game: Game, config: Config, evaluator: Any, games: int, seed: int):
        self.game, self.config, self.evaluator, self.games = game.compile(), config, evaluator, games
        self.most_simulations = max(config.simulations, config.simulations_end, config.fast_simulations)
        self.off_gpu = ""
        """Why the trees stay on the processor although the network is on a card."""
        self.forest = self._forest(seed)
        self.random = generators(seed + 1_000_003, games)
        self.choose = np.random.default_rng(seed)
        self.states = game.new_states(games)
        self.plies = np.zeros(games, np.int32)
        self.resigning = Resigning(config.resign_threshold, games)
        self.steps: list[Step] = []
        self.rows_known = 0
        """Rows in `steps` whose games are over."""
        self.finished = 0
        self.plies_finished = 0
        self.simulations = 0
        self.moves = 0
        blocks = self.forest.buffer.counts.shape[1]
        room = self.forest.trees.bonus.shape[1]
        self._players = np.zeros(games * blocks, np.int8)
        self._starts = np.zeros(games * blocks + 1, np.int64)
        self._actions = np.zeros(games * room, np.int32)
        self._probabilities = np.zeros(games * room, np.float32)
        self._expected = np.zeros(games * blocks, np.float32)
        self._surprise = np.zeros(games * blocks, np.float32)
        self._played = np.zeros(games, np.int32)
        self._joint = np.zeros(game.players, np.int32)
        self._values = np.zeros(game.players, np.float32)
        self._legal = np.zeros(game.most_legal, np.int32)
        self._begin(np.ones(games, np.bool_))

    def _forest(self, seed: int) -> Forest:
        """On the card, if the network is there and the rules can be."""
        config, nodes = self.config, self.most_simulations + 1
        rules = [self._rule(config.simulations), *([Puct(config.c_puct)] if config.full_search_fraction < 1 else [])]
        if hasattr(getattr(self.evaluator, "engine", None), "runs") and self.game.parallel:
            from ludus.gpu.forest import GpuForest

            try:
                return GpuForest(self.game, rules, self.evaluator, trees=self.games, nodes=nodes, seed=seed)
            except Unsuitable as error:
                self.off_gpu = str(error)
        return Forest(self.game, rules[0], trees=self.games, nodes=nodes, seed=seed)

    @property
    def on_gpu(self) -> bool:
        """Do the trees grow on a GPU?"""
        return type(self.forest) is not Forest

    def _rule(self, simulations: int) -> Any:
        if self.config.search == "gumbel" and not self.game.simultaneous:
            considered = min(self.config.considered_moves, self.game.most_legal)
            return gumbel(simulations, considered, schedule_length=self.most_simulations)
        from ludus.search.noisy_puct import NoisyPuct

        return NoisyPuct(self.config.c_puct, 0.2, self.config.noise_weight, self.config.forced_playouts)

    def _begin(self, which: np.ndarray) -> None:
        begin_games(
            self.game.rules,
            self.states,
            self.random,
            which,
            self.config.opening_plies,
            self._legal,
            self._joint,
            self._values,
        )
        self.game.raise_pending()
        self.plies[which] = 0

    def restart(self) -> None:
        """Leave all games as they are, with their rows, and begin new ones."""
        self.steps, self.rows_known = [], 0
        self._begin(np.ones(self.games, np.bool_))

    def play(self, rows: int, simulations: int, stop: Any = None) -> Rows:
        """At least so many finished rows, unless `stop()` says that it is enough; rows of games under way wait."""
        while self.rows_known < rows and not (stop is not None and stop()):
            self.one_move(simulations)
        return self.take_known()

    def one_move(self, simulations: int) -> None:
        """A move of every game."""
        config, forest = self.config, self.forest
        full = np.ones(self.games, np.bool_)
        if config.full_search_fraction < 1:
            full = self.choose.random(self.games) < config.full_search_fraction
        forest.plant(self.states)
        if full.any():
            forest.rule = self._rule(simulations)
            self._add_noise()
            self.simulations += forest.search(self.evaluator, simulations=np.where(full, simulations, 0))
        edges, policy = forest.conclude()
        if not full.all():
            forest.rule = Puct(config.c_puct)
            budgets = np.where(full, 0, config.fast_simulations)
            self.simulations += forest.search(self.evaluator, simulations=budgets)
            cheap = forest.conclude()
            edges[~full], policy[~full] = cheap[0][~full], cheap[1][~full]
        self._move(edges, policy, full)

    def _move(self, edges: np.ndarray, policy: np.ndarray, full: np.ndarray) -> None:
        """Play what the searches came to, and keep the rows."""
        config, game, forest = self.config, self.game, self.forest
        record(
            forest.trees,
            edges,
            policy,
            self._players,
            self._starts,
            self._actions,
            self._probabilities,
            self._expected,
            self._surprise,
        )
        before = self.states.copy()
        over = np.zeros(self.games, np.bool_)
        results = np.zeros((self.games, game.players), np.float32)
        sampled = (self.plies < config.sample_plies) & full
        play_moves(
            game.rules,
            self.states,
            self.random,
            edges,
            forest.trees,
            self._players,
            self._starts,
            self._actions,
            self._probabilities,
            sampled,
            self._joint,
            self._played,
            results,
            over,
        )
        game.raise_pending()
        if config.resign_threshold:
            self.resigning.check(self._players, self._expected, full, over, results)
        self._remember(before, full)
        self.plies += 1
        self.moves += 1
        if over.any():
            self._settle(over, results)
            self.resigning.begin(over, results, self.choose)
            self._begin(over)

    def _add_noise(self) -> None:
        """Dirichlet noise for the root's moves, where the rule takes it (see search/noisy_puct.py)."""
        if self.config.noise_weight and (self.config.search == "puct" or self.game.simultaneous):
            bonus = self.forest.trees.bonus
            concentrate(self.game.rules, self.states, self.config.noise_alpha, self._legal, bonus)
            self.game.raise_pending()
            bonus[:] = self.choose.standard_gamma(bonus)

    def _remember(self, states: np.ndarray, full: np.ndarray) -> None:
        """Keep the rows of this move that were searched in full, until their games end."""
        if self.steps and self.steps[-1].number == self.moves - 1 and not self.game.simultaneous:
            last = self.steps[-1]  # what is played now is the reply to what was played then
            last.rows.replies[~last.known] = self._played[last.trees[~last.known]]
        blocks = len(self._players) // self.games
        chosen = np.flatnonzero((self._players >= 0) & np.repeat(full, blocks))
        trees = chosen // blocks
        total = len(self._players)
        weights = np.ones(total, np.float32)
        if self.config.surprise_weight and len(chosen):
            mean = max(1e-6, float(self._surprise[chosen].mean()))
            weights += np.float32(self.config.surprise_weight) * (self._surprise / np.float32(mean) - 1)
        rows = Rows(
            states if blocks == 1 else np.repeat(states, blocks, axis=0),
            self._players,
            self._starts,
            self._actions[: self._starts[-1]],
            self._probabilities[: self._starts[-1]],
            np.zeros((total, self.game.players), np.float32),
            self._expected,
            weights,
            np.full(total, -1, np.int32),
        )
        # To copy all is much faster than to pick all; while this runs, no other Python can, and a card may be waiting.
        kept = pick_rows(rows, chosen) if len(chosen) < total else join([rows])
        self.steps.append(Step(kept, trees, np.zeros(len(chosen), np.bool_), self.moves))

    def _settle(self, over: np.ndarray, results: np.ndarray) -> None:
        """The games that are over give their rows a result."""
        self.finished += int(over.sum())
        self.plies_finished += int(self.plies[over].sum())
        for step in self.steps:
            self.rows_known += settle(over, results, step.trees, step.known, step.rows.results)

    def take_known(self) -> Rows:
        """The rows whose results are known, oldest first; the others stay."""
        taken = [empty_rows(self.states, self.game.players)]
        for step in self.steps:
            if step.known.any():
                taken.append(pick_rows(step.rows, np.flatnonzero(step.known)))
                waiting = np.flatnonzero(~step.known)
                step.rows, step.trees = pick_rows(step.rows, waiting), step.trees[waiting]
                step.known = np.zeros(len(waiting), np.bool_)
        self.steps = [step for step in self.steps if len(step.trees)]
        self.rows_known = 0
        return join(taken)
