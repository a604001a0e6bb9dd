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


class Pooling(nn.Module):
    """What the whole board is like: the mean and the maximum of every channel, [K, 2 * channels]."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x.mean((2, 3)), x.amax((2, 3))], 1)


class Block(nn.Module):
    """x + f(x); with `pooling`, f knows the whole board and not only the neighbourhood."""

    def __init__(self, width: int, pooling: bool):
        super().__init__()
        self.first = convolution(width, width)
        self.second = convolution(width, width)
        self.pool = nn.Sequential(Pooling(), nn.Linear(2 * width, width)) if pooling else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        if self.pool is not None:
            y = y + self.pool(torch.relu(y)).unsqueeze(2).unsqueeze(3)
        return torch.relu(x + self.second(torch.relu(y)))


class Residual(Network):
    """`blocks` residual blocks of `width` channels; every third block, and the heads, see the whole board."""

    def __init__(self, sizes: Sizes, blocks: int, width: int):
        super().__init__(sizes)
        planes, rows, columns = sizes.observation
        blocks_of = (Block(width, pooling=i % 3 == 2) for i in range(blocks))
        self.trunk = nn.Sequential(convolution(planes, width), nn.ReLU(), *blocks_of)
        squeezed = max(4, width // 4)

        def policies(count: int) -> nn.Sequential:
            return nn.Sequential(
                convolution(width, squeezed, 1),
                nn.ReLU(),
                nn.Flatten(),
                nn.Linear(squeezed * rows * columns, count * sizes.actions),
            )

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
