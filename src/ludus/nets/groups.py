"""Residual convolutions that pool over groups of cells, with moves scored by the cells that they touch.

A convolution sees neighbours. Where cells far apart belong together (tiles of a colour, pieces of a kind), the game
declares them as groups (see `groups` in ludus.rules), and every block tells each cell of what its group contains. The
policy head answers with the rows from which search/touching.py makes a logit for each legal move. No weight belongs to
a cell, a group or an action, so one set of weights fits boards of all sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ludus.game import GroupShape
from ludus.nets.blocks import Pooling, convolution
from ludus.nets.network import Network, Sizes

if TYPE_CHECKING:
    from numpy.typing import NDArray


SMALL = 1e-6
"""Added before a root is taken, whose slope at 0 would be infinite."""


class Members(nn.Module):
    """ids [K, 1, rows, columns] to members [K, groups, cells]: 1 if the cell belongs to the group, else 0."""

    numbers: torch.Tensor

    def __init__(self, shape: GroupShape, groups: int):
        super().__init__()
        self.cells = shape.cells
        self.register_buffer("numbers", torch.arange(groups, dtype=torch.float32).reshape(1, -1, 1), persistent=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return torch.relu(1.0 - torch.abs(ids.reshape(-1, 1, self.cells) - self.numbers))


class GroupPooling(nn.Module):
    """Two numbers of each channel for each group, [K * groups, 2 * width]: the sum over its cells, relative to the side
    of the board, and the fourth root of the sum of fourth powers.

    The latter is close to the maximum, and made of products of matrices: a maximum would need each board once for each
    group.
    """

    def __init__(self, shape: GroupShape, width: int):
        super().__init__()
        self.cells, self.width, self.scale = shape.cells, width, shape.cells**-0.5

    def forward(self, x: torch.Tensor, members: torch.Tensor) -> torch.Tensor:
        """x [K, width, rows, columns], nowhere negative; members [K, groups, cells]."""
        cells = x.reshape(-1, self.width, self.cells).transpose(1, 2)
        squares = cells * cells
        total = torch.matmul(members, cells) * self.scale
        most = torch.sqrt(torch.sqrt(torch.matmul(members, squares * squares) + SMALL))
        return torch.cat([total, most], 2).reshape(-1, 2 * self.width)


class GroupMix(nn.Module):
    """relu(y + f(relu(y))) for y [K, width, rows, columns]: f tells each cell of its groups and of the whole board.

    A GPU computes it as one kernel (see gpu/layers.py).
    """

    def __init__(self, shape: GroupShape, width: int):
        super().__init__()
        self.shape, self.width = shape, width
        self.pool = GroupPooling(shape, width)
        self.groups = nn.ModuleList(nn.Linear(2 * width, width) for _ in shape.groups)
        self.board_pool = Pooling()
        self.board = nn.Linear(2 * width, width)

    def forward(self, y: torch.Tensor, members: list[torch.Tensor]) -> torch.Tensor:
        """`members` has [K, groups, cells] for each grouping."""
        seen = torch.relu(y)
        for linear, count, each in zip(self.groups, self.shape.groups, members, strict=True):
            mixed = linear(self.pool(seen, each)).reshape(-1, count, self.width)
            spread = torch.matmul(each.transpose(1, 2), mixed).transpose(1, 2)
            y = y + spread.reshape(-1, self.width, self.shape.rows, self.shape.columns)
        return torch.relu(y + self.board(self.board_pool(seen)).unsqueeze(2).unsqueeze(3))


class GroupBlock(nn.Module):
    """A residual block, x + f(x), where f also depends on the groups of a cell and on the whole board."""

    def __init__(self, shape: GroupShape, width: int):
        super().__init__()
        self.first = convolution(width, width)
        self.mix = GroupMix(shape, width)
        self.second = convolution(width, width)

    def forward(self, x: torch.Tensor, members: list[torch.Tensor]) -> torch.Tensor:
        return torch.relu(x + self.second(self.mix(self.first(x), members)))


class Cells(NamedTuple):
    """The channels of K boards, and their groups."""

    x: torch.Tensor
    """[K, width, rows, columns], nowhere negative."""
    members: list[torch.Tensor]
    """For each grouping, [K, groups, cells]."""


class Trunk(nn.Module):
    """planes [K, planes + groupings, rows, columns] to Cells, through `blocks` residual blocks."""

    where: torch.Tensor

    def __init__(self, shape: GroupShape, blocks: int, width: int):
        super().__init__()
        planes = torch.arange(shape.planes + len(shape.groups))
        self.register_buffer("where", planes[: shape.planes], persistent=False)
        self.ids: list[str] = []
        """The names of the buffers with the index of each grouping's plane."""
        for i in range(len(shape.groups)):
            self.ids.append(f"ids{i}")
            self.register_buffer(self.ids[-1], planes[shape.planes + i :][:1], persistent=False)
        self.members = nn.ModuleList(Members(shape, count) for count in shape.groups)
        self.stem = convolution(shape.planes, width)
        self.blocks = nn.ModuleList(GroupBlock(shape, width) for _ in range(blocks))

    def forward(self, planes: torch.Tensor) -> Cells:
        members = [
            each(torch.index_select(planes, 1, getattr(self, name)))
            for name, each in zip(self.ids, self.members, strict=True)
        ]
        x = torch.relu(self.stem(torch.index_select(planes, 1, self.where)))
        for block in self.blocks:
            x = block(x, members)
        return Cells(x, members)


