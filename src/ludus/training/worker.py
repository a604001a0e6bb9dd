"""A worker of self-play: many games in one forest, a row for every decision that was searched in full.

Results depend on the seed and on the network alone. Trees are not kept from move to move, so the state of a game under
way is its position, its random numbers, and the rows that wait for its result.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.nets.rows import Rows, empty_rows, join, pick_rows
from ludus.rng import generators
from ludus.search.gumbel import gumbel
from ludus.search.noisy_puct import NoisyPuct
from ludus.search.puct import Puct
from ludus.search.random_play import begin_games
from ludus.stopping import NEVER, Stop
from ludus.training.recording import concentrate, play_moves, record, settle
from ludus.training.resigning import Resigning
from ludus.training.state import State, pack_rng, unpack_rng
from ludus.training.watching import WatchedGame

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.evaluator import NetworkEvaluator
    from ludus.runs.config import Config


@dataclass
class Step:
    """One move of all games: the rows that were recorded then."""

    rows: Rows
    trees: np.ndarray  # int64 [n]: the game of each row
    known: np.ndarray  # bool [n]: is the result known?
    number: int  # the number of the move since the worker began


class Worker:
    """B games in one forest. `play` continues until there are enough rows whose games are over."""

    def __init__(self, game: Game, config: Config, evaluator: NetworkEvaluator, games: int, seed: int):
        self.game, self.config, self.evaluator, self.games = game.compile(), config, evaluator, games
        self.most_simulations = max(config.simulations, config.simulations_end, config.fast_simulations)
        rules = [self._rule(config.simulations), *([Puct(config.c_puct)] if config.full_search_fraction < 1 else [])]
        self.forest = evaluator.make_forest(rules, trees=games, nodes=self.most_simulations + 1, seed=seed)
        self.random = generators(seed + 1_000_003, games)
        self.rng = np.random.default_rng(seed)
        self.states = game.new_states(games)
        self.plies = np.zeros(games, np.int32)
        self.resigning = Resigning(config.resign_threshold, games)
        self.steps: list[Step] = []
        self.rows_known = 0
        """Rows in `steps` whose games are over."""
        self.finished = 0
        """Games finished since the worker began."""
        self.plies_finished = 0
        """Plies of the finished games."""
        self.wins = np.zeros(game.players, np.int64)
        """For each seat, finished games with a positive result, since this object was made."""
        self.draws = 0
        """Finished games whose results are all 0, since this object was made."""
        self.watched: WatchedGame | None = None
        """Records one of the games for people to watch, if it is set."""
        self.simulations = 0
        self.moves = 0
        """Moves played in every game since the worker began."""
        blocks = game.players if game.simultaneous else 1
        max_edges = blocks * game.most_legal
        self._players = np.zeros(games * blocks, np.int8)
        self._starts = np.zeros(games * blocks + 1, np.int64)
        self._actions = np.zeros(games * max_edges, np.int32)
        self._probabilities = np.zeros(games * max_edges, np.float32)
        self._expected = np.zeros(games * blocks, np.float32)
        self._surprise = np.zeros(games * blocks, np.float32)
        self._played = np.zeros(games, np.int32)
        self._joint = np.zeros(game.players, np.int32)
        self._values = np.zeros(game.players, np.float32)
        self._legal = np.zeros(game.most_legal, np.int32)
        self._begin(np.ones(games, np.bool_))

    def _rule(self, simulations: int) -> Any:
        """The selection rule of a full search."""
        if self.config.search == "gumbel" and not self.game.simultaneous:
            considered = min(self.config.considered_moves, self.game.most_legal)
            return gumbel(simulations, considered, schedule_length=self.most_simulations)
        return NoisyPuct(self.config.c_puct, 0.2, self.config.noise_weight, self.config.forced_playouts)

    def _begin(self, which: np.ndarray) -> None:
        """Begin new games where which bool [B] is True."""
        scratch = self._legal, self._joint, self._values
        begin_games(self.game.rules, self.states, self.random, which, self.config.opening_plies, *scratch)
        self.game.raise_pending()
        self.plies[which] = 0

    def restart(self, seed: int | None = None) -> None:
        """Drop all games under way with their rows, and begin new ones; a `seed` restarts the random numbers."""
        if seed is not None:
            self.forest.trees.random[...] = generators(seed, self.games)
            self.random = generators(seed + 1_000_003, self.games)
            self.rng = np.random.default_rng(seed)
        self.steps, self.rows_known = [], 0
        self._begin(np.ones(self.games, np.bool_))

    # --- playing ------------------------------------------------------------------------------------------------------

    def play(self, rows: int, simulations: int, stop: Stop = NEVER) -> Rows:
        """At least `rows` rows of finished games, fewer if stopped; rows of games under way are kept for later."""
        while self.rows_known < rows and not stop.is_set():
            self.play_move(simulations)
        return self.take_rows()

    def play_move(self, simulations: int) -> None:
        """Search and play one move in every game."""
        config, forest = self.config, self.forest
        full = np.ones(self.games, np.bool_)
        if config.full_search_fraction < 1:
            full = self.rng.random(self.games) < config.full_search_fraction
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
            fast_edges, fast_policy = forest.conclude()
            edges[~full], policy[~full] = fast_edges[~full], fast_policy[~full]
        self._play(edges, policy, full)

    def _add_noise(self) -> None:
        """Draw Dirichlet noise for the root's moves, if the selection rule uses it (see search/noisy_puct.py)."""
        if self.config.noise_weight and (self.config.search == "puct" or self.game.simultaneous):
            bonus = self.forest.trees.bonus
            concentrate(self.game.rules, self.states, self.config.noise_alpha, self._legal, bonus)
            self.game.raise_pending()
            bonus[:] = self.rng.standard_gamma(bonus)

    def _play(self, edges: np.ndarray, policy: np.ndarray, full: np.ndarray) -> None:
        """Play the moves that the searches found, keep their rows, and begin new games for those that are over."""
        game, trees = self.game, self.forest.trees
        rows = self._players, self._starts, self._actions, self._probabilities
        record(trees, edges, policy, *rows, self._expected, self._surprise)
        before = self.states.copy()
        over = np.zeros(self.games, np.bool_)
        results = np.zeros((self.games, game.players), np.float32)
        sampled = (self.plies < self.config.sample_plies) & full
        written = self._joint, self._played, results, over
        play_moves(game.rules, self.states, self.random, edges, trees, *rows, sampled, *written)
        game.raise_pending()
        self.resigning.check(self._players, self._expected, full, over, results)
        self._keep_rows(before, full)
        if self.watched is not None:
            self.watched.add(before[:1], int(self._played[0]), bool(over[0]), results[0])
        self.plies += 1
        self.moves += 1
        if over.any():
            self._settle(over, results)
            self.resigning.begin(over, results, self.rng)
            self._begin(over)

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _keep_rows(self, states: np.ndarray, full: np.ndarray) -> None:
        """Keep the rows of this move that were searched in full, until their games end."""
        if self.steps and self.steps[-1].number == self.moves - 1 and not self.game.simultaneous:
            last = self.steps[-1]  # this move is the reply to the last one
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
        # Copying all rows is much faster than picking all. It holds the interpreter's lock, and a GPU may be waiting.
        kept = pick_rows(rows, chosen) if len(chosen) < total else join([rows])
        self.steps.append(Step(kept, trees, np.zeros(len(chosen), np.bool_), self.moves))

    def _settle(self, over: np.ndarray, results: np.ndarray) -> None:
        """Give the rows of games that are over their results."""
        self.finished += int(over.sum())
        self.wins += (results[over] > 0).sum(axis=0)
        self.draws += int((results[over] == 0).all(axis=1).sum())
        self.plies_finished += int(self.plies[over].sum())
        for step in self.steps:
            self.rows_known += settle(over, results, step.trees, step.known, step.rows.results)

    def take_rows(self) -> Rows:
        """Remove and return the rows whose results are known, oldest first."""
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

    # --- state --------------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """The games under way, their rows, and the random numbers. To be called when no known rows are left."""
        rows = join([step.rows for step in self.steps]) if self.steps else empty_rows(self.states, self.game.players)
        arrays = {
            "states": self.states,
            "plies": self.plies,
            "random": self.random,
            "trees": self.forest.trees.random,
            "choose": pack_rng(self.rng),
            "counts": np.array([self.finished, self.plies_finished, self.simulations, self.moves]),
            "step_sizes": np.array([len(step.trees) for step in self.steps], np.int64),
            "step_numbers": np.array([step.number for step in self.steps], np.int64),
            "step_trees": np.concatenate([np.zeros(0, np.int64), *(step.trees for step in self.steps)]),
            **{f"rows.{name}": value for name, value in rows._asdict().items()},
        }
        return State(arrays=arrays) | self.resigning.state()

    def restore(self, state: State) -> None:
        arrays = state.arrays
        self.states[...] = arrays["states"]
        self.plies[...] = arrays["plies"]
        self.random[...] = arrays["random"]
        self.forest.trees.random[...] = arrays["trees"]
        unpack_rng(self.rng, arrays["choose"])
        self.resigning.restore(state)
        self.finished, self.plies_finished, self.simulations, self.moves = arrays["counts"].tolist()
        rows = Rows(**{name: arrays[f"rows.{name}"] for name in Rows._fields})
        self.steps, self.rows_known = [], 0
        begin = 0
        for size, number in zip(arrays["step_sizes"].tolist(), arrays["step_numbers"].tolist(), strict=True):
            chosen = np.arange(begin, begin + size)
            known = np.zeros(size, np.bool_)
            self.steps.append(Step(pick_rows(rows, chosen), arrays["step_trees"][chosen], known, number))
            begin += size
