"""Hive's board: the places of pieces, the neighbours of cells, and the pieces that hold the hive together.

Cells lie on a torus of 32 x 32: cell = 32 * r + q in axial coordinates, both modulo 32. The pieces, at most 28, are
connected, so they span less than 32 cells in every direction, and the torus behaves like an endless plane. Directions
go round clockwise, so that d + 1 and d - 1 are the two cells that flank a step in direction d:

          0   1
        5   .   2       NW (0, -1), NE (1, -1), E (1, 0), SE (0, 1), SW (-1, 1), W (-1, 0)
          4   3

A piece is 2 * slot + colour. The slots of a colour are Q S1 S2 B1 B2 G1 G2 G3 A1 A2 A3, then M, L, P as far as they are
in the game. So `piece ^ player` is the piece from that player's view: even numbers are its own.

The neighbours of a cell are a mask of six bits, one for each direction. Tables by mask hold the properties of a ring.
"""

import numpy as np
from numpy import int64

SIDE = 32
CELLS = SIDE * SIDE
MOST_PIECES = 28
NOWHERE = CELLS
"""The cell of a piece that is still in its player's hand."""
ORIGIN = np.uint16(0)
"""The cell of the first piece of a game."""
NOBODY = 255
"""Stands for "no piece"."""
STEPS = ((0, -1), (1, -1), (1, 0), (0, 1), (-1, 1), (-1, 0))

QUEEN, SPIDER, BEETLE, GRASSHOPPER, ANT, MOSQUITO, LADYBUG, PILLBUG = range(8)
LETTERS = "QSBGAMLP"
BASE = (QUEEN, SPIDER, SPIDER, BEETLE, BEETLE, GRASSHOPPER, GRASSHOPPER, GRASSHOPPER, ANT, ANT, ANT)


def bugs_of(expansions):
    """The bugs in the slots of a colour; `expansions` is a sum of 1 mosquito, 2 ladybug, 4 pillbug."""
    return BASE + tuple(bug for bit, bug in ((1, MOSQUITO), (2, LADYBUG), (4, PILLBUG)) if expansions & bit)


BUG = np.full((8, MOST_PIECES), NOBODY, np.uint8)
"""[expansions, piece]: the bug of a piece."""
SLOTS = np.array([len(bugs_of(expansions)) for expansions in range(8)], np.uint8)
for _expansions in range(8):
    for _slot, _bug in enumerate(bugs_of(_expansions)):
        BUG[_expansions, 2 * _slot : 2 * _slot + 2] = _bug


def cell_at(q, r):
    return (r % SIDE) * SIDE + q % SIDE


