"""The symmetries of Sevn: those of the square, and all permutations of the colours.

Symmetry `which` turns the board by its lowest three bits. The rest is the number of a permutation of the colours.
"""

import numpy as np

from ludus.games._bits import lowest, put
from ludus.games._sevn_board import before


def image_of(rules, which, cell):
    """A cell under one of the eight symmetries of the square: 1 swaps left and right, 2 top and bottom, 4 rows and
    columns, before the others."""
    row, column = cell // rules.base, cell % rules.base
    if which & 4:
        row, column = column, row
    if which & 2:
        row = rules.base - 1 - row
    if which & 1:
        column = rules.base - 1 - column
    return row * rules.base + column


def colour_image(rules, which, colour):
    """A colour under the permutation of all colours that belongs to a symmetry: the digits of its number choose one
    colour after the other among those that are left."""
    number, taken, found = which >> 3, 0, 0
    for i in range(colour + 1):
        left = number % (rules.base - i)
        number //= rules.base - i
        found = 0
        while left > 0 or taken >> found & 1:
            left -= 1 - (taken >> found & 1)
            found += 1
        taken |= 1 << found
    return found


def symmetry(rules, state, which, image, actions, count):
    """The eight symmetries of the square, times all permutations of the colours; the first eight keep the colours."""
    tiles, images, board = state.tiles, image.tiles, image.board
    images[:] = np.uint64(0)
    board[:] = np.uint64(0)
    for colour in range(rules.base, state.lead.size):
        image.lead[colour] = state.lead[colour]
    image.turn = state.turn
    image.winner = state.winner
    for colour in range(rules.base):
        to = colour_image(rules, which, colour)
        image.lead[to] = state.lead[colour]
        for word in range(board.size):
            rest = tiles[colour, word]
            while rest:
                cell = image_of(rules, which, 64 * word + lowest(rest))
                put(images[to], cell)
                put(board, cell)
                rest &= rest - np.uint64(1)
    for i in range(count):
        colour, subset = actions[i] >> rules.base, actions[i]
        to, mapped = colour_image(rules, which, colour), 0
        for word in range(board.size):
            rest = tiles[colour, word]
            while rest:
                if subset & 1:
                    mapped |= 1 << before(images[to], image_of(rules, which, 64 * word + lowest(rest)))
                subset >>= 1
                rest &= rest - np.uint64(1)
        actions[i] = (to << rules.base) + mapped
