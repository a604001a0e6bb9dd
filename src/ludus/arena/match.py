"""Matches: every start is played as many times as there are seats, with the agents moved on by one seat each time.

Everything follows from the match's seed: the starts, the openings, and a seed for each agent in each game. So a match
is repeated exactly by its seed, on any number of processes, and its games differ all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ludus.agents import Agent, make_agent
from ludus.arena.play import Listener, play_game, play_task
from ludus.arena.record import GameRecord, Task, derived, tasks_of
from ludus.arena.score import Score, score_of
from ludus.errors import BadAgent, BadOption
from ludus.game import Game

if TYPE_CHECKING:
    from ludus.arena.record import Thought
    from ludus.game import Position

Progress = Callable[["MatchResult", int], None]
"""Called after every move, with the result so far and the plies of the game under way: 0 where one has just ended."""


@dataclass
class MatchResult:
    """A match, finished or under way."""

    game: str
    """Its identity."""
    agents: list[str]
    players: int
    planned: int
    """How many games there will be."""
    seed: int
    games: list[GameRecord] = field(default_factory=list)
    seconds: float = 0.0

    def values(self, agent: int, seat: int | None = None) -> list[float]:
        """What an agent got, game by game; only from one seat, if given."""
        return [
            value
            for game in self.games
            for player, value in enumerate(game.values)
            if game.seats[player] == agent and seat in (None, player)
        ]

    def tally(self, agent: int, seat: int | None = None) -> tuple[int, int, int]:
        """Wins, draws and losses: results above 0, of 0 and below."""
        values = self.values(agent, seat)
        wins, losses = sum(value > 0 for value in values), sum(value < 0 for value in values)
        return wins, len(values) - wins - losses, losses

    def score(self, agent: int) -> Score:
        """A win counts 1, a draw 1/2; where there are not two players, a value from -1 to 1 counts 0 to 1."""
        values = self.values(agent)
        if self.players == 2:
            values = [(value > 0) - (value < 0) for value in values]
        return score_of([(value + 1) / 2 for value in values])


def play_match(
    game: Game,
    agents: Sequence[Agent | str],
    games: int,
    seed: int = 0,
    progress: Progress | None = None,
    result: MatchResult | None = None,
    *,
    parallel: int = 1,
    opening: int = 0,
    move_limit: float | None = None,
    after_start: Callable[[MatchResult], bool] | None = None,
) -> MatchResult:
    """A match of so many games between as many agents as the game has players, each given by its name or itself.

    `result` (from new_match) is filled as the games end: so somebody who stops the match still has those played. Games
    begin after an `opening` of so many random plies. `after_start` is called whenever a start was played from all
    seats, and ends the match by False.

    With `parallel` above 1, so many games are played at once, in processes of their own, by agents given by name. There
    an agent that fails, or takes longer than `move_limit` seconds over a move, loses the game; here, its exception is
    raised.
    """
    match = result or new_match(game, agents, games, seed)
    names = tuple(agent if isinstance(agent, str) else agent.name for agent in agents)
    tasks = tasks_of(names, games, seed, opening)
    began = time.perf_counter()

    def tell(plies: int) -> None:
        match.seconds = time.perf_counter() - began
        if progress is not None:
            progress(match, plies)

    if parallel > 1:
        records = _in_processes(game, tasks, parallel, move_limit, tell)
    else:
        made = [make_agent(agent, game) if isinstance(agent, str) else agent for agent in agents]
        records = (play_task(game, task, made, _Counter(tell), strict=True) for task in tasks)
    for record in records:
        match.games.append(record)
        tell(0)
        whole = len(match.games) % game.players == 0
        if whole and after_start is not None and not after_start(match):
            break
    return match


def _in_processes(
    game: Game, tasks: list[Task], parallel: int, move_limit: float | None, tell: Callable[[int], None]
) -> Iterator[GameRecord]:
    from ludus.arena.workers import MOVE_LIMIT, Workers

    with Workers(game, min(parallel, len(tasks)), move_limit or MOVE_LIMIT) as workers:
        for record in workers.play(tasks):
            if record is None:
                tell(workers.plies)
            else:
                yield record


class _Counter(Listener):
    """Counts the plies of a game."""

    def __init__(self, tell: Callable[[int], None]):
        self.tell = tell

    def played(self, position: Position, thoughts: tuple[Thought, ...]) -> None:
        self.tell(len(position.history))


def new_match(game: Game, agents: Sequence[Agent | str], games: int, seed: int = 0) -> MatchResult:
    """A match before its first game, if it can be played at all."""
    seats = game.players
    if len(agents) != seats:
        raise BadAgent(
            f"{game.name} has {seats} player{'s' * (seats != 1)}: a match needs as many agents, not {len(agents)}"
        )
    if games < 1 or games % seats:
        raise BadOption(
            f"a match of {game.name} needs a multiple of {seats} games, as every start is played from each seat, "
            f"not {games}"
        )
    if len({id(agent) for agent in agents if not isinstance(agent, str)}) < sum(not isinstance(a, str) for a in agents):
        raise BadAgent("every seat needs an agent of its own: make a second one of the same name")
    names = [agent if isinstance(agent, str) else agent.name for agent in agents]
    return MatchResult(game.identity, names, seats, games, seed)


__all__ = ["GameRecord", "MatchResult", "derived", "new_match", "play_game", "play_match"]
