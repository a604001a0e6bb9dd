"""The agent `sb3`: models of Stable-Baselines3 play without anything being unpickled."""

import io
import json
import pickle
import runpy
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

import ludus
from ludus.agents.identity import identify
from ludus.errors import BadAgent

GAME = ludus.make("tictactoe")
INPUTS, ACTIONS = 18, 9


def networks(width=8, inputs=INPUTS, actions=ACTIONS):
    """The weights of an MlpPolicy with one hidden layer, by their names in Stable-Baselines3."""
    torch.manual_seed(1)
    shapes = {
        "mlp_extractor.policy_net.0": (width, inputs),
        "mlp_extractor.value_net.0": (width, inputs),
        "action_net": (actions, width),
        "value_net": (1, width),
    }
    weights = {f"{name}.weight": torch.randn(shape) for name, shape in shapes.items()}
    return weights | {f"{name}.bias": torch.randn(shape[0]) for name, shape in shapes.items()}


def write_model(path, weights=None, data=None):
    """A file laid out as Stable-Baselines3 does it."""
    content = io.BytesIO()
    torch.save(networks() if weights is None else weights, content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("policy.pth", content.getvalue())
        archive.writestr("data", json.dumps({"policy_kwargs": {}} if data is None else data))
    return path


def test_the_network_is_that_of_pytorch(tmp_path):
    weights = networks()
    name = f"sb3:{write_model(tmp_path / 'model.zip', weights)}"
    position = GAME.start().play("b2")
    choice = ludus.make_agent(name, GAME).choose(position)
    seen = torch.from_numpy(position.observe().ravel())

    def run(net, head):
        hidden = torch.tanh(weights[f"mlp_extractor.{net}.0.weight"] @ seen + weights[f"mlp_extractor.{net}.0.bias"])
        return weights[f"{head}.weight"] @ hidden + weights[f"{head}.bias"]

    policy = torch.softmax(run("policy_net", "action_net")[list(position.actions)], 0).numpy()
    assert choice.policy == pytest.approx(policy, rel=1e-4)
    assert choice.action == position.actions[int(np.argmax(policy))]
    assert choice.value == pytest.approx(np.clip(run("value_net", "value_net").item(), -1, 1), rel=1e-4)


def test_it_plays_as_stable_baselines_does(tmp_path):
    pytest.importorskip("sb3_contrib")
    from ludus.envs import GymEnv

    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "maskable_ppo.py"))
    model = example["learn"]("tictactoe", steps=256, games=2, path=tmp_path / "model.zip")
    env = GymEnv(GAME, seat=0)
    agent = ludus.make_agent(f"sb3:{tmp_path / 'model.zip'}", GAME)
    _, info = env.reset(seed=2)
    over = False
    while not over:
        seen = env.position.observe(0)
        expected, _ = model.predict(seen, action_masks=info["action_mask"], deterministic=True)
        assert agent.choose(env.position).action == expected
        _, _, over, _, info = env.step(expected)


def test_moves_are_drawn_from_the_policy_with_sample(tmp_path):
    name = f"sb3:{write_model(tmp_path / 'model.zip')}:sample=yes"
    agent = ludus.make_agent(name, GAME, seed=1)
    assert len({agent.choose(GAME.start()).action for _ in range(40)}) > 2


def test_a_model_plays_in_a_match(tmp_path):
    path = write_model(tmp_path / "model.zip")
    result = ludus.play_match(GAME, [f"sb3:{path}", "random"], games=4, parallel=1)
    assert result.labels[1] == "random"
    assert (result.played, result.failures) == (4, {})


def test_another_content_is_another_agent(tmp_path):
    path = write_model(tmp_path / "model.zip")
    first = identify(f"sb3:{path}", GAME)
    write_model(path, networks(width=9))
    second = identify(f"sb3:{path}", GAME)
    assert first.text != second.text
    assert first.label == second.label == "sb3:model.zip"
    assert str(tmp_path) not in first.text
    with pytest.raises(BadAgent, match="cannot be read: No such file"):
        identify(f"sb3:{tmp_path / 'other.zip'}", GAME)


