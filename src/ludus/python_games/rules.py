"""The rules of every game in ordinary Python (see ludus.python_games): functions that send queries to the game.

The state is a row of int32: the number of actions played, the mover (or EVERYONE, or OVER), the seed of the set-up, and
the actions. It can be copied, stored and compared like the state of any game, and the mover is known without a query.
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
"""A module that compiled code needs besides this one; ludus.native loads it."""

TITLE = "games in ordinary Python"
"""The name shown while these rules are compiled, once for all such games."""

PLAYED, MOVER, SEED, FIRST = 0, 1, 2, 3


class PythonFields(NamedTuple):
    call: int
    """The address of the Python function that compiled code calls."""
    handle: int
    """The handle of the game's boards."""
    actions: int
    seeded: int
    keyed: int
    guesses: int


class PythonRules(PythonFields):
    """The rules of every PythonGame. The reference `game` keeps the boards alive."""

    game: PythonGame


def history_of(state: Any) -> bytes:
    return state[SEED : FIRST + int(state[PLAYED])].tobytes()


class Ask:
    """Send a query about a state to a game. It is an object because ludus.native would compile a function."""

    def __call__(self, rules: Any, question: int, state: Any, argument: int, target: int, width: int) -> int:
        """The query in plain Python; exceptions are raised. For compiled code, see ludus.python_games.native.

        `target` is the address of the array to fill, `width` the size of its items in bytes.
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
        # The search does not check ids, and a wrong one would access memory out of bounds. The check costs nothing.
        if not 0 <= actions[i] < rules.actions:
            count = ask(rules, NO_ACTION, state, actions[i], 0, 0)
            break
    if count < 0:  # after an exception: any action, so that the search ends
        actions[0] = 0
        return 1
    return count


def play(rules, state, action):
    if fits(rules, state, 1):
        state[FIRST + state[PLAYED]] = action
        state[PLAYED] += 1
        state[MOVER] = ask(rules, STATUS, state, 0, 0, 0)


def play_together(rules, state, actions):
    if fits(rules, state, actions.size):
        for player in range(actions.size):
            state[FIRST + state[PLAYED]] = actions[player]
            state[PLAYED] += 1
        state[MOVER] = ask(rules, STATUS, state, 0, 0, 0)


def fits(rules, state, count):
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
