"""Positions as graphs."""

from pathlib import Path

import numpy as np
import pytest

import ludus
from ludus.errors import BadOption
from ludus.graphs import build_kernel

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


def test_graphs_of_many_positions_are_counted_through():
    game = ludus.make(LINE).compile()
    positions = [game.start(), game.start().play("c"), game.start().play("a").play("b")]
    actions = np.zeros((3, game.most_legal), np.int32)
    counts = np.zeros(3, np.int32)
    for k, position in enumerate(positions):
        counts[k] = len(position.actions)
        actions[k, : counts[k]] = position.actions
    states = np.concatenate([position.states for position in positions])
    movers = np.array([position.to_move for position in positions], np.int8)
    starts = np.zeros((4, 2), np.int32)
    for room, fitted in ((30, 3), (19, 1), (9, 0)):
        features, edges = np.zeros((room, 2), np.float32), np.zeros((30, 3), np.int32)
        args = (states, movers, actions, counts, game.graph[:2], features, edges, starts)
        assert build_kernel()(game.rules, *args) == fitted
        for k, position in enumerate(positions[:fitted]):
            graph = position.graph()
            (node, edge), (last_node, last_edge) = starts[k], starts[k + 1]
            assert np.array_equal(features[node:last_node], graph.features)
            assert np.array_equal(edges[edge:last_edge] - [0, node, node], graph.edges)
