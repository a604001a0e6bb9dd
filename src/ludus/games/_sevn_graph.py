"""A position of Sevn as a graph, for a relational network that plays any base with one set of weights."""

from ludus.games._bits import has
from ludus.games._sevn_board import before, colours_led, is_corner, is_held

HIDDEN_BY, REVEALS, DIAGONAL, TAKEABLE, SAME_COLOUR, TO_ACTION, FROM_ACTION = range(7)
RELATIONS = ("hidden-by", "reveals", "diagonal", "takeable", "same-colour", "to-action", "from-action")


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
    nodes, edge = 0, 0
    for cell in range(base * base):
        if has(board, cell):
            edge = join_neighbours(rules, board, cell, edges, edge)
            for colour in range(base):
                if has(tiles[colour], cell):
                    write_features(rules, sign * state.lead[colour], led, features[nodes])
                    for other in range(cell):
                        if has(tiles[colour], other):
                            edge = join(SAME_COLOUR, SAME_COLOUR, nodes, before(board, other), edges, edge)
            if is_corner(rules, board, cell):
                for other in range(cell):
                    if is_corner(rules, board, other):
                        edge = join(TAKEABLE, TAKEABLE, nodes, before(board, other), edges, edge)
            nodes += 1
    for i in range(count):
        colour, subset = actions[i] >> base, actions[i]
        write_features(rules, sign * state.lead[colour], led, features[nodes + i])
        for cell in range(base * base):
            if has(tiles[colour], cell):
                if subset & 1:
                    edge = join(TO_ACTION, FROM_ACTION, before(board, cell), nodes + i, edges, edge)
                subset >>= 1
    sizes[0] = nodes + count
    sizes[1] = edge


def write_features(rules, lead, led, features):
    features[0] = rules.base - lead
    features[1] = rules.base + lead
    features[2] = led


def join(relation, reverse, one, other, edges, edge):
    """Two edges, there and back; returns the number of the next edge."""
    for way in range(2):
        edges[edge + way, 0] = reverse if way else relation
        edges[edge + way, 1] = other if way else one
        edges[edge + way, 2] = one if way else other
    return edge + 2


def join_neighbours(rules, board, cell, edges, edge):
    """What hides a tile, and the diagonals around it."""
    node = before(board, cell)
    in_row, in_column = is_held(rules, board, cell)
    for side in range(4):
        step, next_step = step_to(rules, side), step_to(rules, (side + 1) % 4)
        if in_column if side % 2 else in_row:
            edge = join(HIDDEN_BY, REVEALS, node, before(board, cell + step), edges, edge)
        if in_row and in_column:
            # The two have one more tile in common, which has joined them already if it has four neighbours too.
            opposite = cell + step + next_step
            held = is_held(rules, board, opposite)
            if opposite > cell or not (held[0] and held[1]):
                ends = before(board, cell + step), before(board, cell + next_step)
                edge = join(DIAGONAL, DIAGONAL, ends[0], ends[1], edges, edge)
    return edge


def step_to(rules, side):
    """From a cell to the one on its left, above it, on its right, below it."""
    step = rules.base if side % 2 else 1
    return step if side >= 2 else -step
