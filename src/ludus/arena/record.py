"""Tasks and records: a task holds everything that decides a game, a record holds how the game went.

Everything random follows from seeds: the start, the opening, and a seed for each agent in each game. Playing a task
again gives the same moves, in any process.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from ludus.errors import LudusError
from ludus.rng import derived_seed
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.game import Action, Game, Position

TRIES = 100
"""Number of random openings of one length that are tried before a shorter one is drawn."""

REPLACED = "moves replaced: "
"""Begins the reason of a game in which moves of failing players were replaced, as game managers do it in general game
playing. The game went on, and its result counts."""


@dataclass(frozen=True)
class Task:
    """A game to be played."""

    number: int
    """The number of the game in its match, from 0."""
    agents: tuple[str, ...]
    """The names of the agents."""
    seats: tuple[int, ...]
    """For each player, the index of its agent in `agents`."""
    seed: int
    """The seed of the start: `game.start(seed)` is the first position."""
    agent_seeds: tuple[int, ...]
    """The seed of each agent."""
    opening: int = 0
    """The number of random plies before the agents begin. They follow from the seed of the start."""


class Thought(NamedTuple):
    """The evaluation and the effort behind one move of an agent."""

    player: int
    value: float | None
    """The expected result in [-1, 1]; None if the agent does not estimate one."""
    simulations: int
    seconds: float


@dataclass(frozen=True)
class GameRecord:
    """A finished game."""

    seed: int
    """The seed of the start: `game.start(seed)` is the first position."""
    seats: tuple[int, ...]
    """For each player, the index of the agent that played it."""
    actions: tuple[Action, ...]
    moves: tuple[str, ...]
    """The actions in notation."""
    values: tuple[float, ...]
    """The result of each player, in [-1, 1]."""
    opening: int = 0
    """The number of actions at the start that were drawn at random."""
    agent_seeds: tuple[int, ...] = ()
    thoughts: tuple[tuple[Thought, ...], ...] = ()
    """For each ply after the opening, one entry for each player who moved."""
    seconds: float = 0.0
    reason: str = ""
    """The fault of the loser, if a fault ended the game; or faults that did not end it, after REPLACED; else empty."""

    @property
    def is_forfeit(self) -> bool:
        """True if a fault of the loser ended the game."""
        return bool(self.reason) and not self.reason.startswith(REPLACED)


def tasks_of(agents: tuple[str, ...], games: int, seed: int, opening: int = 0, first: int = 0) -> Iterator[Task]:
    """The games of a match, made one by one.

    Each start is played once for every seat, and the agents move on by one seat each time. The first task has the
    number `first`.
    """
    players = len(agents)
    for number in range(first, first + games):
        yield Task(
            number,
            agents,
            tuple((player + number) % players for player in range(players)),
            derived_seed(seed, number // players),
            tuple(derived_seed(seed, number, index) for index in range(players)),
            opening,
        )


def start_of(game: Game, task: Task) -> Position:
    """The position in which the agents begin. The opening is shorter if random play ends the game before it."""
    start = game.start(task.seed)
    plies = task.opening
    while plies > 0:
        longest = 0
        for attempt in range(TRIES):
            random = Random(derived_seed(task.seed, plies, attempt, 0))
            position, played = start, 0
            while played < plies and not position.is_over:
                position, played = position.play(random_action(position, random)), played + 1
            if not position.is_over:
                return position
            longest = max(longest, played)
        plies = min(plies, longest) - 1
    return start


def random_action(position: Position, random: Random) -> Action:
    """A random legal action; a joint action where everyone moves at once."""
    if position.to_move != EVERYONE:
        return random.choice(position.actions_of(position.to_move))
    choices = [position.actions_of(player) or [-1] for player in range(position.game.players)]
    return tuple(random.choice(each) for each in choices)


def record_of(
    task: Task, last: Position, thoughts: list[tuple[Thought, ...]], seconds: float, loser: int | None, reason: str = ""
) -> GameRecord:
    """The record of a game that ended in the position `last`. `loser` is the player whose fault ended it, if any."""
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


def positions_of(game: Game, record: GameRecord) -> tuple[list[Position], LudusError | None]:
    """The positions of a recorded game from the start to the end.

    If a recorded move cannot be played, the positions end before it, and the error says why.
    """
    positions = [game.start(record.seed)]
    try:
        for move in record.moves:
            positions.append(positions[-1].play(move))
    except LudusError as error:
        return positions, error
    return positions, None


def forfeit(players: int, loser: int) -> tuple[float, ...]:
    """The results of a game that one player loses by a fault: -1 for the loser, equal shares of 1 for the others."""
    return tuple(-1.0 if player == loser else 1.0 / (players - 1) for player in range(players))
