"""A position of Hive for networks that pool over groups of cells, and its moves by the cells that they touch.

Planes and kinds of moves are the same for all expansions, so one set of weights plays with all of them.
"""

from numpy import int64

from ludus.games._hive_board import BIT, BUG, FILLED, NEXT, NOBODY, NOWHERE, SLOTS, pinned
from ludus.games._hive_views import part_in_hand

SIDE, WIDE_SIDE = 14, 16
"""Rows and columns of the planes, without and with expansions. The middle of the hive is in their middle. Cells further
away, which a hive in a long row has, are wrapped around: some of 1 % of the positions in random games."""
BUGS = 8
OWN, OTHER = 0, BUGS
COVERED, QUEEN_BELOW, FREE = 16, 18, 20
HEIGHT, LAST = 22, 23
BESIDE, RING, PLACES = 24, 26, 28
CROWD, IN_HAND, USED = 30, 32, 48
PLANES = 49
GROUPS = 6
OWN_RING, OTHER_RING, BOTH_RINGS, OWN_PIECE, OTHER_PIECE, EDGE = range(GROUPS)
FROM_HAND, MOVED, THROWN, PASSED = 0, BUGS, 2 * BUGS, 3 * BUGS
KINDS = 3 * BUGS + 1
FROM, TO = 0, 1


def side_of(expansions):
    """The rows and the columns of the planes."""
    return SIDE if expansions == 0 else WIDE_SIDE


def middle(places, pieces):
    """The cell in the middle of the rows and of the columns that have pieces; 0 if there are none.

    `places` is state.cell. Rows and columns are rings of 32.
    """
    anchor = NOWHERE
    top, bottom, left, right = 0, 0, 0, 0
    for piece in range(pieces):
        cell = int64(places[piece])
        if cell != NOWHERE:
            if anchor == NOWHERE:
                anchor = cell
            row, column = between(cell >> 5, anchor >> 5), between(cell, anchor)
            top, bottom = min(top, row), max(bottom, row)
            left, right = min(left, column), max(right, column)
    if anchor == NOWHERE:
        return 0
    row, column = (anchor >> 5) + (top + bottom + 1 >> 1), anchor + (left + right + 1 >> 1)
    return (row & 31) << 5 | (column & 31)


def between(one, other):
    """The distance of two rows or columns in a ring of 32, from -16 to 15."""
    return (one - other + 16 & 31) - 16


def frame(cell, centre, side):
    """The row and the column of a cell in planes of `side` rows and columns, whose middle is `centre`."""
    return (between(cell >> 5, centre >> 5) + side // 2) % side, (between(cell, centre) + side // 2) % side


def groups(rules, state, player, planes, ids):
    """Planes from the player's view, its own before the other's where there are two of a kind.

    Of the piece on top of a cell: 0 to 15 its bug; 16, 17 a piece that is covered; 18, 19 a queen that is covered; 20,
    21 free to leave its place without breaking the hive; 22 a quarter for every piece below it; 23 it moved last. Of
    any cell: 24, 25 a sixth for each neighbour on top; 26, 27 it is beside a queen. Of empty cells: 28, 29 a piece may
    be placed. Of the position: 30, 31 the fraction of a queen's neighbours that is needed to surround it; 32 to 47 the
    fraction of each bug in hand; 48 the fraction of the limit of plies that is used.

    The groups of cells are: beside the player's queen, the other's, or both, each with the queen's own cell; further
    pieces of the player, and of the other; further empty cells beside the hive.
    """
    expansions = int64(rules.expansions)
    pieces = 2 * int64(SLOTS[expansions])
    places, top, level, around = state.cell, state.top, state.level, state.around
    centre, size = middle(places, pieces), side_of(expansions)
    held, last = pinned(state, pieces), state.last
    for side in range(2):
        queen = places[side ^ player]
        crowd = int64(FILLED[around[queen]]) if queen != NOWHERE else 0
        planes[CROWD + side] = crowd / rules.surround
    planes[USED] = state.ply / rules.limit
    for piece in range(pieces):
        side, bug = (piece & 1) ^ player, int64(BUG[expansions, piece])
        if piece < 2 or BUG[expansions, piece - 2] != bug:
            planes[IN_HAND + BUGS * side + bug] = part_in_hand(state, expansions, pieces, piece)
        cell = int64(places[piece])
        if cell == NOWHERE:
            continue
        row, column = frame(cell, centre, size)
        if piece == last:
            planes[LAST, row, column] = 1.0
        if top[cell] != piece:
            planes[COVERED + side, row, column] = 1.0
            if piece < 2:
                planes[QUEEN_BELOW + side, row, column] = 1.0
            continue
        planes[BUGS * side + bug, row, column] = 1.0
        planes[HEIGHT, row, column] = 0.25 * level[piece]
        if level[piece] > 0 or not held >> piece & 1:
            planes[FREE + side, row, column] = 1.0
        if ids[0, row, column] < 0 or ids[0, row, column] == EDGE:
            ids[0, row, column] = OWN_PIECE if side == 0 else OTHER_PIECE
        for way in range(6):
            beside = int64(NEXT[cell, way])
            row, column = frame(beside, centre, size)
            planes[BESIDE + side, row, column] += 1.0 / 6.0
            if top[beside] == NOBODY and ids[0, row, column] < 0:
                ids[0, row, column] = EDGE
                mark_placement(top, around[beside], player, planes, beside, row, column)
    for side in range(2):
        if places[side ^ player] != NOWHERE:
            mark_ring(planes, ids, side, int64(places[side ^ player]), centre, size)


def mark_placement(top, around, player, planes, cell, row, column):
    """Write into the planes who may place a piece on an empty cell: it touches no piece of the other on top."""
    seen = 0
    for way in range(6):
        if around & BIT[way]:
            seen |= 1 << (int64(top[NEXT[cell, way]]) & 1 ^ player)
    if seen < 3:
        planes[PLACES + seen - 1, row, column] = 1.0


def mark_ring(planes, ids, side, queen, centre, size):
    """Mark a queen's cell and the cells beside it."""
    for way in range(7):
        cell = int64(NEXT[queen, way]) if way < 6 else queen
        row, column = frame(cell, centre, size)
        planes[RING + side, row, column] = way < 6
        group = ids[0, row, column]
        ids[0, row, column] = BOTH_RINGS if side == 1 and group == OWN_RING else side


def touches(rules, state, player, action, roles, cells):
    """A move touches the cell that a piece leaves, unless it comes from the hand, and the cell where it ends.

    The kinds are: each bug placed, each bug moved, each bug of the other thrown by a pillbug, and a pass.
    """
    expansions = int64(rules.expansions)
    pieces = 2 * int64(SLOTS[expansions])
    if action >= 7 * pieces * pieces:
        return PASSED, 0
    places = state.cell
    centre, size = middle(places, pieces), side_of(expansions)
    piece, beside = int64(action) // (7 * pieces) ^ player, int64(action) // 7 % pieces ^ player
    way = int64(action) % 7
    bug, cell = int64(BUG[expansions, piece]), 0
    if beside != piece:
        cell = int64(places[beside])
        if way < 6:
            cell = int64(NEXT[cell, way])
    roles[0] = TO
    row, column = frame(cell, centre, size)
    cells[0] = row * size + column
    if places[piece] == NOWHERE:
        return FROM_HAND + bug, 1
    left = int64(places[piece])
    roles[1] = FROM
    row, column = frame(left, centre, size)
    cells[1] = row * size + column
    return (MOVED if piece & 1 == player else THROWN) + bug, 2
