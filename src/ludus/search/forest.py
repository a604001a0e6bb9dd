"""A forest: many trees of one game, searched together.

In every round each tree finds one leaf (or several, under virtual loss), the evaluator evaluates them in one batch, and
the values are backed up. Random playouts need no evaluator and never leave compiled code. Each tree has its own rng, so
the result of many trees depends on the seed alone, not on the number of threads. With more than one thread, a single
tree grows in parcels (see parcels.py), and is then the same for two threads and for twenty.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ludus import native
from ludus.errors import BadOption, Unsuitable
from ludus.game import Game, Position
from ludus.rules import EVERYONE
from ludus.search import parcels, playouts, reuse, rounds, tree
from ludus.search.batch import Batch, make_buffer, make_buffer_apart
from ludus.search.selection import draws_gumbel_noise, has_special_root, is_in_turn_only
from ludus.search.sizing import LONGEST_PATH, forest_sizes, make_trees
from ludus.search.spread import Evaluation, Evaluator, Spread
from ludus.search.team import Team
from ludus.search.ucb1 import Ucb1

Progress = Callable[[float], object]
"""Called between the rounds of a search with the fraction of the budget that is spent, from 0 to 1.

It runs in the thread of the search while no tree changes, so it may read the forest. Returning False ends the search.
It is called up to several thousand times a second, so slow work in it must limit its own rate.
"""


IN_HALVES = 64
"""A growing batch is split into two halves from this number of leaves a round on."""


class Uniform:
    """Gives all moves the same prior and all positions the value 0: for measuring the trees alone."""

    def evaluate(self, batch: Batch) -> None:
        batch.logits[:] = 0.0
        batch.values[:] = 0.0


class SearchForest(Protocol):
    """B trees over one game that are searched together: on the CPU (`Forest`) or on a GPU (`gpu.forest.GpuForest`).

    `plant` positions, `search`, then read the result: `conclude`, or the roots in `trees`.
    """

    game: Game
    trees: tree.Trees
    """The trees. Callers may read the roots with their edges, and the rng of each tree, `trees.random`. `trees.bonus`
    may be written between `plant` and `search`. Nodes below the root may be on the GPU only."""
    on_gpu: bool
    """True if the trees grow on a GPU."""
    why_not_on_gpu: str
    """The reason why the trees are on the CPU although the network is on a GPU, else empty."""

    @property
    def rule(self) -> Any:
        """The selection rule; another one may be set between searches."""

    @rule.setter
    def rule(self, rule: Any) -> None: ...

    @property
    def batch(self) -> Batch:
        """The leaves of one round of all trees. On a GPU only its shapes are valid."""

    @property
    def bytes(self) -> int:
        """The memory that the trees take."""

    def plant(self, positions: Position | Sequence[Position] | np.ndarray) -> None:
        """Start every tree anew, from one position, from one each, or from an array of states [B]."""

    def search(self, evaluator: Evaluator | None = None, *, simulations: int | np.ndarray | None = None) -> int:
        """Search every tree for a number of simulations, one for all or int [B]; returns the simulations run."""

    def conclude(self) -> tuple[np.ndarray, np.ndarray]:
        """For every tree, the edges to play, int32 [B, D] (-1 for none), and the policy, float32 [B, R]."""


@dataclass
class Root:
    """The result of a search at the root of one tree, for one player that decides there."""

    player: int
    actions: np.ndarray  # int32 [k], in the game's order
    visits: np.ndarray  # int32 [k]
    values: np.ndarray  # float64 [k]: each move's value for the player; NaN if never visited
    priors: np.ndarray  # float32 [k]
    policy: np.ndarray  # float32 [k]: to learn from, or to sample a move from
    best: int  # the action to play
    value: float  # the position's value for the player
    solved: bool  # are `value` and `best` proven?
    lengths: np.ndarray  # int16 [k]: length in plies of the proof of each solved move, the move included; else 0


class Forest:
    """B trees over one game on the CPU, in arrays whose size never changes."""

    on_gpu = False
    why_not_on_gpu = ""

    def __init__(
        self,
        game: Game,
        rule: Any = None,
        *,
        trees: int = 1,
        nodes: int | None = None,
        edges: int | None = None,
        memory: int | None = None,
        batch: int = 1,
        growth: int = 0,
        transpositions: bool = False,
        threads: int = 1,
        seed: int = 0,
    ):
        """Make trees for `nodes` positions and `edges` moves each, within `memory` bytes in all.

        When a tree is full, the search goes on without growing it. `rule` is a selection rule (default Ucb1()); `batch`
        is the number of leaves that each tree may bring in one round. With `growth`, which is for a single tree, a
        search begins with one leaf a round, and has one more after each `growth` simulations, up to `batch`.
        """
        if trees < 1 or batch < 1 or threads < 1:
            raise BadOption("a forest needs at least one tree, one leaf a round and one thread")
        if growth and trees > 1:
            raise BadOption("growth is for a forest of one tree")
        self.game, self.growth = game.compile(), growth
        self.rule = Ucb1() if rule is None else rule
        threads = threads if game.parallel else 1  # games in ordinary Python run one at a time
        nodes, edges, lanes = forest_sizes(game, trees, nodes, edges, memory, batch, transpositions, threads)
        self.threads = threads if lanes else min(threads, trees)
        self.trees, self.lanes = make_trees(game, trees, nodes, edges, lanes, transpositions, seed)
        self.parcels = parcels.make_parcels(trees, lanes, game.players)
        longest = min(game.longest, nodes, LONGEST_PATH)
        self.buffer = make_buffer(game, trees * batch, longest, scratch=True)
        self.buffers = [self.buffer, *(make_buffer_apart(game, longest) for _ in range(1, self.threads))]
        """The buffer of each thread for playouts, of which the first row is used."""
        self.scratch = reuse.make_scratch(self.trees)
        self._values = np.zeros(game.players, np.float32)

    @property
    def rule(self) -> Any:
        """The selection rule; another one may be set between searches."""
        return self._rule

    @rule.setter
    def rule(self, rule: Any) -> None:
        if is_in_turn_only(rule) and self.game.simultaneous:
            raise Unsuitable(
                f"{self.game.name}: {type(rule).__qualname__} is for games in which players move in turn; use Puct"
            )
        native.enable(type(rule))
        self._rule = rule

    @property
    def batch(self) -> Batch:
        """The leaves of one round of all trees, including rows without a position."""
        return Batch(*self.buffer[: len(Batch._fields)])

    @property
    def bytes(self) -> int:
        """All memory that the forest may ever use, apart from the scratch of helper threads."""
        arrays = [*self.lanes, *self.parcels, *self.buffer, *self.scratch]
        return sum(array.nbytes for array in arrays if isinstance(array, np.ndarray))

    @property
    def is_full(self) -> bool:
        """True if no tree can grow any more: a search continues, but improves little."""
        used, room = self.trees.used, self.trees.room
        return bool(np.all((used[:, 0] >= room[:, 0]) | (used[:, 1] + self.trees.bonus.shape[1] > room[:, 1])))

    @property
    def size(self) -> int:
        """The number of nodes of the first tree."""
        return parcels.count_nodes(self.lanes, self.parcels)

    # --- roots --------------------------------------------------------------------------------------------------------

    def plant(self, positions: Position | Sequence[Position] | np.ndarray) -> None:
        """Start every tree anew, from one position, from one each, or from an array of states [B].

        The rng is not reset: the same forest searched again gives another tree.
        """
        parcels.take_reserves_back(self.lanes, self.parcels)
        tree.plant(self.game.rules, self.trees, self._states(positions), self._values)
        self.game.raise_pending()
        self.buffer.waiting[:] = False

    def advance(self, actions: np.ndarray, positions: Position | Sequence[Position] | np.ndarray) -> np.ndarray:
        """Play actions int32 [B, D] at the roots, leading to `positions`, and keep their subtrees.

        Returns bool [B]: True where there was a subtree.
        """
        self._need_roots()
        states = self._states(positions)
        kept = np.zeros(len(self.trees.root), np.bool_)
        parcels.take_reserves_back(self.lanes, self.parcels)
        reuse.advance_roots(self.game.rules, self.trees, actions, states, self._values, self.scratch, kept)
        self.game.raise_pending()
        return kept

    def _need_roots(self) -> None:
        if self.trees.root[0] == tree.NOTHING:
            raise BadOption("an empty forest: plant a position first")

    def _states(self, positions: Position | Sequence[Position] | np.ndarray) -> np.ndarray:
        count = len(self.trees.root)
        if isinstance(positions, np.ndarray):
            return positions
        if isinstance(positions, Position):
            positions = [positions] * count
        if len(positions) != count:
            raise BadOption(f"{len(positions)} positions for {count} trees")
        return np.concatenate([position.states for position in positions])

    # --- the search ---------------------------------------------------------------------------------------------------

    def search(
        self,
        evaluator: Evaluator | None = None,
        *,
        simulations: int | np.ndarray | None = None,
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> int:
        """Search every tree until a budget is spent: simulations (for all, or int [B]) or seconds, whichever is first.

        Without an evaluator, positions are evaluated by random playouts. Returns the simulations run, over all trees. A
        tree stops early when its root is solved.
        """
        self._need_roots()
        deadline = math.inf if seconds is None else time.perf_counter() + seconds
        budgets = np.empty(len(self.trees.root), np.int32)
        budgets[:] = np.iinfo(np.int32).max if simulations is None else simulations
        if simulations is None and seconds is None:
            raise BadOption("a search needs a budget: simulations or seconds")
        if budgets.min() < 0 or (seconds is not None and seconds <= 0):
            raise BadOption("a search's budget must not be negative, nor 0 seconds")
        rounds.begin(self.trees, draws_gumbel_noise(self.rule))
        clock = _Clock(deadline, seconds, int(budgets.sum(dtype=np.int64)), progress)
        if evaluator is None:
            self._play_out(budgets, clock)
        else:
            self._consult(evaluator, budgets, clock)
        return int(self.trees.done.sum())

    def _play_out(self, budgets: np.ndarray, clock: _Clock) -> None:
        """Run playouts in portions of some milliseconds: between them the clock is read and progress is reported."""
        portion, before, done = 16, -1, 0
        has_parcels = len(self.parcels.log) > 0
        with self._playing_team(has_parcels, budgets) as team:
            try:
                while not clock.is_over(done) and done != before:
                    began = time.perf_counter()
                    is_small = self.trees.nodes["visits"][self.trees.root[0]] < parcels.FROM
                    team.run_round(portion, alone=has_parcels and is_small)
                    self.game.raise_pending()
                    before, done = done, int(self.trees.done.sum())
                    ran = max(1, done - before) if has_parcels else portion
                    portion = clock.next_portion(ran, time.perf_counter() - began, often=has_parcels)
            finally:
                if has_parcels:
                    parcels.end_early(self.lanes, self.parcels)

    def _playing_team(self, has_parcels: bool, budgets: np.ndarray) -> Team:
        """The threads that run playouts."""
        if not has_parcels:
            scratch = [(buffer, np.zeros(self.game.players)) for buffer in self.buffers]
            arguments = (self.game.rules, self.rule, self.trees, budgets)
            return Team(playouts.run_portion, arguments, len(self.trees.root), self.threads, scratch)
        self.parcels.state[parcels.ALLOWED] = not has_special_root(self.rule)
        everything = (self.game.rules, self.rule, self.lanes, self.parcels, budgets)
        own = [(buffer,) for buffer in self.buffers]
        return Team(playouts.run_parcels, everything, len(self.lanes.root), self.threads, own)

    def _team(self, kernel: Any, budgets: np.ndarray) -> Team:
        arguments = (self.game.rules, self.rule, self.trees, self.buffer, budgets)
        return Team(kernel, arguments, len(self.trees.root), min(self.threads, len(self.trees.root)))

    def _consult(self, evaluator: Evaluator, budgets: np.ndarray, clock: _Clock) -> None:
        try:
            if self.growth and len(self.buffer.waiting) > 1:
                self._consult_in_turn(evaluator, budgets, clock)
            else:
                with self._team(rounds.advance, budgets) as team:
                    self._consult_in_rounds(team, evaluator, budgets, clock)
        except BaseException:
            rounds.abandon(self.trees, self.buffer)
            raise

    def _consult_in_rounds(self, team: Team, evaluator: Evaluator, budgets: np.ndarray, clock: _Clock) -> None:
        buffer = self.buffer
        everything = self.batch
        before = -1
        while True:
            team.run_round()
            self.game.raise_pending()
            waiting = np.count_nonzero(buffer.waiting)
            done = int(self.trees.done.sum())
            if waiting == 0 and done == before:
                return
            before = done
            if waiting == len(buffer.waiting):
                evaluator.evaluate(everything)
            elif waiting:
                rows = np.flatnonzero(buffer.waiting)
                batch = Batch(*(array[rows] for array in everything))
                evaluator.evaluate(batch)
                buffer.logits[rows] = batch.logits
                buffer.values[rows] = batch.values
            if clock.is_over(done):
                budgets[:] = 0  # one more round, to take in the last evaluations

    def _consult_in_turn(self, evaluator: Evaluator, budgets: np.ndarray, clock: _Clock) -> None:
        """Search the tree with batches that grow. Large batches are two halves in turn: while helpers evaluate one
        half, this thread evaluates with them, or finds the leaves of the other half.

        The order of the steps does not depend on the number of threads, and so neither does the result.
        """
        spread = evaluator if isinstance(evaluator, Spread) else Spread([evaluator])
        everything, rows = self.batch, len(self.buffer.waiting)
        half = rows // 2 if rows >= IN_HALVES else rows
        under_way: list[Evaluation | None] = [None, None]
        which, idle, before = 0, 0, -1
        try:
            while idle < 2:
                evaluation, under_way[which] = under_way[which], None
                if evaluation is not None:
                    evaluation.finish()
                done = int(self.trees.done[0])
                leaves = min(1 + done // self.growth, clock.affordable(done))
                if leaves >= IN_HALVES:
                    leaves //= 2
                elif which == 1:
                    leaves = 0
                first = which * half
                leaves = min(leaves, half, rows - first)
                arguments = (self.game.rules, self.rule, self.trees, self.buffer, budgets)
                found = rounds.advance_rows(*arguments, first, min(first + half, rows), leaves)
                self.game.raise_pending()
                if found:
                    under_way[which] = spread.begin(Batch(*(array[first : first + found] for array in everything)))
                done = int(self.trees.done[0])
                idle = 0 if found or evaluation or done != before else idle + 1
                before = done
                if clock.is_over(done):
                    budgets[:] = 0  # only evaluations that are under way are taken in
                which = 1 - which
        finally:
            for evaluation in under_way:
                if evaluation is not None:
                    evaluation.cancel()

    # --- the result ---------------------------------------------------------------------------------------------------

    def conclude(self) -> tuple[np.ndarray, np.ndarray]:
        """For every tree, the edges to play, int32 [B, D] (-1 for none), and the policy, float32 [B, R]."""
        count, max_edges = self.trees.bonus.shape
        edges = np.empty((count, max_edges // self.game.most_legal), np.int32)
        policy = np.empty((count, max_edges), np.float32)
        rounds.conclude(self.rule, self.trees, edges, policy)
        return edges, policy

    def roots(self, index: int = 0) -> list[Root]:
        """The result of one tree's search, for each player that decides at its root; empty before a search."""
        self._need_roots()
        node = self.trees.nodes[self.trees.root[index]]
        if node["first"] < 0:
            return []
        edges, policy = self.conclude()
        found = []
        first = int(node["first"])
        for block, count in enumerate(node["counts"].tolist()):
            if count == 0:
                continue
            player = block if node["mover"] == EVERYONE else int(node["mover"])
            block_edges = self.settled_edges(index, first, count)
            begin = first - int(node["first"])
            order = np.argsort(block_edges["action"], kind="stable")
            visits = block_edges["visits"].astype(np.int32)
            with np.errstate(invalid="ignore", divide="ignore"):
                values = block_edges["total"] / visits
            values[block_edges["total"] == tree.LOST] = -1.0
            block_policy = policy[index, begin : begin + count]
            weights = np.where(visits > 0, block_policy, 0.0)
            value = float(node["value"][player])  # exact, or the evaluator's
            if not node["solved"] and weights.sum() > 0:
                value = float(np.average(np.nan_to_num(values), weights=weights))
            found.append(
                Root(
                    player=player,
                    actions=block_edges["action"][order].copy(),
                    visits=visits[order],
                    values=values[order],
                    priors=np.abs(block_edges["prior"][order]),
                    policy=block_policy[order],
                    best=int(self.trees.edges[edges[index, block]]["action"]),
                    value=value,
                    solved=bool(node["solved"]),
                    lengths=self.proof_lengths(block_edges["child"][order]),
                )
            )
            first += count
        return found

    def settled_edges(self, index: int, first: int, count: int) -> np.ndarray:
        """A copy, EDGE [count], of edges of one tree, without the virtual loss of leaves whose evaluation is awaited.

        Between searches this equals the edges in the tree. During a search it may be called while no tree changes.
        """
        edges = self.trees.edges[first : first + count].copy()
        rows = len(self.buffer.waiting) // len(self.trees.root)
        if rows == 1:  # one leaf a round needs no virtual loss
            return edges
        waiting = index * rows + np.flatnonzero(self.buffer.waiting[index * rows : (index + 1) * rows])
        depths = self.buffer.depths[waiting]
        path = self.buffer.path[waiting, : depths.max(initial=0), 1:]
        taken = path[np.arange(path.shape[1]) < depths[:, None]].ravel() - first
        taken = np.bincount(taken[(taken >= 0) & (taken < count)], minlength=count)
        solved = (edges["prior"] < 0.0) & (edges["total"] != tree.LOST)
        mean = edges["total"] / np.maximum(1, edges["visits"])
        edges["total"] += taken * np.where(solved, -mean, 1.0)
        edges["visits"] -= taken.astype(np.int32)
        return edges

    def proof_lengths(self, children: np.ndarray) -> np.ndarray:
        """For nodes int32 [k], int16 [k]: one ply more than the proof of each; 0 where there is no node or no proof."""
        known = np.where(children >= 0, children, 0)
        nodes = self.trees.nodes[known]
        return np.where((children >= 0) & (nodes["solved"] != 0), nodes["length"] + 1, 0).astype(np.int16)

    def line(self, index: int = 0, longest: int = 20, action: int | None = None) -> list[int]:
        """The principal variation of one tree: the moves expected from all players; empty where everyone moves at once.

        It begins with `action`, if that is given.
        """
        self._need_roots()
        node = self.trees.nodes[self.trees.root[index]]
        if node["first"] < 0 or node["mover"] == EVERYONE:
            return []
        line = np.empty(longest, np.int32)
        first = self.conclude()[0][index, 0]
        if action is not None:
            edges = self.trees.edges[node["first"] : node["first"] + node["counts"][0]]
            first = node["first"] + np.flatnonzero(edges["action"] == action)[0]
        count = rounds.best_line(self.trees, index, np.int32(first), line)
        return self.trees.edges["action"][line[:count]].tolist()


