"""Positions as graphs."""

from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.errors import BadOption
from ludus.nets.graph_batches import GraphBuilder, round_up
from ludus.search.neighbours import build_graphs, sort_all_edges

LINE = str(Path(__file__).parent / "broken_games" / "line.py")


def test_a_graph_for_people():
    graph = ludus.make(LINE).start().play("c").graph()
    assert graph.actions.tolist() == [0, 1, 3, 4]
    assert graph.features[:, 1].tolist() == [1] * 5 + [0] * 4
    assert graph.edges.tolist()[:4] == [[0, 0, 1], [0, 1, 2], [0, 2, 3], [0, 3, 4]]
    assert graph.edges.tolist()[4:] == [[1, 5, 0], [1, 6, 1], [1, 7, 3], [1, 8, 4]]


def test_a_game_without_a_graph_says_so():
    with pytest.raises(BadOption, match="tictactoe has no graph"):
        ludus.make("tictactoe").start().graph()


def some_positions():
    """A game, three positions of it, and what a batch has of them: states, movers, actions, counts."""
    game = ludus.make(LINE).compile()
    positions = [game.start(), game.start().play("c"), game.start().play("a").play("b")]
    actions = np.zeros((3, game.most_legal), np.int32)
    counts = np.zeros(3, np.int32)
    for k, position in enumerate(positions):
        counts[k] = len(position.actions)
        actions[k, : counts[k]] = position.actions
    states = np.concatenate([position.states for position in positions])
    movers = np.array([position.to_move for position in positions], np.int8)
    return game, positions, (states, movers, actions, counts)


def test_graphs_of_many_positions_are_counted_through():
    game, positions, batch = some_positions()
    ends = np.zeros((3, 2), np.int32)
    for room, fitted in ((30, 3), (19, 1), (9, 0)):
        features, edges = np.zeros((room, 2), np.float32), np.zeros((30, 3), np.int32)
        assert build_graphs(game.rules, *batch, game.graph[:2], features, edges, ends) == fitted
        node = edge = 0
        for position, (last_node, last_edge) in zip(positions[:fitted], ends.tolist(), strict=False):
            graph = position.graph()
            assert np.array_equal(features[node:last_node], graph.features)
            assert np.array_equal(edges[edge:last_edge] - [0, node, node], graph.edges)
            node, edge = last_node, last_edge


def test_edges_in_any_order_become_lists_of_neighbours():
    edges = np.array([[1, 2, 0], [0, 3, 1], [1, 0, 0], [0, 1, 3], [1, 1, 2], [0, 2, 1]], np.int32)
    starts, sources = np.full((3, 5), -1, np.int32), np.full(8, -1, np.int32)
    sort_all_edges(edges, 6, starts, sources)
    found = {
        (relation, node): sources[starts[relation, node] : starts[relation, node + 1]].tolist()
        for relation in range(3)
        for node in range(4)
    }
    wanted = {(0, 1): [3, 2], (0, 3): [1], (1, 0): [2, 0], (1, 2): [1]}
    assert {slot: neighbours for slot, neighbours in found.items() if neighbours} == wanted


def test_a_builder_finds_the_memory_that_it_needs():
    game, positions, (states, movers, actions, counts) = some_positions()
    builder = GraphBuilder(game)
    for size in (1, 3, 300, 2):
        chosen = np.arange(size) % 3
        graphs = builder.build(states[chosen], movers[chosen], actions[chosen], counts[chosen])
        sizes = [len(positions[k].graph().features) for k in chosen]
        assert graphs.ends.tolist() == np.cumsum(sizes).tolist()
        assert len(graphs.sources) == sum(len(positions[k].graph().edges) for k in chosen)
        assert graphs.moves.tolist() == counts[chosen].tolist()


def test_numbers_are_rounded_up_to_few_different_ones():
    assert [round_up(number, 5) for number in (1, 64, 65, 3000, 76_543)] == [64, 64, 128, 3072, 77_824]
    assert len({round_up(number, 5) for number in range(70_000, 80_000)}) == 3
