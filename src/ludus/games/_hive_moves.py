"""Hive's moves: placements and moves of pieces, each listed once, as 1024 * piece + cell.

Loops over directions take them from a mask, lowest first, instead of trying all six: that is less work, and Numba
compiles a loop of unknown length much faster than one of six rounds, which it unrolls. Numbers from unsigned tables are
made signed before arithmetic: Numba's int() would leave them unsigned, and signed + unsigned becomes a float.
"""

from numpy import int64

from ludus.games._hive_board import (
    ANT,
    BEETLE,
    BUG,
    EXITS,
    GRASSHOPPER,
    LADYBUG,
    LEFT,
    LOWEST,
    MOSQUITO,
    NEXT,
    NOBODY,
    NOWHERE,
    ONWARD,
    OPPOSITE,
    ORIGIN,
    PILLBUG,
    QUEEN,
    RIGHT,
    SLIDES,
    SPIDER,
    around_without,
    height,
    is_top,
    pinned,
)

# --- Placing ----------------------------------------------------------------------------------------------------------


def in_hand(state, expansions, pieces, player):
    """The pieces that a player may place, as bits: the lowest number of each bug that may be placed in this turn."""
    found, placed = 0, 0
    for piece in range(player, pieces, 2):
        if state.cell[piece] != NOWHERE:
            placed += 1
        elif piece < 2 or BUG[expansions, piece - 2] != BUG[expansions, piece] or state.cell[piece - 2] != NOWHERE:
            found |= 1 << piece
    if state.cell[player] == NOWHERE:  # the queen has the first slot
        if placed == 0:
            found ^= 1 << player
        elif placed == 3:
            found = 1 << player
    return found


def list_placements(state, expansions, pieces, player, moves):
    """List placements, cell by cell; returns their number."""
    count = 0
    hand = in_hand(state, expansions, pieces, player)
    if hand == 0:
        return count
    beside = 1 - player if state.ply == 1 else player  # only the second piece of a game touches the other colour
    for own in range(beside, pieces, 2):
        if is_top(state, own):
            at = state.cell[own]
            ways = 63 ^ int64(state.around[at])
            while ways:
                cell = NEXT[at, LOWEST[ways]]
                ways &= ways - 1
                # A cell is handled only from the lowest of the pieces that it touches.
                if lowest_of_one_colour(state, cell) == own:
                    count = place(hand, player, pieces, cell, moves, count)
    if state.ply == 0:
        count = place(hand, player, pieces, ORIGIN, moves, count)
    return count


def place(hand, player, pieces, cell, moves, count):
    for piece in range(player, pieces, 2):
        if hand >> piece & 1:
            moves[count] = piece << 10 | int64(cell)
            count += 1
    return count


def lowest_of_one_colour(state, cell):
    """The lowest piece on top around a cell, if all of them have the same colour, else NOBODY."""
    lowest, colours = NOBODY, 0
    ring = int64(state.around[cell])
    while ring:
        piece = int64(state.top[NEXT[cell, LOWEST[ring]]])
        ring &= ring - 1
        lowest = min(lowest, piece)
        colours |= 1 + (piece & 1)
    return NOBODY if colours == 3 else lowest


# --- Moving -----------------------------------------------------------------------------------------------------------


def list_moves(state, expansions, pieces, player, moves, count):
    """List moves of pieces on the board, piece by piece; returns the new count."""
    if state.cell[player] == NOWHERE:
        return count
    held = pinned(state, pieces)
    throwers = throwers_of(state, expansions, pieces, player)
    thrown = reach_of(state, throwers, pieces)
    for piece in range(pieces):
        mine = piece & 1 == player
        if (mine or thrown >> piece & 1) and can_leave(state, piece, held):
            first = count
            if mine:
                count = walk(state, bugs_in(state, expansions, piece), piece, moves, count)
            if thrown >> piece & 1 and state.level[piece] == 0:
                count = throw(state, throwers, piece, moves, first, count)
    return count


def can_leave(state, piece, held):
    """True if a piece may be lifted: it is on top, did not move in the last ply, and the hive stays connected."""
    return is_top(state, piece) and piece != state.last and (state.level[piece] > 0 or not held >> piece & 1)


def bugs_in(state, expansions, piece):
    """The bugs that a piece may move like, as bits."""
    if state.level[piece] > 0:
        return 1 << BEETLE
    bug = int64(BUG[expansions, piece])
    return touched_bugs(state, expansions, state.cell[piece]) if bug == MOSQUITO else 1 << bug


def touched_bugs(state, expansions, cell):
    """The bugs on top around a cell, as bits."""
    found = 0
    ring = int64(state.around[cell])
    while ring:
        found |= 1 << int64(BUG[expansions, state.top[NEXT[cell, LOWEST[ring]]]])
        ring &= ring - 1
    return found


