"""Value targets where sampled moves give away what the search had found."""

import numpy as np
import torch

import ludus
from ludus.nets.engines import make_engine
from ludus.nets.evaluator import PlaneEvaluator
from ludus.runs.config import Config, with_settings
from ludus.training.recording import settle
from ludus.training.worker import Worker
from tests.training.small import SMALL


def test_the_result_counts_up_to_the_last_blunder_only():
    over, results = np.array([True, False]), np.array([[1.0, -1.0], [0.0, 0.0]], np.float32)
    kept = []
    moves = [(0, 0.25, True), (1, 0.5, False), (0, 0.75, True), (1, -0.5, False)]  # player, search value, blunder
    for player, value, blunder in reversed(moves):
        known, row = np.zeros(2, np.bool_), np.zeros((2, 2), np.float32)
        told = np.array([blunder, True]), np.array([player, player], np.int8), np.full(2, value, np.float32)
        assert settle(over, results, np.arange(2), *told, known, row) == 1
        assert known.tolist() == [True, False]
        kept.append(row[0].tolist())
    assert kept[::-1] == [[0.25, -0.25], [0.75, -0.75], [0.75, -0.75], [1.0, -1.0]]


def play(margin):
    game = ludus.make("tictactoe").compile()
    config = with_settings(Config(), {**SMALL, "simulations": 16, "blunder_margin": margin})
    evaluator = PlaneEvaluator(game, make_engine("torch"))
    torch.manual_seed(0)
    evaluator.load(config.make_network(game))
    worker = Worker(game, config, evaluator, 32, seed=3)
    return worker.play(600, 16), worker


def test_a_margin_changes_the_targets_and_not_the_games():
    (plain, _), (cut, worker) = play(0.0), play(0.02)
    assert np.array_equal(plain.states, cut.states)
    assert np.array_equal(plain.policy, cut.policy)
    changed = (plain.results != cut.results).any(1)
    assert 0.02 < changed.mean() < 0.9
    assert np.allclose(cut.results.sum(1), 0.0)
    state = worker.state()
    again = play(0.02)[1]
    again.restore(state)
    assert [step.blunders.tolist() for step in again.steps] == [step.blunders.tolist() for step in worker.steps]
