"""What is known about a game in GDL: counts from its text and its network, and figures from random games."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from ludus.gdl.evaluate import literal_value, sweep, unpack
from ludus.gdl.game import GdlGame
from ludus.gdl.language import Term
from ludus.gdl.reasoned import ReasonedGame
from ludus.gdl.rules import GOAL, LEGAL, TERMINAL
from ludus.position import Position
from ludus.rules import EVERYONE

GAMES, SECONDS = 100, 3.0
"""Random games, and seconds for them at most."""


@dataclass(frozen=True)
class Playouts:
    """Figures from random games."""

    games: int
    """Games that ended within the time."""
    length: float
    """Plies of a game, on average; 0 if no game ended."""
    branching: float
    """Legal moves of a role that has a choice, on average."""
    most_moves: int
    at_once: float
    """The share of positions in which several roles have a choice."""
    values: tuple[float, ...]
    """By role: the value at the end, on average."""
    cut: int
    """Games that were over because they reached the longest number of plies."""
    stuck: tuple[int, ...]
    """By role: games that were over because it had no legal move."""
    without_goal: tuple[int, ...]
    """By role: terminal positions in which it had no goal."""
    several_goals: tuple[int, ...]
    """By role: terminal positions in which it had more than one goal."""


def play_randomly(game: GdlGame | ReasonedGame, games: int = GAMES, seconds: float = SECONDS) -> Playouts:
    """Play random games, until `games` have ended or the time is up."""
    random, deadline = Random(0), time.monotonic() + seconds
    lengths: list[int] = []
    choices: list[int] = []
    positions = at_once = 0
    totals = [0.0] * game.players
    ends: list[End] = []
    while len(lengths) < games and time.monotonic() < deadline:
        position, plies = game.start(), 0
        while not position.is_over and time.monotonic() < deadline:
            counts = [len(position.actions_of(player)) for player in range(game.players)]
            choices += [count for count in counts if count > 1]
            positions += 1
            at_once += position.to_move == EVERYONE
            if position.to_move == EVERYONE:  # not from all joint moves, which may be too many to list
                ids = (position.actions_of(player) or [-1] for player in range(game.players))
                position = position.play(tuple(random.choice(each) for each in ids))
            else:
                position = position.play(random.choice(position.actions_of(position.to_move)))
            plies += 1
        if position.is_over:
            lengths.append(plies)
            totals = [total + value for total, value in zip(totals, position.values, strict=True)]
            ends.append(look_at_end(game, position))
    return Playouts(
        len(lengths),
        sum(lengths) / max(1, len(lengths)),
        sum(choices) / max(1, len(choices)),
        max(choices, default=1),
        at_once / max(1, positions),
        tuple(total / max(1, len(lengths)) for total in totals),
        sum(not end.is_terminal and 0 not in end.moves for end in ends),
        tuple(sum(each == 0 for each in role) for role in _by_role(end.moves for end in ends)),
        tuple(sum(each == 0 for each in role) for role in _by_role(end.goals for end in ends)),
        tuple(sum(each > 1 for each in role) for role in _by_role(end.goals for end in ends)),
    )


class End(NamedTuple):
    """Why a game is over."""

    is_terminal: bool
    moves: tuple[int, ...] = ()
    """By role: legal moves in a position that is not terminal."""
    goals: tuple[int, ...] = ()
    """By role: goals in a terminal position."""


def look_at_end(game: GdlGame | ReasonedGame, position: Position) -> End:
    """The moves and goals of all roles in a position in which a game is over."""
    state = position.states[0]
    if isinstance(game, ReasonedGame):
        is_over, moves, goals = game.reasoner.inspect(game.board(state).facts)
        return End(True, goals=tuple(map(len, goals))) if is_over else End(False, tuple(map(len, moves)))
    rules = game.rules
    values = rules.blank.copy()
    unpack(rules, state, values)
    sweep(rules, values, TERMINAL)
    is_over = bool(literal_value(values, rules.terminal))
    sweep(rules, values, GOAL if is_over else LEGAL)
    literals = rules.goal_literals if is_over else rules.legal
    starts = rules.goal_starts if is_over else rules.input_starts
    true = [bool(literal_value(values, literal)) for literal in literals]
    counts = tuple(sum(true[begin:end]) for begin, end in itertools.pairwise(starts))
    return End(True, goals=counts) if is_over else End(False, counts)


def _by_role(counts: Iterable[tuple[int, ...]]) -> Iterable[tuple[int, ...]]:
    """Counts by role, from counts by end; those of other ends are empty."""
    return zip(*filter(None, counts), strict=True)


def count_by_name(terms: Sequence[Term]) -> dict[str, int]:
    """The number of terms by their name and number of arguments, such as cell/3; the most frequent first."""
    counts = Counter(f"{term[0]}/{len(term) - 1}" if isinstance(term, tuple) else term for term in terms)
    return dict(counts.most_common())
