"""Sets of cells on an n x n rhombus of hexagons, n up to 15, as bits: for games like Hex.

A cell (r, q) touches (r, q+1), (r+1, q), (r+1, q-1), (r, q-1), (r-1, q) and (r-1, q+1). Boards up to 8 wide take 8 bits
a row, and so one 64-bit word; larger ones 16 bits a row, of which the last is always 0, and four words. Functions on
sets always take four words; the compiler drops those that are always 0.

Beyond each two neighbours that touch lies a tip. Neighbours and tips are numbered counter-clockwise, tip i beyond the
neighbours i and i + 1; r grows upward, and q to the right:

              tip 1
            2 ----- 1
      tip 2  \\     / \\  tip 0
              \\   /   \\
         3 --- cell --- 0
              /   \\   /
      tip 3  /     \\ /  tip 5
            4 ----- 5
              tip 4
"""

import numpy as np

SMALL = 8
"""The largest n whose board fits one word."""
STEPS_R, STEPS_Q = (0, 1, 1, 0, -1, -1), (1, 0, -1, -1, 0, 1)
"""The steps from a cell to its neighbours."""


def words_of(n, cells):
    bits = sum(1 << ((8 if n <= SMALL else 16) * r + q) for r, q in cells)
    return [bits >> 64 * word & (1 << 64) - 1 for word in range(4)]


def ends(n):
    """The first and the last row, then the first and the last column."""
    rows = [[(r, q) for q in range(n)] for r in (0, n - 1)]
    return [rows, [[(q, r) for r, q in row] for row in rows]]


# Boards by n and word; sides by n, direction (0 rows, 1 columns), end and word. Index 0 of n is unused.
BOARD = np.array([words_of(n, [(r, q) for r in range(n) for q in range(n)]) for n in range(16)], np.uint64)
SIDES = np.array([[[words_of(n, side) for side in pair] for pair in ends(max(n, 1))] for n in range(16)], np.uint64)

