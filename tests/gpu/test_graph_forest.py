"""Graph networks on a GPU. The functions for it are run on the CPU where that is possible."""

import numpy as np
import pytest
import torch

import ludus
from ludus.gpu.compiler import to_ptx
from ludus.gpu.forest import aligned, make_forest
from ludus.gpu.graph_engine import mean_values, one_graph
from ludus.gpu.graph_forest import grow_tree_of_graphs, view_leaf
from ludus.gpu.relations import GpuGraphs, largest_by_scattering, plain_forward, random_graphs
from ludus.native import kernel, part
from ludus.nets.calibrating import sample_positions
from ludus.nets.engines import CpuEngine, TorchEngine
from ludus.nets.families import make_network
from ludus.nets.graph import pooled
from ludus.nets.graph_batches import Graphs
from ludus.nets.graph_evaluator import GraphEvaluator
from ludus.nets.relations import Relate, slots_of
from ludus.runs.config import Config, with_settings
from ludus.search import rounds
from ludus.search.forest import Forest
from ludus.search.gumbel import Gumbel, gumbel
from ludus.search.noisy_puct import NoisyPuct
from ludus.training.learner import Learner
from ludus.training.worker import Worker
from tests.gpu.test_forest import assert_same, begin_all, needs_gpu, random_states, show_all, with_aligned_states
from tests.nets.test_nets import lively

KINDS = [
    ("sevn", {"base": 5}, gumbel(24, 16)),
    ("sevn", {"base": 5}, NoisyPuct(3.0, 0.2, 0.0, 2.0)),
    ("hive", {}, gumbel(24, 16)),
]


class Exact(CpuEngine):
    """A graph network of sums so short that every machine adds them up to the same bits.

    The policy of a node depends on its features and on those of its neighbours in each relation. The outputs of all
    nodes are equal, and so far from 0 that tanh gives -1 or 1 on every machine; or 0.
    """

    def __init__(self, game: ludus.Game):
        rng = np.random.default_rng(0)
        features, relations = game.graph.features, len(game.graph.relations)
        self.own, self.seen = rng.integers(-64, 65, (2, features)) / 32
        self.relations = rng.integers(-64, 65, relations) / 32

    def load(self, network, calibration=None):
        raise NotImplementedError

    def run(self, graphs):
        features = graphs.features.astype(np.float64)
        policy, seen = features @ self.own, features @ self.seen
        for weight, starts in zip(self.relations, graphs.starts, strict=True):
            for node in np.flatnonzero(starts[:-1] < starts[1:]):
                policy[node] += weight * seen[graphs.sources[starts[node] : starts[node + 1]]].max()
        values = np.sign(graphs.features[graphs.ends - 1, 2:3])
        return policy.astype(np.float32), values.astype(np.float32)


class ExactOnGpu(Exact):
    """The same network on a GPU, with the trees there too."""

    def __init__(self, game: ludus.Game):
        super().__init__(game)
        self.stream = torch.cuda.Stream()
        # On the GPU before the search is captured as a CUDA graph: such a copy cannot be captured.
        self.weights = [torch.tensor(each, device="cuda") for each in (self.own, self.seen, self.relations)]

    def forward(self, graphs):
        count, nodes, _ = graphs.features.shape
        own, seen, relations = self.weights
        features = graphs.features.double()
        policy, values = features @ own, 64 * torch.sign(features[:, :, 2])
        relation, source, target = graphs.edges.long().unbind(2)
        known = torch.arange(graphs.edges.shape[1], device="cuda") < graphs.sizes[:, 1:]
        slots = torch.where(known, target * len(self.relations) + relation, nodes * len(self.relations))
        numbers = (features @ seen).gather(1, torch.where(known, source, 0))
        largest = numbers.new_full((count, nodes * len(self.relations) + 1), -torch.inf)
        largest = largest.scatter_reduce(1, slots, numbers, "amax")[:, :-1].unflatten(1, (nodes, -1))
        largest = largest.masked_fill(largest == -torch.inf, 0.0)
        policy = policy + (largest * relations).sum(2)
        return torch.stack([policy, values], 2).float()

    def make_forest(self, game, rules, evaluator, view, **sizes):
        return make_forest(game, rules, evaluator, self, view, **sizes)


def searched(game, rule, states, simulations):
    """The search on the CPU."""
    forest = Forest(game, rule, trees=len(states), nodes=simulations + 1, seed=3)
    if states.dtype.isalignedstruct:
        with_aligned_states(forest)
    forest.plant(states)
    forest.search(GraphEvaluator(game, Exact(game)), simulations=simulations)
    return forest


grow_one, view_one = map(part, (grow_tree_of_graphs, view_leaf))


