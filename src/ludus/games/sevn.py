"""Sevn: take corner tiles of one colour; own a whole colour, or most of the tiles of most colours. Any odd base.

On a board of b x b tiles, b of each of b colours, a move takes one or more tiles of one colour, each of them a corner
on the board before the move: free above or below, and free on its left or right. A player who owns all b tiles of a
colour wins at once. When the board is empty, the player who leads in more colours wins. As b is odd, there is no draw.

A position is written as in `2/-dcc-ba/5.1dbbc.deeaa.eecb1.1ce2`: the player to move; the lead in each colour (a = 0,
b = 1, ...; with a minus sign if player 2 leads); the rows from the top, where numbers count empty cells. The taken
tiles and the lead give the number of tiles that each player has, so the text holds the whole position. A move is
written as `c:a7+g1`, its colour and its cells; a1 is at the bottom left.

A game is written as its first position and its moves, with blanks between them: see `write_record` and `read_record`.
"""

import math
import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ludus.board import Board, Piece, Table, grid
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, GraphShape, GroupShape, Position, TouchShape, require
from ludus.games._bits import count_bits, lowest, put
from ludus.games._sevn_board import BASES, MOST_BASE, before, colours_led, corners, is_corner, is_held
from ludus.games._sevn_graph import RELATIONS
from ludus.games._sevn_graph import graph as graph
from ludus.games._sevn_groups import PLANES
from ludus.games._sevn_groups import groups as groups
from ludus.games._sevn_groups import touches as touches
from ludus.games._sevn_symmetry import symmetry as symmetry
from ludus.grids import arranged, draw_grid, letters, read_grid, write_grid
from ludus.rng import below

# Bases 3, 5 and 7 share their machine code, and so do 9 and 11, whose boards take two words (see _sevn_board.py).
#
# An action is (colour << base) + subset, where bit k of the subset stands for tile k among the tiles of the colour on
# the board, in reading order. So ids depend on the position alone; there are base << base of them.
#
# Tiles are taken from the ends of rows and columns only. So the rest of a row or column has no gaps, and a corner is an
# end of its row and of its column. Hence a row has at most two corners and the board at most 2 * base. As there are at
# most `base` tiles of a colour, the most moves come from two colours all of whose tiles are corners:
# 2 * (2**base - 1). Some positions have this number, such as 1/aaa/ab1.bca.1ab. Texts with gaps are refused.

NAMES = "abcdefghijkl"
"""Letters for colours, and for leads from 0 to the base."""

PAINTS = (
    *("#e4572e", "#f3a712", "#5aaa46", "#2e86ab", "#8e5ea2", "#e58fb1", "#3b3f46"),
    *("#a9746e", "#6fc3c9", "#c9c04f", "#d9d4c7"),
)
"""Default paints of the colours in drawings."""

SYMBOLS = ("star", "circle", "triangle", "diamond", "moon", "heart", "plus", "square", "wedge", "sun", "cross")
"""The symbol of each colour in drawings."""


def odds(lead, tiles):
    """The probability that `lead` ends above 0 if each of `tiles` tiles goes to either player with probability 1/2."""
    ways = [1]
    for _ in range(tiles):
        ways = [a + b for a, b in zip([0, *ways], [*ways, 0], strict=True)]
    return sum(way for heads, way in enumerate(ways) if lead + 2 * heads - tiles > 0) / 2**tiles


ODDS = np.array(
    [[odds(lead, tiles) for tiles in range(MOST_BASE + 1)] for lead in range(-MOST_BASE, MOST_BASE + 1)], np.float64
)
"""[lead + MOST_BASE, tiles]: the values of `odds`."""


LEAN = True
"""No function of the rules allocates an array, so ludus.native need not compile them twice to find out."""


class Sevn(NamedTuple):
    base: int = 7


def state_dtype(colours, words):
    return np.dtype(
        [
            ("tiles", np.uint64, (colours, words)),
            ("board", np.uint64, (words,)),  # the tiles of all colours
            ("lead", np.int8, (colours,)),  # tiles that player 0 has taken, minus those that player 1 has taken
            ("turn", np.int8),
            ("winner", np.int8),
        ]
    )


def reset(rules, state, random):
    state.tiles[:] = np.uint64(0)
    state.board[:] = np.uint64(0)
    state.lead[:] = 0
    for colour in range(rules.base):
        state.lead[colour] = rules.base  # used here for the number of tiles still to be placed
    cells = rules.base * rules.base
    for cell in range(cells):
        drawn = below(random, cells - cell)
        colour = 0
        while drawn >= state.lead[colour]:
            drawn -= state.lead[colour]
            colour += 1
        state.lead[colour] -= 1
        put(state.tiles[colour], cell)
        put(state.board, cell)
    state.turn = 0
    state.winner = -1


