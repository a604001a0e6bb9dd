"""`ludus.review`: every move of a game judged, by exact truth where the solver reaches and by a search elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ludus.agents.agent import Agent
from ludus.agents.budget import Budget
from ludus.agents.naming import make_agent
from ludus.agents.search import think
from ludus.rules import EVERYONE
from ludus.stopping import NEVER, Stop

if TYPE_CHECKING:
    from ludus.game import Position

SOLVE_SECONDS = 1.0
"""Seconds that the solver may take for a position, by default."""


@dataclass(frozen=True)
class Judged:
    """The judgement of one position of a game and of the move that was played there."""

    ply: int
    """The number of moves before this position."""
    player: int
    """The player to move; EVERYONE (-1) where all move at once, and at the end of the game."""
    values: tuple[float | None, ...]
    """The result that each player could expect here, in [-1, 1]; None where nothing is known."""
    best: str | None
    """The best move, in notation; None where all move at once, and at the end of the game."""
    played: str | None
    """The move that was played, in notation; None at the end."""
    loss: float | None
    """The value that the move gave away, from 0 to 2; None where nothing is known, and where all move at once."""
    exact: bool
    """True if the values are proven, by the solver, by the search, or because the game is over."""

    @property
    def json(self) -> dict[str, Any]:
        """The judgement in lists, texts and numbers, ready for json.dumps."""
        return {**vars(self), "values": list(self.values)}


def review(
    positions: Position | Sequence[Position],
    agent: Agent | str = "uct",
    budget: Budget | str | int | None = None,
    solve_seconds: float = SOLVE_SECONDS,
    seed: int = 0,
    memory: int = 1 << 26,
    stop: Stop = NEVER,
) -> Iterator[Judged]:
    """Judge the positions of a game, the last one first: near the end the solver reaches, and its table helps earlier.

    `positions` are the positions of a game in order, or the last of them. Each is solved within `solve_seconds` (0: not
    at all) until one takes longer; that and all earlier ones are searched by `agent` with `budget`. `memory` is the
    limit in bytes of the solver's table. The iterator ends early when `stop` is set.
    """
    line = list(positions) if isinstance(positions, Sequence) else positions.history
    game = line[0].game
    if isinstance(agent, str):
        agent = make_agent(agent, game, seed)
    solver = _Solver(line[0], solve_seconds, memory, stop) if game.two_player_zero_sum and solve_seconds > 0 else None
    for ply in range(len(line) - 1, -1, -1):
        if stop.is_set():
            return
        position, after = line[ply], line[ply + 1] if ply + 1 < len(line) else None
        judged = None
        if position.is_over:
            judged = Judged(ply, EVERYONE, position.values, None, None, None, True)
        elif solver is not None:
            judged = solver.judge(position, after, ply)
            solver = solver if judged is not None else None
        if judged is None and not stop.is_set():
            judged = _search(position, after, ply, agent, budget, stop)
        if judged is not None and not stop.is_set():
            yield judged


class _Solver:
    """Solves the positions of one game, with one table."""

    def __init__(self, position: Position, seconds: float, memory: int, stop: Stop):
        from ludus.search.solver import prepare

        self.stack = prepare(position, memory)
        self.seconds, self.stop = seconds, stop

    def judge(self, position: Position, after: Position | None, ply: int) -> Judged | None:
        """The exact judgement; None if the position takes too long."""
        from ludus.search.solver import NotSolved, solve

        try:
            solution = solve(position, limit=self.seconds, stack=self.stack, stop=self.stop)
        except NotSolved:
            return None
        values = (solution.value, -solution.value) if position.to_move == 0 else (-solution.value, solution.value)
        loss = None
        if after is not None and isinstance(after.action, int):
            loss = solution.value - solution.values[after.action]
        best = position.notation(solution.best[0])
        return Judged(ply, position.to_move, values, best, _played(position, after), loss, True)


def _search(
    position: Position, after: Position | None, ply: int, agent: Agent, budget: Budget | str | int | None, stop: Stop
) -> Judged:
    """The judgement of a search, in which the move that was played has its mean result."""
    players = range(position.game.players)
    together = position.to_move == EVERYONE
    asked = next(player for player in players if position.actions_of(player)) if together else position.to_move
    choice, snapshot = think(agent, position, budget, asked, is_stopped=stop.is_set)
    known = {block.player: block.value for block in snapshot.blocks}
    values = [known.get(player) for player in players]
    value = choice.value
    if position.game.two_player_zero_sum and value is not None:
        values = [value, -value] if position.to_move == 0 else [-value, value]
    loss = None
    if after is not None and isinstance(after.action, int) and choice.values and choice.actions and not together:
        of_played = choice.values[choice.actions.index(after.action)]
        of_best = choice.values[choice.actions.index(choice.action)]
        loss = None if math.isnan(of_played) or math.isnan(of_best) else max(0.0, of_best - of_played)
    best = None if together else choice.move
    return Judged(ply, position.to_move, tuple(values), best, _played(position, after), loss, choice.solved)


def _played(position: Position, after: Position | None) -> str | None:
    return None if after is None or after.action is None else position.notation(after.action)
