"""Positions drawn from play, and the truth about them.

Half the moves of a game are random, half those of a small search: positions that no sensible player would ever see are
rare among them, and so are those that every player would. Each position is from a game of its own, since neighbours in
one game are much alike, and an interval that counts them as two would be too narrow. A phase of the game gets as many
as the next; those not solved in time are left out, and counted.
"""

from __future__ import annotations

import importlib.metadata
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from ludus.agents import make_agent
from ludus.arena.record import derived
from ludus.errors import BadOption, Unsuitable
from ludus.grading.positions import PHASES, BadPositions, Known, Positions
from ludus.search.solver import NotSolved, check_suitable, prepare, solve

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.game import Game, Position

COUNT = 300
LIMIT = 1.0
"""Seconds to solve a position."""
SENSIBLE = "uct:100"
"""Who plays the moves that are not random."""
RANDOM_PART = 0.5
PILOT = 15
"""Games that show how long a game is."""
NOTHING_NEW = 50
"""So many games in a row that bring no new position of a phase: it has no more."""
UNSOLVED = 20
"""So many positions in a row that cannot be solved in time: the phase is out of reach."""
STANDARD_CONNECT4 = {"rows": 6, "columns": 7, "line": 4}
CONNECT4_PHASES = (14, 28)
"""Where others who grade Connect-4 end its phases."""

Progress = Callable[[int, int, int], None]
"""Called after every game: positions found, wanted, and left out."""