def walk(state, bugs, piece, moves, count):
    """List moves of one piece without a thrower, like any of `bugs`."""
    first = count
    slides = bugs & (1 << QUEEN | 1 << PILLBUG)
    if bugs >> ANT & 1:
        count = walk_far(state, piece, moves, count)
        slides = 0
    elif bugs >> SPIDER & 1:
        count = walk_three(state, piece, moves, count)
    if bugs >> BEETLE & 1:
        count = merge(moves, first, count, climb(state, piece, moves, count))
        slides = 0
    if slides:
        count = merge(moves, first, count, slide(state, piece, moves, count))
    if bugs >> GRASSHOPPER & 1:
        count = merge(moves, first, count, jump(state, piece, moves, count))
    if bugs >> LADYBUG & 1:
        count = merge(moves, first, count, cross(state, piece, moves, count))
    return count


def add(moves, first, count, move):
    """Add a move unless it is among those from `first` on."""
    for index in range(first, count):
        if moves[index] == move:
            return count
    moves[count] = move
    return count + 1


def merge(moves, first, middle, count):
    """Drop the moves from `middle` on that are listed before it; returns the new count."""
    if first == middle:
        return count
    end = middle
    for index in range(middle, count):
        end = add(moves, first, end, int64(moves[index]))
    return end


def slide(state, piece, moves, count):
    """One step on the ground: the queen and the pillbug."""
    start = state.cell[piece]
    ways = int64(SLIDES[state.around[start]])
    while ways:
        moves[count] = piece << 10 | int64(NEXT[start, LOWEST[ways]])
        count += 1
        ways &= ways - 1
    return count


def walk_three(state, piece, moves, count):
    """Three steps on the ground, no cell twice: the spider."""
    first, start = count, state.cell[piece]
    ways = int64(SLIDES[state.around[start]])
    while ways:
        one = NEXT[start, LOWEST[ways]]
        ways &= ways - 1
        further = int64(SLIDES[around_without(state, one, start)])
        while further:
            two = NEXT[one, LOWEST[further]]
            further &= further - 1
            last = int64(SLIDES[around_without(state, two, start)]) if two != start else 0
            while last:
                three = NEXT[two, LOWEST[last]]
                last &= last - 1
                if three != one and three != start:
                    count = add(moves, first, count, piece << 10 | int64(three))
    return count


def walk_far(state, piece, moves, count):
    """Any number of steps on the ground: the ant.

    It goes once round the hive, the hive on its right, until it is back at the start. As the hive is connected, the
    edge of the cells that the ant can reach is one closed line, so no cell is missed. A cell between two parts of the
    hive is passed once for each of its exits, and is listed at the lowest of them.
    """
    start = state.cell[piece]
    exits = EXITS[state.around[start]]
    if exits == 0:
        return count
    begin = LOWEST[exits]
    cell, way = start, begin
    while True:
        cell = NEXT[cell, way]
        ring = around_without(state, cell, start)
        way = ONWARD[ring, way]
        if cell != start:
            if way == LOWEST[EXITS[ring]]:
                moves[count] = piece << 10 | int64(cell)
                count += 1
        elif way == begin:
            return count


def jump(state, piece, moves, count):
    """Straight over one or more pieces: the grasshopper."""
    start = state.cell[piece]
    ring = int64(state.around[start])
    while ring:
        way = LOWEST[ring]
        ring &= ring - 1
        cell = NEXT[start, way]
        while state.top[cell] != NOBODY:
            cell = NEXT[cell, way]
        moves[count] = piece << 10 | int64(cell)
        count += 1
    return count


def gate(state, cell, way, level):
    """True if both stacks that flank a step from a cell are higher than `level`, which is at least 1.

    The mover's own cell needs no exception: it flanks none of the steps of a piece above the ground, and a piece on the
    ground leaves a cell no higher than 1.
    """
    if state.raised < 2:
        return False
    return height(state, NEXT[cell, LEFT[way]]) > level and height(state, NEXT[cell, RIGHT[way]]) > level


def climb(state, piece, moves, count):
    """One step on the ground, up, down or on top: the beetle, and all that are on top."""
    start, level = state.cell[piece], int64(state.level[piece])
    ring = int64(state.around[start])
    ways = 63 if level > 0 else ring | int64(SLIDES[ring])
    while ways:
        way = LOWEST[ways]
        ways &= ways - 1
        cell = NEXT[start, way]
        higher = max(level, height(state, cell))
        if higher == 0 or not gate(state, start, way, higher):
            moves[count] = piece << 10 | int64(cell)
            count += 1
    return count


