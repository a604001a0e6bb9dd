"""A Hive position that was set up by hand: its pieces are put down one by one, by no rule of the game.

In text, `put wQ` and `put bA1 wQ-` come before the moves: `Base;InProgress;White[4];put wS1;put wQ wS1-;put bS1 -wS1`.
In a state, such a game begins with passes, which no other game does: as many as the turn needs; then come the pieces
that are put; then one more pass, so that no piece counts as the one that has just moved.
"""

import re

from ludus.board import Cell, Piece, hexagon_at
from ludus.errors import BadPosition
from ludus.games._hive_board import BEETLE, BUG, MOSQUITO, NOBODY, NOWHERE, STEPS, bugs_of
from ludus.games._hive_text import (
    BUG_NAMES,
    COLOURS,
    DECORATED,
    LETTERS,
    NAMES,
    PUT,
    write_game_type,
    write_status,
    write_turn,
)

LEAST_EXTRA = 2
"""Plies of a set-up besides its pieces: at least one pass before them, and one after them."""


# --- pieces that a person has placed ----------------------------------------------------------------------------------


def kinds(code):
    """The kinds of pieces, white ones first: (player, bug, number of such pieces)."""
    bugs = bugs_of(code)
    return [(player, bug, bugs.count(bug)) for player in range(2) for bug in dict.fromkeys(bugs)]


def kind_name(player, bug):
    return f"{COLOURS[player]} {BUG_NAMES[bug]}"


def stock_of(code):
    """The kinds of pieces for the board, in the order of `kinds`."""
    return [
        Piece("", player, "hexagon", BUG_NAMES[bug], LETTERS[bug], name=kind_name(player, bug), most=most)
        for player, bug, most in kinds(code)
    ]


def place_of(id):
    """The coordinates (q, r) of the id of a cell."""
    if not re.fullmatch(r"-?[0-9]{1,3},-?[0-9]{1,3}", id):
        raise BadPosition(f"there is no cell {id!r}")
    q, r = id.split(",")
    return int(q), int(r)


def cells_around(ids):
    """These cells and all cells beside them; one cell if there are none."""
    near = {(q + dq, r + dr) for q, r in map(place_of, ids) for dq, dr in (*STEPS, (0, 0))} or {(0, 0)}
    return [Cell(f"{q},{r}", *hexagon_at(q, r), "hexagon") for q, r in sorted(near, key=lambda at: at[::-1])]


def write_set_up(code, placed, player):
    """The text of a position with these pieces: for each cell, the numbers of its kinds from the bottom up."""
    stacks = {place_of(id): list(numbers) for id, numbers in placed.items() if numbers}
    every, left = kinds(code), {}
    for number, (owner, bug, most) in enumerate(every):
        found = sum(stack.count(number) for stack in stacks.values())
        if found > most:
            raise BadPosition(f"there are {found} pieces called {kind_name(owner, bug)}, and the game has {most}")
        left[number] = [name for name in NAMES[code] if name.startswith(f"{'wb'[owner]}{LETTERS[bug]}")]
    pieces = sum(map(len, stacks.values()))
    if pieces == 0:
        if player == 1:
            raise BadPosition("white begins: on an empty board it is white's turn")
        return f"{write_game_type(code)};NotStarted;{write_turn(0)}"
    moves, tops = [], {}
    edge = [min(stacks)]
    while edge:  # from a piece to those beside it, so that each one has a neighbour to refer to
        q, r = place = edge.pop(0)
        for number in stacks.pop(place, ()):
            name = left[number].pop(0)
            moves.append(f"{PUT}{name} {reference(place, tops)}".strip())
            tops[place] = name
        edge += [(q + dq, r + dr) for dq, dr in STEPS if (q + dq, r + dr) in stacks]
    if stacks:
        q, r = min(stacks)
        raise BadPosition(f"the hive is not in one piece: nothing joins {q},{r} to {next(iter(tops.values()))}")
    if pieces == 1 and player == 1 and moves[0].startswith(f"{PUT}w"):
        return f"{write_game_type(code)};InProgress;{write_turn(1)};{moves[0].removeprefix(PUT)}"
    ply = pieces + LEAST_EXTRA + (pieces + player) % 2
    return ";".join([write_game_type(code), write_status(ply, None), write_turn(ply), *moves])


