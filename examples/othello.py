"""Othello: a stone must flip stones of the other player, all in a straight line between it and another of one's own.

Check it with `ludus check examples/othello.py`, and play it with `ludus play examples/othello.py`.
"""

from typing import NamedTuple

from ludus.game import require
from ludus.grids import GridGame, observe_cells, turn_actions, turn_cells

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


class OthelloGame(GridGame):
    Rules = Othello
    name, title = "othello", "Othello"
    row_one_on_top = True
    variants = ({"size": 4}, {"size": 6})

    def setup(self):
        size = self.rules.size
        require(4 <= size <= 16 and size % 2 == 0, "othello: size must be an even number from 4 to 16")
        self.use_grid(size, size, elsewhere=["pass"])
        self.longest = 2 * size * size  # every second action may be a pass

    def player_name(self, player):
        return ("black", "white")[player]
