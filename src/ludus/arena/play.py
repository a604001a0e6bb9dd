"""One game: the agents are asked in turn, or all at once, until the game is over or an agent fails."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ludus.agents.asking import IllegalChoice, ask
from ludus.arena.record import GameRecord, Task, Thought, record_of, start_of
from ludus.arena.remote import AgentFailed, RemoteAgent
from ludus.errors import describe_error
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents import Agent, Budget, Choice
    from ludus.game import Action, Game, Position


class Broken(Exception):
    """The agent of a player failed, so the game cannot go on."""

    def __init__(self, player: int, reason: str):
        super().__init__(reason)
        self.player, self.reason = player, reason


class Listener:
    """Receives the steps of a game while it is played. The methods of this class do nothing."""

    def readies(self, player: int) -> None:
        """The agent of `player` begins to prepare for the game."""

    def asks(self, player: int) -> None:
        """The agent of `player` is asked for a move."""

    def played(self, position: Position, thoughts: tuple[Thought, ...]) -> None:
        """A move led to `position`."""


def play_game(
    start: Position,
    agents: Sequence[Agent],
    budget: Budget | None = None,
    watch: Callable[[Position], None] | None = None,
) -> Position:
    """Play from a position to the end, with one agent for each player. Returns the last position with its history."""
    position = start
    while not position.is_over:
        choices = _choices(position, lambda player: ask(position, agents[player], player, budget))  # noqa: B023
        position = position.play(_together(position, choices))
        if watch is not None:
            watch(position)
    return position


def play_task(game: Game, task: Task, agents: Sequence[Agent], listener: Listener, strict: bool = False) -> GameRecord:
    """Play a task with its agents.

    An agent that raises an exception or chooses an illegal move loses, and the record gives the reason. If `strict`,
    the exception of an agent in this process is raised instead.
    """
    began = time.perf_counter()
    position = start_of(game, task)
    thoughts: list[tuple[Thought, ...]] = []
    latest: dict[int, Thought] = {}

    def choose(player: int) -> Choice:
        listener.asks(player)
        return guarded(player, lambda: think(player))

    def guarded(player: int, act: Callable[[], Any]) -> Any:
        is_raised = strict and not isinstance(agents[task.seats[player]], RemoteAgent)
        return _guarded(player, is_raised, act)

    def think(player: int) -> Choice:
        asked = time.perf_counter()
        choice = ask(position, agents[task.seats[player]], player)
        value = None if choice.value is None or math.isnan(choice.value) else float(choice.value)
        latest[player] = Thought(player, value, int(choice.simulations), time.perf_counter() - asked)
        return choice

    try:
        for player, index in enumerate(task.seats):
            listener.readies(player)
            guarded(player, lambda: agents[index].new_game(task.agent_seeds[index]))  # noqa: B023
        while not position.is_over:
            choices = _choices(position, choose)
            thoughts.append(tuple(latest[player] for player in choices))
            position = position.play(_together(position, choices))
            listener.played(position, thoughts[-1])
    except Broken as broken:
        return record_of(task, position, thoughts, time.perf_counter() - began, broken.player, broken.reason)
    return record_of(task, position, thoughts, time.perf_counter() - began, None)


def _guarded(player: int, is_raised: bool, act: Callable[[], Any]) -> Any:
    """Call an agent; its exception becomes Broken, unless it `is_raised`."""
    try:
        return act()
    except Exception as error:
        if is_raised:
            raise
        if isinstance(error, AgentFailed):
            reason = error.reason
        else:
            illegal = isinstance(error, IllegalChoice)
            reason = f"illegal move: {error}" if illegal else f"crashed: {describe_error(error)}"
        raise Broken(player, reason) from error


def _choices(position: Position, choose: Callable[[int], Choice]) -> dict[int, Choice]:
    """The choice of each player who moves. Where everyone moves at once, no player sees the choices of others."""
    if position.to_move != EVERYONE:
        return {position.to_move: choose(position.to_move)}
    return {player: choose(player) for player in range(position.game.players) if position.actions_of(player)}


def _together(position: Position, choices: dict[int, Choice]) -> Action:
    if position.to_move != EVERYONE:
        return choices[position.to_move].action
    return tuple(choices[player].action if player in choices else -1 for player in range(position.game.players))
