"""What the learner takes in one step, and its loss: for networks over planes, and for those over graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

from ludus.native import kernel, part
from ludus.nets.graph import GraphBuilder, GraphNetwork
from ludus.nets.rows import pick_rows
from ludus.rules import observe, symmetry
from ludus.search.tree import copy_state

if TYPE_CHECKING:
    from ludus.game import Game
    from ludus.nets.rows import Rows
    from ludus.runs.config import Config


class Sample(NamedTuple):
    """K rows as planes."""

    planes: Any  # float32 [K, *observation]
    policy: Any  # float32 [K, A]: the search's policy, and -1 for actions that are not legal
    seats: Any  # int64 [K]: who looks
    values: Any  # float32 [K, outputs]
    weights: Any  # float32 [K]
    replies: Any  # int64 [K]: what was played next, -1 where that is not known


@part
def fill_row(rules, rows, row, k, part_result, images, room, sample):
    """Write one row, whose state is images[k] and whose actions are in `room`, into the sample."""
    player = rows.players[row]
    begin = rows.starts[row]
    count = rows.starts[row + 1] - begin
    observe(rules, images[k], player, sample.planes[k])
    sample.policy[k, :] = -1.0
    for i in range(count):
        sample.policy[k, room[i]] = rows.policy[begin + i]
    sample.seats[k] = player
    players = rows.results.shape[1]
    for seat in range(sample.values.shape[1]):
        sample.values[k, seat] = rows.results[row, (player + seat) % players]
    sample.values[k, 0] = part_result * sample.values[k, 0] + (np.float32(1.0) - part_result) * rows.search[row]
    sample.weights[k] = rows.weights[row]


@part
def take_actions(rows, row, room):
    begin = rows.starts[row]
    count = rows.starts[row + 1] - begin
    for i in range(count):
        room[i] = rows.actions[begin + i]
    return count


@kernel
def draw_as_is(rules, rows, chosen, part_result, images, room, sample):
    """Fill a sample with the rows `chosen` int64 [K]; sample.planes arrives zeroed. Room: images [K], room [R]."""
    for k in range(chosen.size):
        take_actions(rows, chosen[k], room)
        copy_state(images, k, rows.states, chosen[k])
        sample.replies[k] = rows.replies[chosen[k]]
        fill_row(rules, rows, chosen[k], k, part_result, images, room, sample)


@kernel
def draw_symmetric(rules, rows, chosen, which, part_result, images, room, sample):
    """The same, each row in the symmetry `which` int64 [K].

    The image of a reply is not known: it belongs to the next position, and what an id means may depend on that.
    """
    for k in range(chosen.size):
        sample.replies[k] = rows.replies[chosen[k]] if which[k] == 0 else -1
        count = take_actions(rows, chosen[k], room)
        symmetry(rules, rows.states[chosen[k]], which[k], images[k], room, count)
        fill_row(rules, rows, chosen[k], k, part_result, images, room, sample)


def _cross_entropy(logits: Any, target: Any, weights: Any) -> Any:
    """Sum over rows; target -1 marks actions that are not legal."""
    logs = functional.log_softmax(logits.float().masked_fill(target < 0, -1e9), 1)
    return -(weights * (target.clamp(min=0) * logs).sum(1)).sum()


def _of_seats(policies: Any, seats: Any) -> Any:
    """Of policies [K, heads, A], where there is one for each seat, that of who looks: [K, A]."""
    return policies[:, 0] if policies.shape[1] == 1 else policies[torch.arange(len(seats), device=seats.device), seats]


class PlaneSampler:
    """Rows as planes, each in a random symmetry."""

    def __init__(self, game: Game, config: Config, outputs: int):
        self.game, self.config, self.outputs = game, config, outputs

    def draw(self, rows: Rows, count: int, choose: np.random.Generator) -> Sample:
        """Any `count` rows, as tensors in the processor's memory."""
        game, config = self.game, self.config
        chosen = choose.integers(0, len(rows), count)
        shape = tuple(game.observation or ())
        sample = Sample(
            np.zeros((count, *shape), np.float32),
            np.empty((count, game.actions), np.float32),
            np.empty(count, np.int64),
            np.empty((count, self.outputs), np.float32),
            np.empty(count, np.float32),
            np.empty(count, np.int64),
        )
        images, room = game.new_states(count), np.empty(game.most_legal, np.int32)
        part = np.float32(config.outcome_fraction)
        if config.augment and game.symmetries > 1:
            which = choose.integers(0, game.symmetries, count)
            draw_symmetric(game.rules, rows, chosen, which, part, images, room, sample)
        else:
            draw_as_is(game.rules, rows, chosen, part, images, room, sample)
        return Sample(*map(torch.from_numpy, sample))

    def loss(self, network: Any, sample: Sample) -> tuple[Any, Any]:
        """The sums over a sample, of tensors beside the network, of the policies' and of the value's loss."""
        config = self.config
        planes, target, seats, values, weights, replies = sample
        if planes.ndim == 4:
            planes = planes.contiguous(memory_format=torch.channels_last)
        policy, guessed, further = network.see(planes)
        policy_loss = _cross_entropy(_of_seats(policy, seats), target, weights)
        if config.soft_policy_weight:
            soft = further[:, 0] if config.reply_policy_weight else _of_seats(further, seats)
            softened = target.clamp(min=0).pow(0.25)
            softened = torch.where(target < 0, target, softened / softened.sum(1, keepdim=True))
            policy_loss = policy_loss + config.soft_policy_weight * _cross_entropy(soft, softened, weights)
        if config.reply_policy_weight:
            losses = functional.cross_entropy(further[:, -1].float(), replies, ignore_index=-1, reduction="none")
            policy_loss = policy_loss + config.reply_policy_weight * (weights * losses).sum()
        return policy_loss, (weights * (guessed.float() - values).square().mean(1)).sum()


