"""Fully connected layers, for games whose observation is not a board."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import torch
from torch import nn

from ludus.nets.network import Network, Sizes


class Mlp(Network):
    """Layers that halve from the width of the input down to `width`, then `blocks` layers of that width.

    All heads share the trunk; each head is one linear layer. Where `sizes.words` is set, actions are scored by them.
    """

    family = "mlp"

    def __init__(self, sizes: Sizes, blocks: int, width: int):
        super().__init__(sizes)
        widths = [sizes.inputs]
        while widths[-1] // 2 > width:
            widths.append(widths[-1] // 2)
        widths += [width] * max(1, blocks)
        layers: list[nn.Module] = [nn.Flatten()]
        for inputs, outputs in itertools.pairwise(widths):
            layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.policy = self._head(sizes, sizes.heads, width)
        self.further = self._head(sizes, sizes.auxiliary, width) if sizes.auxiliary else None
        self.value = nn.Linear(width, sizes.outputs)

    def _head(self, sizes: Sizes, count: int, width: int) -> nn.Module:
        """`count` policies."""
        return nn.Linear(width, count * sizes.actions) if sizes.words is None else Words(sizes.words, count, width)


class Words(nn.Module):
    """features [K, width] to logits [K, count * actions]: each action has the sum of the scores of its words.

    `words` int32 [actions, most] is as in Game.words. Actions that share words share weights, so what is learned of one
    is known of the others. The number of an action is one more word, of its own.
    """

    matrix: torch.Tensor

    def __init__(self, words: Any, count: int, width: int):
        super().__init__()
        actions, known = len(words), int(words.max()) + 1
        matrix = np.zeros((known + actions, actions), np.float32)
        for i, listed in enumerate(words):
            matrix[[*listed[listed >= 0], known + i], i] = 1.0
        self.register_buffer("matrix", torch.from_numpy(matrix), persistent=False)
        self.shape = count, known + actions, actions
        self.scores = nn.Linear(width, count * (known + actions))
        with torch.no_grad():  # the sum over all words of an action is as large as the score of a single one would be
            self.scores.weight.mul_((1 + (words >= 0).sum(1).mean()) ** -0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        count, scored, actions = self.shape
        return torch.matmul(self.scores(x).reshape(-1, count, scored), self.matrix).reshape(-1, count * actions)
