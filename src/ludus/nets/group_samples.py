"""Rows of self-play as planes, groups and touched cells, and the loss of a network over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from ludus.native import kernel, part
from ludus.nets.samples import copy_actions, cross_entropy, fill_values
from ludus.rules import symmetry, touches
from ludus.search.touching import view_position
from ludus.search.tree import copy_state

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.rows import Rows
    from ludus.nets.samples import Targets

MOVES = 64
"""Largest number of moves of a row in a sample: of a row with more legal moves, those with the highest policy."""


class GroupSample(NamedTuple):
    """K rows of at most M moves, each of which touches at most C cells."""

    planes: Any  # float32 [K, planes + groupings, rows, columns]
    touched: Any  # int16 [K, M, 1 + C]: rows of the network's answer, first the row of the move's kind; -1 for none
    policy: Any  # float32 [K, M]: the search's policy, and -1 where there is no move
    values: Any  # float32 [K, outputs]
    weights: Any  # float32 [K]

    def to(self, device: torch.device) -> GroupSample:
        """The same sample in a device's memory."""
        return GroupSample(*(each.to(device) for each in self))

    def inputs(self) -> Any:
        """What an engine runs the network on."""
        return self.planes.numpy()


@part
def move_to_front(policy, actions, count, most):
    """Order moves so that the `most` with the highest policy come first."""
    for i in range(most):
        best = i
        for j in range(i + 1, count):
            if policy[j] > policy[best]:
                best = j
        policy[i], policy[best] = policy[best], policy[i]
        actions[i], actions[best] = actions[best], actions[i]


@kernel
def draw_groups(
    rules, rows, chosen, which, symmetric, outcome_fraction, groupings, role_count, rows_of_cells,
    images, actions, policy, roles, cells, sample,
):  # fmt: skip
    """Fill a sample with the rows `chosen` int64 [K], each in the symmetry which[k] if they are `symmetric`.

    `rows_of_cells` is the first row of the network's answer that belongs to a kind of move. Scratch: images [K];
    actions int32 and policy float32 [R]; roles and cells int32 [C].
    """
    most = sample.policy.shape[1]
    for k in range(chosen.size):
        row = chosen[k]
        player = rows.players[row]
        count = copy_actions(rows, row, actions)
        if symmetric:
            symmetry(rules, rows.states[row], which[k], images[k], actions, count)
        else:
            copy_state(images, k, rows.states, row)
        for i in range(count):
            policy[i] = rows.policy[rows.starts[row] + i]
        if count > most:
            move_to_front(policy, actions, count, most)
            count = most
        view_position(rules, images[k], player, sample.planes[k], groupings)
        sample.touched[k] = -1
        sample.policy[k] = -1.0
        for i in range(count):
            kind, touched = touches(rules, images[k], player, actions[i], roles, cells)
            sample.touched[k, i, 0] = rows_of_cells + kind
            for j in range(touched):
                sample.touched[k, i, 1 + j] = cells[j] * role_count + roles[j]
            sample.policy[k, i] = policy[i]
        fill_values(rows, row, k, player, outcome_fraction, sample.values, sample.weights)


def logits_of(parts: Any, touched: Any) -> Any:
    """The logits [K, M] of moves from a network's answer, as search/touching.py computes them.

    parts [K, rows, units]; touched int16 [K, M, 1 + C].
    """
    count, rows, units = parts.shape
    index = touched.long()
    index = torch.where(index < 0, rows, index)
    taken = parts.new_zeros((count, touched.shape[1], rows + 1))
    taken = taken.scatter_add(2, index, taken.new_ones(()).expand_as(index))[:, :, :rows]
    hidden = torch.relu(torch.bmm(taken, parts)).float()
    return hidden[:, :, : units // 2].sum(2) - hidden[:, :, units // 2 :].sum(2)


class GroupSampler:
    """Draws rows as planes, groups and touched cells, each in a random symmetry."""

    fixed_shape = True

    def __init__(self, game: Game, targets: Targets, outputs: int):
        self.game, self.targets, self.outputs = game, targets, outputs

    def draw(self, rows: Rows, count: int, rng: np.random.Generator) -> GroupSample:
        game, shape, moves = self.game, self.game.groups, self.game.touches
        assert shape is not None
        assert moves is not None
        chosen = rng.integers(0, len(rows), count)
        most = min(MOVES, game.most_legal)
        sample = GroupSample(
            np.empty((count, *shape.inputs), np.float32),
            np.empty((count, most, 1 + moves.cells), np.int16),
            np.empty((count, most), np.float32),
            np.empty((count, self.outputs), np.float32),
            np.empty(count, np.float32),
        )
        symmetric = self.targets.augment and game.symmetries > 1
        which = rng.integers(0, game.symmetries, count) if symmetric else np.zeros(count, np.int64)
        draw_groups(
            *(game.rules, rows, chosen, which, symmetric, np.float32(self.targets.outcome_fraction)),
            *(len(shape.groups), moves.roles, shape.cells * moves.roles, game.new_states(count)),
            *(np.empty(game.most_legal, np.int32), np.empty(game.most_legal, np.float32)),
            *(np.empty(moves.cells, np.int32), np.empty(moves.cells, np.int32), sample),
        )
        return GroupSample(*map(torch.from_numpy, sample))

    def loss(self, network: Any, sample: GroupSample) -> tuple[Any, Any]:
        planes, touched, target, values, weights = sample
        parts, predicted = network(planes.contiguous(memory_format=torch.channels_last))
        policy_loss = cross_entropy(logits_of(parts, touched), target, weights)
        return policy_loss, (weights * (predicted.float() - values).square().mean(1)).sum()
