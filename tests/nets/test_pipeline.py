"""Forests in turn beside a card, with the processor in the card's place: the same games as one after the other."""

import numpy as np
import pytest

import ludus
from ludus.nets import make_network, sizes_of
from ludus.nets.engines import TorchEngine
from ludus.nets.evaluator import NetworkEvaluator
from ludus.train.config import Config, with_settings
from ludus.train.selfplay import SelfPlay
from ludus.train.trainer import play_all


class Place:
    """Batches of one size, as nets.cuda.Place hands them over: more rows than are needed."""

    def __init__(self, engine, shape):
        size = 1 << (shape[0] - 1).bit_length()
        self.engine, self.waiting = engine, False
        self.planes = np.zeros((size, *shape[1:]), np.float32)
        self.policy, self.values = (array.copy() for array in engine.run(self.planes))

    def launch(self):
        assert not self.waiting
        self.waiting = True

    def wait(self):
        assert self.waiting
        self.waiting = False
        self.policy[:], self.values[:] = self.engine.run(self.planes)


class Card(TorchEngine):
    def place(self, shape):
        return Place(self, shape)


@pytest.mark.parametrize("settings", [{}, {"search": "puct", "cap_part": 0.5, "cap_simulations": 3}])
def test_the_same_games_as_one_after_the_other(settings):
    game = ludus.make("tictactoe")
    network = make_network("residual", sizes_of(game), blocks=1, width=8)
    config = with_settings(Config(), {"simulations": 6, **settings})
    rows = []
    for kind in (TorchEngine, Card):
        workers = []
        for seed, games in enumerate((5, 20, 33)):
            engine = kind()
            engine.load(network)
            workers.append(SelfPlay(game, config, NetworkEvaluator(game, engine), games, seed))
        play_all(workers, 40, 6, lambda: False)
        rows.append(play_all(workers, 40, 6, lambda: False))
    for mine, theirs in zip(*rows, strict=True):
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, atol=1e-5)
        else:
            np.testing.assert_array_equal(mine, theirs)
