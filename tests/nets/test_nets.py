"""Networks, the engines that run them, and what a search gets of them."""

from pathlib import Path

import numpy as np
import pytest
import torch

import ludus
from ludus.errors import BadOption, Unsuitable
from ludus.nets.engines import OnnxEngine, TorchEngine, has_onnx, make_engine
from ludus.nets.evaluator import make_evaluator
from ludus.nets.families import make_network
from ludus.search.forest import Forest
from ludus.search.puct import Puct

LINE = str(Path(__file__).parent.parent / "broken_games" / "line.py")
KINDS = [("residual", 4, 16), ("residual", 0, 8), ("conv", 3, 8), ("mlp", 2, 20)]


def lively(network):
    """Weights and statistics far from where they start, so that nothing cancels out."""
    torch.manual_seed(1)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.normal_(0, 0.3)
                module.running_var.uniform_(0.3, 3.0)
    return network.eval()


@pytest.mark.parametrize(("kind", "blocks", "width"), KINDS)
@pytest.mark.parametrize("roles", [False, True])
def test_onnx_gives_what_torch_gives(kind, blocks, width, roles):
    if not has_onnx():
        pytest.skip("ONNX Runtime is not installed")
    network = lively(make_network(kind, ludus.make("connect4"), blocks=blocks, width=width, roles=roles))
    planes = np.random.default_rng(0).random((5, 2, 6, 7), np.float32)
    found = []
    for engine in (OnnxEngine(), TorchEngine()):
        engine.load(network)
        found.append(engine.run(planes))
    assert found[0][0].shape == (5, 2 if roles else 1, 7)
    assert found[0][1].shape == (5, 1)
    for mine, theirs in zip(*found, strict=True):
        assert np.allclose(mine, theirs, atol=1e-5)
    with torch.no_grad():
        for whole, part in zip(
            network(torch.from_numpy(planes)), network.folded()(torch.from_numpy(planes)), strict=True
        ):
            assert torch.allclose(whole, part, atol=1e-5)


def test_new_weights_change_the_answers():
    network = make_network("residual", ludus.make("connect4"), blocks=1, width=8)
    engine = make_engine("auto", network)
    planes = np.ones((2, 2, 6, 7), np.float32)
    before = engine.run(planes)[0].copy()
    engine.load(lively(network))
    assert not np.allclose(before, engine.run(planes)[0])


def test_what_does_not_fit_is_refused():
    game = ludus.make("connect4")
    for kind, message in (("deep", "no network is called"), ("graph", "needs a game with a graph")):
        with pytest.raises(BadOption, match=message):
            make_network(kind, game, blocks=1, width=8)
    with pytest.raises(BadOption, match="two dimensions"):
        make_network("residual", ludus.make(LINE), blocks=1, width=8)
    with pytest.raises(BadOption, match="no engine is called"):
        make_engine("steam")
    if not torch.cuda.is_available():
        with pytest.raises(Unsuitable, match="needs an NVIDIA GPU"):
            make_engine("cuda")


def answers(game, network, positions):
    """What an evaluator says about positions: the search's roots before any simulation."""
    forest = Forest(game, Puct(), trees=len(positions), nodes=3)
    forest.plant(positions)
    forest.search(make_evaluator(game, network), simulations=0)
    return [forest.roots(i) for i in range(len(positions))], forest


def test_logits_go_along_the_legal_list_and_values_to_the_mover():
    game = ludus.make("connect4")
    network = lively(make_network("residual", game, blocks=1, width=8))
    full = game.start()
    for _ in range(6):
        full = full.play("a")
    positions = [game.start(), game.start().play("d"), full]
    roots, forest = answers(game, network, positions)
    for i, position in enumerate(positions):
        with torch.no_grad():
            policy, value = network(torch.from_numpy(position.observe()[None]))
        wanted = torch.softmax(policy[0, 0, position.actions], 0).numpy()
        assert np.allclose(roots[i][0].priors, wanted, atol=1e-4)
        node = forest.trees.nodes[forest.trees.root[i]]
        mover = position.to_move
        assert node["value"][mover] == pytest.approx(float(value[0, 0]), abs=1e-5)
        assert node["value"][1 - mover] == pytest.approx(-float(value[0, 0]), abs=1e-5)


def test_three_players_get_their_values_from_the_viewer_on():
    game = ludus.make("laststone")
    network = lively(make_network("mlp", game, blocks=1, width=8))
    position = game.start().play(game.start().actions[0])
    _, forest = answers(game, network, [position])
    with torch.no_grad():
        _, values = network(torch.from_numpy(position.observe()[None]))
    found = forest.trees.nodes[forest.trees.root[0]]["value"][:3]
    assert np.allclose(found, np.roll(values[0].numpy(), position.to_move), atol=1e-5)


def test_where_everyone_moves_each_player_looks_for_itself():
    game = ludus.make("roshambo")
    network = lively(make_network("mlp", game, blocks=1, width=8, roles=True))
    roots, forest = answers(game, network, [game.start()])
    for player in range(2):
        with torch.no_grad():
            policy, values = network(torch.from_numpy(game.start().observe(player)[None]))
        wanted = torch.softmax(policy[0, player, game.start().actions_of(player)], 0).numpy()
        assert np.allclose(roots[0][player].priors, wanted, atol=1e-4)
        assert forest.trees.nodes[forest.trees.root[0]]["value"][player] == pytest.approx(float(values[0, 0]), abs=1e-5)


def test_a_graph_network_judges_moves_by_their_nodes():
    game = ludus.make(LINE).compile()
    network = lively(make_network("graph", game, blocks=3, width=16))
    positions = [game.start(), game.start().play("c"), game.start().play("a").play("e")]
    together, forest = answers(game, network, positions)
    for i, position in enumerate(positions):
        alone, single = answers(game, network, [position])
        assert np.allclose(together[i][0].priors, alone[0][0].priors, atol=1e-5)
        assert together[i][0].priors.sum() == pytest.approx(1.0, abs=1e-5)
        found = forest.trees.nodes[forest.trees.root[i]]["value"]
        assert np.allclose(found, single.trees.nodes[single.trees.root[0]]["value"], atol=1e-5)
        assert found.sum() == pytest.approx(0.0, abs=1e-6)
