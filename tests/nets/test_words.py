"""Actions scored by the words that they are made of."""

import numpy as np
import pytest
import torch

import ludus
from ludus.errors import BadOption
from ludus.gdl.structure import words_of
from ludus.nets.engines import make_engine
from ludus.nets.families import make_network
from ludus.runs.config import Config, with_settings


def test_moves_share_their_name_and_their_arguments_at_the_same_place():
    words = words_of([("take", "3", "red"), ("take", "red", "3"), ("take", "3", "blue"), "pass", ("take", "3")])
    assert words.shape == (5, 3)
    shared = [set(a) & set(b) - {-1} for a, b in ((words[0], words[1]), (words[0], words[2]), (words[0], words[4]))]
    assert [len(each) for each in shared] == [1, 2, 0]  # the name alone, name and first argument, another arity
    assert (words[3] >= 0).sum() == 1


def test_what_is_learned_of_one_move_is_known_of_moves_that_share_its_words():
    game = ludus.make("gdl:tictactoe")
    torch.manual_seed(0)
    network = make_network("mlp", game, blocks=1, width=16, words=True)
    planes = torch.ones(1, *game.observation)
    before = network(planes)[0][0, 0].detach()
    moves = {game.terms[i]: i for i in range(game.actions)}
    optimiser = torch.optim.SGD(network.policy.parameters(), 0.05)
    network(planes)[0][0, 0, moves["mark", "1", "1"]].backward()
    optimiser.step()
    change = (network(planes)[0][0, 0].detach() - before).abs()
    own, row, none = (float(change[moves[move]]) for move in (("mark", "1", "1"), ("mark", "1", "3"), "noop"))
    assert own > row > float(change[moves["mark", "2", "3"]]) > 10 * none


def test_engines_agree_and_the_weights_are_kept():
    game = ludus.make("gdl:tictactoe")
    network = make_network("mlp", game, blocks=1, width=16, words=True, roles=True).eval()
    planes = np.random.default_rng(0).integers(0, 2, (8, *game.observation)).astype(np.float32)
    answers = [make_engine(name, network).run(planes) for name in ("torch", "onnx")]
    for one, other in zip(*answers, strict=True):
        assert np.allclose(one, other, atol=1e-5)
    assert not any("matrix" in name for name in network.state_dict())


def test_games_and_networks_without_words_are_one_line():
    with pytest.raises(BadOption, match="connect4 sets no words"):
        make_network("mlp", ludus.make("connect4"), blocks=1, width=8, words=True)
    with pytest.raises(BadOption, match="words is for network = mlp"):
        with_settings(Config(), {"words": True})
