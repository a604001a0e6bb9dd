"""Perfect play: every position is solved exactly. For small games of two players who move in turn.

solver               thinks until the position is solved        solver:10s   gives up after 10 seconds
memory=256MB         the limit for the table of positions
"""

from __future__ import annotations

import math
import time
from random import Random
from typing import TYPE_CHECKING

from ludus.agents.agent import Choice, player_asked
from ludus.agents.budget import Budget
from ludus.agents.naming import size
from ludus.errors import BadAgent

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.naming import Spec
    from ludus.game import Game, Position


OPTIONS = {"memory": size}


class SolverAgent:
    """Plays one of the moves that keep the value, at random.

    When it is stopped before the position is solved, it plays the best of the moves that are solved by then, or any
    move if there is none.
    """

    def __init__(
        self, game: Game, name: str = "solver", budget: Budget | None = None, seed: int = 0, memory: int = 1 << 28
    ):
        self.game, self.name, self.budget, self.memory = game, name, budget, memory
        self.random = Random(seed)
        self.ready = False

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        from ludus.search.solver import NotSolved, solve

        self._get_ready()
        began = time.perf_counter()
        player = player_asked(position, player)
        allowed = self.budget if budget is None else Budget.of(budget)
        limit = allowed.seconds if allowed else None
        searched = 0
        stopped = False

        def report(positions: int) -> bool:
            nonlocal searched, stopped
            searched = positions
            spent = 0.0 if limit is None else min(1.0, (time.perf_counter() - began) / limit)
            stopped = progress is not None and progress(spent) is False
            return not stopped

        actions = position.actions_of(player)
        try:
            solution = solve(position, limit=limit, memory=self.memory, progress=report)
        except NotSolved as error:
            if not stopped:
                raise
            known = error.values or dict.fromkeys(actions, 0.0)
            action = self.random.choice([each for each in actions if known.get(each) == max(known.values())])
            move = position.game.write_move(position.state, player, action)
            values = [error.values.get(each, math.nan) for each in actions]
            seconds = time.perf_counter() - began
            return Choice(player, action, move, actions, values=values, simulations=searched, seconds=seconds)
        action = self.random.choice(sorted(solution.best))
        move = position.game.write_move(position.state, player, action)
        return Choice(
            player,
            action,
            move,
            actions,
            values=[solution.values[action] for action in actions],
            policy=[(action in solution.best) / len(solution.best) for action in actions],
            value=solution.value,
            line=[move],
            simulations=solution.positions,
            seconds=time.perf_counter() - began,
            solved=True,
        )

    def new_game(self, seed: int) -> None:
        self.random = Random(seed)
        self._get_ready()

    def _get_ready(self) -> None:
        if not self.ready:
            from ludus.search.solver import prepare

            prepare(self.game.start(), self.memory)
            self.ready = True


def make(spec: Spec, game: Game, seed: int) -> SolverAgent:
    if spec.budget is not None and spec.budget.seconds is None:
        raise BadAgent(f"{spec.text}: the solver's budget is a time, such as 10s, after which it gives up")
    game.require_two_player_zero_sum(f"cannot be played by {spec.text}", BadAgent)
    return SolverAgent(game, spec.text, spec.budget, seed, **spec.read(**OPTIONS))