class Parts(nn.Module):
    """Cells to the rows [K, (cells * roles + kinds) * units] from which moves are scored (see search/touching.py)."""

    def __init__(self, sizes: Sizes, width: int, units: int):
        super().__init__()
        assert sizes.groups is not None
        assert sizes.touches is not None
        self.count = sizes.groups.cells * sizes.touches.roles * units
        self.outputs = sizes.touches.roles * units
        self.cells = nn.Conv2d(width, self.outputs, 1)
        self.pool = Pooling()
        self.board = nn.Linear(2 * width, sizes.touches.kinds * units)
        with torch.no_grad():  # the logits of a new network are near 0
            for layer in (self.cells, self.board):
                layer.weight.mul_(0.3)

    def forward(self, cells: Cells) -> torch.Tensor:
        x, _ = cells
        rows = self.cells(x).reshape(-1, self.outputs, self.count // self.outputs).transpose(1, 2)
        return torch.cat([rows.reshape(-1, self.count), self.board(self.pool(x))], 1)


class Value(nn.Module):
    """Cells to values [K, outputs] before tanh, from the pooled board and the mean over pooled groups."""

    def __init__(self, sizes: Sizes, width: int):
        super().__init__()
        assert sizes.groups is not None
        self.width, self.counts = width, sizes.groups.groups
        self.cells = convolution(width, width, 1)
        self.pool = Pooling()
        self.group_pool = GroupPooling(sizes.groups, width)
        self.groups = nn.ModuleList(nn.Linear(2 * width, width) for _ in self.counts)
        self.hidden = nn.Linear((2 + len(self.counts)) * width, 2 * width)
        self.last = nn.Linear(2 * width, sizes.outputs)

    def forward(self, cells: Cells) -> torch.Tensor:
        y = torch.relu(self.cells(cells.x))
        pooled = [self.pool(y)]
        for linear, count, members in zip(self.groups, self.counts, cells.members, strict=True):
            each = torch.relu(linear(self.group_pool(y, members)))
            pooled.append(each.reshape(-1, count, self.width).mean((1,)))
        return self.last(torch.relu(self.hidden(torch.cat(pooled, 1))))


class GroupNetwork(Network):
    """`blocks` residual blocks of `width` channels that pool over groups, and `width` units to score a move.

    The policy that it answers with is [K, cells * roles + kinds, units]: `sizes.heads` rows of `sizes.actions` numbers.
    """

    family = "groups"
    mixing = GroupMix
    tolerance = 0.25
    """The moves of `to_logits` are more than the legal ones, and many occur in no game. On legal moves the policies of
    integers and float32 differ by a half to a third of what they do on these (measured at Hive and Sevn)."""

    def __init__(self, sizes: Sizes, blocks: int, width: int):
        shape, touches = sizes.groups, sizes.touches
        assert shape is not None
        assert touches is not None
        units = max(32, width + width % 2)
        rows = shape.cells * touches.roles + touches.kinds
        super().__init__(sizes._replace(observation=shape.inputs, heads=rows, actions=units))
        self.trunk = Trunk(shape, blocks, width)
        self.policy = Parts(sizes, width, units)
        self.value = Value(sizes, width)
        self.kinds = touches.kinds

    def to_logits(self, policy: NDArray[np.float32], inputs: Any) -> NDArray[np.float32]:
        """The logits of moves of the first kind that touch one cell each: [K, cells * roles]."""
        hidden = np.maximum(policy[:, : -self.kinds] + policy[:, -self.kinds :][:, :1], 0.0)
        half = policy.shape[2] // 2
        return hidden[:, :, :half].sum(2) - hidden[:, :, half:].sum(2)
