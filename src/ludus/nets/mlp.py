"""Fully connected layers, for games whose observation is not a board."""

from __future__ import annotations

import itertools

from torch import nn

from ludus.nets.network import Network, Sizes


class Mlp(Network):
    """Layers that halve from the width of the input down to `width`, then `blocks` layers of that width.

    All heads share the trunk; each head is one linear layer.
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
        self.policy = nn.Linear(width, sizes.heads * sizes.actions)
        self.further = nn.Linear(width, sizes.auxiliary * sizes.actions) if sizes.auxiliary else None
        self.value = nn.Linear(width, sizes.outputs)
