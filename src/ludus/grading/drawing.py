"""Positions drawn from play and solved exactly.

Half the moves of a game are random, and half are those of a small search. So absurd positions are rare, and so are
those that every game goes through. Each position is from a game of its own: neighbours in one game resemble each other,
and intervals that count them as two would be too narrow. Every phase of the game gets the same number of positions.
Positions that are not solved in time are left out and counted.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from ludus.agents import make_agent
from ludus.errors import BadOption, Unsuitable
from ludus.grading.events import GradingEvent, PositionSolved
from ludus.grading.positions import PHASES, BadPositions, Known, Positions
from ludus.grading.truth import is_standard_connect4, truth_of
from ludus.rng import derived_seed
from ludus.search.solver import check_suitable
from ludus.stopping import Stop, is_stopped

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.game import Game, Position

COUNT = 300
"""Default number of positions."""
MOST_POSITIONS = 100_000
"""Upper limit for the number of positions."""
LIMIT = 1.0
"""Default time to solve a position, in seconds."""
SENSIBLE = "uct:100"
"""The agent that plays the moves that are not random."""
RANDOM_PART = 0.5
"""The share of random moves."""
PILOT = 15
"""Number of games that show how long a game is."""
NOTHING_NEW = 50
"""A phase has no more positions after this number of games in a row without a new one."""
UNSOLVED = 20
"""A phase is out of reach after this number of positions in a row that were not solved in time."""
CONNECT4_PHASES = (14, 28)
"""The plies at which published work on Connect-4 ends its phases."""
STOPPED = "stopped"
"""The key in `Positions.about` that marks a set cut short by the stop signal."""


def draw_positions(
    game: Game,
    count: int = COUNT,
    seed: int = 0,
    limit: float = LIMIT,
    on_event: Callable[[GradingEvent], None] | None = None,
    stop: Stop | None = None,
) -> Positions:
    """Draw `count` different positions with the value of every move; fewer if no more are within reach.

    The same seed gives the same positions, as far as they are solved in time. The stop signal ends the drawing with the
    positions found so far.
    """
    check_suitable(game)
    if not len(PHASES) <= count <= MOST_POSITIONS:
        raise BadOption(
            f"count must be at least {len(PHASES)}, one for each phase of the game, and at most {MOST_POSITIONS:,}, "
            f"not {count}"
        )
    tell = on_event or (lambda event: None)
    truth = truth_of(game, limit)
    agent = make_agent(SENSIBLE, game.compile())
    pilot: list[list[Position]] = []
    while len(pilot) < PILOT and not is_standard_connect4(game) and not is_stopped(stop):
        pilot.append(_play(game, agent, derived_seed(seed, len(pilot) + 1, 0)))
        tell(PositionSolved(0, count, 0))
    bounds = bounds_of(pilot) if pilot else CONNECT4_PHASES
    ends = dict(zip(PHASES, (*bounds, game.longest), strict=True))
    phases = [_Phase(name, (count + index) // len(PHASES)) for index, name in enumerate(PHASES)]
    seen: set[str] = set()
    number = 0
    while (still_open := [phase for phase in phases if phase.is_open]) and not is_stopped(stop):
        phase = min(still_open, key=lambda each: len(each.found) + each.left_out)
        phase.nothing_new += 1
        number += 1
        played = pilot.pop(0) if pilot else _play(game, agent, derived_seed(seed, number, 0), ends[phase.name])
        fitting = [
            (plies, position)
            for plies, position in enumerate(played)
            if phase_of(plies, bounds) == phase.name and len(position.actions) > 1 and position.text not in seen
        ]
        if fitting:
            plies, position = Random(derived_seed(seed, number, 1)).choice(fitting)
            seen.add(position.text)
            phase.take(plies, position, truth.values(position))
        found, left_out = sum(len(each.found) for each in phases), sum(each.left_out for each in phases)
        tell(PositionSolved(found, count, left_out))
    known = tuple(each for phase in phases for each in phase.found)
    unsolved = {phase.name: phase.left_out for phase in phases if phase.left_out}
    if not known and not still_open:
        raise Unsuitable(
            f"none of {sum(unsolved.values())} positions of {game.name} was solved within {limit:g} s; "
            "a longer limit may reach some, or a smaller board"
        )
    about = {
        "seed": seed,
        "wanted": count,
        "solved_by": truth.name,
        "limit": limit,
        "left_out": unsolved,
        "phases": f"begin up to {bounds[0]} plies, middle up to {bounds[1]}",
    }
    return Positions(game, known, {**about, STOPPED: True} if still_open else about)


def bounds_of(games: list[list[Position]]) -> tuple[int, int]:
    """The plies at which the first two phases end: thirds of a typical game."""
    length = statistics.median(len(played) for played in games)
    return round(length / 3), round(2 * length / 3)


def phase_of(plies: int, bounds: tuple[int, int]) -> str:
    """The phase of a position after this number of plies."""
    return PHASES[(plies > bounds[0]) + (plies > bounds[1])]


@dataclass
class _Phase:
    """The positions of one phase that were found so far."""

    name: str
    wanted: int
    found: list[Known] = field(default_factory=list)
    left_out: int = 0
    """Number of positions that were not solved in time."""
    nothing_new: int = 0
    """Number of games in a row without a new position of this phase."""
    unsolved: int = 0
    """Number of positions in a row that were not solved in time."""

    @property
    def is_open(self) -> bool:
        """True while more positions are wanted and may be found."""
        return len(self.found) < self.wanted and self.nothing_new < NOTHING_NEW and self.unsolved < UNSOLVED

    def take(self, plies: int, position: Position, values: dict[int, float] | None) -> None:
        """Add a position with its values; None if it was not solved in time."""
        self.nothing_new = 0
        if values is None:
            self.left_out += 1
            self.unsolved += 1
            return
        self.unsolved = 0
        again = position.game.parse(position.text)  # the position that a reader of the file gets
        if list(again.actions) != list(values):
            raise BadPositions(
                f"{position.game.name} reads {position.text!r} as another position than it wrote; ludus check says more"
            )
        # Adding 0.0 turns the solver's -0.0 into 0.0.
        self.found.append(Known(again, self.name, plies, {action: value + 0.0 for action, value in values.items()}))


def _play(game: Game, agent: Agent, seed: int, plies: int | None = None) -> list[Position]:
    """Play a game, or its first `plies` plies. Returns the positions in which a move is to be chosen, in order."""
    random = Random(seed)
    agent.new_game(seed)
    line = [game.start(seed)]
    while not line[-1].is_over and (plies is None or len(line) <= plies):
        by_chance = random.random() < RANDOM_PART
        legal = line[-1].actions_of(line[-1].to_move)
        line.append(line[-1].play(random.choice(legal) if by_chance else agent.choose(line[-1]).action))
    return line[:-1] if line[-1].is_over else line
