"""Grades of moves: the share that kept the outcome, the share of best moves, and the mean loss.

A move keeps the outcome if a won position stays won and a drawn one at least drawn. A move is best if no other move is
worth more. The two are the same where games are only won, drawn or lost, and differ where a game is won by an amount.
The loss is the value of the best move minus the value of the move played, from 0 to 2.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus.agents.asking import ask
from ludus.grading.positions import Known
from ludus.intervals import wilson_interval
from ludus.rng import derived_seed

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.search.forest import Evaluator

LARGEST_LOSS = 2.0
"""The loss of a move that turns a win (1) into a loss (-1)."""
ROWS = 256
"""Number of positions in one batch of a network."""
ALL = "all"
"""The name of the grade over all phases."""


class Mean(NamedTuple):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Grade:
    """The quality of the moves in a set of positions."""

    positions: int
    """Number of positions."""
    kept: Mean
    """The share of moves that kept the outcome."""
    best: Mean
    """The share of moves that were the best possible."""
    loss: Mean
    """The mean loss of value."""


def moves_of(agent: Agent, known: Sequence[Known], seed: int = 0) -> list[int]:
    """The action that an agent plays in each position."""
    return list(answers(agent, known, seed))


def answers(agent: Agent, known: Sequence[Known], seed: int = 0) -> Iterator[int]:
    """The actions of `moves_of`, one by one.

    Each position begins a new game, with a seed that follows from the position. So neither the order of the positions
    nor the other positions of the set change an answer.
    """
    for each in known:
        agent.new_game(derived_seed(seed, zlib.crc32(each.position.text.encode())))
        yield ask(each.position, agent, each.position.to_move).action


def favourites(evaluator: Evaluator, known: Sequence[Known]) -> list[int]:
    """The legal move with the highest policy logit in each position, without any search."""
    from ludus.search.batch import Batch, make_buffer

    actions: list[int] = []
    for begin in range(0, len(known), ROWS):
        part = [each.position for each in known[begin : begin + ROWS]]
        buffer = make_buffer(part[0].game, len(part), 1)
        for row, position in enumerate(part):
            legal = position.actions_of(position.to_move)
            buffer.states[row] = position.states[0]
            buffer.movers[row] = position.to_move
            buffer.actions[row, : len(legal)] = legal
            buffer.counts[row, 0] = len(legal)
        batch = Batch(*buffer[: len(Batch._fields)])
        evaluator.evaluate(batch)
        for row, count in enumerate(batch.counts[:, 0].tolist()):
            actions.append(int(batch.actions[row, batch.logits[row, :count].argmax()]))
    return actions


def grade_moves(known: Sequence[Known], actions: Sequence[int], where_it_matters: bool = False) -> dict[str, Grade]:
    """The grade of the moves in each phase that occurs, and in all.

    If `where_it_matters`, only positions count in which not all moves are equally good.
    """
    groups: dict[str, list[tuple[Known, int]]] = {each.phase: [] for each in known}
    groups[ALL] = []
    for each, action in zip(known, actions, strict=True):
        if each.matters or not where_it_matters:
            groups[each.phase].append((each, action))
            groups[ALL].append((each, action))
    return {name: _grade(group) for name, group in groups.items() if group or name == ALL}


def _grade(played: list[tuple[Known, int]]) -> Grade:
    values = [(each.value, each.values[action]) for each, action in played]
    return Grade(
        len(played),
        kept=_mean([float(sign(got) == sign(best)) for best, got in values]),
        best=_mean([float(got == best) for best, got in values]),
        loss=_mean([best - got for best, got in values], LARGEST_LOSS),
    )


def _mean(figures: list[float], largest: float = 1.0) -> Mean:
    """The mean of figures from 0 to `largest`, with its interval.

    Wilson's interval is made for figures of 0 and 1 only. Other figures with the same mean vary less, so for them the
    interval is wider than necessary, never too narrow.
    """
    mean = sum(figures) / len(figures) if figures else 0.0
    low, high = wilson_interval(mean / largest, len(figures))
    return Mean(mean, largest * low, largest * high)


def sign(value: Any) -> int:
    """1 for values above 0, -1 for values below, else 0."""
    return int(value > 0) - int(value < 0)
