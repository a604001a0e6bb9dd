"""Moves graded against the truth: the outcome kept, the best possible, how much was lost.

A move keeps the outcome if a won position stays won, and a drawn one at least drawn. It is the best possible if no
other is worth more: the same where games are only won, drawn or lost, and more than that where they are won by so much.
The loss is the difference between the best move's value and that of the move played, from 0 to 2.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ludus.arena.play import ask
from ludus.arena.record import derived
from ludus.arena.score import wilson_interval
from ludus.grading.positions import Known

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.search.forest import Evaluator

LARGEST_LOSS = 2.0
"""From 1, a win, to -1, a loss."""
ROWS = 256
"""Positions that a network looks at in one batch."""
ALL = "all"


class Mean(NamedTuple):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Grade:
    """How well somebody played in some positions."""

    positions: int
    kept: Mean
    """The part of moves that kept the outcome,"""
    best: Mean
    """and that were the best possible;"""
    loss: Mean
    """what a move lost of the value."""


def moves_of(
    agent: Agent, known: Sequence[Known], seed: int = 0, progress: Callable[[int], None] | None = None
) -> list[int]:
    """What an agent plays in each position. Each begins a new game, with a seed that follows from it: neither the order
    of the positions nor what else is among them changes an answer."""
    actions = []
    for each in known:
        agent.new_game(derived(seed, zlib.crc32(each.position.text.encode())))
        actions.append(ask(each.position, agent, each.position.to_move, None).action)
        if progress is not None:
            progress(len(actions))
    return actions


def favourites(evaluator: Evaluator, known: Sequence[Known]) -> list[int]:
    """The legal move that a network likes best in each position, without any search."""
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
    """A grade for the moves in each phase that occurs, then in all; if `where_it_matters`, only positions count in
    which not all moves are equally good."""
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
    """Of figures from 0 to `largest`. Wilson's interval is made for those that are always one or the other; all others
    with the same mean vary less, so that for them it is wider than need be, and not too narrow."""
    mean = sum(figures) / len(figures) if figures else 0.0
    low, high = wilson_interval(mean / largest, len(figures))
    return Mean(mean, largest * low, largest * high)


def sign(value: Any) -> int:
    return int(value > 0) - int(value < 0)
