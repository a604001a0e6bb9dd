"""check_game: a test of the contract that every game keeps, for the authors of games.

    from ludus.testing import check_game

    print(check_game("path/to/mygame.py"))

Random games are played in plain Python, in machine code and in machine code with bounds checks, side by side with the
same choices. The first broken promise raises `BrokenPromise`, with the position and the moves that led to it.

Writes outside an array are found in three ways. Plain Python raises IndexError, with the line of the error. If only the
machine code leaves an array, because its integers overflow differently from NumPy's, the bounds checks raise. Writes
that bounds checks miss (an index into `.flat`) change the margins around each array. A negative index is not found
directly: it counts from the end of the same array, in Python as in machine code. If it is a mistake, it usually leaves
impossible ids in `actions`, or NaN in `values`, which are filled with them before each call.
"""

from __future__ import annotations

import copy
import math
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ludus.errors import LudusError, describe_error
from ludus.game import Game
from ludus.registry import make
from ludus.testing.declarations import check_declarations, check_spec
from ludus.testing.events import CheckEvent, Checking, CodeChecked, FirstVerdict, Listener
from ludus.testing.lockstep import BrokenPromise, Lockstep
from ludus.testing.promises import (
    Facts,
    Fingerprints,
    arrays_in,
    check_exchange,
    check_native,
    check_notation,
    check_replay,
    check_reset,
    check_symmetries,
    check_text,
    facts_of,
    pick,
)
from ludus.testing.seen import Seen, play_and_count

__all__ = ["BrokenPromise", "CheckEvent", "Checking", "CodeChecked", "FirstVerdict", "Report", "Seen", "check_game"]

PLAIN_SECONDS = 3.0
"""Seconds after which the first game, in plain Python, is left unfinished, so that the first verdict comes soon."""


@dataclass(frozen=True)
class Report:
    """The result of `check_game` for a game that keeps its promises."""

    game: str
    games: int
    positions: int
    seconds: float
    checked: tuple[str, ...]
    skipped: tuple[str, ...]
    """Checks that were skipped because the game does not define the optional function."""
    seen: Seen
    """Figures of random games."""
    figures: tuple[str, ...]
    """The figures in words."""
    warnings: tuple[str, ...]
    """What is allowed, but unusual."""

    def __str__(self) -> str:
        lines = [
            f"{self.game} keeps its promises: {self.games} games, {self.positions} positions, {self.seconds:.1f} s",
            *(f"  checked: {what}" for what in self.checked),
            *(f"  skipped: {what}" for what in self.skipped),
            f"In {self.seen.games} random games:",
            *(f"  {figure}" for figure in self.figures),
            *(f"Warning: {what}" for what in self.warnings),
        ]
        return "\n".join(lines)


def check_game(
    game: Game | str | os.PathLike[str], games: int = 20, seed: int = 0, on_event: Listener | None = None
) -> Report:
    """Play random games and raise BrokenPromise at the first breach of the contract of `ludus.rules`.

    `game` is a game, or a name or file for `ludus.make`; then the `variants` that the game lists are checked too. The
    same seed plays the same games. `on_event` is called with the events of testing/events.py: the first verdict, in
    plain Python, comes before anything is compiled.
    """
    began = time.perf_counter()
    emit: Listener = on_event or (lambda event: None)
    emit(Checking("the game in plain Python", 0, 1))
    made = copy.copy(game) if isinstance(game, Game) else _make(game)
    made.compiled = False  # positions are read in plain Python; the machine code runs beside it
    check_declarations(made)
    check_spec(made)
    run, fingerprints = Lockstep(made, seed), Fingerprints()
    positions = play_game(run, fingerprints, 0, time.monotonic() + PLAIN_SECONDS)  # before anything is compiled
    emit(FirstVerdict(repr(made), positions, time.perf_counter() - began))
    run.compile()
    positions = 0
    for number in range(games):
        emit(Checking("games in machine code" if run.native else "games in plain Python", number, games))
        positions += play_game(run, fingerprints, number)
        if number == 0 and run.native:
            emit(CodeChecked(made))
    tried = [] if isinstance(game, Game) else check_variants(made, seed, emit)
    emit(Checking("random games", 0, 1))
    seen = play_and_count(run)
    checked, skipped = _summary(run)
    checked += [f"the variant {', '.join(f'{name}={value}' for name, value in each.items())}" for each in tried]
    return Report(
        repr(made),
        games,
        positions,
        time.perf_counter() - began,
        tuple(checked),
        tuple(skipped),
        seen,
        tuple(seen.lines(made)),
        tuple(seen.warnings(made)),
    )


