"""A family of networks is added in one place: everything else takes it from its entry."""

import pytest
import torch
from torch import nn

import ludus
from ludus.agents import make_agent
from ludus.errors import BadOption
from ludus.nets.evaluator import PlaneEvaluator
from ludus.nets.families import FAMILIES, Family, needs_observation, register, suggest_settings
from ludus.nets.network import Network
from ludus.nets.samples import PlaneSampler
from ludus.runs.config import Config, with_settings
from ludus.runs.run import Run
from ludus.training.trainer import Trainer
from tests.training.small import SMALL


class Flat(Network):
    """One linear layer from the planes to each head."""

    family = "flat"

    def __init__(self, sizes, design):
        super().__init__(sizes)
        self.trunk = nn.Flatten()
        self.policy = nn.Linear(sizes.inputs, sizes.heads * sizes.actions)
        self.value = nn.Linear(sizes.inputs, sizes.outputs)


class FlatSampler(PlaneSampler):
    drawn = 0

    def draw(self, rows, count, rng):
        FlatSampler.drawn += count
        return super().draw(rows, count, rng)


class FlatEvaluator(PlaneEvaluator):
    evaluated = 0

    def evaluate(self, batch):
        FlatEvaluator.evaluated += len(batch.movers)
        super().evaluate(batch)


@pytest.fixture
def flat():
    """The family, for as long as a test runs."""
    yield register(
        Family(
            name="flat",
            build=Flat,
            why_not=needs_observation,
            make_sampler=FlatSampler,
            make_evaluator=FlatEvaluator,
            engines=("onnx", "torch"),
        )
    )
    del FAMILIES["flat"]


def test_a_family_that_is_registered_trains_resumes_and_plays(flat, tmp_path):
    game = ludus.make("tictactoe")
    settings = {**SMALL, "network": "flat", "rating_games": 4, "iteration_rows": 256, "learning_rate": 0.02}
    trainer = Trainer(Run.create(tmp_path / "run", game, with_settings(Config(), settings)))
    before = trainer.learner.network.policy.weight.detach().clone()
    reports = [trainer.iterate() for _ in range(3)]
    trainer.save()
    assert (trainer.learner.network.policy.weight - before).abs().max() > 0.01
    assert FlatSampler.drawn >= 64 * reports[-1].steps > 0
    assert FlatEvaluator.evaluated > 500
    again = Trainer(Run.open(tmp_path / "run"))
    again.restore(3)
    trainer.iterate()
    again.iterate()
    for mine, theirs in zip(again.learner.network.parameters(), trainer.learner.network.parameters(), strict=True):
        assert torch.equal(mine, theirs)
    evaluated = FlatEvaluator.evaluated
    assert make_agent(f"zero:{tmp_path / 'run'}:32", game).choose(game.start()).simulations == 32
    assert FlatEvaluator.evaluated > evaluated


def test_its_entry_says_what_is_refused(flat, tmp_path):
    for wrong, message in (
        ({"engine": "cuda"}, "engine = cuda cannot run network = flat; use auto or onnx, torch"),
        ({"engine": "int8"}, "engine = int8 cannot run network = flat"),
        ({"size_free": True}, "size_free is for network = residual, not for flat"),
        ({"soft_policy_weight": 1.0}, "soft_policy_weight is for network = residual, conv, mlp, not for flat"),
    ):
        with pytest.raises(BadOption, match=message):
            with_settings(Config(), {"network": "flat", **wrong})
    game = ludus.make("tictactoe")
    game.observation = None
    with pytest.raises(BadOption, match="network = flat needs a game with an observation; tictactoe has none"):
        Config(network="flat").make_network(game)
    assert not Config(network="flat").fits_all_sizes


def test_a_family_that_is_not_registered_is_refused():
    with pytest.raises(BadOption, match="network must be one of groups, residual, conv, mlp, graph, not 'flat'"):
        Config(network="flat")


@pytest.mark.parametrize(
    ("name", "hidden", "settings"),
    [
        ("connect4", [], {"network": "residual"}),
        ("roshambo", [], {"network": "mlp", "blocks": 2, "width": 128}),
        ("sevn", [], {"network": "groups"}),
        ("sevn", ["groups"], {"network": "residual"}),
        ("sevn", ["groups", "observation"], {"network": "graph"}),
    ],
)
def test_a_game_gets_the_family_that_suits_it(name, hidden, settings):
    game = ludus.make(name)
    for attribute in hidden:
        setattr(game, attribute, None)
    assert suggest_settings(game) == settings


def test_a_game_that_no_network_can_see_is_refused():
    game = ludus.make("tictactoe")
    game.observation = None
    with pytest.raises(BadOption, match="tictactoe cannot be learned: it has neither an observation nor a graph"):
        suggest_settings(game)


def test_only_some_families_fit_all_sizes():
    assert [name for name in FAMILIES if Config(network=name).fits_all_sizes] == ["groups", "graph"]
    assert Config(size_free=True).fits_all_sizes