# For boards of one word, which is rotated until the cell is bit 18: masks of the neighbours and tips that exist, by
# cell; and two tables that put these bits, gathered from the word, in order.
RING = [(dr, dq) for dr, dq in zip(STEPS_R, STEPS_Q, strict=True)]
TIPS = [(RING[i][0] + RING[i - 5][0], RING[i][1] + RING[i - 5][1]) for i in range(6)]
AROUND = np.array(
    [
        sum(1 << 18 + 8 * r + q for r, q in RING + TIPS if 0 <= cell // 8 + r < 8 and 0 <= cell % 8 + q < 8)
        for cell in range(64)
    ],
    np.uint64,
)
NEAR_BITS = {(-1, 0): 5, (-1, 1): 6, (0, -1): 2, (0, 1): 4, (1, -1): 0, (1, 0): 1}
TIP_BITS = {(1, -2): 0, (-1, -1): 1, (2, -1): 2, (1, 1): 3, (-1, 2): 4, (-2, 1): 5}
NEAR = np.array([sum((code >> NEAR_BITS[step] & 1) << i for i, step in enumerate(RING)) for code in range(128)])
FAR = np.array([sum((code >> TIP_BITS[step] & 1) << i for i, step in enumerate(TIPS)) for code in range(64)])


def at(board, r, q):
    """The index of a cell's bit."""
    return 8 * r + q if board.size == 1 else 16 * r + q


def around(board, n, r, q):
    """The neighbours and the tips of a cell that are in the set `board`, each as bits 0 to 5."""
    if board.size == 1:
        cell = 8 * r + q
        places = np.uint64((cell - 18) & 63)
        word = (board[0] >> places | board[0] << (np.uint64(64) - places & np.uint64(63))) & AROUND[cell]
        near = word >> np.uint64(25) & np.uint64(3) | word >> np.uint64(15) & np.uint64(0x1C)
        far = word >> np.uint64(24) & np.uint64(9) | word >> np.uint64(8) & np.uint64(18)
        near |= word >> np.uint64(5) & np.uint64(0x60)
        far |= word >> np.uint64(31) & np.uint64(4) | word << np.uint64(2) & np.uint64(32)
        return NEAR[near], FAR[far]
    above, here, below = window(board, n, r + 1, q), window(board, n, r, q), window(board, n, r - 1, q)
    highest, deepest = window(board, n, r + 2, q), window(board, n, r - 2, q)
    return (
        here >> 3 & 1 | above >> 1 & 2 | above << 1 & 4 | here << 2 & 8 | below << 2 & 16 | below << 2 & 32,
        above >> 3 & 1 | highest & 2 | above << 2 & 4 | below << 2 & 8 | deepest << 1 & 16 | below << 1 & 32,
    )


def window(board, n, r, q):
    """The cells (r, q - 2) to (r, q + 2) of a board of four words as bits 0 to 4."""
    if r < 0 or r >= n:
        return 0
    row = np.int64(board[r >> 2] >> np.uint64(16 * (r & 3)) & np.uint64(0xFFFF))
    return (row << 2) >> q


def turn_left(ring):
    """Six bits rotated by one to the left."""
    return (ring << 1 | ring >> 5) & 63


def turn_right(ring):
    return (ring >> 1 | ring << 5) & 63


# --- Sets as four words -----------------------------------------------------------------------------------------------


def cells(board):
    if board.size == 1:
        return board[0], np.uint64(0), np.uint64(0), np.uint64(0)
    return board[0], board[1], board[2], board[3]


def spread(one, two, three, four, small):
    """The neighbours of all cells of a set; on larger boards, also some bits outside the board."""
    step, row, rest, none = np.uint64(1), np.uint64(16), np.uint64(48), np.uint64(0)
    if small:
        left, right = one & np.uint64(0xFEFEFEFEFEFEFEFE), one & np.uint64(0x7F7F7F7F7F7F7F7F)
        straight = one << np.uint64(8) | one >> np.uint64(8)
        return straight | left >> step | left << np.uint64(7) | right << step | right >> np.uint64(7), none, none, none
    up_1, up_2, up_3, up_4 = one | one >> step, two | two >> step, three | three >> step, four | four >> step
    down_1, down_2, down_3, down_4 = one | one << step, two | two << step, three | three << step, four | four << step
    return (
        one << step | one >> step | up_1 << row | down_1 >> row | down_2 << rest,
        two << step | two >> step | up_2 << row | up_1 >> rest | down_2 >> row | down_3 << rest,
        three << step | three >> step | up_3 << row | up_2 >> rest | down_3 >> row | down_4 << rest,
        four << step | four >> step | up_4 << row | up_3 >> rest | down_4 >> row,
    )


def fill(start, within, small):
    """The cells of `start`, and all cells of `within` that are connected to them through `within`."""
    one, two, three, four = start
    while True:
        a, b, c, d = spread(one, two, three, four, small)
        a, b, c, d = one | a & within[0], two | b & within[1], three | c & within[2], four | d & within[3]
        if same((a, b, c, d), (one, two, three, four)):
            return a, b, c, d
        one, two, three, four = a, b, c, d


def meet(one, other):
    return (one[0] & other[0] | one[1] & other[1] | one[2] & other[2] | one[3] & other[3]) != np.uint64(0)


def same(one, other):
    return one[0] == other[0] and one[1] == other[1] and one[2] == other[2] and one[3] == other[3]


def side(n, direction, end):
    """The cells along one side."""
    words = SIDES[n, direction, end]
    return words[0], words[1], words[2], words[3]


def chain(board, r, q):
    """All stones that are connected to the one on a cell."""
    none, word = np.uint64(0), at(board, r, q) >> 6
    bit = np.uint64(1) << np.uint64(at(board, r, q) & 63)
    start = (
        bit if word == 0 else none,
        bit if word == 1 else none,
        bit if word == 2 else none,
        bit if word == 3 else none,
    )
    return fill(start, cells(board), board.size == 1)


def distance(n, own, enemy, direction):
    """The least number of stones needed to connect the two sides of a direction; n * n if it is impossible."""
    small = own.size == 1
    board, mine, theirs = BOARD[n], cells(own), cells(enemy)
    free = (board[0] & ~theirs[0], board[1] & ~theirs[1], board[2] & ~theirs[2], board[3] & ~theirs[3])
    near, far = side(n, direction, 0), side(n, direction, 1)
    reached = fill((near[0] & mine[0], near[1] & mine[1], near[2] & mine[2], near[3] & mine[3]), mine, small)
    for stones in range(n * n):
        if meet(reached, far):
            return stones
        # One more stone: next to a reached cell, or on the near side; then along the chains that it touches.
        a, b, c, d = spread(reached[0], reached[1], reached[2], reached[3], small)
        further = (
            reached[0] | (a | near[0]) & free[0],
            reached[1] | (b | near[1]) & free[1],
            reached[2] | (c | near[2]) & free[2],
            reached[3] | (d | near[3]) & free[3],
        )
        if same(further, reached):
            break
        reached = fill(further, mine, small)
    return n * n
