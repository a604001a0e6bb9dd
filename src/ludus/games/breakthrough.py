"""Breakthrough: march forward, capture diagonally; the first to reach the far row wins. Any height and width."""

import re
from typing import NamedTuple

import numpy as np

from ludus.board import Board, Piece, grid
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, require
from ludus.games._bits import has, lowest, put, take
from ludus.grids import arranged, draw_grid, letters, read_grid, write_grid

# The pieces of a player are bits, row by row from white's side, each from the left. On a board 6 high and 6 wide:
#
#      30  31  32  33  34  35    black's home row
#      24  25  26  27  28  29
#      18  19  20  21  22  23
#      12  13  14  15  16  17
#       6   7   8   9  10  11
#       0   1   2   3   4   5    white's home row
#
# Boards of up to 64 cells of any shape take one word, and so share their machine code; larger ones take more.
#
# An action is 3 * (the cell moved from) + (0 forward left, 1 straight on, 2 forward right), all from the mover's view:
# for black the board is rotated by half a turn, so that black too moves upwards and one network serves both players.
#
# A player with a piece always has a move: no own piece is diagonally ahead of the most advanced one. So on boards at
# least 2 wide no player is ever stuck, and the game ends only on the far row or when a player has no pieces.

MOST_HEIGHT, MOST_WIDTH = 30, 26
MOST_CELLS = MOST_HEIGHT * MOST_WIDTH


