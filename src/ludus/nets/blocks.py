"""Parts of convolutional networks: a convolution with its batch norm, global pooling, and the residual block."""

from __future__ import annotations

import torch
from torch import nn


def convolution(inputs: int, outputs: int, size: int = 3) -> nn.Sequential:
    """A convolution that keeps the board's size, and its batch norm."""
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False), nn.BatchNorm2d(outputs, momentum=0.02)
    )


def on_board(x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """x, set to 0 wherever the mask is 0; without a mask, x itself."""
    return x if mask is None else x * mask


class Pooling(nn.Module):
    """Global pooling: the mean and the maximum of every channel over the board, [K, 2 * channels].

    The mask [K, 1, rows, columns], if given, is 1 on the board. Then x must be 0 outside it and nowhere negative.
    """

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        mean = x.mean((2, 3)) if mask is None else x.mean((2, 3)) / mask.mean((2, 3))
        return torch.cat([mean, x.amax((2, 3))], 1)


class Block(nn.Module):
    """A residual block, x + f(x). With `pooling`, f also depends on the whole board.

    With a mask (see Pooling), all channels stay 0 outside the board.
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
