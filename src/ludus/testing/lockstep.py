"""One game run in three ways side by side, and the messages when they differ: the basis of ludus.testing."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from ludus import rules as generic
from ludus import stepping
from ludus.errors import COMPILER_NOISE, Unsuitable, describe_error, place_of, without_colours
from ludus.game import Game, Position
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLOSE = 1e-6
"""Largest difference of numbers that count as equal."""
MOST_SYMMETRIES = 24
"""If a game has more symmetries, only this many are tried."""
ENDLESS_SECONDS = 2.0
"""Ctrl-C in a function that has run for this long counts as a function that does not return."""


class BrokenPromise(AssertionError):
    """A game breaks its contract. The first line names the broken promise, the rest shows the position."""

    __module__ = "ludus.testing"

    def __init__(self, promise: str, place: str = ""):
        self.promise = promise
        super().__init__(f"{promise}\n\n{place}" if place else promise)


# --- The functions of the rules, by themselves ------------------------------------------------------------------------


def reset(rules, states, random):
    generic.reset(rules, states[0], random)


def observe(rules, states, player, planes):
    generic.observe(rules, states[0], player, planes)


def symmetry(rules, states, which, images, actions, count):
    generic.symmetry(rules, states[0], which, images[0], actions, count)


def graph(rules, states, player, actions, count, features, edges, sizes):
    generic.graph(rules, states[0], player, actions, count, features, edges, sizes)


def groups(rules, states, player, planes, ids):
    generic.groups(rules, states[0], player, planes, ids)


def touches(rules, states, player, action, roles, cells):
    return generic.touches(rules, states[0], player, action, roles, cells)


def heuristic(rules, states, player):
    return generic.heuristic(rules, states[0], player)


def cut_off(rules, states, plies, values):
    return generic.cut_off(rules, states[0], plies, values)


def fingerprint(rules, states):
    return np.uint64(generic.fingerprint(rules, states[0]))


PLAIN = {
    "inspect": stepping.inspect,
    "step": stepping.step,
    "reset": reset,
    "observe": observe,
    "symmetry": symmetry,
    "graph": graph,
    "groups": groups,
    "touches": touches,
    "heuristic": heuristic,
    "cut_off": cut_off,
    "fingerprint": fingerprint,
}


@cache
def kernels() -> dict[str, Any]:
    """The functions of PLAIN, compiled."""
    from ludus import native

    return {name: native.STEPPING.get(name) or native.kernel(function) for name, function in PLAIN.items()}


# --- Arrays with margins ----------------------------------------------------------------------------------------------


class Guarded:
    """An array in the middle of a larger one. A change of the margins shows a write outside the array."""

    def __init__(self, whole: NDArray[Any], margin: int, shape: tuple[int, ...] | None = None):
        self.bytes = whole.view(np.uint8).reshape(-1)
        self.bytes[:] = 0xA5
        self.margin = margin * self.bytes.size // len(whole)
        inside = whole[margin : len(whole) - margin]
        self.array = inside if shape is None else inside.reshape(shape)

    @property
    def intact(self) -> bool:
        return bool((self.bytes[: self.margin] == 0xA5).all() and (self.bytes[-self.margin :] == 0xA5).all())


def guarded(shape: tuple[int, ...], kind: Any, fill: float) -> Guarded:
    """An array filled with one number, between margins."""
    made = Guarded(np.empty(math.prod(shape) + 128, kind), 64, shape)
    made.array[...] = fill
    return made


def guarded_states(game: Game, choose: np.random.Generator | None = None) -> Guarded:
    """One state between margins, zeroed or filled with random bytes."""
    made = Guarded(game.new_states(9), 4)
    made.array[...] = np.zeros((), made.array.dtype)
    if choose is not None:
        scramble(made.array, choose)
    return made


def scramble(states: NDArray[Any], choose: np.random.Generator) -> None:
    """Fill all fields with random bytes; gaps between aligned fields stay as they are, as no game can write there."""
    if states.dtype.names is not None:
        for name in states.dtype.names:
            field = np.empty_like(states[name])
            scramble(field, choose)
            states[name] = field
    else:
        random = choose.integers(0, 256, states.size * states.itemsize, np.uint8)
        states[...] = random.view(states.dtype).reshape(states.shape)


# --- Running ----------------------------------------------------------------------------------------------------------


class Way:
    """One way to run the rules (plain Python, machine code, machine code with bounds checks), with its own state."""

    def __init__(self, game: Game, label: str, rules: Any, functions: dict[str, Any]):
        self.game, self.label, self.rules, self.functions = game, label, rules, functions
        self.guarded = guarded_states(game)

    @property
    def states(self) -> NDArray[Any]:
        return self.guarded.array

    def call(self, name: str, states: NDArray[Any], *arguments: Any) -> Any:
        if self.functions is PLAIN:
            with np.errstate(over="ignore"):  # as Game.run does
                return self.functions[name](self.rules, *(_as_plain(value) for value in (states, *arguments)))
        result = self.functions[name](self.rules, states, *arguments)
        self.game.raise_pending()
        return result


def _as_plain(value: Any) -> Any:
    structured = isinstance(value, np.ndarray) and value.dtype.names is not None
    return value.view(np.recarray) if structured else value


class Lockstep:
    """A game being played in all ways at once."""

    def __init__(self, game: Game, seed: int):
        self.game, self.seed, self.number = game, seed, 0
        self.choose = np.random.default_rng(seed)
        """Chooses the moves; it begins anew with each game."""
        self.plain = Way(game, "plain Python", game.rules, PLAIN)
        self.native: list[Way] = []
        self.not_native = ""
        """The reason why there is no machine code."""
        self.line: list[NDArray[np.int32]] = []
        """The actions played: one id, or one for each player where everyone moves."""
        self.told: list[str] = []
        """The actions played, in notation."""
        self.shown = game.new_states(1)
        """The position to show when a promise is broken."""
        self.view = "the position"
        self.moves_touched = 0
        """Moves that `touches` was asked about."""
        self.moves_alike = 0
        """Those that touch the same as another move of their position."""

    def compile(self) -> None:
        """From now on, run the machine code too."""
        from ludus import native

        try:
            native.enable(type(self.game.rules))
            checked = native.bounds_checked(self.game.rules)
        except Unsuitable as reason:
            self.not_native = str(reason)
            return
        self.native = [
            Way(self.game, "machine code with bounds checks", checked, kernels()),
            Way(self.game, "machine code", self.game.rules, kernels()),
        ]

    @property
    def ways(self) -> list[Way]:
        return [self.plain, *self.native]

    def begin(self, number: int) -> None:
        self.number, self.line, self.told = number, [], []
        self.choose = np.random.default_rng([self.seed, number])  # of another game, some moves may not be played

    def step(self, joint: NDArray[np.int32]) -> list[Guarded]:
        """The next states, in all ways. The current states do not change."""
        told = self.tell(joint)
        name = "play" if len(joint) == 1 else "play_together"
        after = []
        for way in self.ways:
            handed = joint.copy()
            after.append(guarded_states(self.game))
            after[-1].array[...] = way.states
            with self.blame(name, way):
                way.call("step", after[-1].array, handed)
            if not np.array_equal(handed, joint):
                raise self.broken(f"{name} must not change the actions it is given; in {way.label} it does")
            self.check_margins(way, name, after[-1])
            if after[-1].array.tobytes() != after[0].array.tobytes():
                where = difference(after[0].array, after[-1].array)
                raise self.broken(f"{name} must do the same in {way.label} as in plain Python; after {told} {where}")
        return after

    def advance(self, joint: NDArray[np.int32], after: list[Guarded]) -> None:
        """Make `after` the current states."""
        self.told.append(self.tell(joint))
        self.line.append(joint)
        for way, guarded in zip(self.ways, after, strict=True):
            way.guarded = guarded
        self.shown = self.plain.states.copy()

    # --- Error messages -----------------------------------------------------------------------------------------------

    def broken(self, promise: str) -> BrokenPromise:
        return BrokenPromise(f"{self.game.name}: {promise}", self.place())

    def place(self) -> str:
        """The position and the moves that led to it."""

        def attempt(make: Callable[[Any], str]) -> str:
            try:
                return make(self.game.state_view(self.shown))
            except Exception as error:
                return f"({describe_error(error)})"

        return "\n".join(
            [
                f"in {self.view} after {len(self.line)} plies of game {self.number}, seed {self.seed}:",
                attempt(self.game.draw),
                f"text: {attempt(self.game.write)}",
                f"state: {self.shown[0]}",
                f"moves: {' '.join(self.told) or 'none yet'}",
            ]
        )

    def tell(self, joint: NDArray[np.int32]) -> str:
        """An action in notation and as ids."""
        ids = ",".join(map(str, joint.tolist()))
        try:
            position = Position(self.game, self.plain.states.copy())
            action = tuple(joint.tolist()) if position.to_move == EVERYONE else int(joint[0])
            return f"{position.notation(action)} ({ids})"
        except Exception:
            return f"({ids})"

    def check_margins(self, way: Way, name: str, *arrays: Guarded) -> None:
        if not all(array.intact for array in arrays):
            raise self.broken(f"nothing may be written outside the arrays handed over; {name} does in {way.label}")

    @contextmanager
    def seen_as(self, view: str) -> Iterator[None]:
        """Within this block, messages describe the position as `view`."""
        self.view, before = view, self.view
        try:
            yield
        finally:
            self.view = before

    @contextmanager
    def blame(self, name: str, way: Way, hint: str = "", allowed: type[Exception] | tuple[()] = ()) -> Iterator[None]:
        """Turn an exception of a function of the game into a broken promise; also a Ctrl-C if it does not return."""
        began = time.monotonic()
        try:
            yield
        except KeyboardInterrupt as stop:
            seconds = time.monotonic() - began
            if seconds < ENDLESS_SECONDS:
                raise
            place = place_of(traceback.extract_tb(stop.__traceback__))
            told = f"in {way.label} it ran for {seconds:.0f} s, until Ctrl-C{place}"
            raise self.broken(f"{name} must return; {told}") from stop
        except BrokenPromise:
            raise
        except allowed:
            pass
        except NotImplementedError as error:
            raise self.broken(f"{name} is missing; {hint or error}") from error
        except Exception as error:
            if isinstance(error, IndexError) and "out of bounds" in str(error):
                reason = f"{name} does in {way.label}: {describe_error(error)}"
                raise self.broken(f"nothing may be read or written outside an array; {reason}") from error
            if type(error).__module__.startswith("numba."):
                told = f"{describe_error(error)}\nNumba says of {name}:\n{why(error)}"
                raise self.broken(f"Numba must be able to compile the rules; {told}") from error
            reason = f"in {way.label} it raises {describe_error(error)}"
            raise self.broken(f"{name} must not fail; {hint + '; ' if hint else ''}{reason}") from error

    @contextmanager
    def asking(self, name: str, states: NDArray[Any], way: Way | None = None, **more: Any) -> Iterator[None]:
        """As `blame`, for a function that must not change the position."""
        before = states.copy()
        with self.blame(name, way or self.plain, **more):
            yield
        if states.tobytes() != before.tobytes():
            where = difference(before, states, "before", "after")
            raise self.broken(f"{name} must not change the position; {where}")


def difference(one: NDArray[Any], other: NDArray[Any], first: str = "expected", second: str = "found") -> str:
    """The first place in which two arrays of one state differ."""
    name, a, b = "state", one[0], other[0]
    while getattr(a, "dtype", None) is not None and a.dtype.names is not None:
        field = next((field for field in a.dtype.names if a[field].tobytes() != b[field].tobytes()), None)
        if field is None:
            return f"{name} differs in the gaps between its fields"
        name, a, b = f"{name}.{field}", a[field], b[field]
    for index in np.ndindex(np.shape(a)):
        if a[index].tobytes() != b[index].tobytes():
            at = f"[{', '.join(map(str, index))}]" if index else ""
            return f"{name}{at} differs: {a[index]} {first}, {b[index]} {second}"
    return "nothing differs"


def why(error: BaseException) -> str:
    """Numba's message, without the lines about Numba itself."""
    lines = [
        line
        for line in without_colours(str(error)).splitlines()
        if line.strip() and not line.strip().startswith(COMPILER_NOISE)
    ]
    return "\n".join(lines[:12])


def some_symmetries(game: Game) -> Sequence[int]:
    """The numbers of all symmetries of a game; if there are many, of the identity and some that are drawn."""
    if game.symmetries <= MOST_SYMMETRIES:
        return range(game.symmetries)
    drawn = Random(0).sample(range(1, game.symmetries), MOST_SYMMETRIES - 1)
    return [0, *sorted(drawn)]
