"""Graph networks: the compiled forms give what the definition says, for searches and for the learner."""

import numpy as np
import pytest
import torch

import ludus
from ludus.nets.checking import mean_difference
from ludus.nets.engines import TorchEngine
from ludus.nets.evaluator import make_evaluator
from ludus.nets.families import FAMILIES, make_network
from ludus.nets.graph import Layer, relating
from ludus.nets.graph_batches import GraphBuilder, Graphs
from ludus.nets.graph_engine import NativeEngine
from ludus.nets.graph_quantised import Int8GraphEngine
from ludus.nets.graph_samples import GraphSampler, logits_of
from ludus.nets.samples import Targets
from ludus.runs.config import Config
from tests.nets.test_groups import InOrder, batch_of, rows_of
from tests.nets.test_nets import lively

GAMES = [("sevn", {"base": 3}), ("sevn", {"base": 5}), ("sevn", {"base": 7}), ("hive", {})]


def positions_of(game, count=12, plies=14):
    """Positions in the middle of random games."""
    found, rng = [], np.random.default_rng(0)
    while len(found) < count:
        position = game.start(int(rng.integers(1000)))
        for _ in range(int(rng.integers(plies))):
            after = position.play(int(rng.choice(position.actions)))
            position = position if after.is_over else after
        found.append(position)
    return found


def by_definition(network, position):
    """The logits of the moves [M] and the values [outputs], edge by edge from the graph for people, with gradients."""
    graph = position.graph()
    relation, source, target = torch.from_numpy(graph.edges.astype(np.int64)).T
    x = torch.from_numpy(graph.features)
    for layer in (*network.layers, network.last):
        relations = layer.others.in_features // layer.own.in_features
        slots = (target * relations + relation)[:, None].expand(-1, x.shape[1])
        largest = x.new_full((len(x) * relations, x.shape[1]), -torch.inf)
        largest = largest.scatter_reduce(0, slots, x[source], "amax")
        largest = largest.masked_fill(largest == -torch.inf, 0.0).reshape(len(x), -1)
        x = layer.own(x) + layer.others(largest)
        x = x if layer is network.last else torch.relu(x)
    return x[len(x) - len(graph.actions) :, 0], torch.tanh(x[:, 1:].mean(0))


@pytest.fixture(scope="module", params=GAMES, ids=lambda each: f"{each[0]}{each[1].get('base', '')}")
def seen(request):
    """A game, a network, and positions."""
    name, options = request.param
    game = ludus.make(name, **options)
    positions = positions_of(game)
    torch.manual_seed(0)
    return game.compile(), lively(make_network("graph", game, blocks=5, width=32)), positions


@pytest.mark.parametrize("engine", ["native", "torch"])
def test_an_engine_gives_what_the_definition_says(seen, engine):
    game, network, positions = seen
    batch = batch_of(game, positions)
    make_evaluator(game, network, engine).evaluate(batch)
    with torch.no_grad():
        for k, position in enumerate(positions):
            logits, values = by_definition(network, position)
            np.testing.assert_allclose(batch.logits[k, : len(logits)], logits, atol=1e-4)
            np.testing.assert_allclose(batch.values[k, position.to_move], values[0], atol=1e-5)
            assert batch.values[k].sum() == pytest.approx(0.0, abs=1e-6)


def test_the_learner_has_the_gradients_of_the_definition(seen):
    _, network, positions = seen
    sampler, rows = GraphSampler(seen[0], Targets(outcome_fraction=1.0), 1), rows_of(positions)
    sample = sampler.draw(rows, len(positions), InOrder())
    weights = list(network.parameters())
    found = torch.autograd.grad(sum(sampler.loss(network, sample)), weights)
    total = torch.zeros(())
    for k, position in enumerate(positions):
        logits, values = by_definition(network, position)
        policy = torch.from_numpy(rows.policy[rows.starts[k] : rows.starts[k + 1]])
        total = total - (policy * torch.log_softmax(logits, 0)).sum() + values.square().mean()
    for mine, theirs in zip(found, torch.autograd.grad(total, weights), strict=True):
        torch.testing.assert_close(mine, theirs, atol=1e-3, rtol=1e-3)


def test_the_learner_sees_the_logits_of_the_search(seen):
    game, network, positions = seen
    batch = batch_of(game, positions)
    make_evaluator(game, network, "native").evaluate(batch)
    sample = GraphSampler(game, Targets(), 1).draw(rows_of(positions), len(positions), InOrder())
    with torch.no_grad():
        graphs = Graphs(*sample[:5])
        policy, values = network(graphs)
        logits = logits_of(policy, graphs, sample.policy.shape[1])
    for k, position in enumerate(positions):
        count = len(position.actions)
        np.testing.assert_allclose(logits[k, :count], batch.logits[k, :count], atol=1e-4)
        assert (sample.policy[k, :count] > 0).all()
        assert (sample.policy[k, count:] == -1).all()
        np.testing.assert_allclose(values[k, 0], batch.values[k, position.to_move], atol=1e-5)


