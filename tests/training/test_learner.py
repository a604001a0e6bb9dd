"""The learner: its learning rate over the run."""

import numpy as np
import pytest
import torch

import ludus
from ludus.runs.config import Config, with_settings
from ludus.stopping import NEVER
from ludus.training.learner import Learner


def test_the_learning_rate_rises_in_the_first_steps_of_a_run_however_they_are_divided():
    game = ludus.make("tictactoe").compile()
    config = with_settings(Config(), {"blocks": 1, "width": 8, "learning_rate": 0.01, "warmup_steps": 4})
    learner = Learner(game, config.make_network(game), config)
    rates = []

    class Steps:
        def learn(self, rows, steps, rate, rng, stop):
            for _ in range(steps):
                rates.append(rate())
                learner._count_step()
            return torch.ones(3) * steps, steps

    learner.stepper = Steps()
    for steps in (3, 5, 1):
        losses = learner.learn(None, steps, 0.0, np.random.default_rng(1), NEVER)
        assert losses.policy == 1.0
    assert rates == pytest.approx([0.0025, 0.005, 0.0075, *[0.01] * 6])