def check_variants(game: Game, seed: int, emit: Listener) -> list[Mapping[str, Any]]:
    """Check one game of each variant in plain Python, and in machine code if it is the same as the game's own."""
    for number, options in enumerate(game.variants):
        emit(Checking("variants", number, len(game.variants)))
        told = ", ".join(f"{name}={value}" for name, value in options.items())
        try:
            made = type(game)(**options)
            check_declarations(made)
            check_spec(made)
            run = Lockstep(made, seed)
            if made.state == game.state:
                run.compile()
            play_game(run, Fingerprints(), number, time.monotonic() + PLAIN_SECONDS)
        except LudusError as error:
            raise BrokenPromise(f"{game.name}: the variant {told} cannot be made: {error}") from error
        except BrokenPromise as broken:
            raise BrokenPromise(f"with the options {told}: {broken}") from broken
    return list(game.variants)


def play_game(run: Lockstep, fingerprints: Fingerprints, number: int, until: float = math.inf) -> int:
    """Play one random game in all ways and check every position; returns the number of positions.

    A game is left unfinished at the time `until` of time.monotonic.
    """
    game = run.game
    tables = [table.copy() for table in arrays_in(game.rules)]
    run.begin(number)
    check_reset(run)
    trail = [run.plain.states.tobytes()]
    while True:
        facts = facts_of(run, run.plain.states)
        if not facts.over and len(run.line) >= game.longest:
            raise run.broken(f"no game may have more plies than longest, {game.longest}; this one is not over")
        _check_position(run, fingerprints, facts)
        if facts.over or time.monotonic() > until:
            break
        joint = pick(run, facts)
        after = run.step(joint)
        check_exchange(run, joint, after[-1].array)
        run.advance(joint, after)
        trail.append(run.plain.states.tobytes())
    for before, now in zip(tables, arrays_in(game.rules), strict=True):
        if not np.array_equal(before, now):
            raise run.broken("the functions must not write into the arrays of the rules")
    check_replay(run, trail)
    return len(trail)


def _check_position(run: Lockstep, fingerprints: Fingerprints, facts: Facts) -> None:
    thorough = len(run.line) % 8 == run.number % 8
    check_native(run, facts)
    check_text(run, thorough)
    check_notation(run, facts, thorough)
    images = check_symmetries(run, facts)
    if run.game.has("fingerprint"):
        for states in (run.plain.states, *images):
            fingerprints.check(run, states)
        if not facts.over:  # a sibling of the next position, so that more similar positions are compared
            sibling = run.plain.states.copy()
            with run.blame("play", run.plain):
                run.plain.call("step", sibling, pick(run, facts))
            fingerprints.check(run, sibling)


def _summary(run: Lockstep) -> tuple[list[str], list[str]]:
    game = run.game
    checked = [
        "the functions and sizes are there; the options make the same game again",
        "reset writes the whole state, and the same one for the same seed",
        "legal gives distinct ids in range, at least one to a player, no more than most_legal",
        f"outcome writes every value, from -1 to 1{', adding up to 0' if game.zero_sum else ''}",
        "no game is longer than longest; the same moves lead to the same states",
        "queries do not change the state; nothing is written outside the arrays",
        "text and notation are read as they were written; invalid text is refused; JSON can be written",
    ]
    if game.simultaneous:
        checked.append("all of that for each player, where everyone moves")
    skipped: list[str] = []
    for name, has in (
        ("machine code does what plain Python does", bool(run.native)),
        ("observe", game.has("observe")),
        ("places, in range and distinct", game.places is not None),
        ("graph", game.has("graph")),
        ("groups", game.has("groups")),
        ("touches, different for all moves", game.has("touches")),
        (f"symmetry, {game.symmetries} in all", game.has("symmetry") and game.symmetries > 1),
        ("heuristic", game.has("heuristic")),
        ("cut_off", game.has("cut_off")),
        ("fingerprint", game.has("fingerprint")),
    ):
        (checked if has else skipped).append(name if has else name.partition(",")[0])
    if run.not_native:
        skipped[0] += f": {run.not_native}"
    return checked, skipped


def _make(name: str | os.PathLike[str]) -> Game:
    try:
        return make(name)
    except LudusError:
        raise
    except Exception as error:
        raise BrokenPromise(
            f"{name}: a game must be made from its defaults; this one raises {describe_error(error)}"
        ) from error
