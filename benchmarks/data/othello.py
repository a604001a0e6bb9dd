"""Othello without the helpers of ludus.grids, which older versions do not have: for benchmarks/compiling.py."""

from typing import NamedTuple

import numpy as np

from ludus import Game
from ludus.errors import BadPosition
from ludus.game import require

# An action is the cell that a stone is put on; the last action is a pass, legal only if no stone can be put.

LEAN = True  # no function makes an array; this halves the time to compile
DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


class Othello(NamedTuple):
    size: int = 8


def reset(rules, state, random):
    state.cells[:] = 0
    middle = rules.size // 2
    for row in (middle - 1, middle):
        for column in (middle - 1, middle):
            state.cells[row * rules.size + column] = 2 if row == column else 1
    state.turn = 0


def to_move(rules, state):
    return state.turn


def flips(rules, state, cell, player, direction):
    """The number of stones in one direction that a stone of the player on `cell` would flip."""
    down, right = DIRECTIONS[direction]
    row, column = cell // rules.size + down, cell % rules.size + right
    count = 0
    while 0 <= row < rules.size and 0 <= column < rules.size:
        stone = state.cells[row * rules.size + column]
        if stone == 0:
            return 0
        if stone == player + 1:
            return count
        count += 1
        row, column = row + down, column + right
    return 0


def fits(rules, state, cell, player):
    """True if the player may put a stone on the cell."""
    if state.cells[cell] != 0:
        return False
    count = 0
    for direction in range(8):
        count += flips(rules, state, cell, player, direction)
    return count > 0


def legal(rules, state, player, actions):
    count = 0
    for cell in range(rules.size * rules.size):
        if fits(rules, state, cell, player):
            actions[count] = cell
            count += 1
    if count == 0:
        actions[0] = rules.size * rules.size
        count = 1
    return count


def play(rules, state, action):
    me = state.turn
    if action < rules.size * rules.size:
        for direction in range(8):
            down, right = DIRECTIONS[direction]
            for step in range(1, flips(rules, state, action, me, direction) + 1):
                state.cells[action + step * (down * rules.size + right)] = me + 1
        state.cells[action] = me + 1
    state.turn = 1 - me


def outcome(rules, state, values):
    """The game is over when neither player can put a stone; the player with more stones has won."""
    lead = 0
    for cell in range(rules.size * rules.size):
        if fits(rules, state, cell, state.turn) or fits(rules, state, cell, 1 - state.turn):
            return False
        if state.cells[cell] != 0:
            lead += 1 if state.cells[cell] == 1 else -1
    values[0] = min(max(lead, -1), 1)
    values[1] = -values[0]
    return True


def observe(rules, state, player, planes):
    observe_cells(rules.size, rules.size, state.cells, player, planes)


def symmetry(rules, state, which, image, actions, count):
    turn_cells(rules.size, rules.size, which, state.cells, image.cells)
    turn_actions(rules.size, rules.size, which, actions, count)
    image.turn = state.turn


def turned(rows, columns, which, cell):
    if cell >= rows * columns:
        return cell
    row, column = cell // columns, cell % columns
    if which >= 4:
        row, column = column, row
    if which & 1:
        column = columns - 1 - column
    if which & 2:
        row = rows - 1 - row
    return row * columns + column


def turn_cells(rows, columns, which, cells, image):
    for cell in range(rows * columns):
        image[turned(rows, columns, which, cell)] = cells[cell]


def turn_actions(rows, columns, which, actions, count):
    for index in range(count):
        actions[index] = turned(rows, columns, which, actions[index])


def observe_cells(rows, columns, cells, player, planes):
    players = planes.shape[0]
    for cell in range(rows * columns):
        if cells[cell] > 0:
            planes[(cells[cell] - 1 - player + players) % players, cell // columns, cell % columns] = 1.0


class OthelloGame(Game):
    Rules = Othello
    name, title = "othello", "Othello"

    def setup(self):
        size = self.rules.size
        require(4 <= size <= 16 and size % 2 == 0, "othello: size must be an even number from 4 to 16")
        self.state = np.dtype([("cells", np.int8, (size * size,)), ("turn", np.int8)])
        self.actions = self.most_legal = size * size + 1
        self.observation = (2, size, size)
        self.symmetries = 8
        self.longest = 2 * size * size
        self.places = np.array(
            [[(0, row, column) for row in range(size) for column in range(size)] + [(1, -1, -1)]], np.int32
        )

    def write(self, state):
        return "".join(".xo"[cell] for cell in state.cells) + " xo"[state.turn + 1]

    def read(self, text, state):
        if len(text) != len(state.cells) + 1 or not set(text) <= set(".xo"):
            raise BadPosition(f"{text!r} is not a board")
        state.cells[:] = [".xo".index(each) for each in text[:-1]]
        state.turn = " xo".index(text[-1]) - 1

    def write_move(self, state, player, action):
        row, column = divmod(action, self.rules.size)
        return f"{'abcdefghijklmnop'[column]}{row + 1}" if row < self.rules.size else "pass"

    def draw(self, state):
        return "\n".join("".join(".xo"[cell] for cell in row) for row in state.cells.reshape(self.rules.size, -1))
