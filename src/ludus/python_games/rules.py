"""The rules of every game in ordinary Python (see ludus.python_games): functions that pass each question on to it.

The state is a row of int32: how many actions were played, who moves now (or EVERYONE, or OVER), the seed of the set-up,
and the actions. It can be copied, stored and compared like the state of any game, and tells who moves without asking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ludus.python_games.boards import (
    FINGERPRINT,
    HEURISTIC,
    LEGAL,
    NO_ACTION,
    OBSERVE,
    ONE,
    OVER,
    STATUS,
    TOO_LONG,
    VALUES,
    boards_of,
)
from ludus.rng import draw
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.python_games import PythonGame

NATIVE = "ludus.python_games.native"
"""What compiled code needs besides this module; ludus.native loads it."""

TITLE = "games in ordinary Python"
"""What a person reads while these rules are compiled, which serves all such games."""

PLAYED, MOVER, SEED, FIRST = 0, 1, 2, 3


class PythonFields(NamedTuple):
    call: int
    """The address of the Python function that compiled code calls."""
    handle: int
    """Which game's boards it asks."""
    actions: int
    seeded: int
    keyed: int
    guesses: int


class PythonRules(PythonFields):
    """The rules of every PythonGame. What they point to lives as long as they do, through `game`."""

    game: PythonGame


def history_of(state: Any) -> bytes:
    return state[SEED : FIRST + int(state[PLAYED])].tobytes()


class Ask:
    """Ask the boards of a game about a state. An object, since ludus.native compiles functions as they stand here."""

    def __call__(self, rules: Any, question: int, state: Any, argument: int, target: int, width: int) -> int:
        """In plain Python; an exception goes straight to the caller. For compiled code, see ludus.python_games.native.

        `target` is the address of the array to fill, `width` the bytes of its items.
        """
        return boards_of(rules.handle).answer(question, history_of(state), int(argument), target, width)


ask = Ask()


def reset(rules, state, random):
    state[:] = 0
    if rules.seeded:
        state[SEED] = draw(random) >> np.uint64(33)
    state[MOVER] = ask(rules, STATUS, state, 0, 0, 0)


def to_move(rules, state):
    return max(np.int64(state[MOVER]), EVERYONE)


def legal(rules, state, player, actions):
    count = ask(rules, LEGAL, state, player, actions.ctypes.data, actions.itemsize)
    for i in range(count):
        # The search takes its word for it, and would use memory that is not its own. Checked here it costs nothing.
        if not 0 <= actions[i] < rules.actions:
            count = ask(rules, NO_ACTION, state, actions[i], 0, 0)
            break
    if count < 0:  # after an exception: something to play, so that the search comes to its end
        actions[0] = 0
        return 1
    return count


def play(rules, state, action):
    if has_room(rules, state, 1):
        state[FIRST + state[PLAYED]] = action
        state[PLAYED] += 1
        state[MOVER] = ask(rules, STATUS, state, 0, 0, 0)


def play_together(rules, state, actions):
    if has_room(rules, state, actions.size):
        for player in range(actions.size):
            state[FIRST + state[PLAYED]] = actions[player]
            state[PLAYED] += 1
        state[MOVER] = ask(rules, STATUS, state, 0, 0, 0)


def has_room(rules, state, count):
    if FIRST + state[PLAYED] + count <= state.size:
        return True
    state[MOVER] = ask(rules, TOO_LONG, state, 0, 0, 0)
    return False


def outcome(rules, state, values):
    if state[MOVER] != OVER:
        return False
    if ask(rules, VALUES, state, 0, values.ctypes.data, values.itemsize) < 0:
        values[:] = 0.0
    return True


def observe(rules, state, player, planes):
    ask(rules, OBSERVE, state, player, planes.ctypes.data, planes.itemsize)


def heuristic(rules, state, player):
    if rules.guesses:
        return ask(rules, HEURISTIC, state, player, 0, 0) / ONE
    return 0.0


def fingerprint(rules, state):
    if rules.keyed:
        return np.uint64(np.int64(ask(rules, FINGERPRINT, state, 0, 0, 0)))
    h = np.uint64(0x243F6A8885A308D3)
    for i in range(SEED, FIRST + state[PLAYED]):
        h = (h ^ np.uint64(np.int64(state[i]))) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(32)
    return h
