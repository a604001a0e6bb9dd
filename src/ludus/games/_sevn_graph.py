"""A position of Sevn as a graph, for a relational network that plays any base with one set of weights."""

import numpy as np

from ludus.games._bits import count_bits
from ludus.games._sevn_board import before, colours_led, corners, is_held

RELATIONS = ("hidden-by", "reveals", "diagonal", "takeable", "same-colour", "to-action", "from-action")
# Typed numbers: Numba would compile a function again for each literal that it is called with.
HIDDEN_BY, REVEALS, DIAGONAL, TAKEABLE, SAME_COLOUR, TO_ACTION, FROM_ACTION = np.arange(7, dtype=np.int32)
ONE = np.uint64(1)


def graph(rules, state, player, actions, count, features, edges, sizes):
    """A node for each tile, in reading order, then one for each move.

    Features of a tile, and of a move that takes tiles of that colour: base - lead and base + lead, with the player's
    lead in the colour; and the number of colours that the player leads in, minus the other's. Relations:

    hidden-by    from a tile that is no corner to a neighbour that prevents it: left and right neighbours if it has
                 both, and upper and lower neighbours if it has both
    reveals      the reverse of hidden-by
    diagonal     between two neighbours, touching at a corner, of a tile that has all four neighbours; both ways
    takeable     between two different tiles that can be taken; both ways
    same-colour  between two different tiles of one colour; both ways
    to-action    from a tile to a move that takes it
    from-action  the reverse of to-action
    """
    board, tiles, base = state.board, state.tiles, rules.base
    sign = 1 if player == 0 else -1
    led = sign * colours_led(rules, state)
    sizes[:] = 0
    for word in range(board.size):
        rest = board[word]
        while rest != 0:
            bit = lowest_bit(rest)
            rest ^= bit
            cell = 64 * word + count_bits(bit - ONE)
            join_neighbours(rules, board, cell, edges, sizes)
            for colour in range(base):
                if tiles[colour, word] & bit:
                    write_features(rules, sign * state.lead[colour], led, features[sizes[0]])
                    for earlier_word in range(word + 1):
                        alike = up_to(tiles[colour, earlier_word], earlier_word, word, bit)
                        join_all(SAME_COLOUR, board, alike, earlier_word, edges, sizes)
            if corners(rules, board, word) & bit:
                for earlier_word in range(word + 1):
                    free = up_to(corners(rules, board, earlier_word), earlier_word, word, bit)
                    join_all(TAKEABLE, board, free, earlier_word, edges, sizes)
            sizes[0] += 1
    for i in range(count):
        colour, subset = actions[i] >> base, actions[i]
        write_features(rules, sign * state.lead[colour], led, features[sizes[0]])
        for word in range(board.size):
            rest = tiles[colour, word]
            while rest != 0:
                bit = lowest_bit(rest)
                rest ^= bit
                if subset & 1:
                    join(FROM_ACTION, TO_ACTION, sizes[0], node_of(board, word, bit), edges, sizes)
                subset >>= 1
        sizes[0] += 1


def lowest_bit(cells):
    return cells & (~cells + ONE)


def node_of(board, word, bit):
    """The node of the tile on a cell, given by its word and bit."""
    node = count_bits(board[word] & (bit - ONE))
    return node + count_bits(board[0]) if word > 0 else node


def up_to(cells, word, last_word, bit):
    """The cells of a word that come before the cell `bit` of a later word or of the same one."""
    return cells & (bit - ONE) if word == last_word else cells


def join_all(relation, board, cells, word, edges, sizes):
    """Join the next node with the tiles on these cells of a word, both ways."""
    while cells != 0:
        bit = lowest_bit(cells)
        cells ^= bit
        join(relation, relation, sizes[0], node_of(board, word, bit), edges, sizes)


def write_features(rules, lead, led, features):
    features[0] = rules.base - lead
    features[1] = rules.base + lead
    features[2] = led


def join(relation, reverse, node, other, edges, sizes):
    """Write two edges, one in each direction."""
    for way in range(2):
        edge = sizes[1] + way
        edges[edge, 0] = reverse if way else relation
        edges[edge, 1] = other if way else node
        edges[edge, 2] = node if way else other
    sizes[1] += 2


def join_neighbours(rules, board, cell, edges, sizes):
    """Write the edges hidden-by and reveals of the next node's tile, and the diagonals around it."""
    in_row, in_column = is_held(rules, board, cell)
    for side in range(4):
        neighbour, next_one = cell + step_to(rules, side), cell + step_to(rules, (side + 1) % 4)
        if in_column if side % 2 else in_row:
            join(HIDDEN_BY, REVEALS, sizes[0], before(board, neighbour), edges, sizes)
        if in_row and in_column:
            # The two neighbours share another tile, which has joined them already if it has four neighbours too.
            opposite = neighbour + next_one - cell
            held = is_held(rules, board, opposite)
            if opposite > cell or not (held[0] and held[1]):
                join(DIAGONAL, DIAGONAL, before(board, neighbour), before(board, next_one), edges, sizes)


def step_to(rules, side):
    """The step from a cell to its neighbour: 0 left, 1 above, 2 right, 3 below."""
    step = rules.base if side % 2 else 1
    return step if side >= 2 else -step
