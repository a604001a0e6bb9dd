"""What is known about a game in GDL: counts from its text and its network, and figures from random games."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from ludus.gdl.game import GdlGame
from ludus.gdl.language import Term
from ludus.gdl.reasoned import ReasonedGame
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


def play_randomly(game: GdlGame | ReasonedGame, games: int = GAMES, seconds: float = SECONDS) -> Playouts:
    """Play random games, until `games` have ended or the time is up."""
    random, deadline = Random(0), time.monotonic() + seconds
    lengths: list[int] = []
    choices: list[int] = []
    positions = at_once = 0
    totals = [0.0] * game.players
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
    return Playouts(
        len(lengths),
        sum(lengths) / max(1, len(lengths)),
        sum(choices) / max(1, len(choices)),
        max(choices, default=1),
        at_once / max(1, positions),
        tuple(total / max(1, len(lengths)) for total in totals),
    )


def count_by_name(terms: Sequence[Term]) -> dict[str, int]:
    """The number of terms by their name and number of arguments, such as cell/3; the most frequent first."""
    counts = Counter(f"{term[0]}/{len(term) - 1}" if isinstance(term, tuple) else term for term in terms)
    return dict(counts.most_common())
