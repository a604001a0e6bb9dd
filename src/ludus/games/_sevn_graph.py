"""A position of Sevn as a graph, for a relational network that plays any base with one set of weights."""

import numpy as np

from ludus.games._bits import has
from ludus.games._sevn_board import before, colours_led, is_corner, is_held

RELATIONS = ("hidden-by", "reveals", "diagonal", "takeable", "same-colour", "to-action", "from-action")
# Of one type that is not a literal, for which Numba would compile each call by itself.
HIDDEN_BY, REVEALS, DIAGONAL, TAKEABLE, SAME_COLOUR, TO_ACTION, FROM_ACTION = np.arange(7, dtype=np.int32)


def graph(rules, state, player, actions, count, features, edges, sizes):
    """A node for each tile, in reading order, then one for each move.

    Features of a tile, and of a move that takes such tiles: base less the player's lead in the colour, base plus it,
    and in how many colours the player leads, less those where the other does. Relations, each from one to the other:

    hidden-by    a tile that is no corner, to a neighbour that keeps it from being one: its left and right neighbours if
                 it has both, and its upper and lower neighbours if it has both
    reveals      the reverse
    diagonal     two neighbours of a tile that has all four of them, if they touch at a corner; both ways
    takeable     two different tiles that can be taken; both ways
    same-colour  two different tiles of one colour; both ways
    to-action    a tile, to a move that takes it
    from-action  the reverse
    """
    board, tiles, base = state.board, state.tiles, rules.base
    sign = 1 if player == 0 else -1
    led = sign * colours_led(rules, state)
    sizes[:] = 0
    for cell in range(base * base):
        if has(board, cell):
            join_neighbours(rules, board, cell, edges, sizes)
            for colour in range(base):
                if has(tiles[colour], cell):
                    write_features(rules, sign * state.lead[colour], led, features[sizes[0]])
                    for other in range(cell):
                        if has(tiles[colour], other):
                            join(SAME_COLOUR, SAME_COLOUR, sizes[0], before(board, other), edges, sizes)
            if is_corner(rules, board, cell):
                for other in range(cell):
                    if is_corner(rules, board, other):
                        join(TAKEABLE, TAKEABLE, sizes[0], before(board, other), edges, sizes)
            sizes[0] += 1
    for i in range(count):
        colour, subset = actions[i] >> base, actions[i]
        write_features(rules, sign * state.lead[colour], led, features[sizes[0]])
        for cell in range(base * base):
            if has(tiles[colour], cell):
                if subset & 1:
                    join(FROM_ACTION, TO_ACTION, sizes[0], before(board, cell), edges, sizes)
                subset >>= 1
        sizes[0] += 1


def write_features(rules, lead, led, features):
    features[0] = rules.base - lead
    features[1] = rules.base + lead
    features[2] = led


def join(relation, reverse, node, other, edges, sizes):
    """Two edges, there and back."""
    for way in range(2):
        edge = sizes[1] + way
        edges[edge, 0] = reverse if way else relation
        edges[edge, 1] = other if way else node
        edges[edge, 2] = node if way else other
    sizes[1] += 2


def join_neighbours(rules, board, cell, edges, sizes):
    """What hides the tile of the next node, and the diagonals around it."""
    in_row, in_column = is_held(rules, board, cell)
    for side in range(4):
        neighbour, next_one = cell + step_to(rules, side), cell + step_to(rules, (side + 1) % 4)
        if in_column if side % 2 else in_row:
            join(HIDDEN_BY, REVEALS, sizes[0], before(board, neighbour), edges, sizes)
        if in_row and in_column:
            # The two have one more tile in common, which has joined them already if it has four neighbours too.
            opposite = neighbour + next_one - cell
            held = is_held(rules, board, opposite)
            if opposite > cell or not (held[0] and held[1]):
                join(DIAGONAL, DIAGONAL, before(board, neighbour), before(board, next_one), edges, sizes)


def step_to(rules, side):
    """From a cell to the one on its left, above it, on its right, below it."""
    step = rules.base if side % 2 else 1
    return step if side >= 2 else -step
