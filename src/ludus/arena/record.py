"""What is played, and what is kept of it: a task says all that decides a game, a record how it went.

Everything follows from seeds: the start, the opening, and a seed for each agent. So a task is played again move for
move, whoever plays it, and wherever.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from ludus.rng import generator
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.game import Action, Game, Position

TRIES = 100
"""How often a random opening is drawn anew because it ends the game."""


@dataclass(frozen=True)
class Task:
    """One game that is to be played."""

    number: int
    agents: tuple[str, ...]
    """Names."""
    seats: tuple[int, ...]
    """For each player, the number of the agent that plays it."""
    seed: int
    """Of the start: game.start(seed) is the first position."""
    agent_seeds: tuple[int, ...]
    """For each agent."""
    opening: int = 0
    """So many plies are played at random, as the seed of the start says, before the agents begin."""


class Thought(NamedTuple):
    """What an agent thought about one move."""

    player: int
    value: float | None
    """What it expected, in [-1, 1]; None where it had no idea."""
    simulations: int
    seconds: float


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
    opening: int = 0
    """So many of the actions were an opening drawn at random."""
    agent_seeds: tuple[int, ...] = ()
    thoughts: tuple[tuple[Thought, ...], ...] = ()
    """For each ply after the opening: of the player who moved, or of everyone who did."""
    seconds: float = 0.0
    reason: str = ""
    """Why it ended before its end: what the loser did wrong."""


def tasks_of(agents: tuple[str, ...], games: int, seed: int, opening: int = 0, first: int = 0) -> list[Task]:
    """The games of a match: every start is played as many times as there are seats, the agents moved on by one seat
    each time; `first` is the number of the first game."""
    players = len(agents)
    return [
        Task(
            number,
            agents,
            tuple((player + number) % players for player in range(players)),
            derived(seed, number // players),
            tuple(derived(seed, number, index) for index in range(players)),
            opening,
        )
        for number in range(first, first + games)
    ]


def start_of(game: Game, task: Task) -> Position:
    """The position in which the agents begin; shorter openings where the game is over sooner."""
    start = game.start(task.seed)
    for plies in range(task.opening, 0, -1):
        for attempt in range(TRIES):
            random = Random(derived(task.seed, plies, attempt, 0))
            position = start
            for _ in range(plies):
                if not position.is_over:
                    position = position.play(_any_action(position, random))
            if not position.is_over:
                return position
    return start


def _any_action(position: Position, random: Random) -> Action:
    if position.to_move != EVERYONE:
        return random.choice(position.actions_of(position.to_move))
    choices = [position.actions_of(player) or [-1] for player in range(position.game.players)]
    return tuple(random.choice(each) for each in choices)


def record_of(
    task: Task, last: Position, thoughts: list[tuple[Thought, ...]], seconds: float, loser: int | None, reason: str = ""
) -> GameRecord:
    """The record of a game that ended in a position; `loser` is the player who broke it off, if one did."""
    actions = tuple(position.action for position in last.history if position.action is not None)
    return GameRecord(
        task.seed,
        task.seats,
        actions,
        tuple(last.played),
        last.values if loser is None else forfeit(last.game.players, loser),
        len(actions) - len(thoughts),
        task.agent_seeds,
        tuple(thoughts),
        seconds,
        reason,
    )


def forfeit(players: int, loser: int) -> tuple[float, ...]:
    """One loses, the others share what it loses."""
    return tuple(-1.0 if player == loser else 1.0 / (players - 1) for player in range(players))


def derived(*seeds: int) -> int:
    """A seed from others: unrelated to them, and to one from any other integers."""
    return int(generator(*seeds)[0] >> 33)
