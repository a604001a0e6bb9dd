"""Networks that are free of sizes: one set of weights for all boards of a game."""

from pathlib import Path

import numpy as np
import pytest
import torch

import ludus
from ludus.errors import BadOption
from ludus.nets.engines import OnnxEngine, TorchEngine, has_onnx
from ludus.nets.families import make_network
from ludus.nets.network import places_of, sizes_of
from ludus.nets.residual import Residual
from ludus.nets.size_free import Places, SizeFree
from ludus.runs.config import Config, with_settings
from ludus.testing import BrokenPromise, check_game
from tests.nets.test_nets import lively

FRAMED = str(Path(__file__).parent / "framed.py")
SIZES = [
    ("connect4", {"rows": 4, "columns": 5}, {}),
    ("breakthrough", {"height": 5, "width": 4}, {"height": 7, "width": 6}),
    ("cachex", {"n": 3}, {"n": 6}),
    (FRAMED, {"frame": 4}, {"frame": 6}),
]


def made(game, roles=False, auxiliary=0):
    return make_network("residual", game, blocks=3, width=8, size_free=True, roles=roles, auxiliary=auxiliary)


def some_planes(game, count=4):
    """Numbers in all planes; a mask is what it must be, a board in a corner, and not the same in every row."""
    planes = np.random.default_rng(0).random((count, *game.observation), np.float32)
    if game.mask is not None:
        planes[:, game.mask] = 0.0
        for k in range(count):
            planes[k, game.mask, : 3 + k % 2, :3] = 1.0
    return planes


@pytest.mark.parametrize(("name", "small", "large"), SIZES)
@pytest.mark.parametrize("roles", [False, True])
def test_one_set_of_weights_for_two_sizes_in_all_engines(name, small, large, roles):
    if not has_onnx():
        pytest.skip("ONNX Runtime is not installed")
    games = [ludus.make(name, **options) for options in (small, large)]
    networks = [made(game, roles) for game in games]
    lively(networks[0])
    networks[1].load_state_dict(networks[0].state_dict())
    for game, network in zip(games, networks, strict=True):
        network.eval()
        planes = some_planes(game)
        found = []
        for engine in (OnnxEngine(), TorchEngine()):
            engine.load(network)
            found.append(engine.run(planes))
        with torch.no_grad():
            found.append([each.numpy() for each in network.folded()(torch.from_numpy(planes))])
        policy, values = found[1]
        assert policy.shape == (4, 2 if roles else 1, game.actions)
        assert values.shape == (4, 1)
        assert policy.std(2).min() > 0
        for other in (found[0], found[2]):
            assert np.allclose(other[0], policy, rtol=1e-4, atol=1e-4)
            assert np.allclose(other[1], values, atol=1e-5)
        if roles:
            assert not np.allclose(policy[:, 0], policy[:, 1], atol=1e-3)


def number_at(planes, kind, row, column):
    """What Places promises, said another way."""
    lines = planes[kind] if row < 0 else planes[kind][row : row + 1]
    return (lines if column < 0 else lines[:, column : column + 1]).max()


MIXED = np.array(
    [
        [(0, 1, 2), (1, -1, 0), (1, 0, -1), (2, -1, -1), (0, -1, -1), (2, 2, 3)],
        [(0, 2, 1), (1, 0, -1), (1, -1, 0), (2, -1, -1), (1, 1, 1), (2, 0, 0)],
    ]
)


