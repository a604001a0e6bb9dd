"""A position of Sevn for networks that pool over groups of cells: the groups are the tiles of each colour.

No plane names a colour, so all permutations of the colours look alike.
"""

import numpy as np

from ludus.games._bits import count_bits, lowest
from ludus.games._sevn_board import corners

PLANES = 9


def groups(rules, state, player, planes, ids):
    """Planes 0 to 7 are about the tile on a cell and its colour: a tile is there; it is a corner; the player's lead;
    tiles left; corners left; the player can still own the whole colour; the opponent can; the lead is larger than the
    number of tiles left (1 for the player, -1 for the opponent). Plane 8 is the sum of the latter over all colours.
    Leads, tiles and sums are divided by the base."""
    base = rules.base
    decided = 0
    for colour in range(base):
        left, free = 0, 0
        for word in range(state.board.size):
            tiles = state.tiles[colour, word]
            left += count_bits(tiles)
            free += count_bits(tiles & corners(rules, state.board, word))
        lead = state.lead[colour] if player == 0 else -state.lead[colour]
        certain = 0 if abs(lead) <= left else (1 if lead > 0 else -1)
        decided += certain
        for word in range(state.board.size):
            takeable = corners(rules, state.board, word)
            rest = state.tiles[colour, word]
            while rest:
                bit = rest & (~rest + np.uint64(1))
                cell = 64 * word + lowest(rest)
                row, column = cell // base, cell % base
                ids[0, row, column] = colour
                planes[0, row, column] = 1.0
                planes[1, row, column] = 1.0 if takeable & bit else 0.0
                planes[2, row, column] = lead / base
                planes[3, row, column] = left / base
                planes[4, row, column] = free / base
                planes[5, row, column] = 1.0 if lead + left == base else 0.0
                planes[6, row, column] = 1.0 if left - lead == base else 0.0
                planes[7, row, column] = certain
                rest ^= bit
    planes[8, :, :] = decided / base


def touches(rules, state, player, action, roles, cells):
    """A move touches the tiles that it takes; there is one kind of move and one role."""
    colour, subset = action >> rules.base, action & ((1 << rules.base) - 1)
    count = 0
    for word in range(state.board.size):
        rest = state.tiles[colour, word]
        while rest and subset:
            if subset & 1:
                roles[count] = 0
                cells[count] = 64 * word + lowest(rest)
                count += 1
            subset >>= 1
            rest &= rest - np.uint64(1)
    return 0, count
