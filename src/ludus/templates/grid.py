"""My Game: in turn, put a stone on an empty cell; who has four stones in a line first, wins.

This is a complete game to start from. Change the rules below, and run `ludus check mygame.py` after every change.
"""

from typing import NamedTuple

from ludus.game import require
from ludus.grids import GridGame, observe_cells, turn_actions, turn_cells

# The state has two parts: state.cells, row by row from the bottom, where 0 is an empty cell, 1 a stone of the first
# player and 2 a stone of the second; and state.turn, the player to move, 0 or 1.
#
# An action is the number of the cell that a stone is put on.
#
# The functions are compiled to machine code: use numbers, loops and arrays, no lists, texts or dictionaries.

LEAN = True  # no function makes an array; this halves the time to compile


class MyGame(NamedTuple):
    """The options of the game with their defaults: ludus play mygame.py --option rows=4"""

    rows: int = 5
    columns: int = 5
    line: int = 4


def reset(rules, state, random):
    """Write the initial position."""
    state.cells[:] = 0
    state.turn = 0


def to_move(rules, state):
    return state.turn


def legal(rules, state, player, actions):
    """Write the legal actions of the player into `actions`, and return their number."""
    count = 0
    for cell in range(rules.rows * rules.columns):
        if state.cells[cell] == 0:
            actions[count] = cell
            count += 1
    return count


def play(rules, state, action):
    """Make the move of the player to move."""
    state.cells[action] = state.turn + 1
    state.turn = 1 - state.turn


def outcome(rules, state, values):
    """Is the game over? If so, write the value of each player: 1 for a win, -1 for a loss, 0 for a draw."""
    full = True
    for cell in range(rules.rows * rules.columns):
        stone = state.cells[cell]
        if stone == 0:
            full = False
        elif begins_line(rules, state, cell):
            values[stone - 1] = 1.0
            values[2 - stone] = -1.0
            return True
    if full:
        values[:] = 0.0
    return full


def begins_line(rules, state, cell):
    """True if a line of equal stones begins at the cell, to the right, upwards or along a diagonal."""
    row, column = cell // rules.columns, cell % rules.columns
    for up, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        last_row, last_column = row + (rules.line - 1) * up, column + (rules.line - 1) * right
        if last_row >= rules.rows or not 0 <= last_column < rules.columns:
            continue
        same = 1
        while same < rules.line and state.cells[cell + same * (up * rules.columns + right)] == state.cells[cell]:
            same += 1
        if same == rules.line:
            return True
    return False


def observe(rules, state, player, planes):
    """The input of a network: one plane with the player's stones, one with the other's."""
    observe_cells(rules.rows, rules.columns, state.cells, player, planes)


def symmetry(rules, state, which, image, actions, count):
    """Write the mirrored or rotated position into `image`: training learns from each position in all its images."""
    turn_cells(rules.rows, rules.columns, which, state.cells, image.cells)
    turn_actions(rules.rows, rules.columns, which, actions, count)
    image.turn = state.turn


class MyGameGame(GridGame):
    """Name, sizes and texts. GridGame does notation, drawing and the board of the browser."""

    Rules = MyGame
    name, title = "mygame", "My Game"
    version = 1  # raise it when you change the rules of a game that others have played
    symbols = ".xo"
    observation_bounds = (0.0, 1.0)  # the smallest and the largest number that observe writes
    variants = ({"rows": 3, "columns": 4, "line": 3}, {"rows": 6})  # options that ludus check tries too

    def setup(self):
        rows, columns, line = self.rules
        require(1 <= rows <= 10 and 1 <= columns <= 10, "mygame: rows and columns must be from 1 to 10")
        require(2 <= line <= max(rows, columns), "mygame: line must be from 2 to the longer side of the board")
        self.use_grid(rows, columns)
        self.longest = rows * columns  # the largest number of moves of a game
