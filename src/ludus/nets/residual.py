"""Residual convolutions with global pooling: the network for boards (AlphaZero, 2017; pooling from KataGo, 2019)."""

from __future__ import annotations

from torch import nn

from ludus.nets.blocks import Block, convolution
from ludus.nets.network import Network, Sizes

LARGE = 1_000_000
"""A policy head with more weights goes through a narrow layer, or it would outweigh the trunk: Hive has 3,389
actions."""


class Residual(Network):
    """`blocks` residual blocks of `width` channels; every third block, and the heads, see the whole board."""

    family = "residual"
    block = Block

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
        self.further = policies(sizes.auxiliary) if sizes.auxiliary else None
        self.value = nn.Sequential(
            convolution(width, squeezed, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(squeezed * rows * columns, 2 * width),
            nn.ReLU(),
            nn.Linear(2 * width, sizes.outputs),
        )
