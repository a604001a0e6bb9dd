"""A forest on a card: trees and network both, a whole search without the processor.

The trees are grown by the same compiled functions as on a processor (see gpu/compiler.py), one thread of the card for
each. A round is one CUDA graph: the network judges the leaves, then every tree takes its answer in and brings the next
leaf. The processor starts all rounds of a search at once. It sets the roots up before, and is shown them after.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from numba.core.errors import NumbaExperimentalFeatureWarning

from ludus.errors import BadOption, Unsuitable
from ludus.gpu.compiler import GpuKernel, arrays_in
from ludus.gpu.engine import CAPTURING
from ludus.nets.evaluator import answer_one
from ludus.rules import observe
from ludus.search import rounds
from ludus.search.batch import LeafBuffer
from ludus.search.forest import Evaluator, Forest, Progress
from ludus.search.rounds import advance_tree, conclude_tree
from ludus.search.selection import draws_gumbel_noise
from ludus.search.tree import NOTHING, Trees, copy_state

if TYPE_CHECKING:
    from ludus.game import Game, Position
    from ludus.gpu.engine import CudaEngine
    from ludus.nets.evaluator import NetworkEvaluator

# States on the card are aligned and those of the game are not; Numba notes that it could take one for the other.
warnings.filterwarnings("ignore", ".*considered a subtype", NumbaExperimentalFeatureWarning)


def begin_tree(tree, shown, grown, planted, wanted, budgets):
    """Bring over what the processor has set up for the next search of a tree: with its root, where that is new."""
    budgets[tree] = wanted[tree]
    grown.done[tree] = shown.done[tree]
    grown.random[tree, 0] = shown.random[tree, 0]
    for i in range(grown.bonus.shape[1]):
        grown.bonus[tree, i] = shown.bonus[tree, i]
        grown.before[tree, i] = shown.before[tree, i]
    if not planted[tree]:
        return
    root = tree * (grown.nodes.size // grown.root.size)
    grown.root[tree] = root
    grown.used[tree, 0] = root + 1
    grown.used[tree, 1] = tree * (grown.edges.size // grown.root.size)
    grown.used[tree, 2] = 0
    grown.serial[tree] = shown.serial[tree]
    for slot in range(grown.joints.shape[1]):
        grown.joints[tree, slot].child = 0
    copy_state(grown.states, root, shown.states, shown.root[tree])
    grown.nodes[root] = shown.nodes[shown.root[tree]]


def grow_tree(tree, rules, rule, trees, buffer, budgets, planes, policy, outputs):
    """A tree's part of a round, from the network's answer to what it is to see next: budgets int32 [B], planes float32
    [V, ...], policy float32 [V, heads, actions], outputs float32 [V, outputs], with one view of each leaf, or one for
    each player, beside each other."""
    if buffer.waiting[tree]:
        answer_one(buffer.movers, buffer.actions, buffer.counts, policy, outputs, buffer.logits, buffer.values, tree)
    advance_tree(rules, rule, trees, tree, buffer, budgets)
    if buffer.waiting[tree]:
        views = planes.shape[0] // trees.root.size
        for view in range(tree * views, (tree + 1) * views):
            planes[view, ...] = 0.0
            viewer = max(0, buffer.movers[tree]) if views == 1 else view - tree * views
            observe(rules, buffer.states[tree], viewer, planes[view])


def show_tree(tree, rule, grown, shown, edges, policy):
    """Show the processor what the search of a tree came to: edges and policy as for `conclude`, and the root."""
    conclude_tree(rule, grown, tree, edges, policy)
    shown.done[tree] = grown.done[tree]
    shown.random[tree, 0] = grown.random[tree, 0]
    root = grown.nodes[grown.root[tree]]
    copy = shown.nodes[shown.root[tree]]
    shown.nodes[shown.root[tree]] = root
    if root.first < 0:
        return
    first = tree * (shown.edges.size // shown.root.size)
    copy.first = first
    total = 0
    for block in range(root.counts.size):
        total += root.counts[block]
        if edges[tree, block] != NOTHING:
            edges[tree, block] += first - root.first
    for i in range(total):
        shown.edges[first + i] = grown.edges[root.first + i]
        shown.edges[first + i].child = NOTHING


def pinned(value: Any) -> Any:
    """An array in memory that a card can reach; what is no array stays as it is."""
    if not isinstance(value, np.ndarray) or value.size == 0:
        return value
    made = torch.empty(value.nbytes, dtype=torch.uint8, pin_memory=True).numpy().view(value.dtype).reshape(value.shape)
    made[...] = value
    return made


def aligned(states: np.ndarray) -> np.ndarray:
    """The same states with each number where its kind wants to be: a card reads an unaligned one byte by byte."""
    record = states.dtype
    if record.names is None:
        return states
    fields = [(name, *(record[name].subdtype or (record[name],))) for name in record.names]
    return states.astype(np.dtype(fields, align=True))


class GpuForest(Forest):
    """A forest whose searches run on a card. On the processor there is of each tree its root, with its edges."""

    def __init__(
        self, game: Game, rules: Sequence[Any], evaluator: NetworkEvaluator, *, trees: int, nodes: int, seed: int
    ):
        """`rules`: all selection rules that it will search by, beginning with the first."""
        super().__init__(game, rules[0], trees=trees, nodes=1, seed=seed)
        self.trees = self.trees._replace(states=aligned(self.trees.states))
        self.trees = Trees(*map(pinned, self.trees))
        self.evaluator, self.engine = evaluator, cast("CudaEngine", evaluator.engine)
        self.planted, self.wanted = pinned(np.ones(trees, np.bool_)), pinned(np.zeros(trees, np.int32))
        self.failures = pinned(np.zeros(1, np.int32))
        self._tensors: dict[int, tuple[np.ndarray, torch.Tensor]] = {}
        """What lies on the card, by the identity of the array that stands for it here."""
        self._done = torch.cuda.Event()
        self._kept: dict[Any, tuple[list[Any], Any, _Search]] = {}
        whole = Forest(game, rules[0], trees=trees, nodes=nodes, seed=seed)
        try:
            with torch.cuda.stream(self.engine.stream):
                self._make_room(whole)
                for rule in [*rules[1:], rules[0]]:
                    self.rule = rule
                    self._search()
        except torch.OutOfMemoryError as error:
            raise Unsuitable(f"{trees} trees are too many for the card's memory") from error
        self.engine.stream.synchronize()

    def _make_room(self, whole: Forest) -> None:
        """On the card, for all that `whole` has."""
        self.grown = Trees(*map(self._reserve, whole.trees._replace(states=aligned(whole.trees.states))))
        self.buffer = LeafBuffer(*map(self._reserve, whole.buffer._replace(states=aligned(whole.buffer.states))))
        self._budgets = self._reserve(self.wanted)
        self._rules = self._placed(self.game.rules)
        count, room = self.trees.bonus.shape
        self._network_in_and_out(count * self.evaluator.views, self.evaluator.sizes.observation)
        self._edges = pinned(np.zeros((count, room // self.game.most_legal), np.int32))
        self._policy = pinned(np.zeros((count, room), np.float32))

    @property
    def bytes(self) -> int:
        return sum(tensor.nbytes for _, tensor in self._tensors.values())

    def _states(self, positions: Position | Sequence[Position] | np.ndarray) -> np.ndarray:
        return aligned(super()._states(positions))

    # --- memory on the card -------------------------------------------------------------------------------------------

    def _reserve(self, value: Any) -> Any:
        """Room on the card like an array, and an array that stands for it here, whose content means nothing."""
        if not isinstance(value, np.ndarray):
            return value
        return self._stand_for(torch.zeros(max(8, value.nbytes), dtype=torch.uint8, device="cuda"), value)

    def _stand_for(self, tensor: torch.Tensor, like: np.ndarray) -> np.ndarray:
        made = np.empty(like.shape, like.dtype)
        self._tensors[id(made)] = made, tensor
        return made

    def _placed(self, value: Any) -> Any:
        """Rules with their tables on the card."""
        if isinstance(value, tuple):
            parts = map(self._placed, value)
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        made = self._reserve(value)
        if isinstance(value, np.ndarray):
            self._fill(made, value)
        return made

    def _fill(self, there: np.ndarray, content: np.ndarray) -> None:
        """Content from pinned memory is copied in its turn on the stream, while the processor goes on."""
        flat = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
        self._tensors[id(there)][1][: flat.size].copy_(torch.from_numpy(flat), non_blocking=True)

    def _where(self, array: np.ndarray) -> int:
        """The address at which a card finds an array, its own or a pinned one."""
        return self._tensors[id(array)][1].data_ptr() if id(array) in self._tensors else array.ctypes.data

    def _network_in_and_out(self, views: int, observation: tuple[int, ...]) -> None:
        self._planes = torch.zeros((views, *observation), device="cuda")
        self._shaped: dict[str, Any] = {"memory_format": torch.channels_last} if len(observation) == 3 else {}
        answers = self._judge()
        self._answers = [torch.zeros(answer.shape, device="cuda") for answer in answers]
        self._seen = [
            self._stand_for(tensor, np.empty(tuple(tensor.shape), np.float32))
            for tensor in (self._planes, *self._answers)
        ]

    def _judge(self) -> Any:
        """The network's answers to the planes of the leaves."""
        with torch.inference_mode():
            return self.engine.runs(self._planes.to(torch.bfloat16, **self._shaped))

    # --- searching ----------------------------------------------------------------------------------------------------

    def plant(self, positions: Position | Sequence[Position] | np.ndarray) -> None:
        super().plant(positions)
        self.planted[:] = True

    def advance(self, actions: np.ndarray, positions: Position | Sequence[Position] | np.ndarray) -> np.ndarray:
        """Nothing is kept: what lies below a root is on the card alone."""
        kept = super().advance(actions, positions)
        self.planted[:] = True
        return kept

    def _search(self) -> _Search:
        """All that is ready on the card for searches by the rule that the forest has now."""
        key = type(self.rule), *(field.shape if isinstance(field, np.ndarray) else field for field in self.rule)
        if key not in self._kept:
            rule = self._placed(self.rule)
            self._kept[key] = [pinned(field) for field in self.rule], rule, _Search(self, rule)
        fields, rule, found = self._kept[key]
        for there, mine, field in zip(rule, fields, self.rule, strict=True):
            if isinstance(field, np.ndarray) and not np.array_equal(mine, field):
                mine[...] = field
                self._fill(there, mine)
        return found

    def search(
        self,
        evaluator: Evaluator | None = None,
        *,
        simulations: int | np.ndarray | None = None,
        seconds: float | None = None,
        progress: Progress | None = None,
    ) -> int:
        """For a number of simulations, by the evaluator that the forest was made for."""
        if simulations is None or seconds is not None or evaluator not in (None, self.evaluator):
            raise BadOption("a forest on a card searches for a number of simulations, by its own evaluator")
        if np.min(simulations) < 0:
            raise BadOption("a search's budget must not be negative")
        self._need_roots()
        self.wanted[:] = simulations
        rounds.begin(self.trees, draws_gumbel_noise(self.rule))
        torch.cuda.set_device(torch.cuda.current_device())  # a thread's first call of the driver may come from here
        with torch.cuda.stream(self.engine.stream):
            self._search().run(int(self.wanted.max()) + 1)  # the first round judges the root
            self._done.record(self.engine.stream)
        self._done.synchronize()
        if self.failures[0]:
            raise RuntimeError(
                f"the rules of {self.game.name} raised an error on the card; on a processor it would say more"
            )
        self.planted[:] = False
        return int(self.trees.done.sum())

    def conclude(self) -> tuple[np.ndarray, np.ndarray]:
        """As the rule of the latest search has it."""
        return self._edges.copy(), self._policy.copy()


