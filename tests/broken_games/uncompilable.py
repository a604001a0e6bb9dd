"""A toy game that is fine in plain Python, but not for Numba."""

import json
from typing import NamedTuple

import numpy as np

from ludus.errors import BadPosition
from ludus.game import Game


class Uncompilable(NamedTuple):
    plies: int = 3


def reset(rules, state, random):
    state[0] = 0


def to_move(rules, state):
    return 0


def legal(rules, state, player, actions):
    actions[0] = len(json.dumps({})) - 2
    return 1


def play(rules, state, action):
    state[0] += 1


def outcome(rules, state, values):
    if state[0] < rules.plies:
        return False
    values[0] = 0.0
    return True


class UncompilableGame(Game):
    Rules = Uncompilable
    name = "uncompilable"
    title = "Uncompilable"
    players = 1

    def setup(self):
        self.state = (np.int64, 1)
        self.actions = self.most_legal = 1
        self.longest = 3

    def write(self, state):
        return str(state[0])

    def read(self, text, state):
        if text not in ("0", "1", "2", "3"):
            raise BadPosition("one of 0 to 3")
        state[0] = int(text)