@kernel
def grow_all(rules, rule, trees, leaves, budgets, features, edges, sizes, starts, sources, policy, outputs):
    for tree in range(budgets.size):
        grow_one(tree, rules, rule, trees, leaves, budgets, sizes, policy, outputs)
    for tree in range(budgets.size):
        view_one(tree, rules, leaves, features, edges, sizes, starts, sources)


def empty_graphs(game, count):
    """Arrays for `count` graphs, as a forest on a GPU has them."""
    shape = game.graph
    return GpuGraphs(
        np.zeros((count, shape.nodes, shape.features), np.float32),
        np.zeros((count, shape.edges, 3), np.int32),
        np.zeros((count, 2), np.int32),
        np.zeros((count, len(shape.relations), shape.nodes + 1), np.int32),
        np.zeros((count, shape.edges), np.int32),
    )


def answers_to(network, graphs):
    """The network's policy [B, nodes] and values [B, 1], graph by graph."""
    policy, values = np.zeros(graphs.features.shape[:2], np.float32), np.zeros((len(graphs.sizes), 1), np.float32)
    for k, (nodes, _) in enumerate(graphs.sizes.tolist()):
        if nodes:
            ends = np.array([nodes], np.int32)
            one = Graphs(graphs.features[k, :nodes], graphs.starts[k, :, : nodes + 1], graphs.sources[k], ends, None)
            policy[k, :nodes], values[k] = network.run(one)
    return policy, values


@pytest.mark.parametrize(("name", "options", "rule"), KINDS)
def test_the_functions_for_a_gpu_do_the_search_of_the_cpu(name, options, rule):
    game = ludus.make(name, **options)
    games, simulations = 20, 24
    planted = aligned(random_states(game, games))
    game.compile()
    shown, whole = (
        with_aligned_states(Forest(game, rule, trees=games, nodes=nodes, seed=3)) for nodes in (1, simulations + 1)
    )
    shown.plant(planted)
    rounds.begin(shown.trees, isinstance(rule, Gumbel))
    wanted, budgets = np.full(games, simulations, np.int32), np.zeros(games, np.int32)
    graphs, network = empty_graphs(game, games), Exact(game)
    begin_all(shown.trees, whole.trees, np.ones(games, np.bool_), wanted, budgets)
    for _ in range(simulations + 2):
        answers = answers_to(network, graphs)
        grow_all(game.rules, rule, whole.trees, whole.buffer, budgets, *graphs, *answers)
    assert not graphs.sizes.any()  # no leaf waits, and the network need not work
    edges = np.zeros((games, 1), np.int32)
    policy = np.zeros((games, game.most_legal), np.float32)
    show_all(rule, whole.trees, shown.trees, edges, policy)
    assert_same(shown.trees, edges, policy, searched(game, rule, planted, simulations))


def test_the_functions_are_compiled_for_a_gpu():
    game = ludus.make("sevn", base=5).compile()
    forest = Forest(game, gumbel(24, 16), trees=8, nodes=9)
    graphs = empty_graphs(game, 8)
    answers = [np.zeros((8, count), np.float32) for count in (game.graph.nodes, 1)]
    grown = game.rules, forest.rule, forest.trees, forest.buffer, np.zeros(8, np.int32), graphs.sizes, *answers
    for function, arguments in (
        (grow_tree_of_graphs, grown),
        (view_leaf, (game.rules, forest.buffer, *graphs)),
    ):
        assert "call" not in to_ptx(function, arguments, 8, "sm_80")  # of a function that is somewhere else


# --- the network, by PyTorch's own operations -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return lively(make_network("graph", ludus.make("sevn", base=5), blocks=5, width=32))


def packed(graphs, k):
    """One of the graphs as a batch of its own."""
    nodes, _ = graphs.sizes[k].tolist()
    starts = graphs.starts[k, :, : nodes + 1].contiguous()
    return Graphs(graphs.features[k, :nodes], starts, graphs.sources[k], torch.tensor([nodes]).int(), None)


def test_the_plain_form_gives_what_the_network_gives(network):
    graphs = random_graphs(*network.sizes.graph, "cpu")
    with torch.inference_mode():
        found = plain_forward(network)(graphs)
        for k, (nodes, _) in enumerate(graphs.sizes.tolist()):
            policy, values = network(packed(graphs, k))
            torch.testing.assert_close(found[k, :nodes, 0], policy, atol=1e-4, rtol=1e-4)
            torch.testing.assert_close(torch.tanh(found[k, :nodes, 1:].mean(0)), values[0], atol=1e-5, rtol=1e-4)


