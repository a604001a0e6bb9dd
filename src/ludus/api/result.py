"""How a game ended, in values and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ludus.arena.record import forfeit

if TYPE_CHECKING:
    from ludus.game import Game

RULES, RESIGNATION, TIME, AGREEMENT = "rules", "resignation", "time", "agreement"


@dataclass(frozen=True)
class Result:
    """The end of a game."""

    values: tuple[float, ...]
    """For each player, in [-1, 1]."""
    reason: str
    """Why the game ended: "rules", "resignation", "time" or "agreement"."""
    player: int | None
    """The player who resigned or ran out of time, if one did."""
    text: str
    """The result and its reason in words."""


def result_by_rules(game: Game, values: Sequence[float]) -> Result:
    return Result(tuple(values), RULES, None, in_words(game, values))


def result_by_loss(game: Game, loser: int, reason: str) -> Result:
    """One player resigned or ran out of time: it gets -1, and the others share what it loses."""
    values = forfeit(game.players, loser)
    how = {RESIGNATION: "resigned", TIME: "ran out of time"}[reason]
    return Result(values, reason, loser, f"{in_words(game, values)[:-1]}: {game.player_name(loser)} {how}.")


def result_by_agreement(game: Game) -> Result:
    return Result((0.0,) * game.players, AGREEMENT, None, "It is a draw by agreement.")


def in_words(game: Game, values: Sequence[float]) -> str:
    """Who won, in a sentence."""
    names = [game.player_name(player) for player in range(game.players)]
    if game.players == 2 and game.zero_sum:
        if values[0] == 0:
            return "It is a draw."
        best = int(values[1] > values[0])
        by = "" if values[best] == 1 else f" by {values[best]:g}"
        return f"{names[best]} wins{by}."
    return "Results: " + ", ".join(f"{name} {signed(value)}" for name, value in zip(names, values, strict=True)) + "."


def signed(value: float) -> str:
    return f"{value:+g}" if value else "0"
