"""Hive as text: pieces, moves and games in the notation of the Universal Hive Protocol, and a drawing of the board."""

import re

from ludus.errors import BadPosition, IllegalMove
from ludus.games._hive_board import (
    BUG,
    LETTERS,
    MOST_PIECES,
    NEXT,
    NOBODY,
    NOWHERE,
    PASS,
    SIDE,
    SLOTS,
    STEPS,
    bugs_of,
    height,
    is_top,
)

COLOURS = ("white", "black")
BUG_NAMES = ("queen", "spider", "beetle", "grasshopper", "ant", "mosquito", "ladybug", "pillbug")
DECORATED = ("\\{}", "{}/", "{}-", "{}\\", "/{}", "-{}", "{}")
"""The notation of a reference piece, by the direction from it; the last is on top of it."""
PIECE = r"[wb][a-z][0-9]?"
PUT = "put "
"""The word before a piece of a position that was set up by hand (_hive_setup.py)."""


def expansions_in(code):
    return "".join(letter for bit, letter in enumerate("MLP") if code >> bit & 1)


def write_game_type(code):
    return f"Base+{expansions_in(code)}" if code else "Base"


def read_game_type(text):
    """The code of the expansions, from Base or Base+MLP."""
    found = re.fullmatch(r"base(?:\+([mlp]{1,3}))?", text.strip(), re.IGNORECASE)
    letters = (found[1] or "").upper() if found else ""
    if not found or len(set(letters)) < len(letters):
        raise BadPosition(f"{text.strip()!r} is not a game type: Base, or Base+ and letters of M, L and P", 0)
    return sum(1 << "MLP".index(letter) for letter in letters)


# --- Pieces and moves -------------------------------------------------------------------------------------------------


def piece_name(code, piece):
    bugs, slot = bugs_of(code), int(piece) >> 1
    bug = bugs[slot]
    number = str(slot - bugs.index(bug) + 1) if bugs.count(bug) > 1 else ""
    return f"{'wb'[int(piece) & 1]}{LETTERS[bug]}{number}"


NAMES = [[piece_name(code, piece) for piece in range(2 * int(SLOTS[code]))] for code in range(8)]
"""[expansions][piece]: the name of a piece."""


def find_piece(code, name):
    """The piece of a name, in upper or lower case; raises IllegalMove if there is none."""
    colour, letter, number = name[0].lower(), name[1].upper(), name[2:]
    known = NAMES[code]
    for spelled in (f"{colour}{letter}{number}", f"{colour}{letter}" if number == "1" else ""):
        if spelled in known:
            return known.index(spelled)
    alike = [other for other in known if other.startswith(f"{colour}{letter}")]
    if alike:
        raise IllegalMove(f"there is no piece {name}; there is {' '.join(alike)}")
    if letter in LETTERS:
        raise IllegalMove(f"there is no {BUG_NAMES[LETTERS.index(letter)]} in a game of {write_game_type(code)}")
    raise IllegalMove(f"there is no bug {letter!r}; the bugs are {' '.join(LETTERS)}")


def write_move(code, player, action):
    pieces = 2 * int(SLOTS[code])
    piece, rest = divmod(action, 7 * pieces)
    beside, way = divmod(rest, 7)
    if piece == pieces:
        return "pass"
    name = NAMES[code][piece ^ player]
    return name if beside == piece else f"{name} {DECORATED[way].format(NAMES[code][beside ^ player])}"


def parse_move(code, state, text):
    """(piece, cell) of a move in notation, legal or not; (NOBODY, 0) for a pass."""
    name, *rest = text.split() or [""]
    place = "".join(rest)
    if name.lower() == "pass" and not place:
        return NOBODY, 0
    found = re.fullmatch(rf"([-/\\]?)({PIECE})([-/\\]?)", place, re.IGNORECASE)
    decorated_twice = found is not None and bool(found[1] and found[3])
    if not re.fullmatch(PIECE, name, re.IGNORECASE) or (place and not found) or decorated_twice:
        raise IllegalMove(
            f"{text.strip()!r} is not a move; moves are a piece and where it goes, such as wA1 bQ- or wB1 wS2, or pass"
        )
    piece = find_piece(code, name)
    if (state.cell == NOWHERE).all():
        if found:
            raise IllegalMove(f"the first piece touches no other: write {NAMES[code][piece]} alone")
        return piece, 0
    if not found:
        raise IllegalMove(
            f"say where {NAMES[code][piece]} goes, such as {NAMES[code][piece]} {an_example(code, state)}"
        )
    beside = find_piece(code, found[2])
    if state.cell[beside] == NOWHERE:
        raise IllegalMove(f"{NAMES[code][beside]} is not on the board")
    form = f"{found[1]}{{}}{found[3]}"
    cell = int(state.cell[beside])
    return piece, cell if form == "{}" else int(NEXT[cell, DECORATED.index(form)])


def an_example(code, state):
    on_top = next(piece for piece in range(MOST_PIECES) if is_top(state, piece))
    return f"{NAMES[code][on_top]}-"