@pytest.mark.parametrize("name", ["tictactoe", "connect4", "breakthrough", "cachex", "by player"])
def test_each_action_gets_the_number_at_its_place(name):
    game = None if name == "by player" else ludus.make(name)
    places = MIXED if game is None else game.places
    rows, columns = (3, 4) if game is None else game.observation[1:]
    kinds = int(places[..., 0].max()) + 1
    planes = torch.randn(2, kinds, rows, columns)
    found = Places(places, rows, columns)(planes).reshape(2, *places.shape[:2]).numpy()
    for k in range(2):
        for head, listed in enumerate(places.tolist()):
            wanted = [number_at(planes[k].numpy(), *place) for place in listed]
            assert found[k, head].tolist() == wanted


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tictactoe", {}),
        ("connect4", {"rows": 3, "columns": 5}),
        ("breakthrough", {"height": 5, "width": 4}),
        ("cachex", {"n": 4}),
        ("cachex", {"n": 4, "view": "planes4"}),
    ],
)
def test_places_are_where_the_mover_sees_the_board_change(name, options):
    """The stone that a move puts down appears at its place, or there the piece that it moves goes away: for both
    players, as each sees the board."""
    game = ludus.make(name, **options)
    rng = np.random.default_rng(3)
    seen = [0, 0]
    for _ in range(4):
        position = game.start()
        while not position.is_over:
            mover, action = position.to_move, int(rng.choice(position.actions))
            kind, row, column = game.places[0, action].tolist()
            after = position.play(action)
            change = after.observe(mover)[0] - position.observe(mover)[0]
            wanted = -1.0 if name == "breakthrough" else 1.0
            changed = list(zip(*np.nonzero(change == wanted), strict=True))
            position = after
            if row < 0 and column < 0:
                assert (name, kind) == ("cachex", 1)
                continue
            assert len(changed) == 1
            assert column == changed[0][1]
            assert row in (changed[0][0], -1)
            seen[mover] += 1
    assert min(seen) > 4


def test_seats_have_planes_of_their_own_with_roles_only():
    game = ludus.make("cachex", n=3)
    assert sizes_of(game, size_free=True).heads == 1
    both = places_of(game, roles=True)
    assert both.shape == (2, 10, 3)
    assert (both[1] - both[0]).tolist() == [[2, 0, 0]] * 10
    game.places = np.concatenate([game.places, game.places[:, ::-1]])
    sizes = sizes_of(game, auxiliary=1, size_free=True)
    assert (sizes.heads, sizes.auxiliary) == (2, 2)
    network = lively(made(game, auxiliary=1))
    assert network.policy.planes.weight.shape[0] == 2
    with torch.no_grad():
        policy, _, auxiliary = network.forward_all(torch.from_numpy(some_planes(game)))
    assert torch.equal(policy[:, 0].flip(1), policy[:, 1])
    assert torch.equal(auxiliary[:, 0].flip(1), auxiliary[:, 1])


def test_a_masked_board_looks_the_same_in_every_frame():
    games = [ludus.make(FRAMED, frame=frame) for frame in (3, 4, 7)]
    networks = [made(game) for game in games]
    lively(networks[0])
    position = games[0].start().play("b2").play("a1").play("c3")
    answers = []
    for game, network in zip(games, networks, strict=True):
        network.load_state_dict(networks[0].state_dict())
        planes = torch.from_numpy(game.parse(position.text).observe()[None])
        with torch.no_grad():
            answers.append([each.numpy() for each in network.eval()(planes)])
    for policy, values in answers[1:]:
        assert np.allclose(policy, answers[0][0], atol=1e-5)
        assert np.allclose(values, answers[0][1], atol=1e-6)
    frameless = SizeFree(sizes_of(games[2], size_free=True)._replace(mask=None), 3, 8)
    frameless.load_state_dict(networks[0].state_dict())
    with torch.no_grad():
        other = frameless.eval()(torch.from_numpy(games[2].parse(position.text).observe()[None]))[0].numpy()
    assert not np.allclose(other, answers[0][0], atol=1e-3)


def test_the_mask_is_checked():
    check_game(ludus.make(FRAMED), games=1)
    with pytest.raises(BrokenPromise, match="plane 2, the mask, must be 1 on the board and 0 around it"):
        check_game(ludus.make(FRAMED, flaw=True), games=1)


def test_what_cannot_be_free_of_sizes_is_refused():
    with pytest.raises(BadOption, match="sevn sets no places"):
        Config(size_free=True).make_network(ludus.make("sevn"))
    for wrong, message in (
        ({"size_free": "yes", "network": "mlp"}, "size_free is for network = residual"),
        ({"size_free": "yes", "reply_policy_weight": 0.25}, "reply_policy_weight does not work with size_free"),
    ):
        with pytest.raises(BadOption, match=message):
            with_settings(Config(), wrong)


def test_without_the_setting_nothing_changes():
    game = ludus.make("connect4")
    assert isinstance(Config().make_network(game), Residual)
    assert isinstance(Config(size_free=True).make_network(game), SizeFree)
