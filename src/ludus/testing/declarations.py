"""Checks of a game without playing: its functions, the sizes that setup() sets, and its spec."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from ludus import rules as generic
from ludus.errors import LudusError, Unsuitable
from ludus.game import Game
from ludus.registry import make
from ludus.rules import REQUIRED, SIGNATURES
from ludus.testing.group_promises import check_group_shapes
from ludus.testing.lockstep import BrokenPromise


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