def to_move(rules, state):
    return state.turn


def legal(rules, state, player, actions):
    # Outside the loop, as the compiler cannot know that writing into `actions` does not change the board.
    low = corners(rules, state.board, 0)
    high = corners(rules, state.board, 1) if state.board.size > 1 else np.uint64(0)
    count = 0
    for colour in range(rules.base):
        free = 0  # the corners of this colour, by their numbers among its tiles
        for word in range(state.board.size):
            tiles = state.tiles[colour, word]
            takeable = tiles & (high if word > 0 else low)
            while takeable:
                rest = takeable & (takeable - np.uint64(1))
                number = count_bits(tiles & ((takeable ^ rest) - np.uint64(1)))
                if word > 0:
                    number += count_bits(state.tiles[colour, 0])
                free |= 1 << number
                takeable = rest
        subset = -free & free
        while subset:  # all subsets of `free` except the empty one
            actions[count] = (colour << rules.base) + subset
            count += 1
            subset = (subset - free) & free
    return count


def play(rules, state, action):
    colour = action >> rules.base
    subset = np.uint64(action & ((1 << rules.base) - 1))
    taken = count_bits(subset)
    left = np.uint64(0)
    for word in range(state.board.size):
        tiles = state.tiles[colour, word]
        removed = np.uint64(0)
        while tiles and subset:
            rest = tiles & (tiles - np.uint64(1))
            removed |= (tiles ^ rest) * (subset & np.uint64(1))
            subset >>= np.uint64(1)
            tiles = rest
        state.tiles[colour, word] ^= removed
        state.board[word] ^= removed
        left |= state.board[word]
    state.lead[colour] += taken if state.turn == 0 else -taken
    if abs(state.lead[colour]) == rules.base:
        state.winner = state.turn
    elif left == 0:
        state.winner = 0 if colours_led(rules, state) > 0 else 1
    state.turn = 1 - state.turn


def outcome(rules, state, values):
    if state.winner < 0:
        return False
    values[state.winner] = 1.0
    values[1 - state.winner] = -1.0
    return True


def observe(rules, state, player, planes):
    """Planes: the tiles of each colour; for each colour, the player's lead from -1 to 1 in all cells; the corners; all
    ones if it is the player's turn. Row 0 is on top."""
    base, tiles, board = rules.base, state.tiles, state.board
    for colour in range(base):
        for word in range(board.size):
            mark(base, tiles[colour, word], word, planes[colour])
        lead = state.lead[colour] / base
        planes[base + colour, :, :] = lead if player == 0 else -lead
    for word in range(board.size):
        mark(base, corners(rules, board, word), word, planes[2 * base])
    planes[2 * base + 1, :, :] = 1.0 if state.turn == player else 0.0


