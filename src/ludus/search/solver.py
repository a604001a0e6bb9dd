"""The exact value of a position, by alpha-beta search with a table of positions (see alphabeta.py)."""

import time
from dataclasses import dataclass

import numpy as np

from ludus.errors import LudusError, Unsuitable
from ludus.game import Game, Position
from ludus.search.alphabeta import ENTRY, Stack, alpha_beta, frame_dtype, make_stack
from ludus.search.running import Reporter, run_watched
from ludus.stopping import Stop


class NotSolved(LudusError):
    """The time ran out, or the caller stopped the solver."""

    def __init__(self, message: str, values: dict[int, float] | None = None):
        super().__init__(message)
        self.values = values or {}
        """The exact values of the moves that were solved before, by action."""


@dataclass
class Solution:
    """The exact values of a position and its moves."""

    value: float
    """The value for the player to move; for player 0 if the game is over."""
    values: dict[int, float]
    """The value of each action for the player to move; empty if the game is over."""
    best: list[int]
    """The actions that keep the value."""
    positions: int
    """The number of positions searched."""
    seconds: float


def solve(
    position: Position,
    *,
    limit: float | None = None,
    memory: int = 1 << 28,
    progress: Reporter | None = None,
    stack: Stack | None = None,
    stop: Stop | None = None,
) -> Solution:
    """The exact value of a position and of each of its moves.

    Raises NotSolved after `limit` seconds, when `stop` is set, or when `progress` returns False. To solve many
    positions of one game, keep a `stack` from `prepare`: its table remembers earlier positions.
    """
    stack = prepare(position, memory) if stack is None else stack
    stack.control[:] = 0
    game = position.game
    if position.is_over:
        return Solution(position.values[0], {}, [], 0, 0.0)
    began = time.perf_counter()
    sign = 1.0 if position.to_move == 0 else -1.0
    values: dict[int, float] = {}
    for action in position.actions_of(position.to_move):
        after = position.play(action)
        if after.is_over:
            values[action] = sign * after.values[0]
            continue
        stack.states[0] = after.states[0]
        left = None if limit is None else began + limit - time.perf_counter()
        value = run_watched(lambda: solve_root(game.rules, stack), stack.control, progress, left, stop)
        game.raise_pending()
        if stack.control[1]:
            late = limit is not None and time.perf_counter() - began >= limit
            why = f"not solved within {limit:g} s" if late else "stopped"
            raise NotSolved(f"{why}, after {stack.control[0]:,} positions", values)
        values[action] = sign * value
    best = max(values.values())
    return Solution(
        value=best,
        values=values,
        best=[action for action, value in values.items() if value == best],
        positions=int(stack.control[0]),
        seconds=time.perf_counter() - began,
    )


def prepare(position: Position, memory: int) -> Stack:
    """A stack for `solve`. Compiles the search, so that this does not count against a time limit."""
    game = position.game
    check_suitable(game)
    stack = make_solver_stack(game.compile(), memory)
    if not position.is_over:
        stack.states[0] = position.states[0]
        stack.control[1] = 1  # the search stops at once
        solve_root(game.rules, stack)
        game.raise_pending()
        stack.control[:] = 0
    return stack


def check_suitable(game: Game) -> None:
    """Raise Unsuitable if the game cannot be solved."""
    game.require_two_player_zero_sum("cannot be solved")


def value_of(position: Position, *, memory: int = 1 << 28) -> float:
    """The exact value of a position for the player to move; faster than `solve`, which also solves every move."""
    check_suitable(position.game)
    if position.is_over:
        return position.values[0]
    stack = make_solver_stack(position.game.compile(), memory)
    stack.states[0] = position.states[0]
    value = run_watched(lambda: solve_root(position.game.rules, stack), stack.control)
    position.game.raise_pending()
    return value if position.to_move == 0 else -value


def solve_root(rules, stack):
    """The value of stack.states[0] for player 0; the game must not be over there."""
    return alpha_beta(rules, stack, stack.table, 0, 0, np.float32(-1.0), np.float32(1.0))


def make_solver_stack(game: Game, memory: int) -> Stack:
    """A stack as deep as the game can be long, with a table in the rest of `memory` bytes."""
    plies, most = game.longest + 1, game.most_legal
    states = (1 + plies * most) * game.new_states(1).nbytes
    left = memory - states - plies * (frame_dtype(np.float32).itemsize + 20 * most) - 8 * game.actions
    if left < (1 << 16) * ENTRY.itemsize:
        raise Unsuitable(f"{game.name} is too long a game to be solved in {memory >> 20} MiB")
    return make_stack(game, plies, 1 << ((left // ENTRY.itemsize).bit_length() - 1))