class Marker:
    """An object whose unpickling writes a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def test_no_pickled_object_in_a_file_is_loaded(tmp_path):
    marker = tmp_path / "marker"
    weights = io.BytesIO()
    torch.save({"action_net.weight": Marker(marker)}, weights)
    with zipfile.ZipFile(tmp_path / "model.zip", "w") as archive:
        archive.writestr("policy.pth", weights.getvalue())
        archive.writestr("data", json.dumps({"policy_kwargs": {}}))
    with pytest.raises(BadAgent, match="its weights cannot be read"):
        ludus.make_agent(f"sb3:{tmp_path / 'model.zip'}", GAME)
    serialized = {":type:": "<class 'dict'>", ":serialized:": pickle.dumps(Marker(marker)).hex()}
    write_model(tmp_path / "model.zip", data={"policy_kwargs": serialized})
    ludus.make_agent(f"sb3:{tmp_path / 'model.zip'}", GAME)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("weights", "data", "message"),
    [
        (networks() | {"features_extractor.cnn.0.weight": torch.ones(2)}, None, r"MlpPolicy \(features_extractor\.cnn"),
        ({"q_net.q_net.0.weight": torch.ones(2, 2)}, None, r"MlpPolicy \(q_net"),
        (networks(inputs=84, actions=7), None, "84 inputs and 7 actions, but .* has 18 and 9"),
        (None, {"policy_kwargs": {"activation_fn": "<class 'my.Own'>"}}, "activation function 'Own' is none of Tanh"),
        (None, {}, "its description, `data`, cannot be read"),
        (networks() | {"value_net.bias": torch.tensor([torch.nan])}, None, "numbers that are not finite"),
        (networks() | {"mlp_extractor.value_net.0.weight": torch.ones(8, 5)}, None, "its value network does not fit"),
        ([1, 2], None, "its weights cannot be read"),
    ],
)
def test_a_model_that_cannot_play_is_refused_in_one_line(tmp_path, weights, data, message):
    path = write_model(tmp_path / "model.zip", weights, data)
    with pytest.raises(BadAgent, match=message) as failure:
        ludus.make_agent(f"sb3:{path}", GAME)
    assert "\n" not in str(failure.value)


def test_a_file_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "text.zip").write_text("no archive")
    for name, message in (
        ("sb3", "name a model"),
        ("sb3:missing.zip", "there is no file missing.zip; write sb3:path/to/model.zip"),
        (f"sb3:{tmp_path / 'text.zip'}", "is not a model"),
        (f"sb3:{tmp_path / 'text.zip'}:100", "takes no budget"),
        (f"sb3:{tmp_path / 'text.zip'}:c=1", "no option 'c'"),
    ):
        with pytest.raises(BadAgent, match=message):
            ludus.make_agent(name, GAME)


def test_the_compiled_games_are_an_environment_of_stable_baselines():
    contrib = pytest.importorskip("sb3_contrib")
    from sb3_contrib.common.maskable.utils import get_action_masks

    from ludus.envs import Sb3VecEnv

    envs = Sb3VecEnv(GAME, 4, seat=0)
    model = contrib.MaskablePPO("MlpPolicy", envs, n_steps=16, batch_size=32, device="cpu", seed=1)
    model.learn(128)
    envs.seed(3)
    seen, ends = envs.reset(), 0
    for _ in range(12):
        chosen, _ = model.predict(seen, action_masks=get_action_masks(envs))
        seen, rewards, ended, infos = envs.step(chosen)
        for index in np.flatnonzero(ended):
            assert rewards[index] == infos[index]["values"][0]
            assert infos[index]["terminal_observation"].shape == GAME.observation
            assert not infos[index]["illegal_action"]
        ends += ended.sum()
    assert ends > 4


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="devices as on Unix")
def test_what_is_no_regular_file_is_refused():
    for ask in (ludus.make_agent, identify):
        with pytest.raises(BadAgent, match="is not a regular file"):
            ask("sb3:/dev/zero", ludus.make("tictactoe"))