class _Clock:
    """Watches the budget of a search."""

    def __init__(self, deadline: float, seconds: float | None, simulations: int, progress: Progress | None):
        self.deadline, self.seconds, self.simulations, self.progress = deadline, seconds, simulations, progress

    def is_over(self, done: int) -> bool:
        """True if the time is up, `done` simulations are enough, or `progress` returns False. Reports the progress."""
        left = self.deadline - time.perf_counter()
        spent = done / self.simulations if self.simulations else 1.0
        if self.progress is not None:
            by_time = 1.0 - left / self.seconds if self.seconds else 0.0
            if self.progress(max(0.0, min(1.0, max(by_time, spent)))) is False:
                return True
        return left <= 0 or spent >= 1

    def affordable(self, done: int) -> int:
        """The number of simulations for which the time will do, by the speed of those that are done; at least 1."""
        if self.deadline == math.inf or self.seconds is None:
            return 1 << 30
        left = self.deadline - time.perf_counter()
        return max(1, int(done * left / max(1e-9, self.seconds - left)))

    def next_portion(self, portion: int, took: float, often: bool) -> int:
        """The number of simulations to run before the clock is read again.

        They take 4 ms with `often`, or where a time limit runs or `progress` is called; else 50 ms.
        """
        if self.deadline < math.inf:
            aim = min(0.004, max(0.0005, self.deadline - time.perf_counter()))
        else:
            aim = 0.004 if often or self.progress is not None else 0.05
        return max(1, min(1_000_000, int(portion * min(8.0, aim / max(took, 1e-7)))))