def mark(base, bits, word, plane):
    """Write ones where the bits of a word are."""
    while bits:
        cell = 64 * word + lowest(bits)
        plane[cell // base, cell % base] = 1.0
        bits &= bits - np.uint64(1)


def worth(rules, lead, tiles):
    """The worth of a colour to player 0, in units of one colour, with `tiles` of its tiles on the board.

    It is the odds of leading, plus the probability of owning the whole colour, which wins, times about the colours
    needed to win.
    """
    value = 2.0 * ODDS[MOST_BASE + lead, tiles] - 1.0
    if tiles < rules.base:
        whole = 0.5 * rules.base / (1 << tiles)
        if lead == rules.base - tiles:
            value += whole
        elif -lead == rules.base - tiles:
            value -= whole
    return value


def heuristic(rules, state, player):
    """The total worth of all colours, after the mover has taken the corners of the colour where that gains most."""
    sign = 1 if state.turn == 0 else -1
    total, spread, gain = 0.0, 0.5, 0.0
    for colour in range(rules.base):
        tiles, free = 0, 0
        for word in range(state.board.size):
            tiles += count_bits(state.tiles[colour, word])
            free += count_bits(state.tiles[colour, word] & corners(rules, state.board, word))
        lead = state.lead[colour]
        if free > 0 and sign * lead + free == rules.base:  # the mover wins
            return 1.0 if state.turn == player else -1.0
        now = worth(rules, lead, tiles)
        gain = max(gain, sign * (worth(rules, lead + sign * free, tiles - free) - now))
        total += now
        probability = ODDS[MOST_BASE + lead, tiles]
        spread += 4.0 * probability * (1.0 - probability)
    total += sign * gain
    value = total / np.sqrt(total * total + spread)
    return value if player == 0 else -value


def fingerprint(rules, state):
    key = np.uint64(state.turn + 1)
    for colour in range(rules.base):
        for word in range(state.board.size):
            key = (key ^ state.tiles[colour, word]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
        key += np.uint64(state.lead[colour] + MOST_BASE)
    key *= np.uint64(0xBF58476D1CE4E5B9)
    return key ^ (key >> np.uint64(29))


class SevnGame(Game):
    Rules = Sevn
    name = "sevn"
    title = "Sevn"

    def setup(self):
        base = self.rules.base
        require(base in BASES, f"sevn: base must be an odd number from 3 to {MOST_BASE}, not {base}")
        self.state = state_dtype(7, 1) if base <= 7 else state_dtype(MOST_BASE, 2)
        self.actions = base << base
        self.most_legal = 2 * ((1 << base) - 1)
        self.longest = base * base
        self.observation = (2 * base + 2, base, base)
        self.observation_bounds = (-1.0, 1.0)
        self.groups = GroupShape(PLANES, base, base, (base,))
        self.touches = TouchShape(kinds=1, roles=1, cells=base)
        self.symmetries = 8 * math.factorial(base)
        hidden, diagonal = 2 * 4 * base * (base - 2), 4 * (base - 1) ** 2
        takeable, alike = 2 * base * (2 * base - 1), base * base * (base - 1)
        taken = 2 * base << base  # edges in both directions, in the moves of two whole colours
        self.graph = GraphShape(
            nodes=base * base + self.most_legal,
            edges=hidden + diagonal + takeable + alike + taken,
            features=3,
            relations=RELATIONS,
        )

    def cells(self, state):
        """0 empty, 1 for colour a, 2 for b, ...; row 0 on top."""
        base = self.rules.base
        cells = [0] * (base * base)
        for colour, words in enumerate(state.tiles[:base].tolist()):
            tiles = sum(word << 64 * index for index, word in enumerate(words))
            for cell in range(base * base):
                if tiles >> cell & 1:
                    cells[cell] = colour + 1
        return np.array(cells, np.int8).reshape(base, base)

    def taken(self, state):
        """The number of tiles of each colour that each player has: [[player 0's, ...], [player 1's, ...]]."""
        cells = self.cells(state).ravel().tolist()
        gone = [self.rules.base - cells.count(colour + 1) for colour in range(self.rules.base)]
        leads = state.lead[: self.rules.base].tolist()
        pairs = list(zip(gone, leads, strict=True))
        return [[(tiles + lead) // 2 for tiles, lead in pairs], [(tiles - lead) // 2 for tiles, lead in pairs]]

    def write(self, state):
        return write_text(int(state.turn) + 1, state.lead[: self.rules.base].tolist(), self.cells(state))

    def read(self, text, state):
        base = self.rules.base
        begin = len(text) - len(text.lstrip())
        parts = text.strip().split("/")
        if len(parts) != 3:
            raise BadPosition(f"a position is player/score/board, as in 1/aaa/aab.cba.cbc, not {text!r}")
        player, score, grid = parts
        if player not in ("1", "2"):
            raise BadPosition(f"first comes 1 or 2, the player to move, not {player!r}", begin)
        rows = grid.count(".") + 1
        if rows != base and rows in BASES:
            raise BadPosition(f"this board has {rows} rows; it is one of base={rows}, and the game's base is {base}")
        leads, places = self.read_score(score, begin + len(player) + 1)
        begin_grid = begin + len(player) + len(score) + 2
        cells = read_grid(grid, base, base, "." + NAMES[:base], begin_grid, ".")
        self.check_board(cells, leads, places, [begin_grid + found.start() for found in re.finditer("[a-z]", grid)])
        for cell, colour in enumerate(cells.ravel().tolist()):
            if colour:
                put(state.tiles[colour - 1], cell)
                put(state.board, cell)
        state.lead[:base] = leads
        state.turn, state.winner = int(player) - 1, -1
        whole = [colour for colour in range(base) if abs(leads[colour]) == base]
        if len(whole) > 1:
            raise BadPosition("two whole colours are owned, and the game ends with the first", places[whole[1]])
        if whole:
            state.winner = 0 if leads[whole[0]] > 0 else 1
            if state.winner == state.turn:
                raise BadPosition(
                    f"player {player} owns a whole colour, so it is not the turn of player {player}", begin
                )
        elif not cells.any():
            state.winner = 0 if colours_led(self.rules, state) > 0 else 1

    def read_score(self, score, begin):
        """The leads, and the place of each in the text."""
        base = self.rules.base
        found = list(re.finditer("-?[a-z]|.", score))
        for match in found:
            if match[0][-1] not in NAMES[: base + 1] or match[0] == "-a":
                shown = f"a lead from a (0) to {NAMES[base]} ({base}), with a minus sign where it is player 2's"
                raise BadPosition(f"{match[0]!r} is not {shown}", begin + match.start())
        if len(found) != base:
            raise BadPosition(f"the score has {len(found)} colours instead of {base}", begin)
        leads = [NAMES.index(match[0][-1]) * (-1 if match[0][0] == "-" else 1) for match in found]
        return leads, [begin + match.start() for match in found]

    def check_board(self, cells, leads, places, tiles):
        """Refuse a position that no game leads to; `places` and `tiles` are places of leads and tiles in the text."""
        base = self.rules.base
        order = np.cumsum(cells.ravel() > 0).reshape(base, base) - 1  # the index of a tile among the tiles
        for colour, lead in enumerate(leads):
            mine = order[cells == colour + 1].tolist()
            if len(mine) > base:
                raise BadPosition(f"there are more than {base} tiles of colour {NAMES[colour]}", tiles[mine[base]])
            gone = base - len(mine)
            if abs(lead) > gone or (lead - gone) % 2:
                taken = f"{gone} tile{'s' * (gone != 1)} of colour {NAMES[colour]} taken"
                raise BadPosition(f"with {taken}, nobody can lead by {abs(lead)}", places[colour])
        for line, numbers, name in (
            *((cells[row], order[row], f"row {base - row}") for row in range(base)),
            *((cells[:, column], order[:, column], f"column {NAMES[column]}") for column in range(base)),
        ):
            full = np.flatnonzero(line)
            gaps = np.flatnonzero(np.diff(full) > 1)
            if gaps.size:
                place = tiles[numbers[full[gaps[0] + 1]]]
                raise BadPosition(f"{name} has a gap between its tiles, and only corners can be taken", place)

    def cell_name(self, cell):
        return f"{NAMES[cell % self.rules.base]}{self.rules.base - cell // self.rules.base}"

    def cells_of(self, state, action):
        """The cells of the tiles that an action takes, in reading order."""
        base = self.rules.base
        words = state.tiles[action >> base].tolist()
        tiles = [cell for cell in range(base * base) if words[cell >> 6] >> (cell & 63) & 1]
        return [cell for number, cell in enumerate(tiles) if action >> number & 1]

    def write_move(self, state, player, action):
        cells = "+".join(self.cell_name(cell) for cell in self.cells_of(state, action))
        return f"{NAMES[action >> self.rules.base]}:{cells}"

    def read_move(self, state, player, text):
        """Read a move such as c:a7+g1, with the cells in any order; c: and + may be left out."""
        base = self.rules.base
        found = re.fullmatch(r"(?:([a-z]):)?((?:[+,]?[a-z][0-9]{1,2})+)", text.strip().lower())
        if not found:
            raise IllegalMove(f"{text!r} is not a move; moves are written as c:a{base}+{NAMES[base - 1]}1")
        board = self.cells(state).ravel()
        subset, colours = 0, {}
        for name in re.findall("[a-z][0-9]+", found[2]):
            column, row = NAMES[:base].find(name[0]), base - int(name[1:])
            if column < 0 or not 0 <= row < base:
                raise IllegalMove(f"there is no cell {name}; cells are a1 to {NAMES[base - 1]}{base}")
            cell = row * base + column
            if not board[cell]:
                raise IllegalMove(f"there is no tile on {name}")
            colour = int(board[cell]) - 1
            colours.setdefault(colour, name)
            in_row, in_column = is_held(self.rules, state.board, cell)
            if in_row or in_column:
                sides = "on its left and right" if in_row else "above and below it"
                raise IllegalMove(f"{name} is not a corner: there are tiles {sides}")
            bit = 1 << before(state.tiles[colour], cell)
            if len(colours) == 1 and subset & bit:
                raise IllegalMove(f"{name} is named twice")
            subset |= bit
        if len(colours) > 1:
            (one, first), (other, second) = list(colours.items())[:2]
            raise IllegalMove(
                f"{first} is of colour {NAMES[one]} and {second} of colour {NAMES[other]}; take one colour"
            )
        if found[1] and NAMES.find(found[1]) != colour:
            raise IllegalMove(f"{name} is of colour {NAMES[colour]}, not {found[1]}")
        return (colour << base) + subset

    def draw(self, state):
        """The board, with corners as capital letters, and below it the tiles that each player has of each colour."""
        base = self.rules.base
        free = [is_corner(self.rules, state.board, cell) for cell in range(base * base)]
        cells = self.cells(state) + base * np.array(free).reshape(base, base)
        rows = [str(row) for row in range(base, 0, -1)]
        board = draw_grid(cells, "." + NAMES[:base] + NAMES[:base].upper(), rows, letters(base))
        wide = 1 if base < 10 else 2
        table = [f"taken    {' '.join(f'{name:>{wide}}' for name in NAMES[:base])}"]
        for player, numbers in enumerate(self.taken(state)):
            shown = " ".join(f"{number or '.':>{wide}}" for number in numbers)
            table.append(f"player {player + 1} {shown}")
        ending = f"player {state.turn + 1} to move" if state.winner < 0 else f"player {state.winner + 1} has won"
        return "\n".join([board, "", *table, ending])

    def drawing(self, position):
        base, state = self.rules.base, position.state
        cells, marks = grid([str(row) for row in range(base, 0, -1)], letters(base))
        tiles = [
            Piece("", shape="tile", symbol=symbol, paint=paint, name=f"{NAMES[colour]} ({symbol})", most=base)
            for colour, (symbol, paint) in enumerate(zip(SYMBOLS[:base], PAINTS, strict=False))
        ]
        colours = zip(cells, self.cells(state).ravel().tolist(), strict=True)
        pieces = [replace(tiles[colour - 1], cell=cell.id, most=0) for cell, colour in colours if colour]
        alike = [[piece.cell for piece in pieces if piece.symbol == tile.symbol] for tile in tiles]
        touches = {
            action: [name for number, name in enumerate(alike[action >> base]) if action >> number & 1]
            for action in position.actions_of(int(state.turn))
        }
        score = [(self.player_name(player), numbers) for player, numbers in enumerate(self.taken(state))]
        table = Table("Tiles taken", tiles, score, holds=True)
        return Board(cells, pieces, touches, any_order=True, marks=marks, table=table, stock=tiles)

    def arrange(self, placed, player):
        base = self.rules.base
        ids = [self.cell_name(cell) for cell in range(base * base)]
        first, second = (list(placed.get(self.player_name(each), ())) for each in range(2))
        on_board = {id: colour for id, colour in placed.items() if id not in map(self.player_name, range(2))}
        cells = arranged(on_board, ids, base, base)
        for colour, name in enumerate(NAMES[:base]):
            counts = list(on_board.values()).count(colour), first.count(colour), second.count(colour)
            if sum(counts) != base:
                places = "{} on the board, {} with player 1 and {} with player 2".format(*counts)
                raise BadPosition(f"colour {name} has {base} tiles, not {sum(counts)}: {places}")
        leads = [first.count(colour) - second.count(colour) for colour in range(base)]
        return write_text(player + 1, leads, cells)

    def attempt(self, position, player, touched):
        return "+".join(touched)

    def describe(self, state):
        """The cells, row 0 on top; the names of the corners; the tiles taken, by player and colour."""
        base = self.rules.base
        free = [cell for cell in range(base * base) if is_corner(self.rules, state.board, cell)]
        return {
            "base": base,
            "colours": [{"name": name, "paint": paint} for name, paint in zip(NAMES[:base], PAINTS, strict=False)],
            "cells": [[NAMES[cell - 1] if cell else None for cell in row] for row in self.cells(state).tolist()],
            "takeable": [self.cell_name(cell) for cell in free],
            "taken": self.taken(state),
        }


def write_text(player, leads, cells):
    """The text of a position: the player to move, 1 or 2, the leads, and the cells [base, base], 0 without a tile."""
    score = "".join(f"{'-' if lead < 0 else ''}{NAMES[abs(lead)]}" for lead in leads)
    return f"{player}/{score}/{write_grid(cells, '.' + NAMES, '.')}"


def write_record(position: Position) -> str:
    """The game up to a position: the first position and the moves, as in `1/aaa/aab.cba.cbc a:a3 c:a1+c1`."""
    return " ".join([position.history[0].text, *position.played])


def read_record(text: str) -> Position:
    """The position at the end of a record, with its history. The first position determines the base."""
    first, *moves = text.split() or [""]
    rows = first.count(".") + 1
    if rows not in BASES:
        raise BadPosition(f"a record begins with a position such as 1/aaa/aab.cba.cbc, not with {first!r}")
    position = SevnGame(base=rows).parse(first)
    for number, move in enumerate(moves, 1):
        try:
            position = position.play(move)
        except IllegalMove as error:
            raise IllegalMove(f"move {number} of the record: {error}") from None
    return position
