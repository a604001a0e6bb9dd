"""A policy that Stable-Baselines3 or sb3-contrib has learned, without a search: PPO, MaskablePPO, A2C, TRPO.

sb3:model.zip        plays the legal move with the highest probability
sample=yes           draw the move from the policy

The file is what `model.save("model.zip")` writes after learning through `ludus.envs`. Its policy must be an MlpPolicy.
Nothing in the file is unpickled, so a file of unknown origin runs no code: the weights are read by PyTorch's reader of
plain tensors, the layers are built from their shapes, and the activation function is read as a name from the JSON part.
Stable-Baselines3 need not be installed.
"""

from __future__ import annotations

import io
import json
import re
import struct
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus.agents.agent import Choice, player_asked
from ludus.agents.naming import yes_or_no
from ludus.errors import BadAgent
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ludus.agents.agent import Progress
    from ludus.agents.budget import Budget
    from ludus.agents.naming import Spec
    from ludus.game import Game, Position

OPTIONS = {"sample": yes_or_no}

MOST_BYTES = 1 << 30
"""Larger weights are not read."""

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "Tanh": np.tanh,
    "ReLU": lambda x: np.maximum(x, 0.0),
    "LeakyReLU": lambda x: np.where(x > 0.0, x, 0.01 * x),
    "ELU": lambda x: np.where(x > 0.0, x, np.expm1(np.minimum(x, 0.0))),
    "Sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "SiLU": lambda x: x / (1.0 + np.exp(-x)),
    "Identity": lambda x: x,
}
"""Activation functions by the name of their class in PyTorch. Stable-Baselines3 uses Tanh unless told otherwise."""

DAMAGED = (OSError, zipfile.BadZipFile, KeyError, ValueError, RuntimeError, EOFError, zlib.error, struct.error)
"""What `zipfile` raises for a file that is damaged, unreadable or no archive."""

LAYER = re.compile(r"mlp_extractor\.(policy_net|value_net)\.(\d+)\.(weight|bias)")
HEADS = {"policy_net": "action_net", "value_net": "value_net"}
"""The last layer of each of the two networks."""

Layers = list[tuple["NDArray[np.float32]", "NDArray[np.float32]"]]
"""Weights float32 [outputs, inputs] and biases float32 [outputs] of each layer."""