# --- Games ------------------------------------------------------------------------------------------------------------


def set_up_plies(state):
    """The plies that set up a position by hand; 0 if the game began with an empty board."""
    past = state.past[: int(state.ply)].tolist()
    if past[:1] != [PASS]:
        return 0
    begin = next(ply for ply, entry in enumerate(past) if entry != PASS)
    return past.index(PASS, begin) + 1


def past_moves(code, state):
    """The moves that led to a state, in notation; those of a set-up by hand begin with PUT."""
    stacks: dict[int, list[int]] = {}
    where: dict[int, int] = {}
    moves = []
    set_up = set_up_plies(state)
    for ply in range(int(state.ply)):
        piece, cell = divmod(int(state.past[ply]), 1024)
        if int(state.past[ply]) == PASS:
            moves += ["pass"] * (ply >= set_up)
            continue
        if piece in where:
            stacks[where[piece]].pop()
        if stacks.get(cell):
            names = [(stacks[cell][-1], 6)]
        else:
            around = ((stacks.get(int(NEXT[cell, way])), (way + 3) % 6) for way in range(6))
            names = [(stack[-1], way) for stack, way in around if stack]
        stacks.setdefault(cell, []).append(piece)
        where[piece] = cell
        name = NAMES[code][piece]
        if names:
            beside, way = min(names, key=lambda each: each[0] ^ ply & 1)
            name += f" {DECORATED[way].format(NAMES[code][beside])}"
        moves.append(f"{PUT}{name}" if ply < set_up else name)
    return moves


def write_turn(ply):
    return f"{COLOURS[ply & 1].title()}[{ply // 2 + 1}]"


def write_status(ply, values):
    """The state of a game in the protocol's words; `values` is None while the game is on."""
    if values is not None:
        return "Draw" if values[0] == 0 else "WhiteWins" if values[0] > 0 else "BlackWins"
    return "InProgress" if ply else "NotStarted"


STATUSES = ("NotStarted", "InProgress", "Draw", "WhiteWins", "BlackWins")


# --- The board --------------------------------------------------------------------------------------------------------


def coordinates(state):
    """(q, r) of every piece on the board, without the wrap-around of the torus."""
    on_board = [piece for piece in range(MOST_PIECES) if state.cell[piece] != NOWHERE]

    def unrolled(numbers):
        """Numbers modulo 32 that form one run, shifted so that they are consecutive."""
        begin = next((number for number in numbers if (number - 1) % SIDE not in numbers), 0)
        return {number: (begin + SIDE // 2) % SIDE - SIDE // 2 + (number - begin) % SIDE for number in numbers}

    columns = unrolled({int(state.cell[piece]) % SIDE for piece in on_board})
    rows = unrolled({int(state.cell[piece]) // SIDE for piece in on_board})
    return {piece: (columns[int(state.cell[piece]) % SIDE], rows[int(state.cell[piece]) // SIDE]) for piece in on_board}


def draw_board(code, state):
    """Rows of cells, each half a cell further right than the one above; ^ marks a stack, with its height from 3 on."""
    labels = {}
    places = coordinates(state)
    for q, r in list(places.values()) or [(0, 0)]:
        for dq, dr in (*STEPS, (0, 0)):
            labels.setdefault((q + dq, r + dr), "  .")
    for piece, place in places.items():
        if is_top(state, piece):
            tall = int(height(state, state.cell[piece]))
            labels[place] = " " + NAMES[code][piece] + "^" * (tall > 1) + str(tall) * (tall > 2)
    left = min(2 * q + r for q, r in labels)
    lines = []
    for row in range(min(r for _, r in labels), max(r for _, r in labels) + 1):
        line = ""
        for q in sorted(q for q, r in labels if r == row):
            line = line.ljust(3 * (2 * q + row - left)) + labels[q, row]
        lines.append(line.rstrip())
    return lines


def stacks_in_words(code, state):
    """The stacks as texts, such as "bB1 on wQ"."""
    found = []
    for piece in range(2 * int(SLOTS[code])):
        if is_top(state, piece) and state.level[piece] > 0:
            stack = [piece]
            while state.under[stack[-1]] != NOBODY:
                stack.append(int(state.under[stack[-1]]))
            found.append(" on ".join(NAMES[code][each] for each in stack))
    return found


def hand_in_words(code, state, player):
    """The pieces in a player's hand, such as "S1 S2 B2"."""
    pieces = range(player, 2 * int(SLOTS[code]), 2)
    return " ".join(NAMES[code][piece][1:] for piece in pieces if state.cell[piece] == NOWHERE)


def describe_pieces(code, state):
    """All pieces on the board for a browser; lower pieces of a stack come first."""
    pieces = [
        {
            "piece": NAMES[code][piece],
            "colour": COLOURS[piece & 1],
            "bug": BUG_NAMES[BUG[code, piece]],
            "q": q,
            "r": r,
            "level": int(state.level[piece]),
        }
        for piece, (q, r) in coordinates(state).items()
    ]
    return sorted(pieces, key=lambda each: each["level"])