def draw_positions(
    game: Game, count: int = COUNT, seed: int = 0, limit: float = LIMIT, progress: Progress | None = None
) -> Positions:
    """So many different positions with the value of every move, or fewer where the game has no more within reach.

    The same seed gives the same ones, as far as the same of them are solved in time.
    """
    check_suitable(game)
    if count < len(PHASES):
        raise BadOption(f"--count must be at least {len(PHASES)}, one for each phase of the game, not {count}")
    truth = truth_of(game, limit)
    agent = make_agent(SENSIBLE, game.compile())
    pilot: list[list[Position]] = []
    while len(pilot) < PILOT and not is_standard_connect4(game):
        pilot.append(_play(game, agent, derived(seed, len(pilot) + 1, 0)))
        if progress is not None:
            progress(0, count, 0)
    bounds = bounds_of(pilot) if pilot else CONNECT4_PHASES
    ends = dict(zip(PHASES, (*bounds, game.longest), strict=True))
    phases = [_Phase(name, (count + index) // len(PHASES)) for index, name in enumerate(PHASES)]
    seen: set[str] = set()
    number = 0
    while still_open := [phase for phase in phases if phase.is_open]:
        phase = min(still_open, key=lambda each: len(each.found) + each.left_out)
        phase.nothing_new += 1
        number += 1
        played = pilot.pop(0) if pilot else _play(game, agent, derived(seed, number, 0), ends[phase.name])
        fitting = [
            (plies, position)
            for plies, position in enumerate(played)
            if phase_of(plies, bounds) == phase.name and len(position.actions) > 1 and position.text not in seen
        ]
        if fitting:
            plies, position = Random(derived(seed, number, 1)).choice(fitting)
            seen.add(position.text)
            phase.take(plies, position, truth.values(position))
        if progress is not None:
            progress(sum(len(each.found) for each in phases), count, sum(each.left_out for each in phases))
    known = tuple(each for phase in phases for each in phase.found)
    left_out = {phase.name: phase.left_out for phase in phases if phase.left_out}
    if not known:
        raise Unsuitable(
            f"none of {sum(left_out.values())} positions of {game.name} was solved within {limit:g} s; "
            "a longer --limit may reach some, or a smaller board"
        )
    about = {
        "seed": seed,
        "wanted": count,
        "solved_by": truth.name,
        "limit": limit,
        "left_out": left_out,
        "phases": f"begin up to {bounds[0]} plies, middle up to {bounds[1]}",
    }
    return Positions(game, known, about)


def bounds_of(games: list[list[Position]]) -> tuple[int, int]:
    """After how many plies the first two phases end: thirds of a typical game."""
    length = statistics.median(len(played) for played in games)
    return round(length / 3), round(2 * length / 3)


def phase_of(plies: int, bounds: tuple[int, int]) -> str:
    return PHASES[(plies > bounds[0]) + (plies > bounds[1])]


@dataclass
class _Phase:
    """What was found of a phase so far."""

    name: str
    wanted: int
    found: list[Known] = field(default_factory=list)
    left_out: int = 0
    nothing_new: int = 0
    """Games in a row,"""
    unsolved: int = 0
    """and positions."""

    @property
    def is_open(self) -> bool:
        return len(self.found) < self.wanted and self.nothing_new < NOTHING_NEW and self.unsolved < UNSOLVED

    def take(self, plies: int, position: Position, values: dict[int, float] | None) -> None:
        self.nothing_new = 0
        if values is None:
            self.left_out += 1
            self.unsolved += 1
            return
        self.unsolved = 0
        again = position.game.parse(position.text)  # what a reader of the file gets
        if list(again.actions) != list(values):
            raise BadPositions(
                f"{position.game.name} reads {position.text!r} as another position than it wrote; ludus check says more"
            )
        # The solver's negated 0 is a 0 like any other.
        self.found.append(Known(again, self.name, plies, {action: value + 0.0 for action, value in values.items()}))


def _play(game: Game, agent: Agent, seed: int, plies: int | None = None) -> list[Position]:
    """A game, or so many plies of it: its positions in which a move is to be chosen, in order."""
    random = Random(seed)
    agent.new_game(seed)
    line = [game.start(seed)]
    while not line[-1].is_over and (plies is None or len(line) <= plies):
        by_chance = random.random() < RANDOM_PART
        legal = line[-1].actions_of(line[-1].to_move)
        line.append(line[-1].play(random.choice(legal) if by_chance else agent.choose(line[-1]).action))
    return line[:-1] if line[-1].is_over else line


# --- who knows the truth ----------------------------------------------------------------------------------------------


class Truth(Protocol):
    """Somebody who knows what moves are worth."""

    name: str

    def values(self, position: Position) -> dict[int, float] | None:
        """The value of every legal action, in order, to the player to move; None where that takes too long."""


def truth_of(game: Game, limit: float) -> Truth:
    """Ludus's own solver; for Connect-4 on the usual board BitBully, if it is installed, which reaches openings too."""
    if is_standard_connect4(game):
        try:
            return BitBully()
        except ImportError:
            pass
    return Solver(game, limit)


def is_standard_connect4(game: Game) -> bool:
    return game.name == "connect4" and game.options_in_use() == STANDARD_CONNECT4


class Solver:
    """Alpha-beta for every game of two rivals; what it found for one position helps with the next."""

    def __init__(self, game: Game, limit: float):
        from ludus import __version__

        self.name, self.limit = f"ludus {__version__}", limit
        self.stack = prepare(game.start(), 1 << 28)

    def values(self, position: Position) -> dict[int, float] | None:
        try:
            return solve(position, limit=self.limit, stack=self.stack).values
        except NotSolved:
            return None


class BitBully:
    """A solver made for Connect-4 alone, with a book of openings. Its licence (AGPL) keeps it out of what Ludus needs:
    it is used where somebody has installed it."""

    def __init__(self) -> None:
        import bitbully

        self.name = f"bitbully {importlib.metadata.version('bitbully')}"
        self.new_board: Callable[[], Any] = bitbully.Board
        self.solver = bitbully.BitBully()

    def values(self, position: Position) -> dict[int, float]:
        """Its scores tell how soon a game is won; here it counts only whether."""
        board = self.new_board()
        for step in position.history:
            if step.action is not None:
                board.play(step.action)
        scores = self.solver.score_all_moves(board)
        return {
            action: float((scores[action] > 0) - (scores[action] < 0))
            for action in position.actions_of(position.to_move)
        }
