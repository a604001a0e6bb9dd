"""Connect-4: drop stones into columns; four in a row (or any other number) wins. Any rows, columns and line length."""

from typing import NamedTuple

import numpy as np

from ludus.board import Board, Piece, grid
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, require
from ludus.games._bits import count_bits, put
from ludus.grids import arranged, draw_grid, letters, read_grid, write_grid

# The stones of a player are bits, column by column from the left, each from the bottom up, with one bit above every
# column that is never set, so that no line runs on from the top of one column to the bottom of the next:
#
#      6  13  20  27  34  41  48     never set
#      5  12  19  26  33  40  47
#      4  11  18  25  32  39  46
#      3  10  17  24  31  38  45
#      2   9  16  23  30  37  44
#      1   8  15  22  29  36  43
#      0   7  14  21  28  35  42
#
# Boards of up to 64 bits of any shape take one word, and so share their machine code; larger ones take more.


LEAN = True
"""No function of the rules allocates an array, so ludus.native need not compile them twice to find out."""


class Connect4(NamedTuple):
    rows: int = 6
    columns: int = 7
    line: int = 4


def state_dtype(words):
    return np.dtype(
        [("stones", np.uint64, (2, words)), ("heights", np.int8, (16 * words,)), ("ply", np.int16), ("winner", np.int8)]
    )


def reset(rules, state, random):
    state.stones[:] = np.uint64(0)
    state.heights[:] = 0
    state.ply = 0
    state.winner = -1


def to_move(rules, state):
    return state.ply & 1


def legal(rules, state, player, actions):
    count = 0
    for column in range(rules.columns):
        if state.heights[column] < rules.rows:
            actions[count] = column
            count += 1
    return count


def play(rules, state, action):
    me = state.ply & 1
    bit = action * (rules.rows + 1) + state.heights[action]
    put(state.stones[me], bit)
    state.heights[action] += 1
    state.ply += 1
    if in_line(rules, state.stones[me], bit):
        state.winner = me


def outcome(rules, state, values):
    if state.winner >= 0:
        values[state.winner] = 1.0
        values[1 - state.winner] = -1.0
        return True
    if state.ply == rules.rows * rules.columns:
        values[:] = 0.0
        return True
    return False


def in_line(rules, stones, bit):
    """True if the stone at `bit` is part of a line."""
    if stones.size > 1:
        return completes(rules, stones, bit)
    height = rules.rows + 1
    for step in (1, height - 1, height, height + 1):
        run = stones[0]
        for _ in range(rules.line - 1):
            run &= run >> np.uint64(step)
        if run:
            return True
    return False


def completes(rules, stones, bit):
    """True if a stone at `bit` would complete a line."""
    height = rules.rows + 1
    for step in (1, height - 1, height, height + 1):
        count = 1
        at = bit + step
        while has(stones, at):
            count += 1
            at += step
        at = bit - step
        while has(stones, at):
            count += 1
            at -= step
        if count >= rules.line:
            return True
    return False


