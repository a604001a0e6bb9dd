"""Residual convolutions whose weights fit every board size: trained on one board, they play on all others.

Convolutions fit every size by themselves; heads with a weight for every cell do not. Here the policy is a plane for
each kind of action, from which every action takes the number at its place (see Game.places), and the value comes from
pooled channels. Where a game's planes are larger than its board, a mask keeps all channels 0 outside the board, as the
padding of a convolution does. So in inference a board looks the same in every frame. (In training, the statistics of
the batch norms include the cells around the board.)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ludus.nets.blocks import Block, Pooling, convolution, on_board
from ludus.nets.network import Network, Sizes

USUAL = 8.0
"""Side of a usual board: the value head weights means by the side of the board relative to this."""
OUTSIDE = 1e4
"""Subtracted from logits outside the board."""


class Cells(NamedTuple):
    """The channels of K boards."""

    x: Any  # float32 [K, channels, rows, columns], 0 outside the board
    mask: Any  # float32 [K, 1, rows, columns], 1 on the board; None if the planes are no larger than the board


class Trunk(nn.Module):
    """planes [K, *observation] to Cells, through `blocks` residual blocks."""

    where: torch.Tensor | None

    def __init__(self, planes: int, mask: int | None, blocks: int, width: int):
        super().__init__()
        self.register_buffer("where", None if mask is None else torch.tensor([mask]), persistent=False)
        self.stem = convolution(planes, width)
        self.blocks = nn.ModuleList(Block(width, pooling=i % 3 == 2) for i in range(blocks))

    def forward(self, planes: torch.Tensor) -> Cells:
        mask = None if self.where is None else torch.index_select(planes, 1, self.where)
        x = on_board(torch.relu(self.stem(planes)), mask)
        for block in self.blocks:
            x = block(x, mask)
        return Cells(x, mask)


class Policy(nn.Module):
    """Cells to logits [K, heads * actions]: planes from each cell and the whole board, then each action's place."""

    def __init__(self, sizes: Sizes, width: int):
        super().__init__()
        self.cells = convolution(width, width, 1)
        self.pool = Pooling()
        self.board = nn.Linear(2 * width, width)
        self.planes = nn.Conv2d(width, int(sizes.places[..., 0].max()) + 1, 1)
        self.places = Places(sizes.places, *sizes.observation[1:])

    def forward(self, cells: Cells) -> torch.Tensor:
        x, mask = cells
        y = self.cells(x)
        board = self.board(self.pool(on_board(torch.relu(y), mask), mask))
        planes = self.planes(torch.relu(y + board.unsqueeze(2).unsqueeze(3)))
        if mask is not None:
            planes = planes + (mask - 1.0) * OUTSIDE
        return self.places(planes)


class Places(nn.Module):
    """planes [K, kinds, rows, columns] to the number at the place of each action, [K, heads * actions].

    `places` int32 [heads, actions, 3] is as in Game.places. For a whole row, column or board, the number is the maximum
    over its cells. The index follows from the places and is not saved, so saved weights fit every size.
    """

    index: torch.Tensor

    def __init__(self, places: np.ndarray, rows: int, columns: int):
        super().__init__()
        kind, row, column = (places[..., i].astype(np.int64).ravel() for i in range(3))
        kinds = int(kind.max()) + 1
        index = np.zeros(kind.size, np.int64)
        begin = 0
        self.parts: list[tuple[tuple[int, ...], int]] = []
        """For each part of the concatenation: the dimensions over which it takes the maximum, and its length."""
        for there, over, length, inside in (
            ((row >= 0) & (column >= 0), (), rows * columns, row * columns + column),
            ((row >= 0) & (column < 0), (3,), rows, row),
            ((row < 0) & (column >= 0), (2,), columns, column),
            ((row < 0) & (column < 0), (2, 3), 1, np.zeros_like(row)),
        ):
            if there.any():
                index[there] = (begin + kind * length + inside)[there]
                self.parts.append((over, kinds * length))
                begin += kinds * length
        self.register_buffer("index", torch.from_numpy(index), persistent=False)

    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        found = [(planes.amax(over) if over else planes).reshape(-1, length) for over, length in self.parts]
        return torch.index_select(found[0] if len(found) == 1 else torch.cat(found, 1), 1, self.index)


class Value(nn.Module):
    """Cells to values [K, outputs] before tanh, from the mean of every channel, its maximum, and the mean times size.

    A mean says which part of the board a player holds; weighted by size, how many cells that is.
    """

    def __init__(self, sizes: Sizes, width: int):
        super().__init__()
        _, rows, columns = sizes.observation
        self.area = float(rows * columns)
        self.cells = convolution(width, width, 1)
        self.hidden = nn.Linear(3 * width, 2 * width)
        self.last = nn.Linear(2 * width, sizes.outputs)

    def forward(self, cells: Cells) -> torch.Tensor:
        x, mask = cells
        y = on_board(torch.relu(self.cells(x)), mask)
        mean, most, side = y.mean((2, 3)), y.amax((2, 3)), self.area**0.5
        if mask is not None:
            part = mask.mean((2, 3))
            mean, side = mean / part, side * torch.sqrt(part)
        return self.last(torch.relu(self.hidden(torch.cat([mean, most, mean * (side * 0.1 - 0.1 * USUAL)], 1))))


class SizeFree(Network):
    """`blocks` residual blocks of `width` channels, and heads that fit any board size."""

    family = "residual"
    block = Block

    def __init__(self, sizes: Sizes, blocks: int, width: int):
        super().__init__(sizes)
        self.trunk = Trunk(sizes.observation[0], sizes.mask, blocks, width)
        self.policy = Policy(sizes, width)
        self.further = Policy(sizes, width) if sizes.auxiliary else None
        self.value = Value(sizes, width)
