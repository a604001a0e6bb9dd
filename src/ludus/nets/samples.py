"""Rows of self-play as planes to learn from, and the loss of a network over planes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import torch
from torch.nn import functional

from ludus.native import kernel, part
from ludus.rules import observe, symmetry
from ludus.search.tree import copy_state

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.rows import Rows


class Targets(NamedTuple):
    """How rows become targets; the fields are settings of a run (see runs/config.py)."""

    outcome_fraction: float = 0.5
    augment: bool = True
    soft_policy_weight: float = 0.0
    reply_policy_weight: float = 0.0
    shared_view: bool = False


class Sampler(Protocol):
    """Draws rows as the input of a network with its targets, and computes the loss."""

    game: Game
    """The game by whose rules positions are seen."""

    @property
    def fixed_shape(self) -> bool:
        """True if samples of the same number of rows have the same shape, or one of few, so that steps can be captured
        for a GPU."""

    def draw(self, rows: Rows, count: int, rng: np.random.Generator) -> Any:
        """`count` random rows as tensors in the CPU's memory.

        `.to(device)` copies them to another, and `.inputs()` is what an engine runs the network on.
        """

    def loss(self, network: Any, sample: Any) -> tuple[Any, Any]:
        """The policy loss and the value loss, each summed over the rows of a sample that is on the network's device."""


class Sample(NamedTuple):
    """K rows as planes."""

    planes: Any  # float32 [K, *observation]
    policy: Any  # float32 [K, A]: the search's policy, and -1 for actions that are not legal
    seats: Any  # int64 [K]: the observer
    values: Any  # float32 [K, outputs]
    weights: Any  # float32 [K]
    replies: Any  # int64 [K]: the action that was played next, -1 where that is not known

    def to(self, device: torch.device) -> Sample:
        """The same sample in a device's memory."""
        return Sample(*(each.to(device) for each in self))

    def inputs(self) -> Any:
        """What an engine runs the network on."""
        return self.planes.numpy()


@part
def fill_values(rows, row, k, observer, outcome_fraction, values, weights):
    """Write the targets of the values, beginning with the observer's, and the weight of one row."""
    players = rows.results.shape[1]
    for seat in range(values.shape[1]):
        values[k, seat] = rows.results[row, (observer + seat) % players]
    own = (rows.players[row] - observer) % players  # the search has found the value of the player who moved
    rest = np.float32(1.0) - outcome_fraction
    values[k, own] = outcome_fraction * values[k, own] + rest * rows.search[row]
    weights[k] = rows.weights[row]


@part
def fill_row(rules, rows, row, k, shared_view, outcome_fraction, images, actions, sample):
    """Write one row, whose state is images[k] and whose legal actions are in `actions`, into the sample."""
    player = rows.players[row]
    begin = rows.starts[row]
    count = rows.starts[row + 1] - begin
    observer = 0 if shared_view else player
    observe(rules, images[k], observer, sample.planes[k])
    sample.policy[k, :] = -1.0
    for i in range(count):
        sample.policy[k, actions[i]] = rows.policy[begin + i]
    sample.seats[k] = player
    fill_values(rows, row, k, observer, outcome_fraction, sample.values, sample.weights)


@part
def copy_actions(rows, row, actions):
    """Copy the legal actions of a row into `actions`; returns their number."""
    begin = rows.starts[row]
    count = rows.starts[row + 1] - begin
    for i in range(count):
        actions[i] = rows.actions[begin + i]
    return count


@kernel
def draw_as_is(rules, rows, chosen, shared_view, outcome_fraction, images, actions, sample):
    """Fill a sample with the rows `chosen` int64 [K]; sample.planes must be 0. Scratch: images [K], actions [R]."""
    for k in range(chosen.size):
        copy_actions(rows, chosen[k], actions)
        copy_state(images, k, rows.states, chosen[k])
        sample.replies[k] = rows.replies[chosen[k]]
        fill_row(rules, rows, chosen[k], k, shared_view, outcome_fraction, images, actions, sample)


@kernel
def draw_symmetric(rules, rows, chosen, which, shared_view, outcome_fraction, images, actions, sample):
    """Fill a sample as `draw_as_is` does, each row in the symmetry which[k], int64 [K].

    Replies keep their ids in the identity only: the image of a reply would depend on the next position.
    """
    for k in range(chosen.size):
        sample.replies[k] = rows.replies[chosen[k]] if which[k] == 0 else -1
        count = copy_actions(rows, chosen[k], actions)
        symmetry(rules, rows.states[chosen[k]], which[k], images[k], actions, count)
        fill_row(rules, rows, chosen[k], k, shared_view, outcome_fraction, images, actions, sample)


def cross_entropy(logits: Any, target: Any, weights: Any) -> Any:
    """The weighted cross entropy, summed over rows; target -1 marks actions that are not legal."""
    logs = functional.log_softmax(logits.float().masked_fill(target < 0, -1e9), 1)
    return -(weights * (target.clamp(min=0) * logs).sum(1)).sum()


def _of_seats(policies: Any, seats: Any) -> Any:
    """The policy of each row's seat, [K, A], from policies [K, heads, A]; with one head, that one."""
    return policies[:, 0] if policies.shape[1] == 1 else policies[torch.arange(len(seats), device=seats.device), seats]


class PlaneSampler:
    """Draws rows as planes, each in a random symmetry."""

    fixed_shape = True

    def __init__(self, game: Game, targets: Targets, outputs: int):
        self.game, self.targets, self.outputs = game, targets, outputs

    def draw(self, rows: Rows, count: int, rng: np.random.Generator) -> Sample:
        game = self.game
        chosen = rng.integers(0, len(rows), count)
        shape = tuple(game.observation or ())
        sample = Sample(
            np.zeros((count, *shape), np.float32),
            np.empty((count, game.actions), np.float32),
            np.empty(count, np.int64),
            np.empty((count, self.outputs), np.float32),
            np.empty(count, np.float32),
            np.empty(count, np.int64),
        )
        images, actions = game.new_states(count), np.empty(game.most_legal, np.int32)
        shared_view, fraction = self.targets.shared_view, np.float32(self.targets.outcome_fraction)
        if self.targets.augment and game.symmetries > 1:
            which = rng.integers(0, game.symmetries, count)
            draw_symmetric(game.rules, rows, chosen, which, shared_view, fraction, images, actions, sample)
        else:
            draw_as_is(game.rules, rows, chosen, shared_view, fraction, images, actions, sample)
        return Sample(*map(torch.from_numpy, sample))

    def loss(self, network: Any, sample: Sample) -> tuple[Any, Any]:
        soft_weight, reply_weight = self.targets.soft_policy_weight, self.targets.reply_policy_weight
        planes, target, seats, values, weights, replies = sample
        if planes.ndim == 4:
            planes = planes.contiguous(memory_format=torch.channels_last)
        policy, predicted, auxiliary = network.forward_all(planes)
        policy_loss = cross_entropy(_of_seats(policy, seats), target, weights)
        if soft_weight:
            soft = auxiliary[:, 0] if reply_weight else _of_seats(auxiliary, seats)
            softened = target.clamp(min=0).pow(0.25)
            softened = torch.where(target < 0, target, softened / softened.sum(1, keepdim=True))
            policy_loss = policy_loss + soft_weight * cross_entropy(soft, softened, weights)
        if reply_weight:
            losses = functional.cross_entropy(auxiliary[:, -1].float(), replies, ignore_index=-1, reduction="none")
            policy_loss = policy_loss + reply_weight * (weights * losses).sum()
        return policy_loss, (weights * (predicted.float() - values).square().mean(1)).sum()