def has(stones, bit):
    return 0 <= bit < 64 * stones.size and (stones[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1) != 0


def observe(rules, state, player, planes):
    """Planes: own stones, the other's stones; row 0 at the bottom."""
    for plane in range(2):
        stones = state.stones[player if plane == 0 else 1 - player]
        for row in range(rules.rows):
            for column in range(rules.columns):
                bit = column * (rules.rows + 1) + row  # no branch, so that the compiler can vectorise the loop
                planes[plane, row, column] = (stones[bit >> 6] >> np.uint64(bit & 63)) & np.uint64(1)


def symmetry(rules, state, which, image, actions, count):
    """Symmetry 1 is the mirror image."""
    image.ply = state.ply
    image.winner = state.winner
    image.stones[:] = np.uint64(0)
    image.heights[:] = 0
    for column in range(rules.columns):
        there = rules.columns - 1 - column if which else column
        image.heights[there] = state.heights[column]
        for row in range(state.heights[column]):
            bit = there * (rules.rows + 1) + row
            for player in range(2):
                if has(state.stones[player], column * (rules.rows + 1) + row):
                    put(image.stones[player], bit)
    for i in range(count if which else 0):
        actions[i] = rules.columns - 1 - actions[i]


def heuristic(rules, state, player):
    """The number of empty cells that would complete a line for the player, minus those for the other."""
    if state.stones.shape[1] == 1:
        empty = np.uint64(0)
        for column in range(rules.columns):
            free = (np.uint64(1) << np.uint64(rules.rows - state.heights[column])) - np.uint64(1)
            empty |= free << np.uint64(column * (rules.rows + 1) + state.heights[column])
        mine = count_bits(completing(rules, state.stones[player, 0]) & empty)
        theirs = count_bits(completing(rules, state.stones[1 - player, 0]) & empty)
    else:
        mine = theirs = 0
        for column in range(rules.columns):
            for row in range(state.heights[column], rules.rows):
                bit = column * (rules.rows + 1) + row
                mine += completes(rules, state.stones[player], bit)
                theirs += completes(rules, state.stones[1 - player], bit)
    return (mine - theirs) / (1.0 + mine + theirs)


def completing(rules, stones):
    """The bits of cells that would complete a line."""
    cells = np.uint64(0)
    height = rules.rows + 1
    for step in (1, height - 1, height, height + 1):
        for missing in range(rules.line):
            run = ~np.uint64(0)
            for k in range(rules.line):
                if k != missing:
                    run &= shifted(stones, (k - missing) * step)
            cells |= run
    return cells


def shifted(word, places):
    """The bits moved down, or up if `places` is negative."""
    if places >= 64 or places <= -64:
        return np.uint64(0)
    if places < 0:
        return word << np.uint64(-places)
    return word >> np.uint64(places)


class Connect4Game(Game):
    Rules = Connect4
    name = "connect4"
    title = "Connect-4"

    def setup(self):
        rows, columns, line = self.rules
        require(1 <= rows <= 120 and 1 <= columns <= 120, "connect4: rows and columns must be from 1 to 120")
        require(line >= 2, "connect4: line must be at least 2")
        words = max(-(-columns * (rows + 1) // 64), -(-columns // 16))
        if rows + 2 >= 64:
            words = max(words, 2)  # the steps of a diagonal must be less than a word
        self.state = state_dtype(words)
        self.actions = self.most_legal = columns
        self.longest = rows * columns
        self.observation = (2, rows, columns)
        self.observation_bounds = (0.0, 1.0)
        self.places = np.array([[(0, -1, column) for column in range(columns)]], np.int32)
        self.symmetries = 2

    def cells(self, state):
        """0 empty, 1 first player, 2 second player; row 0 on top."""
        rows, columns, _ = self.rules
        first, second = (sum(word << 64 * at for at, word in enumerate(words)) for words in state.stones.tolist())
        cells = [
            (first >> column * (rows + 1) + row & 1) + 2 * (second >> column * (rows + 1) + row & 1)
            for row in reversed(range(rows))
            for column in range(columns)
        ]
        return np.array(cells, np.int8).reshape(rows, columns)

    def write(self, state):
        return write_grid(self.cells(state), ".xo")

    def read(self, text, state):
        rows, columns, _ = self.rules
        cells = read_grid(text.strip(), rows, columns, ".xo")[::-1]
        first, second = int((cells == 1).sum()), int((cells == 2).sum())
        if first - second not in (0, 1):
            raise BadPosition(f"x has {first} stones and o has {second}; x moves first, so o has as many or one less")
        reset(self.rules, state, None)
        state.ply = first + second
        for column in range(columns):
            for row in range(rows):
                bit = column * (rows + 1) + row
                if not cells[row, column]:
                    continue
                if row != state.heights[column]:
                    raise BadPosition(f"the stone in column {letters(columns)[column]}, row {row + 1} hangs in the air")
                state.heights[column] += 1
                put(state.stones[cells[row, column] - 1], bit)
        for column in range(columns):
            for bit in range(column * (rows + 1), column * (rows + 1) + state.heights[column]):
                for player in range(2):
                    if has(state.stones[player], bit) and in_line(self.rules, state.stones[player], bit):
                        if state.winner == 1 - player:
                            raise BadPosition("both players have a line")
                        state.winner = player
        if state.winner == (state.ply & 1):
            raise BadPosition(f"{'xo'[state.winner]} has a line, yet the other player moved last")

    def write_move(self, state, player, action):
        return letters(self.rules.columns)[action]

    def read_move(self, state, player, text):
        names = letters(self.rules.columns)
        name = text.strip().lower()
        if name not in names:
            raise IllegalMove(f"there is no column {text!r}; columns are {names[0]} to {names[-1]}")
        if state.heights[names.index(name)] == self.rules.rows:
            raise IllegalMove(f"column {name} is full")
        return names.index(name)

    def player_name(self, player):
        return "xo"[player]

    def draw(self, state):
        return draw_grid(self.cells(state), ".xo", [], letters(self.rules.columns))

    def drawing(self, position):
        rows, columns, line = self.rules
        names, state = letters(columns), position.state
        cells, marks = grid([str(row) for row in range(rows, 0, -1)], names, "hole")
        owners = self.cells(state)[::-1].T.tolist()  # by column, each from the bottom up
        pieces = [
            Piece(f"{names[column]}{row + 1}", owner - 1, symbol=("cross", "ring")[owner - 1], name="xo"[owner - 1])
            for column, stack in enumerate(owners)
            for row, owner in enumerate(stack)
            if owner
        ]
        touches = {}
        for column in range(columns):  # a stone lands on the first cell of these, and every cell of the column will do
            free = int(state.heights[column])
            heights = [*range(free, rows), *range(free)]
            touches[column] = [[f"{names[column]}{height + 1}" for height in heights]]
        won = []
        for column, row in np.ndindex(columns, rows):
            for right, up in ((0, 1), (1, 0), (1, 1), (1, -1)):
                ends = column + right * (line - 1), row + up * (line - 1)
                if ends[0] < columns and 0 <= ends[1] < rows:
                    steps = [(column + right * k, row + up * k) for k in range(line)]
                    if owners[column][row] and len({owners[x][y] for x, y in steps}) == 1:
                        won += [f"{names[x]}{y + 1}" for x, y in steps]
        return Board(
            cells,
            pieces,
            touches,
            paints=("red", "yellow"),
            marks=[mark for mark in marks if mark.text in names],
            won=won,
            falls=True,
            stock=[Piece("", player, symbol=("cross", "ring")[player], name="xo"[player]) for player in range(2)],
        )

    def arrange(self, placed, player):
        rows, columns, _ = self.rules
        ids = [f"{column}{row}" for row in range(rows, 0, -1) for column in letters(columns)]
        return write_grid(arranged(placed, ids, rows, columns), ".xo")

    def attempt(self, position, player, touched):
        return touched[0].rstrip("0123456789")
