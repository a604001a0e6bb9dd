"""A toy game of three players that keeps all its promises, or breaks the one that its option `flaw` names.

In even rounds everyone bids 1 to 3 at once, but who bid highest last is out; in odd rounds the third player alone
bids. Most points after four rounds win. The state is a row of integers, and the prizes are an array in the rules.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ludus.errors import BadPosition
from ludus.game import Game
from ludus.rules import EVERYONE

Flaw = IntEnum(
    "Flaw", "NONE ACTIONS_CHANGED COMMA LEGAL_TWICE RULES_CHANGED NOT_SIMULTANEOUS TEXT_CHANGES NOBODY", start=0
)
ROUND, OUT, POINTS = 0, 1, 2  # the row: the round, who is out, and the points of each player


class Together(NamedTuple):
    flaw: int
    prizes: np.ndarray


def reset(rules, state, random):
    state[:] = 0
    state[OUT] = -1


def to_move(rules, state):
    return 2 if state[ROUND] % 2 else EVERYONE


def legal(rules, state, player, actions):
    if (player == state[OUT] and to_move(rules, state) == EVERYONE) or rules.flaw == Flaw.NOBODY:
        return 0
    for i in range(3):
        actions[i] = i
    if rules.flaw == Flaw.LEGAL_TWICE and player == 1:
        actions[2] = 0
    return 3


def play(rules, state, action):
    state[POINTS + 2] += rules.prizes[action]
    state[ROUND] += 1


def play_together(rules, state, actions):
    state[OUT] = -1
    most = 0
    for player in range(3):
        if actions[player] >= 0:
            state[POINTS + player] += rules.prizes[actions[player]]
            if actions[player] > most:
                most = actions[player]
                state[OUT] = player
    state[ROUND] += 1
    if rules.flaw == Flaw.ACTIONS_CHANGED:
        actions[0] = 0
    if rules.flaw == Flaw.RULES_CHANGED:
        rules.prizes[0] = 5


def outcome(rules, state, values):
    if state[ROUND] < 4:
        return False
    for player in range(3):
        values[player] = state[POINTS + player] / 100
    return True


class TogetherGame(Game):
    Rules = Together
    name = "together"
    title = "Together"
    players = 3
    simultaneous = True
    zero_sum = False
    actions = most_legal = 3
    longest = 4

    @classmethod
    def options(cls):
        return {"flaw": 0}

    def make_rules(self, flaw=0):
        return Together(flaw, np.array([1, 4, 9], np.int64))

    def setup(self):
        self.state = (np.int64, POINTS + 3)
        self.simultaneous = self.rules.flaw != Flaw.NOT_SIMULTANEOUS

    def write(self, state):
        return " ".join(map(str, state))

    def read(self, text, state):
        try:
            state[:] = [int(word) for word in text.split()]
        except ValueError:
            raise BadPosition("five numbers") from None
        if self.rules.flaw == Flaw.TEXT_CHANGES:
            state[3] += 1

    def write_move(self, state, player, action):
        return f"{action},{action}" if self.rules.flaw == Flaw.COMMA else f"bid{action + 1}"
