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
import inspect
import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ludus import rules as generic
from ludus.errors import LudusError, Unsuitable, describe_error
from ludus.game import Game
from ludus.registry import make
from ludus.rules import REQUIRED, SIGNATURES
from ludus.testing.group_promises import check_group_shapes
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

__all__ = ["BrokenPromise", "Report", "check_game"]


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

    def __str__(self) -> str:
        lines = [
            f"{self.game} keeps its promises: {self.games} games, {self.positions} positions, {self.seconds:.1f} s",
            *(f"  checked: {what}" for what in self.checked),
            *(f"  skipped: {what}" for what in self.skipped),
        ]
        return "\n".join(lines)


def check_game(game: Game | str | os.PathLike[str], games: int = 20, seed: int = 0) -> Report:
    """Play random games and raise BrokenPromise at the first breach of the contract of `ludus.rules`.

    `game` is a game, or a name or file for `ludus.make`. The same seed plays the same games.
    """
    began = time.perf_counter()
    made = copy.copy(game) if isinstance(game, Game) else _make(game)
    made.compiled = False  # positions are read in plain Python; the machine code runs beside it
    check_declarations(made)
    check_spec(made)
    run, fingerprints = Lockstep(made, seed), Fingerprints()
    play_game(run, fingerprints, 0)  # errors in plain Python are found before anything is compiled
    run.compile()
    positions = sum(play_game(run, fingerprints, number) for number in range(games))
    checked, skipped = _summary(run)
    return Report(repr(made), games, positions, time.perf_counter() - began, tuple(checked), tuple(skipped))


def play_game(run: Lockstep, fingerprints: Fingerprints, number: int) -> int:
    """Play one random game in all ways and check every position; returns the number of positions."""
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
        if facts.over:
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
        ("fingerprint", game.has("fingerprint")),
    ):
        (checked if has else skipped).append(name if has else name.partition(",")[0])
    if run.not_native:
        skipped[0] += f": {run.not_native}"
    return checked, skipped


# --- Checks without playing -------------------------------------------------------------------------------------------


def _make(name: str | os.PathLike[str]) -> Game:
    try:
        return make(name)
    except LudusError:
        raise
    except Exception as error:
        raise BrokenPromise(
            f"{name}: a game must be made from its defaults; this one raises {describe_error(error)}"
        ) from error


