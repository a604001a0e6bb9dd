"""Inputs of networks for Hive: planes, an adjacency matrix, a graph. None depends on the place of the hive."""

import numpy as np
from numpy import int64

from ludus.games._hive_board import (
    BUG,
    LOWEST,
    NEXT,
    NOBODY,
    NOWHERE,
    OPPOSITE,
    SLOTS,
    WAY,
    bugs_of,
    columns_between,
    is_top,
    pinned,
    rows_between,
)

# --- Planes -----------------------------------------------------------------------------------------------------------


def bugs_in_game(expansions):
    """The number of kinds of bugs."""
    return len(set(bugs_of(expansions)))


def planes_shape(expansions):
    pieces = 2 * len(bugs_of(expansions))
    return (pieces + 4 + 2 * bugs_in_game(expansions), pieces, pieces)


def fill_planes(rules, state, player, planes):
    """Planes of pieces x pieces cells, row r and column q, with the hive in the middle; the hive always fits.

    One plane for each piece, own and the other's in turn (Q, the other's Q, S1, the other's S1, ...): 1 at its cell,
    halved for every piece on top of it. Then one plane each for: the pieces that hold the hive together; the piece that
    moved last; all ones if it is the player's turn; the fraction of the limit of plies that is used. Then for each bug,
    own and the other's in turn, a plane filled with the fraction of its pieces that are in hand.
    """
    expansions = rules.expansions
    pieces = 2 * int64(SLOTS[expansions])
    rows, columns = 0, 0
    for piece in range(pieces):
        if state.cell[piece] != NOWHERE:
            rows |= 1 << (int64(state.cell[piece]) >> 5)
            columns |= 1 << (int64(state.cell[piece]) & 31)
    top, left = first_of_run(rows) - (pieces - ones(rows)) // 2, first_of_run(columns) - (pieces - ones(columns)) // 2
    held = pinned(state, pieces)
    plane = pieces + 4
    for piece in range(pieces):
        if piece & 1 == 0 and (piece == 0 or BUG[expansions, piece] != BUG[expansions, piece - 2]):
            planes[plane] = part_in_hand(state, expansions, pieces, piece ^ player)
            planes[plane + 1] = part_in_hand(state, expansions, pieces, piece ^ player ^ 1)
            plane += 2
        if state.cell[piece] == NOWHERE:
            continue
        row = (int64(state.cell[piece]) >> 5) - top & 31
        column = int64(state.cell[piece]) - left & 31
        on_it = int64(state.level[state.top[state.cell[piece]]]) - int64(state.level[piece])
        planes[piece ^ player, row, column] = 1.0 / (1 << on_it)
        if is_top(state, piece):
            planes[pieces, row, column] = held >> piece & 1
        if piece == state.last:
            planes[pieces + 1, row, column] = 1.0
    planes[pieces + 2] = state.ply & 1 == player
    planes[pieces + 3] = state.ply / rules.limit


def part_in_hand(state, expansions, pieces, first):
    """The fraction of a colour's pieces of one bug that are in hand; `first` is the first of these pieces."""
    number, left = 0, 0
    for piece in range(first, pieces, 2):
        if BUG[expansions, piece] == BUG[expansions, first]:
            number += 1
            left += state.cell[piece] == NOWHERE
    return left / number


def first_of_run(mask):
    """The first number of the single run of bits in a ring of 32; 0 if there is none."""
    for bit in range(32):
        if mask >> bit & 1 and not mask >> (bit + 31 & 31) & 1:
            return bit
    return 0


def ones(mask):
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


# --- The matrix of neighbours -----------------------------------------------------------------------------------------


def alphabetical(expansions):
    """The slots in the order A1 A2 A3 B1 B2 G1 G2 G3 L M P Q S1 S2."""
    bugs = bugs_of(expansions)
    order = sorted(range(len(bugs)), key=lambda slot: "QSBGAMLP"[bugs[slot]])
    return order + [0] * (14 - len(order))


ORDER = np.array([alphabetical(expansions) for expansions in range(8)], np.uint8)
CODES = np.array([2, 3, 4, 5, 6, 1, 9], np.uint8)
"""The code of each direction in the matrix; 9 for cells that are not neighbours."""


def adjacency(rules, state, player, matrix):
    """The adjacency of all pieces: `matrix` [pieces, pieces - 1], 22 x 21 in the base game.

    The rows are the player's own pieces A1 A2 A3 B1 B2 G1 G2 G3 (L M P) Q S1 S2 and then the other's in the same order;
    the columns of a row are the same without the row's own piece. The number is the place of the column's piece
    relative to the row's piece: 1 W, 2 NW, 3 NE, 4 E, 5 SE, 6 SW in a neighbouring cell at any height; 7 below and 8
    above in the same stack; 9 elsewhere on the board; 0 if one of the two is not on the board.
    """
    slots = int64(SLOTS[rules.expansions])
    for row in range(2 * slots):
        piece = at_rank(rules, player, row)
        for column in range(2 * slots - 1):
            other = at_rank(rules, player, column + (column >= row))
            code = 0
            if state.cell[piece] != NOWHERE and state.cell[other] != NOWHERE:
                if state.cell[piece] == state.cell[other]:
                    code = 7 if state.level[other] < state.level[piece] else 8
                else:
                    one, two = state.cell[piece], state.cell[other]
                    code = int64(CODES[WAY[rows_between(one, two), columns_between(one, two)]])
            matrix[row, column] = code