NEXT = np.array([[cell_at(cell % SIDE + q, cell // SIDE + r) for q, r in STEPS] for cell in range(CELLS)], np.uint16)
"""The neighbour of a cell in a direction."""
OPPOSITE = np.array([3, 4, 5, 0, 1, 2], np.uint8)
LEFT = np.array([5, 0, 1, 2, 3, 4], np.uint8)
RIGHT = np.array([1, 2, 3, 4, 5, 0], np.uint8)
BIT = np.array([1, 2, 4, 8, 16, 32], np.uint8)


def ring_table(answer, kind=np.uint8):
    """A table by mask of answer(occupied), where occupied(direction) is True if that neighbour, modulo 6, exists."""
    return np.array([answer(lambda d, mask=mask: bool(mask >> d % 6 & 1)) for mask in range(64)], kind)


def bits(directions):
    return sum(1 << d for d in directions)


FILLED = ring_table(lambda taken: sum(taken(d) for d in range(6)))
"""The number of neighbours."""
SLIDES = ring_table(lambda taken: bits(d for d in range(6) if not taken(d) and taken(d - 1) != taken(d + 1)))
"""The directions in which a piece on the ground can slide: contact is kept, and there is no gate."""
EXITS = ring_table(lambda taken: bits(d for d in range(6) if not taken(d) and not taken(d - 1) and taken(d + 1)))
"""The directions of SLIDES that keep the hive on the right."""
GAPS = ring_table(lambda taken: bits(d for d in range(6) if not taken(d) and taken(d - 1)))
"""The directions in which a run of empty cells begins, clockwise."""


def first(candidates):
    return next(iter(candidates), 0)


LOWEST = np.array([first(d for d in range(6) if mask >> d & 1) for mask in range(64)], np.uint8)
ONWARD = ring_table(
    lambda taken: [
        first(d % 6 for d in range(came + 1, came - 6, -1) if not taken(d) and not taken(d - 1) and taken(d + 1))
        for came in range(6)
    ]
)
"""[mask, direction by which a cell was entered]: the direction to leave it that keeps the hive on the right."""
ROUND = ring_table(lambda taken: [first(d % 6 for d in range(gap, gap + 6) if taken(d)) for gap in range(6)])
"""[mask, direction]: the first occupied direction from there on, clockwise."""


WAY = np.full((SIDE, SIDE), 6, np.uint8)
"""[rows, columns from one cell to another]: the direction of the step between them, or 6 if they are not neighbours."""
for _way, (_q, _r) in enumerate(STEPS):
    WAY[_r % SIDE, _q % SIDE] = _way
EXCEPT = np.array([63 - (1 << (way + 3) % 6) if way < 6 else 63 for way in WAY.flat], np.uint8).reshape(WAY.shape)
"""[rows, columns from a lifted cell to another]: a mask of the other's ring without the bit of the lifted cell."""


def layout(limit, repetition):
    """The dtype of a state. Equal positions have equal bytes, since all fields depend on the moves alone.

    All limits up to 300 give the same dtype, and so share their machine code.
    """
    limit = max(limit, 300)
    return np.dtype(
        [
            ("seen", np.uint64, (limit + 1 if repetition else 1,)),  # a hash of the position after every ply
            ("past", np.uint16, (limit,)),  # after every ply, 1024 * piece + cell, or PASS
            ("cell", np.uint16, (MOST_PIECES,)),
            ("ply", np.int16),
            ("top", np.uint8, (CELLS,)),  # the piece that lies on top of each cell, or NOBODY
            ("around", np.uint8, (CELLS,)),  # the occupied ones among each cell's neighbours, as a mask
            ("under", np.uint8, (MOST_PIECES,)),  # the piece right below each piece, or NOBODY
            ("level", np.uint8, (MOST_PIECES,)),  # the number of pieces below each piece
            ("raised", np.uint8),  # the number of pieces that lie on others
            ("last", np.uint8),  # the piece that the last ply has moved, or NOBODY
            ("repeats", np.uint8),  # the number of times the position has occurred, if repetition counts
        ]
    )


PASS = 65535
"""The value of a pass in `past`."""


def clear(state):
    """Write the empty board."""
    state.seen[:] = np.uint64(0)
    state.past[:] = 0
    state.cell[:] = NOWHERE
    state.ply = 0
    state.top[:] = NOBODY
    state.around[:] = 0
    state.under[:] = NOBODY
    state.level[:] = 0
    state.raised = 0
    state.last = NOBODY
    state.repeats = 0


def put(state, piece, cell):
    """Put a piece that is not on the board on a cell, on top of any pieces there."""
    there, around = state.top[cell], state.around
    state.under[piece] = there
    if there == NOBODY:
        for way in range(6):
            around[NEXT[cell, way]] |= BIT[OPPOSITE[way]]
    else:
        state.level[piece] = state.level[there] + 1
        state.raised += 1
    state.top[cell] = piece
    state.cell[piece] = cell


def lift(state, piece):
    """Take a piece that nothing covers off the board."""
    cell, under, around = state.cell[piece], state.under[piece], state.around
    state.top[cell] = under
    if under == NOBODY:
        for way in range(6):
            around[NEXT[cell, way]] ^= BIT[OPPOSITE[way]]
    else:
        state.raised -= 1
    state.under[piece] = NOBODY
    state.level[piece] = 0
    state.cell[piece] = NOWHERE


def height(state, cell):
    """The number of pieces on a cell."""
    piece = state.top[cell]
    return 0 if piece == NOBODY else int64(state.level[piece]) + 1


def is_top(state, piece):
    """True if a piece is on the board with no piece on top of it."""
    cell = state.cell[piece]
    return cell != NOWHERE and state.top[cell] == piece


def around_without(state, cell, lifted):
    """The mask of a cell's neighbours when the only piece on the cell `lifted` is gone."""
    cell, lifted = int64(cell), int64(lifted)
    return state.around[cell] & EXCEPT[(cell >> 5) - (lifted >> 5) & 31, cell - lifted & 31]


def rows_between(one, other):
    return (int64(other) >> 5) - (int64(one) >> 5) & 31


def columns_between(one, other):
    return int64(other) - int64(one) & 31


# A piece holds the hive together if the rest is not connected without it. The occupied cells around such a piece form
# several runs with gaps between them; the rest is disconnected exactly if a path outside the hive leads from one of its
# gaps to another. So walk along the edge of the hive, from piece to piece with the empty cells on the left, one step
# for each gap: the pieces that are met twice hold the hive together. One walk passes all gaps except those of holes.


def pinned(state, pieces):
    """The pieces on top that hold the hive together, as bits."""
    gaps = 0
    begin = NOBODY
    for piece in range(pieces):
        if is_top(state, piece):
            found = GAPS[state.around[state.cell[piece]]]
            gaps += int64(FILLED[found])
            if found:
                begin = piece
    if begin == NOBODY:  # less than two cells are occupied
        return 0
    start = state.cell[begin]
    way = LOWEST[GAPS[state.around[start]]]
    cell, gap = start, way
    once, twice = 0, 0
    while True:
        bit = 1 << int64(state.top[cell])
        twice |= once & bit
        once |= bit
        gaps -= 1
        turn = ROUND[state.around[cell], gap]
        cell, gap = NEXT[cell, turn], AFTER[turn]
        if cell == start and gap == way:
            break
    if gaps > 0:
        for piece in range(pieces):
            if is_top(state, piece) and not twice >> piece & 1 and parts(state, state.cell[piece]):
                twice |= 1 << piece
    return twice


AFTER = np.array([(turn + 4) % 6 for turn in range(6)], np.uint8)
"""By the direction of the last step along the edge: the direction in which the gap begins at the piece reached."""


def parts(state, cell):
    """True if the hive is not connected without this cell. Walks from each of its gaps until it is back there."""
    left = GAPS[state.around[cell]]
    while FILLED[left] > 1:
        way = LOWEST[left]
        left ^= BIT[way]
        turn = ROUND[state.around[cell], way]
        at, gap = NEXT[cell, turn], AFTER[turn]
        while at != cell:
            turn = ROUND[state.around[at], gap]
            at, gap = NEXT[at, turn], AFTER[turn]
        if gap != way:
            return True
    return False
