"""Residual convolutions with global pooling: the network for boards (AlphaZero, 2017; pooling from KataGo, 2019)."""

from __future__ import annotations

import torch
from torch import nn

from ludus.nets.network import Network, Sizes


def convolution(inputs: int, outputs: int, size: int = 3) -> nn.Sequential:
    """A convolution that keeps the board's size, with its normalisation."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs, momentum=0.02)
    )


def on_board(x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """x with 0 wherever the mask, if there is one, is 0."""
    return x if mask is None else x * mask


class Pooling(nn.Module):
    """What the whole board is like: the mean and the maximum of every channel, [K, 2 * channels].

    With a mask [K, 1, rows, columns], 1 on the board, x is 0 outside it and nowhere negative.
    """

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        mean = x.mean((2, 3)) if mask is None else x.mean((2, 3)) / mask.mean((2, 3))
        return torch.cat([mean, x.amax((2, 3))], 1)


class Block(nn.Module):
    """x + f(x); with `pooling`, f knows the whole board and not only the neighbourhood.

    With a mask (see Pooling), what is outside the board stays 0.
    """

    def __init__(self, width: int, pooling: bool):
        super().__init__()
        self.first = convolution(width, width)
        self.second = convolution(width, width)
        self.pool = nn.Sequential(Pooling(), nn.Linear(2 * width, width)) if pooling else None

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        y = self.first(x)
        if self.pool is not None:
            pool, linear = self.pool
            y = y + linear(pool(on_board(torch.relu(y), mask), mask)).unsqueeze(2).unsqueeze(3)
        return on_board(torch.relu(x + self.second(on_board(torch.relu(y), mask))), mask)


LARGE = 1_000_000
"""A policy of more weights goes through a narrow layer, or it would outweigh the trunk: Hive has 3,389 actions."""


class Residual(Network):
    """`blocks` residual blocks of `width` channels; every third block, and the heads, see the whole board."""

    def __init__(self, sizes: Sizes, blocks: int, width: int):
        super().__init__(sizes)
        planes, rows, columns = sizes.observation
        blocks_of = (Block(width, pooling=i % 3 == 2) for i in range(blocks))
        self.trunk = nn.Sequential(convolution(planes, width), nn.ReLU(), *blocks_of)
        squeezed = max(4, width // 4)

        def policies(count: int) -> nn.Sequential:
            inputs, outputs = squeezed * rows * columns, count * sizes.actions
            last: list[nn.Module] = [nn.Linear(inputs, outputs)]
            if inputs * outputs > LARGE:
                last = [nn.Linear(inputs, 2 * width), nn.ReLU(), nn.Linear(2 * width, outputs)]
            return nn.Sequential(convolution(width, squeezed, 1), nn.ReLU(), nn.Flatten(), *last)

        self.policy = policies(sizes.heads)
        self.further = policies(sizes.further) if sizes.further else None
        self.value = nn.Sequential(
            convolution(width, squeezed, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(squeezed * rows * columns, 2 * width),
            nn.ReLU(),
            nn.Linear(2 * width, sizes.outputs),
        )