class GraphSample(NamedTuple):
    """K rows as graphs, with M moves in all."""

    graphs: Any  # see nets.graph
    owners: Any  # int64 [M]: the row of each move
    policy: Any  # float32 [M]: the search's policy
    values: Any  # float32 [K, outputs]
    weights: Any  # float32 [K]


class GraphSampler:
    """Rows as graphs. They need no symmetric images: a graph looks the same from all sides."""

    def __init__(self, game: Game, config: Config, outputs: int):
        self.game, self.config, self.outputs = game, config, outputs

    def draw(self, rows: Rows, count: int, choose: np.random.Generator) -> GraphSample:
        """Any `count` rows, as tensors in the processor's memory."""
        drawn = pick_rows(rows, choose.integers(0, len(rows), count))
        counts = np.diff(drawn.starts).astype(np.int32)
        actions = np.zeros((count, counts.max()), np.int32)
        actions[np.arange(counts.max()) < counts[:, None]] = drawn.actions
        graphs = GraphBuilder(self.game).build(drawn.states, drawn.players, actions, counts)
        arrays = np.repeat(np.arange(count), counts), drawn.policy, self._values(drawn), drawn.weights
        return GraphSample(graphs, *map(torch.from_numpy, arrays))

    def loss(self, network: Any, sample: GraphSample) -> tuple[Any, Any]:
        """The sums over a sample, of tensors beside the network, of the policy's and of the value's loss."""
        graphs, owners, target, values, weights = sample
        logits, guessed = network(graphs)
        highest = logits.detach().new_full((len(weights),), -torch.inf)
        highest = highest.scatter_reduce(0, owners, logits.detach(), "amax")
        shifted = logits - highest[owners]
        totals = torch.zeros_like(highest).index_add(0, owners, shifted.exp())
        logs = shifted - totals.log()[owners]
        policy_loss = -(weights[owners] * target * logs).sum()
        return policy_loss, (weights * (guessed - values).square().mean(1)).sum()

    def _values(self, rows: Rows) -> np.ndarray:
        seats = (rows.players[:, None].astype(np.int64) + np.arange(self.outputs)) % self.game.players
        values = np.take_along_axis(rows.results, seats, 1)
        values[:, 0] = self.config.outcome_fraction * values[:, 0] + (1 - self.config.outcome_fraction) * rows.search
        return values


def make_sampler(game: Game, config: Config, network: Any) -> PlaneSampler | GraphSampler:
    """The one that feeds this network."""
    kind = GraphSampler if isinstance(network, GraphNetwork) else PlaneSampler
    return kind(game, config, network.sizes.outputs)


def to_device(sample: Any, device: torch.device) -> Any:
    """The same tensors, in a device's memory."""
    if isinstance(sample, torch.Tensor):
        return sample.to(device)
    return type(sample)(*(to_device(each, device) for each in sample)) if isinstance(sample, tuple) else sample
