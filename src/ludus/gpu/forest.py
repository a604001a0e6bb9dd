"""A forest on a GPU: trees and network both, a whole search without the CPU.

The trees are grown by the same compiled functions as on the CPU (see compiler.py), one thread of the GPU for each tree.
A round is one CUDA graph: the network evaluates the leaves, then every tree takes its answer in and brings the next
leaf. The CPU sets up the roots, starts all rounds of a search at once, and reads the roots afterwards.

Arrays on the GPU are named by NumPy arrays on the host of the same shape and type, so that functions are compiled and
launched with the same arguments as on the CPU. These host-side placeholders hold no data.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from numba.core.errors import NumbaExperimentalFeatureWarning

from ludus.errors import BadOption, Unsuitable
from ludus.gpu.compiler import LANES, GpuKernel, arrays_in
from ludus.gpu.engine import CAPTURING
from ludus.rules import observe
from ludus.search import rounds
from ludus.search.batch import LeafBuffer, View, spread_answer, spread_values
from ludus.search.forest import Evaluator, Forest, Progress
from ludus.search.rounds import advance_tree, conclude_tree
from ludus.search.selection import draws_gumbel_noise
from ludus.search.touching import score_move, view_position
from ludus.search.tree import NOTHING, Trees, copy_state

if TYPE_CHECKING:
    from ludus.game import Game, Position

# States on the GPU are aligned and those of the game are not; Numba notes that it could take one for the other.
warnings.filterwarnings("ignore", ".*considered a subtype", NumbaExperimentalFeatureWarning)

GROWING_LANES = 4
"""Trees that are grown by one block of the GPU. Its threads wait for each other where they take different branches."""
SCORING_LANES = 128
"""Moves that are scored by one block of the GPU."""


def begin_tree(tree, shown, grown, planted, wanted, budgets):
    """Copy what the CPU has set up for the next search of a tree from `shown` to `grown`; with its root, if planted."""
    budgets[tree] = wanted[tree]
    grown.done[tree] = shown.done[tree]
    grown.random[tree, 0] = shown.random[tree, 0]
    for i in range(grown.bonus.shape[1]):
        grown.bonus[tree, i] = shown.bonus[tree, i]
        grown.before[tree, i] = shown.before[tree, i]
    if not planted[tree]:
        return
    nodes, edges = grown.nodes.size // grown.root.size, grown.edges.size // grown.root.size
    root = tree * nodes
    grown.root[tree] = root
    grown.used[tree, 0] = root + 1
    grown.used[tree, 1] = tree * edges
    grown.used[tree, 2] = 0
    grown.room[tree, 0] = root + nodes
    grown.room[tree, 1] = (tree + 1) * edges
    grown.serial[tree] = shown.serial[tree]
    for slot in range(grown.joints.shape[1]):
        grown.joints[tree, slot].child = 0
    copy_state(grown.states, root, shown.states, shown.root[tree])
    grown.nodes[root] = shown.nodes[shown.root[tree]]


def grow_tree(tree, rules, rule, trees, buffer, budgets, planes, policy, outputs):
    """One round of a tree: take the network's answer in, find the next leaf, and observe it.

    budgets int32 [B]; planes float32 [V, ...], policy float32 [V, heads, actions] and outputs float32 [V, outputs]
    hold one observation of each leaf, or one for each player, side by side.
    """
    if buffer.waiting[tree]:
        spread_answer(buffer.movers, buffer.actions, buffer.counts, policy, outputs, buffer.logits, buffer.values, tree)
    advance_tree(rules, rule, trees, tree, buffer, budgets)
    if buffer.waiting[tree]:
        observers = planes.shape[0] // trees.root.size
        for row in range(tree * observers, (tree + 1) * observers):
            planes[row, ...] = 0.0
            player = row - tree * observers if buffer.counts.shape[1] > 1 else max(0, buffer.movers[tree])
            observe(rules, buffer.states[tree], player, planes[row])


def score_leaf_move(index, rules, buffer, roles, cells, role_count, kinds, parts):
    """Write the logit of one legal move of one leaf, for a network that sees groups of cells (see search/touching.py).

    `index` counts the moves of all leaves, most_legal for each. parts float32 [B, cells * roles + kinds, H]; scratch:
    roles and cells int32 [B * most_legal, most].
    """
    most_legal = buffer.actions.shape[1]
    tree, i = index // most_legal, index % most_legal
    if buffer.waiting[tree] and i < buffer.counts[tree, 0]:
        buffer.logits[tree, i] = score_move(
            rules, buffer.states[tree], buffer.movers[tree], buffer.actions[tree, i],
            roles[index], cells[index], role_count, kinds, parts[tree],
        )  # fmt: skip


def grow_tree_of_groups(tree, rules, rule, trees, buffer, budgets, groupings, planes, outputs):
    """One round of a tree, as `grow_tree`, for a network that sees groups of cells; the moves are scored already.

    planes float32 [B, planes + groupings, rows, columns] and outputs float32 [B, outputs].
    """
    if buffer.waiting[tree]:
        spread_values(buffer.movers[tree], outputs, buffer.values, tree)
    advance_tree(rules, rule, trees, tree, buffer, budgets)
    if buffer.waiting[tree]:
        view_position(rules, buffer.states[tree], buffer.movers[tree], planes[tree], groupings)


def show_tree(tree, rule, grown, shown, edges, policy):
    """Copy the result of a search from `grown` to `shown`: edges and policy as for `conclude`, and the root."""
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
    """A copy of an array in pinned memory, which a GPU can access; other values are returned unchanged."""
    if not isinstance(value, np.ndarray) or value.size == 0:
        return value
    made = torch.empty(value.nbytes, dtype=torch.uint8, pin_memory=True).numpy().view(value.dtype).reshape(value.shape)
    made[...] = value
    return made


def aligned(states: np.ndarray) -> np.ndarray:
    """The same states with aligned fields: a GPU reads unaligned numbers byte by byte."""
    record = states.dtype
    if record.names is None:
        return states
    fields = [(name, *(record[name].subdtype or (record[name],))) for name in record.names]
    return states.astype(np.dtype(fields, align=True))


def rows_first(planes: torch.Tensor) -> torch.Tensor:
    """Planes float32 [*observation, rows] as the network takes them: bfloat16 [rows, *observation], channels last."""
    if planes.ndim != 4:
        return planes.movedim(-1, 0).to(torch.bfloat16, memory_format=torch.contiguous_format)
    try:
        from ludus.gpu.layers import turn_planes
    except ImportError:  # PyTorch without Triton
        return planes.movedim(-1, 0).to(torch.bfloat16, memory_format=torch.channels_last)
    return turn_planes(planes)


Launch = tuple[GpuKernel, list[int]]
"""A kernel, and the pointers that it is launched with."""


class Load(Protocol):
    """Loads a function on the GPU, which will be called once for each tree, or `total` times."""

    def __call__(self, function: Any, *arguments: Any, lanes: int = LANES, total: int = 0) -> Launch: ...


class Plan(NamedTuple):
    """The kernels of a round, after the network has answered."""

    scoring: list[Launch]
    """Those that take the network's answer in. They are left out before the first answer."""
    growing: list[Launch]
    """Those that grow the trees."""