def at_rank(rules, player, rank):
    slots = int64(SLOTS[rules.expansions])
    return 2 * int64(ORDER[rules.expansions, rank % slots]) + (rank // slots ^ player)


# --- The graph --------------------------------------------------------------------------------------------------------

RELATIONS = (
    *("northwest", "northeast", "east", "southeast", "southwest", "west"),
    *("above", "below", "moves", "moved by"),
    *("ends northwest", "ends northeast", "ends east", "ends southeast", "ends southwest", "ends west", "ends above"),
    "touches",
)
ABOVE, BELOW, MOVES, MOVED, ENDS, TOUCHES = (int64(relation) for relation in (6, 7, 8, 9, 10, 17))
FEATURES = 20


def graph_bounds(expansions, most_legal):
    """The largest numbers of nodes and edges."""
    pieces = 2 * len(bugs_of(expansions))
    return pieces + most_legal, 8 * pieces + 14 * most_legal


def fill_graph(rules, state, player, actions, count, features, edges, sizes):
    """A node for each piece, own and the other's in turn as in the planes, then a node for each move.

    Features: 0 to 7 the bug (Q S B G A M L P) of the piece or of the moving piece; 8 own, 9 the other's. For pieces:
    10 on the board, 11 on top, 12 a quarter for every piece below it, 13 holds the hive together, 14 moved last. For
    moves: 15 a move, 16 from the hand, 17 a pass. For all: 18 it is the player's turn, 19 the fraction of the limit of
    plies that is used.

    An edge (relation, from, to) means: `to` lies northwest of `from`, and so on. Above and below join pieces that touch
    within a stack; pieces in neighbouring cells are joined if both are on top. A piece `moves` to a move's node, and
    the node is `moved by` the piece. A move `ends` in a direction of each piece on top that it will touch, or above
    one, and the node `touches` that piece.
    """
    expansions = rules.expansions
    pieces = 2 * int64(SLOTS[expansions])
    held = pinned(state, pieces)
    for node in range(pieces + count):
        features[node, :] = 0.0
        features[node, 18] = state.ply & 1 == player
        features[node, 19] = state.ply / rules.limit
    arrows = 0
    for piece in range(pieces):
        node, cell = piece ^ player, state.cell[piece]
        describe_bug(features, node, expansions, piece, player)
        if cell == NOWHERE:
            continue
        features[node, 10] = 1.0
        features[node, 12] = 0.25 * state.level[piece]
        features[node, 14] = piece == state.last
        under = state.under[piece]
        if under != NOBODY:
            arrows = join(edges, arrows, BELOW, node, int64(under) ^ player)
            arrows = join(edges, arrows, ABOVE, int64(under) ^ player, node)
        if state.top[cell] == piece:
            features[node, 11] = 1.0
            features[node, 13] = held >> piece & 1
            ring = int64(state.around[cell])
            while ring:
                way = int64(LOWEST[ring])
                ring &= ring - 1
                arrows = join(edges, arrows, way, node, int64(state.top[NEXT[cell, way]]) ^ player)
    for index in range(count):
        node, action = pieces + index, int64(actions[index])
        features[node, 15] = 1.0
        if action == 7 * pieces * pieces:
            features[node, 17] = 1.0
            continue
        piece = action // (7 * pieces) ^ player
        describe_bug(features, node, expansions, piece, player)
        features[node, 16] = state.cell[piece] == NOWHERE
        arrows = join(edges, arrows, MOVES, piece ^ player, node)
        arrows = join(edges, arrows, MOVED, node, piece ^ player)
        beside, way = action // 7 % pieces ^ player, action % 7
        if beside == piece:
            continue  # the first piece of the game
        if way == 6:
            arrows = join(edges, arrows, ENDS + 6, beside ^ player, node)
            arrows = join(edges, arrows, TOUCHES, node, beside ^ player)
            continue
        cell = NEXT[state.cell[beside], way]
        ring = int64(state.around[cell])
        while ring:
            way = int64(LOWEST[ring])
            ring &= ring - 1
            touched = int64(state.top[NEXT[cell, way]])
            if touched == piece:
                touched = int64(state.under[piece])
            if touched != NOBODY:
                arrows = join(edges, arrows, ENDS + int64(OPPOSITE[way]), touched ^ player, node)
                arrows = join(edges, arrows, TOUCHES, node, touched ^ player)
    sizes[0] = pieces + count
    sizes[1] = arrows


def describe_bug(features, node, expansions, piece, player):
    features[node, BUG[expansions, piece]] = 1.0
    features[node, 8 + (piece & 1 ^ player)] = 1.0


def join(edges, count, relation, start, end):
    edges[count, 0] = relation
    edges[count, 1] = start
    edges[count, 2] = end
    return count + 1
