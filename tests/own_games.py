"""Source texts of games that a user might have written, and files that tell when they are run."""

HELPER = "def most(heap):\n    return min(2, heap)\n"

HEAP = '''"""Heap: take one or two; who takes the last one wins."""

from typing import NamedTuple

import numpy as np
from amounts import most

from ludus import Game
from ludus.errors import BadPosition


class Heap(NamedTuple):
    heap: int = 6


STATE = np.dtype([("heap", np.int16), ("turn", np.int8)])


def reset(rules, state, random):
    state.heap = rules.heap
    state.turn = 0


def to_move(rules, state):
    return state.turn


def legal(rules, state, player, actions):
    """Take one or two."""
    count = most(state.heap)
    for action in range(count):
        actions[action] = action
    return count


def play(rules, state, action):
    state.heap -= action + 1
    state.turn = 1 - state.turn


def outcome(rules, state, values):
    if state.heap > 0:
        return False
    values[1 - state.turn] = 1.0
    values[state.turn] = -1.0
    return True


def observe(rules, state, player, planes):
    planes[state.heap] = 1.0


class HeapGame(Game):
    Rules = Heap
    name, title = "heap", "Heap"
    state = STATE
    actions = most_legal = 2

    def setup(self):
        self.longest = self.rules.heap
        self.observation = (self.rules.heap + 1,)

    def write(self, state):
        return f"{state.heap} {'ab'[state.turn]}"

    def read(self, text, state):
        heap, _, turn = text.partition(" ")
        if not heap.isdigit() or turn not in ("a", "b") or int(heap) > self.rules.heap:
            raise BadPosition("write it like 5 a", 0)
        state.heap, state.turn = int(heap), "ab".index(turn)

    def draw(self, state):
        return "|" * state.heap
'''

COUNTDOWN = '''"""Countdown, in ordinary Python."""

from ludus.python_games import PythonGame


class Countdown(PythonGame):
    name, title = "countdown", "Countdown"
    defaults = {"heap": 10, "names": "ab"}

    def setup(self):
        self.actions = self.most_legal = 3
        self.longest = self.settings.heap

    def initial(self, seed):
        return (self.settings.heap, 0)

    def mover(self, board):
        return board[1]

    def legal_actions(self, board, player):
        return range(min(3, board[0]))

    def after(self, board, action):
        return (board[0] - action - 1, 1 - board[1])

    def result(self, board):
        return None if board[0] else [1.0 if player != board[1] else -1.0 for player in range(2)]
'''


def write_heap(folder):
    """The game `heap.py` with its helper in a folder; returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "amounts.py").write_text(HELPER)
    (folder / "heap.py").write_text(HEAP)
    return folder / "heap.py"


def tell_tale(marker):
    """The text of a module that writes the file `marker` when it is run."""
    return f"open({str(marker)!r}, 'w').write('run')\n"
