"""Views of a Cachex board: the cell of an action, heuristic, planes for networks, the half turn."""

import numpy as np

from ludus.games._bits import count_bits, has, put
from ludus.games._rhombus import SMALL, at, distance


def tables():
    """Tables by n and by mirroring (0 or 1): the cell of each action, as 16 * r + q, and the action of each bit."""
    cells, ids = np.zeros((16, 2, 256), np.uint8), np.zeros((16, 2, 256), np.uint8)
    for n in range(3, 16):
        for r in range(n):
            for q in range(n):
                for mirrored, action in enumerate((r * n + q, q * n + r)):
                    cells[n, mirrored, action] = 16 * r + q
                    ids[n, mirrored, (8 if n <= SMALL else 16) * r + q] = action
    return cells, ids


CELLS, IDS = tables()


def mirrors(rules, player):
    """True if the board is mirrored for this player."""
    return 1 if rules.turned and player == 1 else 0


def cell_of(rules, player, action):
    """The cell on which an action places a stone."""
    cell = np.int64(CELLS[rules.n, mirrors(rules, player), action])
    return cell >> 4, cell & 15


def still_needed(rules, state, player):
    """The least number of stones that a player needs to connect its sides."""
    return distance(rules.n, state.stones[player], state.stones[1 - player], player)


def heuristic(rules, state, player):
    """The lead in stones needed to connect; the turn counts half a stone, each stone on the board a quarter."""
    lead = still_needed(rules, state, 1 - player) - still_needed(rules, state, player)
    lead += 0.5 if state.ply & 1 == player else -0.5
    for word in range(state.stones.shape[1]):
        lead += 0.25 * count_bits(state.stones[player, word])
        lead -= 0.25 * count_bits(state.stones[1 - player, word])
    return lead / (2.0 + abs(lead))


def last_cell(rules, state):
    """(r, q) of the stone of the last move; (-1, -1) if it is unknown."""
    if state.ply == state.begun:
        return -1, -1
    action = np.int64(state.moves[state.ply - state.begun - 1])
    if action < rules.n * rules.n:
        return cell_of(rules, (state.ply - 1) & 1, action)
    stolen = state.stones[1]
    for r in range(rules.n):
        for q in range(rules.n):
            if has(stolen, at(stolen, r, q)):
                return r, q
    return -1, -1


def observe(rules, state, player, planes):
    """Planes: own stones, enemy stones, the last move, all ones if it is the player's turn, own sides, enemy's sides.

    The board is mirrored for Blue, as in its actions: both players connect the first row with the last. The view
    "planes4" is not mirrored and has four planes: own stones, enemy stones, the last move, all ones for Red.
    """
    n = rules.n
    swap = rules.turned and player == 1
    mine, theirs = state.stones[player], state.stones[1 - player]
    for r in range(n):
        for q in range(n):
            row, column = (q, r) if swap else (r, q)
            planes[0, row, column] = has(mine, at(mine, r, q))
            planes[1, row, column] = has(theirs, at(theirs, r, q))
    r, q = last_cell(rules, state)
    if r >= 0:
        planes[2, q if swap else r, r if swap else q] = 1.0
    if not rules.turned:
        if player == 0:
            planes[3] = 1.0
        return
    if state.ply & 1 == player:
        planes[3] = 1.0
    for along in range(n):
        planes[4, 0, along] = planes[4, n - 1, along] = 1.0
        planes[5, along, 0] = planes[5, along, n - 1] = 1.0


def symmetry(rules, state, which, image, actions, count):
    """Symmetry 1 is half a turn."""
    turn_boards(rules, state.stones, which, image.stones)
    turn_boards(rules, state.origin, which, image.origin)
    turn_boards(rules, state.lost, which, image.lost)
    image.ply = state.ply
    image.begun = state.begun
    image.result = state.result
    image.most = state.most
    for i in range(state.seen.size):
        image.seen[i] = state.seen[i]
    image.moves[:] = 0
    for i in range(state.ply - state.begun):
        image.moves[i] = half_turn(rules, which, np.int64(state.moves[i]))
    for i in range(count):
        actions[i] = half_turn(rules, which, actions[i])


def turn_boards(rules, boards, which, images):
    images[:] = np.uint64(0)
    for player in range(2):
        board, image = boards[player], images[player]
        for r in range(rules.n):
            for q in range(rules.n):
                if has(board, at(board, r, q)):
                    put(image, at(image, rules.n - 1 - r, rules.n - 1 - q) if which else at(image, r, q))


def half_turn(rules, which, action):
    return rules.n * rules.n - 1 - action if which and action < rules.n * rules.n else action
