"""Tic-tac-toe: three in a row on nine cells."""

from typing import NamedTuple

import numpy as np

from ludus.board import Board, Piece, grid
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game
from ludus.grids import arranged, draw_grid, read_grid, write_grid

# An action is the cell, and the stones of a player are bits in the same order:
#
#   3   6  7  8
#   2   3  4  5
#   1   0  1  2
#
#       a  b  c

LINES = (0b000000111, 0b000111000, 0b111000000, 0b001001001, 0b010010010, 0b100100100, 0b100010001, 0b001010100)

# The image of each cell under each of the 8 symmetries: 4 rotations, and 4 rotations of the mirror image.
TO = np.array(
    [
        np.argsort(np.rot90(board, turns).ravel())
        for board in (np.arange(9).reshape(3, 3), np.arange(9).reshape(3, 3)[:, ::-1])
        for turns in range(4)
    ]
)


LEAN = True
"""No function of the rules allocates an array, so ludus.native need not compile them twice to find out."""


class TicTacToe(NamedTuple):
    pass


STATE = np.dtype([("stones", np.int16, (2,)), ("ply", np.int8), ("winner", np.int8)])


def reset(rules, state, random):
    state.stones[:] = 0
    state.ply = 0
    state.winner = -1


def to_move(rules, state):
    return state.ply & 1


def legal(rules, state, player, actions):
    taken = state.stones[0] | state.stones[1]
    count = 0
    for cell in range(9):
        if not taken >> cell & 1:
            actions[count] = cell
            count += 1
    return count


def play(rules, state, action):
    me = state.ply & 1
    state.stones[me] |= 1 << action
    state.ply += 1
    if has_line(state.stones[me]):
        state.winner = me


def has_line(stones):
    found = False
    for line in LINES:
        found |= stones & line == line
    return found


def outcome(rules, state, values):
    if state.winner >= 0:
        values[state.winner] = 1.0
        values[1 - state.winner] = -1.0
        return True
    if state.ply == 9:
        values[:] = 0.0
        return True
    return False


def observe(rules, state, player, planes):
    """Planes: own stones, the other's stones; row 0 at the bottom."""
    for cell in range(9):
        planes[0, cell // 3, cell % 3] = state.stones[player] >> cell & 1
        planes[1, cell // 3, cell % 3] = state.stones[1 - player] >> cell & 1


def symmetry(rules, state, which, image, actions, count):
    """Symmetries 0 to 3 are rotations, 4 to 7 rotations of the mirror image."""
    image.stones[:] = 0
    image.ply = state.ply
    image.winner = state.winner
    for cell in range(9):
        for player in range(2):
            image.stones[player] |= (state.stones[player] >> cell & 1) << TO[which, cell]
    for i in range(count):
        actions[i] = TO[which, actions[i]]


def heuristic(rules, state, player):
    """The number of the 8 lines still open to the player, minus the number open to the other, divided by 8."""
    difference = 0
    for line in LINES:
        difference += 1 if state.stones[1 - player] & line == 0 else 0
        difference -= 1 if state.stones[player] & line == 0 else 0
    return difference / 8.0


class TicTacToeGame(Game):
    Rules = TicTacToe
    name = "tictactoe"
    title = "Tic-tac-toe"
    state = STATE
    actions = most_legal = longest = 9
    observation = (2, 3, 3)
    observation_bounds = (0.0, 1.0)
    places = np.array([[(0, cell // 3, cell % 3) for cell in range(9)]], np.int32)
    symmetries = 8

    def setup(self):
        """There are no options to check."""

    def cells(self, state):
        """0 empty, 1 first player, 2 second player; row 0 on top."""
        board = [(state.stones[0] >> cell & 1) + 2 * (state.stones[1] >> cell & 1) for cell in range(9)]
        return np.array(board, np.int8).reshape(3, 3)[::-1]

    def write(self, state):
        return write_grid(self.cells(state), ".xo")

    def read(self, text, state):
        begin = len(text) - len(text.lstrip())
        board = read_grid(text.strip(), 3, 3, ".xo", begin)[::-1].ravel()
        first, second = int((board == 1).sum()), int((board == 2).sum())
        if first - second not in (0, 1):
            raise BadPosition(f"x has {first} stones and o has {second}; x moves first, so o has as many or one less")
        state.ply, state.winner = first + second, -1
        for player in range(2):
            state.stones[player] = sum(1 << cell for cell in range(9) if board[cell] == player + 1)
            if has_line(state.stones[player]):
                if state.winner >= 0:
                    raise BadPosition("both players have a line")
                state.winner = player
        if state.winner == (state.ply & 1):
            raise BadPosition(f"{'xo'[state.winner]} has a line, yet the other player moved last")

    def write_move(self, state, player, action):
        return f"{'abc'[action % 3]}{action // 3 + 1}"

    def read_move(self, state, player, text):
        name = text.strip().lower()
        cells = [self.write_move(state, player, cell) for cell in range(9)]
        if name not in cells:
            raise IllegalMove(f"there is no cell {text!r}; cells are a1 to c3")
        if (state.stones[0] | state.stones[1]) >> cells.index(name) & 1:
            raise IllegalMove(f"cell {name} is taken")
        return cells.index(name)

    def player_name(self, player):
        return "xo"[player]

    def draw(self, state):
        return draw_grid(self.cells(state), ".xo", ["3", "2", "1"], ["a", "b", "c"])

    def drawing(self, position):
        cells, marks = grid(["3", "2", "1"], ["a", "b", "c"])
        names = [self.write_move(position.state, 0, cell) for cell in range(9)]
        stones = position.state.stones.tolist()
        pieces = [
            Piece(name, player, "bare", ("cross", "ring")[player], name="xo"[player])
            for cell, name in enumerate(names)
            for player in range(2)
            if stones[player] >> cell & 1
        ]
        won = [
            names[k] for line in LINES if any(each & line == line for each in stones) for k in range(9) if line >> k & 1
        ]
        touches = {cell: [name] for cell, name in enumerate(names)}
        stock = [Piece("", player, "bare", ("cross", "ring")[player], name="xo"[player]) for player in range(2)]
        return Board(cells, pieces, touches, marks=marks, won=won, stock=stock)

    def arrange(self, placed, player):
        cells, _ = grid(["3", "2", "1"], ["a", "b", "c"])
        return write_grid(arranged(placed, [cell.id for cell in cells], 3, 3), ".xo")
