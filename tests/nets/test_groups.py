"""Networks that pool over groups of cells, and score moves by the cells that they touch."""

import numpy as np
import pytest
import torch

import ludus
from ludus.nets import group_samples
from ludus.nets.checking import check_engine
from ludus.nets.engines import OnnxEngine, has_onnx
from ludus.nets.evaluator import make_evaluator
from ludus.nets.families import make_network
from ludus.nets.group_samples import GroupSampler, logits_of
from ludus.nets.rows import Rows
from ludus.nets.samples import Targets
from ludus.search.batch import Batch, make_buffer
from tests.nets.test_nets import lively

PERMUTED = np.array([3, 0, 4, 1, 2])


@pytest.fixture(scope="module")
def game():
    return ludus.make("sevn", base=5).compile()


@pytest.fixture(scope="module")
def network(game):
    torch.manual_seed(0)
    return lively(make_network("groups", game, blocks=2, width=8)).eval()


@pytest.fixture(scope="module")
def positions(game):
    """Positions in the middle of random games."""
    found, rng = [], np.random.default_rng(0)
    while len(found) < 12:
        position = game.start(int(rng.integers(1000)))
        for _ in range(int(rng.integers(4, 10))):
            if not position.is_over:
                position = position.play(int(rng.choice(position.actions)))
        if not position.is_over:
            found.append(position)
    return found


def batch_of(game, positions):
    buffer = make_buffer(game, len(positions), 1)
    batch = Batch(*buffer[: len(Batch._fields)])
    for k, position in enumerate(positions):
        batch.states[k] = position.states[0]
        batch.movers[k] = position.to_move
        batch.counts[k, 0] = len(position.actions)
        batch.actions[k, : len(position.actions)] = position.actions
    return batch


def rows_of(positions):
    """Rows whose policy rises with the number of the move."""
    counts = [len(position.actions) for position in positions]
    policy = np.concatenate([np.arange(1, count + 1) / (count * (count + 1) / 2) for count in counts])
    total = len(positions)
    return Rows(
        np.concatenate([position.states for position in positions]),
        np.array([position.to_move for position in positions], np.int8),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([position.actions for position in positions]).astype(np.int32),
        policy.astype(np.float32),
        np.zeros((total, 2), np.float32),
        np.zeros(total, np.float32),
        np.ones(total, np.float32),
        np.full(total, -1, np.int32),
    )


class InOrder:
    """Draws every row once, in order and as it is."""

    def integers(self, low, high, count):
        return np.arange(count) % high


def repainted(game, position):
    """The position with its colours permuted, and the ids of its moves there."""
    states = position.states.copy()
    base = game.rules.base
    for field in ("tiles", "lead"):
        states[field][0][PERMUTED] = position.states[field][0][: len(PERMUTED)]
    image = game.parse(game.write(game.state_view(states)))
    return image, [(int(PERMUTED[action >> base]) << base) + action % (1 << base) for action in position.actions]


def test_colours_have_no_names(game, network, positions):
    images = [repainted(game, position) for position in positions]
    batches = [batch_of(game, each) for each in (positions, [image for image, _ in images])]
    evaluator = make_evaluator(game, network, "torch")
    for batch in batches:
        evaluator.evaluate(batch)
    np.testing.assert_allclose(batches[0].values, batches[1].values, atol=1e-5)
    assert np.ptp(batches[0].values[:, 0]) > 0.01
    for k, (position, (image, actions)) in enumerate(zip(positions, images, strict=True)):
        there = dict(zip(image.actions, batches[1].logits[k], strict=False))
        mine = batches[0].logits[k, : len(position.actions)]
        np.testing.assert_allclose(mine, [there[action] for action in actions], atol=1e-4)
        assert len(mine) == 1 or np.ptp(mine) > 0.01


def test_the_learner_sees_the_logits_of_the_search(game, network, positions):
    batch = batch_of(game, positions)
    evaluator = make_evaluator(game, network, "torch")
    evaluator.evaluate(batch)
    sample = GroupSampler(game, Targets(augment=False), 1).draw(rows_of(positions), len(positions), InOrder())
    with torch.no_grad():
        parts, values = network(sample.planes)
        logits = logits_of(parts, sample.touched).numpy()
    for k, position in enumerate(positions):
        count = len(position.actions)
        np.testing.assert_allclose(logits[k, :count], batch.logits[k, :count], atol=1e-4)
        assert (sample.policy[k, :count] > 0).all()
        assert (sample.policy[k, count:] == -1).all()
        np.testing.assert_allclose(values[k, 0], batch.values[k, position.to_move], atol=1e-5)


def test_a_row_with_too_many_moves_keeps_the_best(game, positions, monkeypatch):
    monkeypatch.setattr(group_samples, "MOVES", 3)
    sample = GroupSampler(game, Targets(), 1).draw(rows_of(positions), len(positions), np.random.default_rng(0))
    assert sample.policy.shape == (len(positions), 3)
    whole = GroupSampler(game, Targets(augment=False), 1).draw(rows_of(positions), len(positions), InOrder())
    for k, position in enumerate(positions):
        highest = rows_of([position]).policy[-3:][::-1]
        np.testing.assert_allclose(whole.policy[k, : len(highest)], highest)


@pytest.mark.skipif(not has_onnx(), reason="ONNX Runtime is not installed")
def test_onnx_and_integers_give_the_answers_of_pytorch(game, network, positions):
    from ludus.nets.quantised import Int8Engine

    planes = GroupSampler(game, Targets(), 1).draw(rows_of(positions), 64, np.random.default_rng(0)).planes.numpy()
    exact, rounded = OnnxEngine(), Int8Engine()
    exact.load(network)
    check_engine(exact, network, planes)
    rounded.load(network, planes)
    assert rounded.quantised  # it compares itself with float32


def test_one_set_of_weights_plays_every_base(network):
    large = ludus.make("sevn", base=9)
    other = make_network("groups", large, blocks=2, width=8)
    other.load_state_dict(network.state_dict())
    planes = torch.zeros((2, *large.groups.inputs))
    assert other(planes)[0].shape == (2, 82, 32)
