"""One game: the agents are asked in turn, or all at once, until it is over or one of them breaks it off."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ludus.arena.record import GameRecord, Task, Thought, record_of, start_of
from ludus.errors import BadAgent, describe_error
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents import Agent, Budget, Choice
    from ludus.game import Action, Game, Position


class IllegalChoice(BadAgent):
    """An agent chose what its player cannot play."""


class Broken(Exception):
    """A player's agent failed, and the game cannot go on."""

    def __init__(self, player: int, reason: str):
        super().__init__(reason)
        self.player, self.reason = player, reason


class Listener:
    """Is told what happens while a game is played."""

    def readies(self, player: int) -> None:
        """An agent gets ready for the game."""

    def asks(self, player: int) -> None:
        """An agent is asked for a move."""

    def played(self, position: Position, thoughts: tuple[Thought, ...]) -> None:
        """A move led to this position."""


def play_game(
    start: Position,
    agents: Sequence[Agent],
    budget: Budget | None = None,
    watch: Callable[[Position], None] | None = None,
) -> Position:
    """Play from a position to the end, one agent for each player; the result is the last position, with its history."""
    position = start
    while not position.is_over:
        choices = _choices(position, lambda player: ask(position, agents[player], player, budget))  # noqa: B023
        position = position.play(_together(position, choices))
        if watch is not None:
            watch(position)
    return position


def play_task(game: Game, task: Task, agents: Sequence[Agent], listener: Listener, strict: bool = False) -> GameRecord:
    """Play a task with its agents. Whose agent raises an exception or chooses an illegal move loses, with the reason in
    the record; if `strict`, the exception is raised."""
    began = time.perf_counter()
    position = start_of(game, task)
    thoughts: list[tuple[Thought, ...]] = []
    latest: dict[int, Thought] = {}

    def choose(player: int) -> Choice:
        listener.asks(player)
        return _carefully(player, strict, lambda: think(player))

    def think(player: int) -> Choice:
        asked = time.perf_counter()
        choice = ask(position, agents[task.seats[player]], player, None)
        value = None if choice.value is None or math.isnan(choice.value) else float(choice.value)
        latest[player] = Thought(player, value, int(choice.simulations), time.perf_counter() - asked)
        return choice

    try:
        for player, index in enumerate(task.seats):
            listener.readies(player)
            _carefully(player, strict, lambda: agents[index].new_game(task.agent_seeds[index]))  # noqa: B023
        while not position.is_over:
            choices = _choices(position, choose)
            thoughts.append(tuple(latest[player] for player in choices))
            position = position.play(_together(position, choices))
            listener.played(position, thoughts[-1])
    except Broken as broken:
        return record_of(task, position, thoughts, time.perf_counter() - began, broken.player, broken.reason)
    return record_of(task, position, thoughts, time.perf_counter() - began, None)


def ask(position: Position, agent: Agent, player: int, budget: Budget | None) -> Choice:
    """An agent's choice, if it is a legal one."""
    choice = agent.choose(position, budget, player)
    if choice.action not in position.actions_of(player):
        raise IllegalChoice(
            f"{agent.name} chose action {choice.action}, which is not legal in the position {position.text}"
        )
    return choice


def _carefully(player: int, strict: bool, act: Callable[[], Any]) -> Any:
    try:
        return act()
    except Exception as error:
        if strict:
            raise
        reason = f"illegal move: {error}" if isinstance(error, IllegalChoice) else f"crashed: {describe_error(error)}"
        raise Broken(player, reason) from error


def _choices(position: Position, choose: Callable[[int], Choice]) -> dict[int, Choice]:
    """The choice of the player to move; where everyone moves, of each, and nobody sees what the others do."""
    if position.to_move != EVERYONE:
        return {position.to_move: choose(position.to_move)}
    return {player: choose(player) for player in range(position.game.players) if position.actions_of(player)}


def _together(position: Position, choices: dict[int, Choice]) -> Action:
    if position.to_move != EVERYONE:
        return choices[position.to_move].action
    return tuple(choices[player].action if player in choices else -1 for player in range(position.game.players))
