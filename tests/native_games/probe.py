"""A toy game that uses all that rules may use in machine code; what it does where depends on its options."""

from typing import NamedTuple

import beside
import numpy as np
from beside import OFFSET, Direction, twice
from deeper.still import thrice as three_times

from ludus.game import Game
from ludus.rng import below


class Probe(NamedTuple):
    table: np.ndarray
    """Added to the ids of the actions."""
    at: int
    """Where reset, legal, outcome and observe write, through a helper."""


STATE = np.dtype([("cells", np.int64, (4,)), ("again", np.int64, (4,)), ("ply", np.int64)])


def put(array, index, value):
    array[index] = value


def square(x):
    return x * x


increase = lambda x: x + 1  # noqa: E731


def reset(rules, state, random):
    state.cells[:] = 0
    state.again[:] = 0
    state.ply = 0
    put(state.cells, rules.at, below(random, 1000))


def to_move(rules, state):
    return 0


def legal(rules, state, player, actions):
    put(actions, rules.at, 0)
    for i in range(rules.table.size):
        actions[i] = rules.table[i]
    return rules.table.size


def play(rules, state, action):
    state.cells[0] = square(action) + OFFSET
    state.cells[1] = beside.once(action) + beside.OFFSET
    state.cells[2] = twice(action) + three_times(action)
    state.cells[3] = increase(action) + Direction.UP
    state.again[:] = state.cells
    state.ply += 1


def outcome(rules, state, values):
    put(values, rules.at, 1.0)
    return False


def observe(rules, state, player, planes):
    put(planes[0], rules.at, 1.0)


class ProbeGame(Game):
    Rules = Probe
    name = "probe"
    title = "Probe"
    players = 4
    state = STATE
    actions = 100
    most_legal = 4
    longest = 100
    observation = (1, 4)
    zero_sum = False

    @classmethod
    def options(cls):
        return {"at": 0, "first": 0}

    def make_rules(self, at=0, first=0):
        return Probe(np.arange(first, first + 3), at)

    def setup(self):
        pass
