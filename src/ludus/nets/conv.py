"""A small plain convolutional network, in which each layer is twice as wide as the one before."""

from __future__ import annotations

import itertools

from torch import nn

from ludus.nets.network import Network, Sizes


class Conv(Network):
    """`blocks` convolutions of `width`, 2 * width, ... filters; each head is a few 1 x 1 filters and linear layers."""

    family = "conv"

    def __init__(self, sizes: Sizes, blocks: int, width: int, dropout: float = 0.0):
        super().__init__(sizes)
        planes, rows, columns = sizes.observation
        widths = [planes, *(width << i for i in range(blocks))]
        layers: list[nn.Module] = []
        for inputs, outputs in itertools.pairwise(widths):
            layers += [nn.Conv2d(inputs, outputs, 3, padding=1), nn.ReLU()]
        self.trunk = nn.Sequential(*layers, nn.Dropout(dropout))

        def policies(count: int) -> nn.Sequential:
            return nn.Sequential(
                nn.Conv2d(widths[-1], 4, 1),
                nn.ReLU(),
                nn.Flatten(),
                nn.Linear(4 * rows * columns, count * sizes.actions),
            )

        self.policy = policies(sizes.heads)
        self.further = policies(sizes.auxiliary) if sizes.auxiliary else None
        self.value = nn.Sequential(
            nn.Conv2d(widths[-1], 2, 1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(2 * rows * columns, 64),
            nn.ReLU(),
            nn.Linear(64, sizes.outputs),
        )
