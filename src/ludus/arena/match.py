"""Matches: every start is played as many times as there are seats, with the agents moved on by one seat each time.

Everything follows from the match's seed: the starts, and a seed for each agent in each game. So a match is repeated
exactly by its seed, and its games differ all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ludus.agents import Agent, make_agent
from ludus.arena.score import Score, score_of
from ludus.chance import generator
from ludus.errors import BadAgent, BadOption
from ludus.game import Action, Game, Position
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents import Budget

Progress = Callable[["MatchResult", Position], None]
"""Called after every move, with the result so far and the position of the game under way."""


@dataclass(frozen=True)
class GameRecord:
    """One game."""

    seed: int
    """Of the start: game.start(seed) is the first position."""
    seats: tuple[int, ...]
    """For each player, the number of the agent that played it."""
    actions: tuple[Action, ...]
    moves: tuple[str, ...]
    """The same in notation."""
    values: tuple[float, ...]
    """The result for each player, in [-1, 1]."""


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


def play_game(
    start: Position,
    agents: Sequence[Agent],
    budget: Budget | None = None,
    watch: Callable[[Position], None] | None = None,
) -> Position:
    """Play from a position to the end, one agent for each player; the result is the last position, with its history."""
    position = start
    while not position.is_over:
        position = position.play(next_action(position, agents, budget))
        if watch is not None:
            watch(position)
    return position


def next_action(position: Position, agents: Sequence[Agent], budget: Budget | None = None) -> Action:
    """What is played: where everyone moves, all choose without seeing what the others do."""
    if position.to_move != EVERYONE:
        return _ask(position, agents[position.to_move], position.to_move, budget)
    return tuple(
        _ask(position, agent, player, budget) if position.actions_of(player) else -1
        for player, agent in enumerate(agents)
    )


def _ask(position: Position, agent: Agent, player: int, budget: Budget | None) -> int:
    action = agent.choose(position, budget, player).action
    if action not in position.actions_of(player):
        raise BadAgent(f"{agent.name} chose action {action}, which is not legal in the position {position.text}")
    return action


def play_match(
    game: Game,
    agents: Sequence[Agent | str],
    games: int,
    seed: int = 0,
    budget: Budget | None = None,
    progress: Progress | None = None,
    result: MatchResult | None = None,
) -> MatchResult:
    """A match of so many games between as many agents as the game has players, each given by its name or itself.

    `result` (from new_match) is filled as the games end: so somebody who stops the match still has those played.
    """
    made = [make_agent(agent, game) if isinstance(agent, str) else agent for agent in agents]
    match = result or new_match(game, made, games, seed)
    began = time.perf_counter()
    for number in range(games):
        start_seed = derived(seed, number // game.players)
        seats = tuple((player + number) % game.players for player in range(game.players))
        for index, agent in enumerate(made):
            agent.new_game(derived(seed, number, index))

        def watch(position: Position) -> None:
            match.seconds = time.perf_counter() - began
            if progress is not None:
                progress(match, position)

        last = play_game(game.start(start_seed), [made[agent] for agent in seats], budget, watch)
        line = last.history
        actions = tuple(position.action for position in line if position.action is not None)
        match.games.append(GameRecord(start_seed, seats, actions, tuple(last.played), last.values))
        watch(last)
    return match


def new_match(game: Game, agents: Sequence[Agent], games: int, seed: int = 0) -> MatchResult:
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
    if len({id(agent) for agent in agents}) != len(agents):
        raise BadAgent("every seat needs an agent of its own: make a second one of the same name")
    return MatchResult(game.identity, [agent.name for agent in agents], seats, games, seed)


def derived(*seeds: int) -> int:
    """A seed from others: unrelated to them, and to one from any other integers."""
    return int(generator(*seeds)[0] >> 33)