def check_declarations(game: Game) -> None:
    """Check the functions of the rules, and the sizes that setup() sets."""

    def need(condition: object, promise: str) -> None:
        if not condition:
            raise BrokenPromise(f"{type(game).__name__}: {promise}")

    rules = game.rules
    need(isinstance(rules, tuple) and hasattr(rules, "_fields"), "Rules must be a NamedTuple class")
    for name, parameters in SIGNATURES.items():
        function = generic.implementation(type(rules), name)
        need(function or name not in REQUIRED, f"the game's file must define the function {name}({parameters})")
        found = ", ".join(inspect.signature(function).parameters) if function else parameters
        need(found == parameters, f"the parameters of {name} must be ({parameters}), not ({found})")
    need(
        game.has("play") or game.has("play_together"),
        f"the game's file must define the function play({SIGNATURES['play']}), or play_together where everyone moves",
    )
    for word in ("name", "title"):
        text = getattr(game, word, None)
        need(isinstance(text, str) and text.strip(), f"the class must set {word} to a text, not {text!r}")
    for size, what in (
        ("players", "the number of players"),
        ("actions", "the number of action ids"),
        ("most_legal", "the most legal actions that a player ever has"),
        ("longest", "the most plies that a game ever has"),
        ("symmetries", "the number of symmetries with the identity"),
    ):
        number = getattr(game, size, None)
        fits = isinstance(number, int | np.integer) and number >= 1
        need(fits, f"setup() must set {size} to {what}, not {number!r}")
    need(
        game.most_legal <= game.actions, f"most_legal, {game.most_legal}, must not be more than actions, {game.actions}"
    )

    state = getattr(game, "state", None)
    record = isinstance(state, np.dtype) and state.names is not None and not state.hasobject
    row = isinstance(state, tuple) and len(state) == 2 and np.issubdtype(state[0], np.integer) and state[1] >= 1
    need(
        record or row, f"setup() must set state to a dtype of named fields, or to (integer type, length), not {state!r}"
    )
    for name in state.names or () if isinstance(state, np.dtype) else ():
        need(not hasattr(np.record, name), f"a field of state must not be called {name}, as NumPy's records have that")

    shape = game.observation
    if shape is not None:
        whole = isinstance(shape, tuple) and all(isinstance(n, int | np.integer) and n >= 1 for n in shape)
        need(whole, f"observation must be a tuple of whole numbers, not {shape!r}")
    check_places(game, need)
    check_group_shapes(game, need)
    for name, wanted, given in (
        ("observe", shape is not None, "observation is set"),
        ("graph", game.graph is not None, "graph is set"),
        ("groups", game.groups is not None, "groups is set"),
        ("touches", game.touches is not None, "touches is set"),
        ("symmetry", game.symmetries > 1, f"symmetries is {game.symmetries}"),
        ("play_together", game.simultaneous, "simultaneous is set"),
    ):
        need(game.has(name) or not wanted, f"{given}, so the file must define {name}({SIGNATURES[name]})")
    need(shape is not None or not game.has("observe"), "observe is there, so setup() must set observation, its shape")
    for name in ("graph", "groups", "touches"):
        unset = getattr(game, name) is None
        need(not unset or not game.has(name), f"{name} is there, so setup() must set self.{name}, its sizes")


def check_spec(game: Game) -> None:
    """Check that the spec makes the same game again. A class that is not in a file of its own has no spec."""
    try:
        spec = game.spec
    except Unsuitable:
        return
    try:
        again = make(spec).identity
    except LudusError as error:
        again = f"an error: {error}"
    if again != game.identity:
        raise BrokenPromise(
            f"{type(game).__name__}: options_in_use() must give the options that make the game again; "
            f"{dict(spec.options)} make {again}, not {game.identity}"
        )


def check_places(game: Game, need: Callable[[object, str], None]) -> None:
    """Check `places` and `mask`, if the game sets them."""
    shape = game.observation
    boards = shape is not None and len(shape) == 3
    planes, rows, columns = shape if boards else (0, 0, 0)  # type: ignore[misc]
    if game.mask is not None:
        whole = isinstance(game.mask, int | np.integer) and 0 <= game.mask < planes
        need(whole, f"mask must be the number of a plane of observation {shape}, not {game.mask!r}")
    places = game.places
    if places is None:
        return
    need(boards, f"places is set, so observation must be (planes, rows, columns), not {shape}")
    fits = isinstance(places, np.ndarray) and np.issubdtype(places.dtype, np.integer)
    allowed = [(count, game.actions, 3) for count in sorted({1, game.players})]
    found = f"an array of shape {places.shape}" if fits else repr(places)[:60]
    wanted = " or ".join(str(each) for each in allowed)
    need(fits and places.shape in allowed, f"places must be whole numbers of shape {wanted}, not {found}")
    for player, listed in enumerate(places.tolist()):
        of = f" (of player {player + 1})" if len(places) > 1 else ""
        for action, (kind, row, column) in enumerate(listed):
            need(
                kind >= 0 and -1 <= row < rows and -1 <= column < columns,
                f"a place is (kind from 0, row from -1 to {rows - 1}, column from -1 to {columns - 1}); "
                f"that of action {action}{of} is {(kind, row, column)}",
            )
        first: dict[tuple[int, ...], int] = {}
        for action, place in enumerate(map(tuple, listed)):
            other = first.setdefault(place, action)
            need(other == action, f"places must tell actions apart; {other} and {action}{of} are both at {place}")