def reference(place, tops):
    """A place in notation, by the piece there or one beside it; empty for the first piece."""
    if place in tops:
        return tops[place]
    q, r = place
    for way, (dq, dr) in enumerate(STEPS):
        if (q - dq, r - dr) in tops:
            return DECORATED[way].format(tops[q - dq, r - dr])
    return ""


# --- reading ----------------------------------------------------------------------------------------------------------


def first_ply(turn, puts, moves, limit):
    """The number of passes before the pieces that are put; `turn` is the text of the turn after all moves."""
    found = re.fullmatch(r"(white|black)\[([0-9]{1,5})\]", turn.strip(), re.IGNORECASE)
    if not found or found[2] == "0":
        raise BadPosition(f"{turn.strip()!r} is not a turn, such as White[12]")
    ply = 2 * int(found[2]) - 2 + (found[1].lower() == "black")
    least = puts + moves + LEAST_EXTRA
    if ply < least:
        raise BadPosition(
            f"after {puts} pieces that are put and {moves} moves, the turn is {write_turn(least)} or later"
        )
    if ply > limit:
        raise BadPosition(f"a game ends after {limit} plies, before the turn {turn.strip()}")
    return ply - puts - moves - 1


def check_put(code, state, piece, cell):
    """Raise BadPosition if a piece cannot be put on a cell."""
    names, below = NAMES[code], int(state.top[cell])
    if state.cell[piece] != NOWHERE:
        raise BadPosition(f"{names[piece]} is put twice")
    if piece > 1 and BUG[code, piece - 2] == BUG[code, piece] and state.cell[piece - 2] == NOWHERE:
        raise BadPosition(f"{names[piece - 2]} must be put before {names[piece]}")
    if below != NOBODY and BUG[code, piece] not in (BEETLE, MOSQUITO):
        able = "a beetle or a mosquito" if MOSQUITO in bugs_of(code) else "a beetle"
        raise BadPosition(f"only {able} can lie on another piece, and {names[piece]} lies on {names[below]}")


def check_set_up(code, state):
    """Raise BadPosition if the pieces contradict the rules of placing, which bind every game."""
    names, player = NAMES[code], int(state.ply) & 1
    counts = [sum(int(state.cell[piece]) != NOWHERE for piece in range(colour, len(names), 2)) for colour in range(2)]
    has_queen = [state.cell[colour] != NOWHERE for colour in range(2)]
    for colour, name in enumerate(COLOURS):
        if counts[colour] == 0:
            raise BadPosition(f"{name} has no piece on the board: both players place one in their first turn")
        if has_queen[colour] and counts[colour] == 1:
            raise BadPosition(f"{name} has its queen alone, and the first piece of a player is never the queen")
        if not has_queen[colour] and counts[colour] > 3:
            raise BadPosition(f"{name} has {counts[colour]} pieces without the queen, which comes by the fourth turn")
    for piece in range(len(names)):
        if state.level[piece] and not has_queen[piece & 1]:
            name, below = COLOURS[piece & 1], names[int(state.under[piece])]
            raise BadPosition(f"{names[piece]} lies on {below}, and {name} cannot climb before its queen is placed")
    for colour, name in enumerate(COLOURS):
        if not has_queen[colour]:  # this player has placed one piece in each turn, and moved none
            other, own, theirs = COLOURS[1 - colour], counts[colour], counts[1 - colour]
            turns = own + (0 if player == 0 else 1 if colour == 1 else -1)
            if theirs > turns or (theirs < turns and not has_queen[1 - colour]):
                had = f"{name} has had {own} turn{'s' * (own != 1)} and {other} {turns}"
                raise BadPosition(f"without its queen {name} only places pieces, so {had}; {other} has {theirs} pieces")