class GpuNetwork(Protocol):
    """What a forest needs of an engine on a GPU (see engine.py)."""

    stream: Any
    """The CUDA stream on which trees and network run."""

    def forward(self, inputs: Any) -> Any:
        """planes bfloat16 [V, *observation] on the GPU to policy and values there, on the current stream.

        A graph network takes relations.GpuGraphs, and gives the outputs of its last layer, float32 [B, nodes, outputs].
        """


def make_forest(
    game: Game,
    rules: Sequence[Any],
    evaluator: Evaluator,
    engine: GpuNetwork,
    view: View,
    *,
    trees: int,
    nodes: int,
    seed: int,
) -> Forest:
    """A forest on the GPU. Where the game's rules or the memory do not allow that, one on the CPU that says why."""
    if not game.parallel:
        problem = f"the rules of {game.name} are ordinary Python"
    else:
        from ludus.gpu.graph_forest import GraphForest

        make = GpuForest if view.graph is None else GraphForest
        try:
            return make(game, rules, evaluator, engine, view, trees=trees, nodes=nodes, seed=seed)
        except Unsuitable as error:
            problem = str(error)
    forest = Forest(game, rules[0], trees=trees, nodes=nodes, seed=seed)
    forest.why_not_on_gpu = problem
    return forest


class GpuForest(Forest):
    """A forest whose searches run on a GPU. On the CPU there is only the root of each tree, with its edges."""

    on_gpu = True

    def __init__(
        self,
        game: Game,
        rules: Sequence[Any],
        evaluator: Evaluator,
        engine: GpuNetwork,
        view: View,
        *,
        trees: int,
        nodes: int,
        seed: int,
    ):
        """`rules` are all selection rules that it will search by, beginning with the first; `view` is how the network
        sees the leaves."""
        super().__init__(game, rules[0], trees=trees, nodes=1, seed=seed)
        self.trees = self.trees._replace(states=aligned(self.trees.states))
        self.trees = Trees(*map(pinned, self.trees))
        self.evaluator, self.engine, self.view = evaluator, engine, view
        self.planted, self.wanted = pinned(np.ones(trees, np.bool_)), pinned(np.zeros(trees, np.int32))
        self.failures = pinned(np.zeros(1, np.int32))
        self._tensors: dict[int, tuple[np.ndarray, torch.Tensor]] = {}
        """The GPU's allocations, by the identity of their host-side placeholder."""
        self._done = torch.cuda.Event()
        self._searches: dict[Any, tuple[list[Any], Any, _Search]] = {}
        whole = Forest(game, rules[0], trees=trees, nodes=nodes, seed=seed)
        try:
            with torch.cuda.stream(self.engine.stream):
                self._allocate(whole)
                for rule in [*rules[1:], rules[0]]:
                    self.rule = rule
                    self._search()
        except torch.OutOfMemoryError as error:
            raise Unsuitable(f"{trees} trees are too many for the GPU's memory") from error
        self.engine.stream.synchronize()

    def _allocate(self, whole: Forest) -> None:
        """Allocate on the GPU what `whole` has on the CPU, and the network's input and output."""
        self.grown = Trees(*map(self._reserve, whole.trees._replace(states=aligned(whole.trees.states))))
        self.buffer = LeafBuffer(*map(self._reserve, whole.buffer._replace(states=aligned(whole.buffer.states))))
        self._budgets = self._reserve(self.wanted)
        self._rules = self._placed(self.game.rules)
        count, max_edges = self.trees.bonus.shape
        self._allocate_network(count * self.view.observers, self.view.shape)
        self._edges = pinned(np.zeros((count, max_edges // self.game.most_legal), np.int32))
        self._policy = pinned(np.zeros((count, max_edges), np.float32))

    @property
    def bytes(self) -> int:
        return sum(tensor.nbytes for _, tensor in self._tensors.values())

    def _states(self, positions: Position | Sequence[Position] | np.ndarray) -> np.ndarray:
        return aligned(super()._states(positions))

    # --- memory on the GPU --------------------------------------------------------------------------------------------

    def _reserve(self, value: Any) -> Any:
        """Allocate memory on the GPU like an array; returns its host-side placeholder."""
        if not isinstance(value, np.ndarray):
            return value
        return self._placeholder(torch.zeros(max(8, value.nbytes), dtype=torch.uint8, device="cuda"), value)

    def _placeholder(self, tensor: torch.Tensor, like: np.ndarray) -> np.ndarray:
        """Host-side placeholder for a GPU allocation, with the shape and the type of `like`."""
        made = np.empty(like.shape, like.dtype)
        self._tensors[id(made)] = made, tensor
        return made

    def _placed(self, value: Any) -> Any:
        """Rules whose tables are on the GPU."""
        if isinstance(value, tuple):
            parts = map(self._placed, value)
            return tuple(parts) if type(value) is tuple else type(value)(*parts)  # else a NamedTuple
        made = self._reserve(value)
        if isinstance(value, np.ndarray):
            self._fill(made, value)
        return made

    def _fill(self, there: np.ndarray, content: np.ndarray) -> None:
        """Copy `content` to the GPU. From pinned memory the copy happens in its turn on the stream."""
        flat = np.ascontiguousarray(content).reshape(-1).view(np.uint8)
        self._tensors[id(there)][1][: flat.size].copy_(torch.from_numpy(flat), non_blocking=True)

    def _where(self, array: np.ndarray) -> int:
        """The address of an array for the GPU: of its allocation, or of pinned memory."""
        return self._tensors[id(array)][1].data_ptr() if id(array) in self._tensors else array.ctypes.data

    def _allocate_network(self, rows: int, observation: tuple[int, ...]) -> None:
        """Allocate the network's input for `rows` observations, and its output.

        The rows of the input are last in memory: neighbouring threads write neighbouring numbers.
        """
        self._planes = torch.zeros((*observation, rows), device="cuda")
        last = np.empty(tuple(self._planes.shape), np.float32)
        planes = last.transpose(len(observation), *range(len(observation)))
        self._tensors[id(planes)] = planes, self._planes
        self._keep_answers()
        self._exchanged.insert(0, planes)

    def _keep_answers(self) -> None:
        """Allocate the network's output."""
        self._answers = [torch.zeros(answer.shape, device="cuda") for answer in self._evaluate()]
        self._exchanged = [
            self._placeholder(tensor, np.empty(tuple(tensor.shape), np.float32)) for tensor in self._answers
        ]

    def _evaluate(self) -> Any:
        """The network's answers to the planes of the leaves."""
        with torch.inference_mode():
            return self.engine.forward(rows_first(self._planes))

    def plan(self, load: Load, common: tuple[Any, ...]) -> Plan:
        """The kernels of a round; `load` loads a function with its arguments, the first of which are `common`."""
        groups, touches = self.view.groups, self.view.touches
        if groups is None or touches is None:
            return Plan([], [load(grow_tree, *common, *self._exchanged, lanes=GROWING_LANES)])
        planes, parts, outputs = self._exchanged
        total = self.buffer.actions.size
        scratch = [self._reserve(np.empty((total, touches.cells), np.int32)) for _ in range(2)]
        scored = self._rules, self.buffer, *scratch, touches.roles, touches.kinds, parts
        score = load(score_leaf_move, *scored, lanes=SCORING_LANES, total=total)
        grow = load(grow_tree_of_groups, *common, len(groups.groups), planes, outputs, lanes=GROWING_LANES)
        return Plan([score], [grow])

    # --- searching ----------------------------------------------------------------------------------------------------

    def plant(self, positions: Position | Sequence[Position] | np.ndarray) -> None:
        super().plant(positions)
        self.planted[:] = True

    def advance(self, actions: np.ndarray, positions: Position | Sequence[Position] | np.ndarray) -> np.ndarray:
        """Play actions at the roots. Nothing is kept: the nodes below a root are on the GPU only."""
        kept = super().advance(actions, positions)
        self.planted[:] = True
        return kept

    def _search(self) -> _Search:
        """The kernels for searches by the present selection rule, with its arrays copied to the GPU."""
        key = type(self.rule), *(field.shape if isinstance(field, np.ndarray) else field for field in self.rule)
        if key not in self._searches:
            rule = self._placed(self.rule)
            self._searches[key] = [pinned(field) for field in self.rule], rule, _Search(self, rule)
        fields, rule, found = self._searches[key]
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
        """Search every tree for a number of simulations, by the evaluator that the forest was made for."""
        if simulations is None or seconds is not None or evaluator not in (None, self.evaluator):
            raise BadOption("a forest on a GPU searches for a number of simulations, by its own evaluator")
        if np.min(simulations) < 0:
            raise BadOption("a search's budget must not be negative")
        self._need_roots()
        self.wanted[:] = simulations
        rounds.begin(self.trees, draws_gumbel_noise(self.rule))
        torch.cuda.set_device(torch.cuda.current_device())  # a thread's first call of the driver may come from here
        with torch.cuda.stream(self.engine.stream):
            self._search().run(int(self.wanted.max()) + 1)  # the first round evaluates the root
            self._done.record(self.engine.stream)
        self._done.synchronize()
        if self.failures[0]:
            raise RuntimeError(
                f"the rules of {self.game.name} raised an error on the GPU; with engine = onnx the message says more"
            )
        self.planted[:] = False
        return int(self.trees.done.sum())

    def conclude(self) -> tuple[np.ndarray, np.ndarray]:
        """For every tree, the edges to play, int32 [B, D], and the policy, float32 [B, R], by the latest rule."""
        return self._edges.copy(), self._policy.copy()


class _Search:
    """A forest's kernels and its graph of a round, for one selection rule."""

    def __init__(self, forest: GpuForest, rule: Any):
        count = len(forest.wanted)
        chip = "sm_{}{}".format(*torch.cuda.get_device_capability())
        grown, shown, budgets = forest.grown, forest.trees, forest._budgets

        def load(function: Any, *arguments: Any, lanes: int = LANES, total: int = 0) -> Launch:
            pointers = [forest._where(each) for each in [forest.failures, *arrays_in(arguments)]]
            return GpuKernel(function, arguments, total or count, chip, lanes), pointers

        self.begin = load(begin_tree, shown, grown, forest.planted, forest.wanted, budgets)
        self.plan = forest.plan(load, (forest._rules, rule, grown, forest.buffer, budgets))
        self.show = load(show_tree, rule, grown, shown, forest._edges, forest._policy)
        self.graph = torch.cuda.CUDAGraph()
        self.stream = forest.engine.stream
        with CAPTURING, torch.inference_mode(), torch.cuda.stream(self.stream):
            forest._evaluate()  # so that nothing is prepared during the capture
            self.stream.synchronize()
            with torch.cuda.graph(self.graph, stream=self.stream, capture_error_mode="thread_local"):
                for mine, answer in zip(forest._answers, forest._evaluate(), strict=True):
                    mine.copy_(answer)
                for each in (*self.plan.scoring, *self.plan.growing):
                    self._launch(each)

    def _launch(self, what: Launch) -> None:
        kernel, pointers = what
        kernel.launch(self.stream.cuda_stream, pointers)

    def run(self, rounds: int) -> None:
        """Start a search of `rounds` evaluations on the engine's stream, which must be the current one, and return."""
        for each in (self.begin, *self.plan.growing):
            self._launch(each)
        for _ in range(rounds):
            self.graph.replay()
        self._launch(self.show)
