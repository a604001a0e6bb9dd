"""Why a move in Hive is not legal, in words."""

from ludus.games._hive_board import (
    ANT,
    BEETLE,
    BUG,
    GRASSHOPPER,
    LADYBUG,
    MOSQUITO,
    MOST_PIECES,
    NEXT,
    NOBODY,
    NOWHERE,
    PILLBUG,
    QUEEN,
    SLOTS,
    SPIDER,
    WAY,
    columns_between,
    height,
    is_top,
    pinned,
    rows_between,
)
from ludus.games._hive_moves import bugs_in, gate, throwers_of
from ludus.games._hive_text import BUG_NAMES, COLOURS, NAMES


def why_not(code, state, player, piece, cell):
    """The reason why a player may not bring a piece to a cell; the move must not be legal."""
    if state.cell[piece] == NOWHERE:
        return why_not_placed(code, state, player, piece, cell)
    names, mine = NAMES[code], piece & 1 == player
    name = names[piece]
    thrown = "thrown" if not mine else "moved"
    if state.cell[player] == NOWHERE:
        return f"no piece may be moved before {names[player]} is placed"
    if not mine and not has_thrower(code, state, player):
        return f"{name} belongs to {COLOURS[piece & 1]}"
    if cell == state.cell[piece]:
        return f"{name} is there already"
    if not is_top(state, piece):
        return f"{name} is under {names[piece_above(state, piece)]}"
    if piece == state.last:
        return f"{name} was thrown last turn and rests" if mine else f"{name} has just moved and cannot be thrown"
    if state.level[piece] == 0 and pinned(state, 2 * int(SLOTS[code])) >> piece & 1:
        return f"{'moving' if mine else 'throwing'} {name} would break the hive"
    there = int(state.top[cell])
    if there == NOBODY and not neighbours(state, cell, piece):
        return f"there {name} would touch no other piece"
    if mine:
        return why_not_walked(code, state, piece, cell)
    if state.level[piece] > 0:
        return f"{name} is in a stack and cannot be {thrown}"
    return why_not_thrown(code, state, player, piece, cell)


def neighbours(state, cell, lifted):
    """The pieces on top around a cell, without one that is lifted."""
    found = []
    for way in range(6):
        piece = int(state.top[NEXT[cell, way]])
        if piece == lifted:
            piece = int(state.under[piece])
        if piece != NOBODY:
            found.append(piece)
    return found


def piece_above(state, piece):
    above = int(state.top[state.cell[piece]])
    while state.under[above] != piece:
        above = int(state.under[above])
    return above


# --- Placing ----------------------------------------------------------------------------------------------------------


def why_not_placed(code, state, player, piece, cell):
    names, queen = NAMES[code], NAMES[code][player]
    name, colour, other = names[piece], COLOURS[player], COLOURS[1 - player]
    if piece & 1 != player:
        return f"{name} belongs to {other}"
    own = [each for each in range(player, len(names), 2) if state.cell[each] != NOWHERE]
    if piece == player and not own:
        return "the queen cannot be the first piece"
    if piece != player and len(own) == 3 and state.cell[player] == NOWHERE:
        return f"the queen must be placed by the fourth turn, so place {queen} now"
    if piece > 1 and BUG[code, piece - 2] == BUG[code, piece] and state.cell[piece - 2] == NOWHERE:
        first = next(
            each
            for each in range(player, len(names), 2)
            if BUG[code, each] == BUG[code, piece] and state.cell[each] == NOWHERE
        )
        return f"{names[first]} must be placed before {name}"
    if state.top[cell] != NOBODY:
        return f"a new piece cannot be placed on top of the hive, and {names[int(state.top[cell])]} is there"
    touched = neighbours(state, cell, piece)
    if not touched:
        return f"there {name} would touch no other piece"
    enemies = [each for each in touched if each & 1 != player]
    if enemies:
        return f"a new piece must not touch the other colour, and there {name} would touch {names[enemies[0]]}"
    return f"a new piece must touch one of {colour}'s"


# --- Walking ----------------------------------------------------------------------------------------------------------


def why_not_walked(code, state, piece, cell):
    names, bug, bugs = NAMES[code], int(BUG[code, piece]), bugs_in(state, code, piece)
    name, start, there = names[piece], state.cell[piece], int(state.top[cell])
    if bug == MOSQUITO and state.level[piece] == 0:
        known = [each for each in range(len(BUG_NAMES)) if bugs >> each & 1 and each != MOSQUITO]
        if not known:
            return f"{name} touches nothing but mosquitoes, and so cannot move"
        if len(known) > 1:
            said = ", ".join(BUG_NAMES[each] for each in known)
            return f"{name} can move like what it touches ({said}), and none of them gets there"
        bug = known[0]
    if state.level[piece] > 0:
        bug = BEETLE
    if there != NOBODY and bug != BEETLE:
        return f"{name} cannot climb on {names[there]}"
    if bug in (QUEEN, PILLBUG, BEETLE):
        return why_not_stepped(code, state, piece, cell)
    if bug == GRASSHOPPER:
        return why_not_jumped(state, name, start, cell)
    if bug == LADYBUG:
        return f"{name} goes two steps on top of the hive and one down, and no such way ends there"
    ways = through_gates(state, piece, 3 if bug == SPIDER else 0)
    if cell in ways:
        return f"{name} cannot slide through the gate"
    if bug == ANT:
        return f"{name} cannot get there: the cell is walled in"
    return f"{name} walks exactly three steps, and no such way ends there"