class Sb3Agent:
    """One evaluation by the policy. Where everyone moves at once, the move is always drawn from it."""

    def __init__(self, game: Game, path: Path, name: str = "sb3", seed: int = 0, sample: bool = False):
        self.game, self.name, self.sample = game, name, sample
        self.policy, self.value, self.activation = load_policy(path)
        self._check_sizes(path)
        self.new_game(seed)

    def new_game(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        began = time.perf_counter()
        player = player_asked(position, player)
        actions = position.actions_of(player)
        seen = position.observe(player).ravel()
        logits = self._run(self.policy, seen)[actions].astype(np.float64)
        weights = np.exp(logits - logits.max())
        policy = weights / weights.sum()
        drawn = self.sample or position.to_move == EVERYONE
        at = int(self.random.choice(len(actions), p=policy)) if drawn else int(np.argmax(policy))
        return Choice(
            player,
            actions[at],
            position.game.write_move(position.state, player, actions[at]),
            actions,
            policy=policy.tolist(),
            value=float(np.clip(self._run(self.value, seen)[0], -1.0, 1.0)),
            simulations=1,
            seconds=time.perf_counter() - began,
        )

    def _run(self, layers: Layers, seen: NDArray[np.float32]) -> NDArray[np.float32]:
        """The output of a network for one observation, float32 [inputs]."""
        for weight, bias in layers[:-1]:
            seen = self.activation(weight @ seen + bias)
        weight, bias = layers[-1]
        return weight @ seen + bias

    def _check_sizes(self, path: Path) -> None:
        shape = self.game.observation
        if shape is None:
            raise BadAgent(f"{self.name}: {self.game.name} has no observation")
        if self.value[0][0].shape[1] != self.policy[0][0].shape[1] or self.value[-1][0].shape[0] != 1:
            raise BadAgent(f"{path}: its value network does not fit its policy network")
        sizes = int(np.prod(shape)), self.game.actions
        learned = self.policy[0][0].shape[1], self.policy[-1][0].shape[0]
        if sizes != learned:
            raise BadAgent(
                f"{self.name}: {path.name} was learned with {learned[0]} inputs and {learned[1]} actions, but "
                f"{self.game.identity} has {sizes[0]} and {sizes[1]}; give the options that it was learned with"
            )


def load_policy(path: Path) -> tuple[Layers, Layers, Callable[[Any], Any]]:
    """The layers of the policy and of the value in a model's file, and the activation function between them."""
    try:
        with zipfile.ZipFile(path) as archive:
            weights, described = _member(archive, "policy.pth"), _member(archive, "data")
    except FileNotFoundError:
        raise BadAgent(f"there is no file {path}; write sb3:path/to/model.zip") from None
    except DAMAGED as error:
        line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise BadAgent(f"{path} is not a model of Stable-Baselines3: {line}") from None
    tensors = _tensors(weights, path)
    networks: dict[str, dict[int, dict[str, Any]]] = {name: {} for name in HEADS}
    rest = dict(tensors)
    for key, tensor in tensors.items():
        found = LAYER.fullmatch(key)
        if found:
            networks[found[1]].setdefault(int(found[2]), {})[found[3]] = tensor
            del rest[key]
    layers: dict[str, list[Any]] = {}
    for name, parts in networks.items():
        head = {part: rest.pop(f"{HEADS[name]}.{part}", None) for part in ("weight", "bias")}
        layers[name] = [(part.get("weight"), part.get("bias")) for _, part in sorted(parts.items())]
        layers[name].append((head["weight"], head["bias"]))
    if rest or not all(_fit(each) for each in layers.values()):
        odd = f" ({next(iter(rest))})" if rest else ""
        raise BadAgent(f"{path}: its network is not that of an MlpPolicy{odd}; wrap the model in an agent of your own")
    if not all(np.isfinite(array).all() for array in tensors.values()):
        raise BadAgent(f"{path}: its weights hold numbers that are not finite")
    return layers["policy_net"], layers["value_net"], _activation(described, path)


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """The content of a file in the archive, which must not be too large."""
    if archive.getinfo(name).file_size > MOST_BYTES:
        raise OSError(f"{name} is larger than {MOST_BYTES >> 20} MB")
    return archive.read(name)


def _tensors(content: bytes, path: Path) -> dict[str, NDArray[np.float32]]:
    """The weights by name; `weights_only` makes PyTorch refuse everything but plain tensors."""
    import torch

    try:
        loaded = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
        return {str(key): tensor.detach().float().numpy() for key, tensor in loaded.items()}
    except Exception as error:  # a damaged or malicious file: PyTorch has no class of its own for these failures
        line = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise BadAgent(f"{path}: its weights cannot be read: {line}") from None


def _fit(layers: list[tuple[Any, Any]]) -> bool:
    """True if each layer is a linear one that takes the output of the layer before it."""
    size = None
    for weight, bias in layers:
        if weight is None or bias is None or weight.ndim != 2 or bias.shape != weight.shape[:1]:
            return False
        if size is not None and weight.shape[1] != size:
            return False
        size = weight.shape[0]
    return True


def _activation(content: bytes, path: Path) -> Callable[[Any], Any]:
    """The activation function that the JSON part of the file names; only names are read from it."""
    try:
        given = json.loads(content)["policy_kwargs"].get("activation_fn", "Tanh")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        raise BadAgent(f"{path}: its description, `data`, cannot be read") from None
    name = re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", str(given))
    if name not in ACTIVATIONS:
        raise BadAgent(f"{path}: its activation function {name[:40]!r} is none of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name]


def model_file(spec: Spec) -> Path:
    """The file that an agent's name gives. Devices and pipes are refused: reading one may never end."""
    if not spec.words:
        raise BadAgent(f"{spec.text}: name a model, as in sb3:model.zip")
    file = Path(":".join(spec.words)).expanduser()  # a path of Windows has a colon
    if file.exists() and not file.is_file():
        raise BadAgent(f"{spec.text}: {file} is not a regular file")
    return file


def make(spec: Spec, game: Game, seed: int) -> Sb3Agent:
    spec.refuse_budget()
    return Sb3Agent(game, model_file(spec), spec.text, seed, **spec.read_options(OPTIONS))