def test_a_batch_is_one_graph_for_the_layers(network):
    game = ludus.make("sevn", base=5).compile()
    graphs = GraphEvaluator(game, TorchEngine()).see(*sample_positions(game, 12))
    engine = TorchEngine()
    engine.load(network)
    policy, values = engine.run(graphs)
    with torch.inference_mode():
        found = plain_forward(network)(one_graph(graphs.features, graphs.starts, graphs.sources, "cpu", True))[
            0
        ].numpy()
    np.testing.assert_allclose(found[:, 0], policy, atol=1e-4)
    np.testing.assert_allclose(mean_values(found[:, 1:], graphs.ends), values, atol=1e-5)
    np.testing.assert_allclose(pooled(torch.from_numpy(found[:, 1:]), torch.from_numpy(graphs.ends)), values, atol=1e-5)


def test_the_learner_without_triton_has_the_gradients_of_the_cpu():
    graphs = packed(random_graphs(3, 5, "cpu"), 0)
    nodes, relations = len(graphs.features), len(graphs.starts)
    x = torch.randn(nodes, 6, requires_grad=True)
    weight = torch.randn(4, relations * 6, requires_grad=True)
    gradient = torch.randn(nodes, 4)
    found = torch.nn.functional.linear(largest_by_scattering(x, graphs.starts, graphs.sources), weight)
    expected = Relate.apply(x, weight, slots_of(graphs.starts.numpy(), graphs.sources.numpy()))
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    mine, theirs = (torch.autograd.grad((each * gradient).sum(), [x, weight]) for each in (found, expected))
    torch.testing.assert_close(mine, theirs, atol=1e-4, rtol=1e-4)


# --- on a GPU ---------------------------------------------------------------------------------------------------------


@needs_gpu
@pytest.mark.parametrize(("name", "options", "rule"), KINDS)
def test_a_search_on_the_gpu_is_the_same_bit_for_bit(name, options, rule):
    game = ludus.make(name, **options)
    planted = random_states(game, 100)
    game.compile()
    evaluator = GraphEvaluator(game, ExactOnGpu(game))
    forest = evaluator.make_forest([rule], trees=100, nodes=25, seed=3)
    assert forest.on_gpu
    forest.plant(planted)
    forest.search(simulations=24)
    assert_same(forest.trees, *forest.conclude(), searched(game, rule, planted, 24))


@needs_gpu
def test_the_gpu_gives_the_answers_of_the_cpu_also_with_new_weights():
    from ludus.gpu.graph_engine import GraphCudaEngine

    game = ludus.make("sevn").compile()
    graphs = GraphEvaluator(game, TorchEngine()).see(*sample_positions(game, 100))
    gpu, cpu = GraphCudaEngine(), TorchEngine()
    gpu.load(make_network("graph", game, blocks=7, width=64))
    assert gpu.unfused == []
    shared = gpu.share()
    for seed in range(3):
        torch.manual_seed(seed)
        network = make_network("graph", game, blocks=7, width=64)
        gpu.load(network)
        cpu.load(network)
        for engine in (gpu, shared):
            for mine, theirs in zip(engine.run(graphs), cpu.run(graphs), strict=True):
                np.testing.assert_allclose(mine, theirs, atol=0.02)


@needs_gpu
def test_triton_takes_the_largest_neighbours_and_gives_their_gradients_back():
    from ludus.gpu.graph_layers import largest_neighbours

    graphs = packed(random_graphs(3, 5, "cpu"), 0)
    there = Graphs(*(None if each is None else each.cuda() for each in graphs))
    x = torch.randn(len(graphs.features), 24, device="cuda", requires_grad=True)
    found, expected = (take(x, there.starts, there.sources) for take in (largest_neighbours, largest_by_scattering))
    torch.testing.assert_close(found, expected)
    gradient = torch.randn_like(found)
    mine, theirs = (torch.autograd.grad((each * gradient).sum(), x) for each in (found, expected))
    torch.testing.assert_close(mine, theirs)


@needs_gpu
def test_the_gpu_learns_what_the_cpu_learns():
    game = ludus.make("sevn", base=5).compile()
    settings = {"network": "graph", "blocks": 5, "width": 32, "batch_size": 256, "simulations": 8}
    config = with_settings(Config(), settings)
    rows = Worker(game, config, GraphEvaluator(game, Exact(game)), 64, seed=1).play(3000, 8)
    learned = {}
    for device in ("cpu", "cuda"):
        torch.manual_seed(0)
        learner = Learner(game, config.make_network(game), config, device)
        rng = np.random.default_rng(0)
        learned[device] = [learner.learn(rows, 20, i / 10, rng) for i in range(10)]
    assert len(learner.stepper.captured) < 20  # few shapes
    for mine, theirs in zip(learned["cuda"], learned["cpu"], strict=True):
        assert mine.policy == pytest.approx(theirs.policy, rel=0.03)
        assert mine.value == pytest.approx(theirs.value, rel=0.1)
    assert learned["cuda"][-1].policy < learned["cuda"][0].policy - 0.01
