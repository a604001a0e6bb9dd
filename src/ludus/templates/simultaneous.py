"""My Game: two robots on a strip race for coins. Both move at once; on the same cell, neither takes the coin.

This is a complete game to start from. Change the rules below, and run `ludus check mygame.py` after every change.
"""

from typing import NamedTuple

import numpy as np

from ludus import EVERYONE, Game
from ludus.game import require
from ludus.rng import below

# An action is 0 left, 1 stay, 2 right. A move of both players is written with a comma: right,left
#
# The functions are compiled to machine code: use numbers, loops and arrays, no lists, texts or dictionaries.

LEAN = True  # no function makes an array; this halves the time to compile
MOST_CELLS = 20
NAMES = ("left", "stay", "right")


class MyGame(NamedTuple):
    """The options of the game with their defaults: ludus play mygame.py --option rounds=4"""

    cells: int = 7
    rounds: int = 8


STATE = np.dtype(
    [("coins", np.int8, (MOST_CELLS,)), ("robots", np.int8, (2,)), ("won", np.int8, (2,)), ("played", np.int8)]
)


def reset(rules, state, random):
    """Write the initial position: the robots at the ends, and coins on half of the other cells."""
    state.coins[:] = 0
    for _ in range(rules.cells // 2):
        state.coins[1 + below(random, rules.cells - 2)] = 1
    state.robots[0], state.robots[1] = 0, rules.cells - 1
    state.won[:] = 0
    state.played = 0


def to_move(rules, state):
    return EVERYONE


def legal(rules, state, player, actions):
    """Write the legal actions of the player into `actions`, and return their number."""
    count = 0
    for action in range(3):
        if 0 <= state.robots[player] + action - 1 < rules.cells:
            actions[count] = action
            count += 1
    return count


def play_together(rules, state, actions):
    """Make the moves of both players, one action for each."""
    for player in range(2):
        state.robots[player] += actions[player] - 1
    if state.robots[0] != state.robots[1]:
        for player in range(2):
            state.won[player] += state.coins[state.robots[player]]
            state.coins[state.robots[player]] = 0
    state.played += 1


def outcome(rules, state, values):
    """Is the game over? If so, write the value of each player: 1 for a win, -1 for a loss, 0 for a draw."""
    if state.played < rules.rounds:
        return False
    values[0] = min(max(state.won[0] - state.won[1], -1), 1)
    values[1] = -values[0]
    return True


def observe(rules, state, player, planes):
    """The input of a network: the coins, the player's robot, the other's robot, the part of the rounds played."""
    for cell in range(rules.cells):
        planes[0, 0, cell] = state.coins[cell]
        planes[3, 0, cell] = state.played / rules.rounds
    planes[1, 0, state.robots[player]] = 1.0
    planes[2, 0, state.robots[1 - player]] = 1.0


class MyGameGame(Game):
    """Name, sizes and texts."""

    Rules = MyGame
    name, title = "mygame", "My Game"
    version = 1  # raise it when you change the rules of a game that others have played
    simultaneous = True
    state = STATE
    actions = most_legal = 3
    variants = ({"cells": 4, "rounds": 3},)  # options that ludus check tries too

    def setup(self):
        require(3 <= self.rules.cells <= MOST_CELLS, f"mygame: cells must be from 3 to {MOST_CELLS}")
        require(1 <= self.rules.rounds <= 100, "mygame: rounds must be from 1 to 100")
        self.longest = self.rules.rounds  # the largest number of moves of a game
        self.observation, self.observation_bounds = (4, 1, self.rules.cells), (0.0, 1.0)

    def player_name(self, player):
        return ("red", "blue")[player]

    def write_move(self, state, player, action):
        return NAMES[action]

    def draw(self, state):
        strip = ["o" if coin else "." for coin in state.coins[: self.rules.cells]]
        for player in range(2):
            strip[state.robots[player]] = "RB"[player] if state.robots[0] != state.robots[1] else "#"
        return f"{' '.join(strip)}   R {state.won[0]}  B {state.won[1]}   round {state.played} of {self.rules.rounds}"