class _Search:
    """A forest's kernels and its graph of a round, for one selection rule."""

    def __init__(self, forest: GpuForest, rule: Any):
        count = len(forest.wanted)
        chip = "sm_{}{}".format(*torch.cuda.get_device_capability())
        grown, shown, budgets = forest.grown, forest.trees, forest._budgets

        def load(function: Any, *arguments: Any) -> tuple[GpuKernel, list[int]]:
            pointers = [forest._where(each) for each in [forest.failures, *arrays_in(arguments)]]
            return GpuKernel(function, arguments, count, chip), pointers

        self.begin = load(begin_tree, shown, grown, forest.planted, forest.wanted, budgets)
        self.grow = load(grow_tree, forest._rules, rule, grown, forest.buffer, budgets, *forest._seen)
        self.show = load(show_tree, rule, grown, shown, forest._edges, forest._policy)
        self.graph = torch.cuda.CUDAGraph()
        self.stream = forest.engine.stream
        with CAPTURING, torch.inference_mode(), torch.cuda.stream(self.stream):
            forest._judge()  # so that nothing is made ready during the capture
            self.stream.synchronize()
            with torch.cuda.graph(self.graph, stream=self.stream, capture_error_mode="thread_local"):
                for mine, answer in zip(forest._answers, forest._judge(), strict=True):
                    mine.copy_(answer)
                self._launch(self.grow)

    def _launch(self, what: tuple[GpuKernel, list[int]]) -> None:
        kernel, pointers = what
        kernel.launch(self.stream.cuda_stream, pointers)

    def run(self, judged: int) -> None:
        """Start a search of so many rounds on the engine's stream, which is the current one; it goes on by itself."""
        self._launch(self.begin)
        self._launch(self.grow)
        for _ in range(judged):
            self.graph.replay()
        self._launch(self.show)