def graphs_of(game, positions, rounded=False):
    batch = batch_of(game, positions)
    return GraphBuilder(game).build(batch.states, batch.movers, batch.actions, batch.counts[:, 0], rounded)


def test_neighbours_are_those_of_the_edges(seen):
    game, _, positions = seen
    graphs = graphs_of(game, positions)
    first = 0
    for position, end in zip(positions, graphs.ends.tolist(), strict=True):
        graph = position.graph()
        np.testing.assert_array_equal(graphs.features[first:end], graph.features)
        found = [
            (relation, int(source) - first, node - first)
            for relation, starts in enumerate(graphs.starts)
            for node in range(first, end)
            for source in graphs.sources[starts[node] : starts[node + 1]]
        ]
        assert sorted(found) == sorted(map(tuple, graph.edges.tolist()))
        first = end


def test_graphs_that_are_filled_up_have_the_same_answers(seen):
    game, network, positions = seen
    plain, filled = (graphs_of(game, positions, rounded) for rounded in (False, True))
    assert len(filled.features) % 64 == 0
    assert len(filled.sources) % 64 == 0
    for make in (NativeEngine, TorchEngine):
        engine = make()
        engine.load(network)
        (policy, values), (other_policy, other_values) = engine.run(plain), engine.run(filled)
        np.testing.assert_allclose(policy, other_policy[: len(policy)], atol=1e-5)
        np.testing.assert_allclose(values, other_values, atol=1e-5)


def test_integers_give_about_the_same_answers(seen):
    game, network, positions = seen
    others = graphs_of(game, positions_of(game, 60))
    exact, rounded = NativeEngine(), Int8GraphEngine()
    exact.load(network)
    rounded.load(network, graphs_of(game, positions))
    assert rounded.quantised
    assert rounded.precision == "int8"
    assert mean_difference(network, others, exact.run(others), rounded.run(others)) < 0.1
    assert not np.array_equal(exact.run(others)[0], rounded.run(others)[0])


def test_a_network_that_integers_would_ruin_stays_in_float32(seen):
    game, network, positions = seen
    graphs = graphs_of(game, positions)
    ruined = make_network("graph", game, blocks=5, width=32)
    ruined.load_state_dict(network.state_dict())
    with torch.no_grad():  # one channel is huge, and counts for nothing: quantised beside it, the others vanish
        ruined.layers[1].own.bias[0] += 1e6
        ruined.layers[2].own.weight[:, 0] = 1.0
        ruined.layers[2].others.weight[:, :: ruined.layers[2].own.in_features] = 0.0
        ruined.layers[2].own.bias -= 1e6
        ruined.last.own.weight *= 30.0
    engine, exact = Int8GraphEngine(), NativeEngine()
    exact.load(ruined)
    engine.load(ruined, graphs)
    assert not engine.quantised
    np.testing.assert_array_equal(engine.run(graphs)[0], exact.run(graphs)[0])


def test_engines_share_weights_and_no_memory(seen):
    game, network, positions = seen
    one, few = graphs_of(game, positions), graphs_of(game, positions[:3])
    engine = NativeEngine()
    engine.load(make_network("graph", game, blocks=5, width=32))
    other = engine.share()
    engine.load(network)
    policy = engine.run(one)[0]
    other.run(few)
    np.testing.assert_array_equal(other.run(one)[0], policy)
    assert not any(np.shares_memory(other.memory[name][1], array) for name, (_, array) in engine.memory.items())


def test_a_layer_takes_the_largest_neighbour_of_each_relation():
    layer = Layer(1, 1, relations=2)
    with torch.no_grad():
        layer.own.weight.fill_(1.0)
        layer.own.bias.fill_(0.0)
        layer.others.weight.copy_(torch.tensor([[10.0, 100.0]]))
    # Relation 0: from 1 and 2 to 0. Relation 1: from 2 to 0 and from 0 to 1.
    starts, sources = torch.tensor([[0, 2, 2, 2], [2, 3, 4, 4]]).int(), torch.tensor([1, 2, 2, 0]).int()
    x = torch.tensor([[1.0], [2.0], [-3.0]])
    found = layer(x, relating(Graphs(x, starts, sources, None, None)))
    assert found.tolist() == [[1 + 10 * 2 - 100 * 3], [2 + 100 * 1], [-3.0]]


def test_the_weights_have_the_names_of_earlier_runs():
    network = make_network("graph", ludus.make("sevn"), blocks=7, width=64)
    names = [f"{layer}.{name}" for layer in (*(f"layers.{i}" for i in range(6)), "last") for name in
             ("own.weight", "own.bias", "others.weight")]  # fmt: skip
    assert list(network.state_dict()) == names
    shapes = [tuple(layer.others.weight.shape) for layer in (*network.layers, network.last)]
    assert shapes == [(64, 21), (64, 448), (32, 448), (32, 224), (16, 224), (8, 112), (2, 56)]


def test_settings_name_the_engines_of_graph_networks():
    family = FAMILIES["graph"]
    assert family.choose_engine("auto") in ("cuda", "native")
    assert isinstance(family.make_engine("int8"), Int8GraphEngine)
    assert Config(network="graph", engine="int8").engine == "int8"