def column_words(width, column):
    """The cells of one column on a board of any height, as a row of words."""
    cells = sum(1 << cell for cell in range(column, MOST_CELLS, width))
    return [cells >> 64 * word & (1 << 64) - 1 for word in range(-(-MOST_CELLS // 64))]


# By width and word; widths 0 and 1 are unused.
FIRST_COLUMN = np.array([column_words(max(width, 1), 0) for width in range(MOST_WIDTH + 1)], np.uint64)
LAST_COLUMN = np.array([column_words(max(width, 1), max(width, 1) - 1) for width in range(MOST_WIDTH + 1)], np.uint64)


LEAN = True
"""No function of the rules allocates an array, so ludus.native need not compile them twice to find out."""


class Breakthrough(NamedTuple):
    height: int = 8
    width: int = 8
    ranks: int = 2


def state_dtype(words):
    return np.dtype([("pieces", np.uint64, (2, words)), ("turn", np.int8), ("winner", np.int8)])


def reset(rules, state, random):
    state.pieces[:] = np.uint64(0)
    for cell in range(rules.ranks * rules.width):
        put(state.pieces[0], cell)
        put(state.pieces[1], turned(rules, 1, cell))
    state.turn = 0
    state.winner = -1


def turned(rules, player, cell):
    """The player's view of a cell of the board; also the reverse."""
    return rules.height * rules.width - 1 - cell if player else cell


def to_move(rules, state):
    return state.turn


def legal(rules, state, player, actions):
    mine, theirs = state.pieces[player], state.pieces[1 - player]
    count = np.uint64(0)  # unsigned, because compiled code checks a signed index for being negative
    for word in range(mine.size):
        pieces = mine[word]
        left_edge, right_edge = FIRST_COLUMN[rules.width, word], LAST_COLUMN[rules.width, word]
        if player:
            left_edge, right_edge = right_edge, left_edge
        left = ~(ahead(mine, word, rules.width - 1, player) | left_edge)
        straight = ~(ahead(mine, word, rules.width, player) | ahead(theirs, word, rules.width, player))
        right = ~(ahead(mine, word, rules.width + 1, player) | right_edge)
        # Every action is written, but only legal ones advance the count; the others are overwritten. A branch would
        # cost more, because it is not predictable.
        while pieces:
            place = lowest(pieces)
            action = 3 * turned(rules, player, 64 * word + place)
            actions[count] = action
            count += (left >> np.uint64(place)) & np.uint64(1)
            actions[count] = action + 1
            count += (straight >> np.uint64(place)) & np.uint64(1)
            actions[count] = action + 2
            count += (right >> np.uint64(place)) & np.uint64(1)
            pieces &= pieces - np.uint64(1)
    return np.int64(count)


def ahead(board, word, step, player):
    """A word of the board as seen from `step` cells behind: bit i is the cell where a move from i by `step` ends."""
    if player == 0:
        cells = board[word] >> np.uint64(step)
        if word + 1 < board.size:
            cells |= board[word + 1] << np.uint64(64 - step)
    else:
        cells = board[word] << np.uint64(step)
        if word > 0:
            cells |= board[word - 1] >> np.uint64(64 - step)
    return cells


def target(rules, action):
    """The cell that an action moves to, from the mover's view."""
    return action // 3 + rules.width + action % 3 - 1


def play(rules, state, action):
    me = state.turn
    end = target(rules, action)
    if end >= (rules.height - 1) * rules.width:
        state.winner = me
    take(state.pieces[me], turned(rules, me, action // 3))
    put(state.pieces[me], turned(rules, me, end))
    take(state.pieces[1 - me], turned(rules, me, end))
    if is_empty(state.pieces[1 - me]):
        state.winner = me
    state.turn = 1 - me


def is_empty(board):
    together = np.uint64(0)
    for word in range(board.size):
        together |= board[word]
    return together == np.uint64(0)


def outcome(rules, state, values):
    if state.winner < 0:
        return False
    values[state.winner] = 1.0
    values[1 - state.winner] = -1.0
    return True


def observe(rules, state, player, planes):
    """Planes from the player's view: own pieces, the other's pieces, all ones if it is the player's turn."""
    mine, theirs = state.pieces[player], state.pieces[1 - player]
    for cell in range(rules.height * rules.width):
        there = turned(rules, player, cell)
        row, column = cell // rules.width, cell % rules.width
        planes[0, row, column] = has(mine, there)
        planes[1, row, column] = has(theirs, there)
    if state.turn == player:
        planes[2] = 1.0


def symmetry(rules, state, which, image, actions, count):
    """Symmetry 1 is the mirror image."""
    image.pieces[:] = np.uint64(0)
    image.turn = state.turn
    image.winner = state.winner
    for player in range(2):
        pieces, images = state.pieces[player], image.pieces[player]
        for cell in range(rules.height * rules.width):
            if has(pieces, cell):
                put(images, mirrored(rules, cell) if which else cell)
    if which:
        for i in range(count):
            actions[i] = 3 * mirrored(rules, actions[i] // 3) + 2 - actions[i] % 3


def mirrored(rules, cell):
    return cell + rules.width - 1 - 2 * (cell % rules.width)


def heuristic(rules, state, player):
    """The player's pieces minus the other's, each worth 1 plus up to 1 for its advance to the far row."""
    difference = 0
    for owner in range(2):
        pieces = state.pieces[owner]
        for cell in range(rules.height * rules.width):
            if has(pieces, cell):
                row = turned(rules, owner, cell) // rules.width
                worth = (rules.height - 1) ** 2 + row**2
                difference += worth if owner == player else -worth
    lead = difference / (rules.height - 1) ** 2
    return lead / (2.0 + abs(lead))


def has_won(rules, pieces, player):
    """True if the player is on the far row, or the other has no pieces. For positions whose last move is unknown."""
    for cell in range((rules.height - 1) * rules.width, rules.height * rules.width):
        if has(pieces[player], turned(rules, player, cell)):
            return True
    return is_empty(pieces[1 - player])


class BreakthroughGame(Game):
    Rules = Breakthrough
    name = "breakthrough"
    title = "Breakthrough"

    def make_rules(self, **options):
        rules = super().make_rules(**options)
        # Two rows of pieces each do not fit into a board 3 high.
        return rules if "ranks" in options else rules._replace(ranks=2 if rules.height > 3 else 1)

    def setup(self):
        height, width, ranks = self.rules
        require(3 <= height <= MOST_HEIGHT, f"breakthrough: height must be from 3 to {MOST_HEIGHT}")
        require(2 <= width <= MOST_WIDTH, f"breakthrough: width must be from 2 to {MOST_WIDTH}")
        require(1 <= ranks <= height // 2, "breakthrough: ranks, the rows of pieces each, must be 1 to half the height")
        self.state = state_dtype(-(-height * width // 64))
        self.actions = 3 * height * width
        self.most_legal = 3 * ranks * width
        # A piece that starts in row r, counted from 0, ends the game with its move number height - 1 - r.
        self.longest = 2 * width * sum(height - 2 - row for row in range(ranks)) + 1
        self.observation = (3, height, width)
        self.observation_bounds = (0.0, 1.0)
        places = [(action % 3, action // 3 // width, action // 3 % width) for action in range(self.actions)]
        self.places = np.array([places], np.int32)  # where the piece comes from
        self.symmetries = 2

    def cells(self, state):
        """0 empty, 1 white, 2 black; row 0 on top."""
        height, width, _ = self.rules
        white, black = state.pieces
        board = [1 if has(white, cell) else 2 if has(black, cell) else 0 for cell in range(height * width)]
        return np.array(board, np.int8).reshape(height, width)[::-1]

    def write(self, state):
        return f"{write_grid(self.cells(state), '.wb')} {'wb'[state.turn]}"

    def read(self, text, state):
        height, width, ranks = self.rules
        begin = len(text) - len(text.lstrip())
        grid, _, side = text.strip().partition(" ")
        cells = read_grid(grid, height, width, ".wb", begin)[::-1]
        place = begin + len(grid) + 1
        if side not in ("w", "b"):
            raise BadPosition(f"after the board and a space comes w or b, whose turn it is, not {side!r}", place)
        for cell, owner in enumerate(cells.ravel().tolist()):
            if owner:
                put(state.pieces[owner - 1], cell)
        state.turn, state.winner = "wb".index(side), -1
        for piece in "wb":
            found = [match.start() for match in re.finditer(piece, grid)]
            if len(found) > ranks * width:
                surplus = begin + found[ranks * width]
                raise BadPosition(f"{piece} has more than the {ranks * width} pieces it begins with", surplus)
        won = [has_won(self.rules, state.pieces, player) for player in range(2)]
        if won[0] and won[1]:
            raise BadPosition("both players have won" if cells.any() else "the board is empty", begin)
        if won[state.turn]:
            raise BadPosition(f"{side} has won, so it is not the turn of {side}", place)
        if won[1 - state.turn]:
            state.winner = 1 - state.turn

    def cell_name(self, player, cell):
        row, column = divmod(turned(self.rules, player, cell), self.rules.width)
        return f"{letters(self.rules.width)[column]}{row + 1}"

    def write_move(self, state, player, action):
        end = target(self.rules, action)
        captures = has(state.pieces[1 - player], turned(self.rules, player, end))
        return f"{self.cell_name(player, action // 3)}{'x' if captures else ''}{self.cell_name(player, end)}"

    def read_move(self, state, player, text):
        """Such as a2a3, or a2xb3 for a capture, where the x may be left out."""
        height, width, _ = self.rules
        found = re.fullmatch(r"([a-z])([0-9]{1,2})([x-]?)([a-z])([0-9]{1,2})", text.strip().lower())
        if not found:
            raise IllegalMove(f"{text!r} is not a move; moves are written as a2a3 or, for a capture, a2xb3")
        ends = []
        for column, row in (found.group(1, 2), found.group(4, 5)):
            if column not in letters(width) or not 1 <= int(row) <= height:
                raise IllegalMove(f"there is no cell {column}{row}; cells are a1 to {letters(width)[-1]}{height}")
            ends.append(turned(self.rules, player, (int(row) - 1) * width + letters(width).index(column)))
        start, end = ends
        name, other = self.cell_name(player, start), self.cell_name(player, end)
        mine, theirs = state.pieces[player], state.pieces[1 - player]
        if not has(mine, turned(self.rules, player, start)):
            raise IllegalMove(f"{self.player_name(player)} has no piece on {name}")
        sideways = end % width - start % width
        if end // width - start // width != 1 or abs(sideways) > 1:
            raise IllegalMove(f"a piece moves one row forward, straight or diagonally, not from {name} to {other}")
        if has(mine, turned(self.rules, player, end)):
            raise IllegalMove(f"{self.player_name(player)} has a piece of its own on {other}")
        captures = has(theirs, turned(self.rules, player, end))
        if captures and sideways == 0:
            raise IllegalMove(f"{other} is occupied, and pieces capture only diagonally")
        if found.group(3) == "x" and not captures:
            raise IllegalMove(f"there is no piece to capture on {other}")
        return 3 * start + sideways + 1

    def player_name(self, player):
        return ("white", "black")[player]

    def draw(self, state):
        height, width, _ = self.rules
        rows = [str(row) for row in range(height, 0, -1)]
        ending = (
            f"{self.player_name(state.turn)} to move"
            if state.winner < 0
            else f"{self.player_name(state.winner)} has won"
        )
        return draw_grid(self.cells(state), ".wb", rows, letters(width)) + "\n" + ending

    def drawing(self, position):
        height, width, _ = self.rules
        cells, marks = grid([str(row) for row in range(height, 0, -1)], letters(width), chequered=True)
        owners = self.cells(position.state).ravel().tolist()
        pieces = [
            Piece(cell.id, owner - 1, symbol="pawn", name=f"{self.player_name(owner - 1)} piece")
            for cell, owner in zip(cells, owners, strict=True)
            if owner
        ]
        player = int(position.state.turn)
        touches = {
            action: [self.cell_name(player, action // 3), self.cell_name(player, target(self.rules, action))]
            for action in position.actions_of(player)
        }
        stock = [Piece("", owner, symbol="pawn", name=f"{self.player_name(owner)} piece") for owner in range(2)]
        return Board(cells, pieces, touches, paints=("white", "black"), marks=marks, stock=stock)

    def arrange(self, placed, player):
        height, width, _ = self.rules
        ids = [f"{column}{row}" for row in range(height, 0, -1) for column in letters(width)]
        return f"{write_grid(arranged(placed, ids, height, width), '.wb')} {'wb'[player]}"

    def attempt(self, position, player, touched):
        """A click on a single cell counts as the step straight ahead."""
        if len(touched) == 1:
            row = int(touched[0][1:]) + (-1 if player else 1)
            touched = [touched[0], f"{touched[0][0]}{min(max(row, 1), self.rules.height)}"]
        return "".join(touched)