def why_not_stepped(code, state, piece, cell):
    names, start = NAMES[code], state.cell[piece]
    name = names[piece]
    way = int(WAY[rows_between(start, cell), columns_between(start, cell)])
    if way == 6:
        return f"{name} moves only one step"
    flanks = [int(state.top[NEXT[start, (way + turn) % 6]]) for turn in (5, 1)]
    if NOBODY in flanks:
        return f"{name} would lose contact with the hive on the way"
    between = f"between {names[flanks[0]]} and {names[flanks[1]]}"
    if state.level[piece] == 0 and height(state, cell) == 0:
        return f"{name} cannot slide through the gate {between}"
    return f"{name} cannot pass {between}, which are higher than it goes"


def why_not_jumped(state, name, start, cell):
    for way in range(6):
        over, at = 0, NEXT[start, way]
        while state.top[at] != NOBODY:
            over, at = over + 1, NEXT[at, way]
        for _ in range(MOST_PIECES):  # not all the way round the torus
            if at == cell:
                if over == 0:
                    return f"{name} has nothing to jump over in that direction"
                return f"{name} lands on the first empty cell, which is nearer"
            at = NEXT[at, way]
    return f"{name} jumps only in a straight line"


def through_gates(state, piece, steps):
    """The cells that a piece could slide to in `steps` steps (0: any number) if there were no gates."""
    start = int(state.cell[piece])

    def beyond(cell):
        for way in range(6):
            end = int(NEXT[cell, way])
            flanks = (int(NEXT[cell, (way + turn) % 6]) for turn in (5, 1))
            touches = any(state.top[flank] != NOBODY and flank != start for flank in flanks)
            if touches and (state.top[end] == NOBODY or end == start):
                yield end

    if steps:
        paths = [[start]]
        for _ in range(steps):
            paths = [[*path, end] for path in paths for end in beyond(path[-1]) if end not in path]
        return {path[-1] for path in paths}
    found, edge = {start}, [start]
    while edge:
        fresh = set(beyond(edge.pop())) - found
        found |= fresh
        edge += fresh
    return found


# --- Throwing ---------------------------------------------------------------------------------------------------------


def bugs_on_board(code, state, player):
    """The kinds of bugs that a player has on the board."""
    pieces = range(player, len(NAMES[code]), 2)
    return {int(BUG[code, piece]) for piece in pieces if state.cell[piece] != NOWHERE}


def has_thrower(code, state, player):
    """True if a player has a kind of piece on the board that can throw: a pillbug, or a mosquito if any pillbug is on
    the board."""
    own, other = bugs_on_board(code, state, player), bugs_on_board(code, state, 1 - player)
    return PILLBUG in own or (MOSQUITO in own and PILLBUG in other)


def why_not_thrown(code, state, player, piece, cell):
    names, start = NAMES[code], state.cell[piece]
    name = names[piece]
    throwers = throwers_of(state, code, len(names), player)
    beside = [each for each in neighbours(state, start, piece) if throwers >> each & 1]
    if not beside:
        resting = int(state.last)
        if resting != NOBODY and resting & 1 == player and BUG[code, resting] in (PILLBUG, MOSQUITO):
            return f"{name} belongs to {COLOURS[piece & 1]}, and {names[resting]} was thrown last turn and rests"
        thrower = "pillbug" if PILLBUG in bugs_on_board(code, state, player) else "mosquito"
        return f"{name} belongs to {COLOURS[piece & 1]}, and no {thrower} of {COLOURS[player]}'s can throw it"
    if state.top[cell] != NOBODY:
        return f"{name} can be thrown only to an empty cell, and {names[int(state.top[cell])]} is there"
    near = [each for each in beside if way_between(state.cell[each], cell) < 6]
    if not near:
        return f"{name} can be thrown only to a cell beside {names[beside[0]]}"
    for thrower in near:
        if gate(state, start, way_between(start, state.cell[thrower]), 1):
            return f"{name} cannot be lifted onto {names[thrower]} between two stacks"
    return f"{name} cannot be set down from {names[near[0]]} between two stacks"


def way_between(one, other):
    return int(WAY[rows_between(one, other), columns_between(one, other)])