def cross(state, piece, moves, count):
    """Two steps on top of the hive, then one down: the ladybug."""
    first, start = count, state.cell[piece]
    ways = int64(state.around[start])
    while ways:
        way = LOWEST[ways]
        ways &= ways - 1
        one = NEXT[start, way]
        up = height(state, one)
        further = 0 if gate(state, start, way, up) else int64(around_without(state, one, start))
        while further:
            way = LOWEST[further]
            further &= further - 1
            two = NEXT[one, way]
            along = height(state, two)
            down = 0 if gate(state, one, way, max(up, along)) else 63 ^ int64(state.around[two])
            while down:
                way = LOWEST[down]
                down &= down - 1
                if not gate(state, two, way, along):
                    count = add(moves, first, count, piece << 10 | int64(NEXT[two, way]))
    return count


# --- Throwing ---------------------------------------------------------------------------------------------------------


def throwers_of(state, expansions, pieces, player):
    """The pieces of a player that can throw others, as bits: its pillbug, and its mosquito beside any pillbug."""
    found = 0
    if expansions & 4:
        for piece in range(player + 22, pieces, 2):  # the expansions have the last slots
            bug = BUG[expansions, piece]
            if bug == LADYBUG or piece == state.last or not is_top(state, piece) or state.level[piece] > 0:
                continue
            if bug == PILLBUG or touched_bugs(state, expansions, state.cell[piece]) >> PILLBUG & 1:
                found |= 1 << piece
    return found


def reach_of(state, throwers, pieces):
    """The pieces on top beside the throwers, as bits."""
    found = 0
    if throwers:
        for thrower in range(22, pieces):
            if throwers >> thrower & 1:
                cell = state.cell[thrower]
                ring = int64(state.around[cell])
                while ring:
                    found |= 1 << int64(state.top[NEXT[cell, LOWEST[ring]]])
                    ring &= ring - 1
    return found


def throw(state, throwers, piece, moves, first, count):
    """List throws of a piece that may be lifted from the ground, over throwers beside it to cells beside them."""
    start = state.cell[piece]
    ring = int64(state.around[start])
    while ring:
        way = LOWEST[ring]
        ring &= ring - 1
        over = NEXT[start, way]
        up = height(state, over)
        if throwers >> int64(state.top[over]) & 1 and not gate(state, start, way, up):
            down = 63 ^ int64(state.around[over])
            while down:
                way = LOWEST[down]
                down &= down - 1
                if not gate(state, over, way, up):
                    count = add(moves, first, count, piece << 10 | int64(NEXT[over, way]))
    return count


# --- One move ---------------------------------------------------------------------------------------------------------


def is_legal(state, expansions, pieces, player, piece, cell, moves):
    """True if a player may bring a piece to a cell. Runs in plain Python only. Scratch: moves [most_legal]."""
    if state.cell[piece] == NOWHERE:
        if not in_hand(state, expansions, pieces, player) >> piece & 1 or state.top[cell] != NOBODY:
            return False
        if state.ply == 0:
            return cell == 0
        lowest = lowest_of_one_colour(state, cell)
        return lowest != NOBODY and (state.ply == 1 or lowest & 1 == player)
    if state.cell[player] == NOWHERE or not can_leave(state, piece, pinned(state, pieces)):
        return False
    count = 0
    if piece & 1 == player:
        count = walk(state, bugs_in(state, expansions, piece), piece, moves, count)
    if state.level[piece] == 0:
        count = throw(state, throwers_of(state, expansions, pieces, player), piece, moves, 0, count)
    return (piece << 10 | int(cell)) in moves[:count].tolist()


# --- Action ids -------------------------------------------------------------------------------------------------------


def name_moves(state, pieces, player, actions, count):
    """Turn moves, 1024 * piece + cell, into action ids."""
    before, name = -1, 0
    for index in range(count):
        piece, cell = int64(actions[index]) >> 10, int64(actions[index]) & 1023
        if state.cell[piece] != NOWHERE:
            name = reference(state, player, piece, cell)
        elif cell != before:  # placements on one cell share their reference
            name = reference(state, player, piece, cell)
            before = cell
        own = piece ^ player
        actions[index] = 7 * pieces * own + (name if name < 7 * pieces else 7 * own + 6)


def reference(state, player, piece, cell):
    """7 * the lowest reference piece + the direction; larger than any valid result if there is no reference."""
    there = int64(state.top[cell])
    if there != NOBODY:
        return 7 * (there ^ player) + 6
    under, lowest = int64(state.under[piece]), 8 * NOBODY
    for way in range(6):  # no branch is needed, since NOBODY is greater than all pieces
        beside = int64(state.top[NEXT[cell, way]])
        beside = under if beside == piece else beside
        lowest = min(lowest, (beside ^ player) << 3 | way)
    return 7 * (lowest >> 3) + int64(OPPOSITE[lowest & 7])
