"""The board of Sevn in bits: neighbours and corners.

Tiles are bits in reading order. On a board of base 5:

     0   1   2   3   4    the top row
     5   6   7   8   9
    10  11  12  13  14
    15  16  17  18  19
    20  21  22  23  24

Up to base 7 a board takes one word, for 9 and 11 two.
"""

import numpy as np

from ludus.games._bits import count_bits

MOST_BASE = 11
BASES = range(3, MOST_BASE + 1, 2)

INNER = np.zeros((MOST_BASE + 1, 2), np.uint64)
"""The cells that are neither first nor last in their row, by base and word."""
for _base in BASES:
    _cells = sum(1 << _cell for _cell in range(_base * _base) if 0 < _cell % _base < _base - 1)
    INNER[_base] = _cells & (1 << 64) - 1, _cells >> 64


def earlier(board, word, step):
    """A word of the board shifted: each bit is the cell `step` places before it."""
    cells = board[word] << step
    if word > 0:
        cells |= board[word - 1] >> (np.uint64(64) - step)
    return cells


def later(board, word, step):
    """A word of the board shifted: each bit is the cell `step` places after it."""
    cells = board[word] >> step
    if word + 1 < board.size:
        cells |= board[word + 1] << (np.uint64(64) - step)
    return cells


def held_in_row(rules, board, word):
    """The tiles with a tile on their left and on their right."""
    step = np.uint64(1)
    return board[word] & earlier(board, word, step) & later(board, word, step) & INNER[rules.base, word]


def held_in_column(rules, board, word):
    """The tiles with a tile above them and below them."""
    step = np.uint64(rules.base)
    return board[word] & earlier(board, word, step) & later(board, word, step)


def is_held(rules, board, cell):
    """Two flags: the tile has neighbours on both sides in its row, and in its column."""
    place = np.uint64(cell & 63)
    in_row = held_in_row(rules, board, cell >> 6) >> place & np.uint64(1)
    in_column = held_in_column(rules, board, cell >> 6) >> place & np.uint64(1)
    return in_row != 0, in_column != 0


def corners(rules, board, word):
    """The tiles that can be taken."""
    return board[word] & ~(held_in_row(rules, board, word) | held_in_column(rules, board, word))


def is_corner(rules, board, cell):
    return corners(rules, board, cell >> 6) >> np.uint64(cell & 63) & np.uint64(1) != 0


def before(board, cell):
    """The number of tiles before a cell in reading order."""
    count = count_bits(board[cell >> 6] & ((np.uint64(1) << np.uint64(cell & 63)) - np.uint64(1)))
    if cell >= 64:
        count += count_bits(board[0])
    return count


def colours_led(rules, state):
    """The number of colours that player 0 leads in, minus those that player 1 leads in."""
    led = 0
    for colour in range(rules.base):
        if state.lead[colour] != 0:
            led += 1 if state.lead[colour] > 0 else -1
    return led
