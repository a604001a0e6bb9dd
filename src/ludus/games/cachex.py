"""Cachex: Hex with captures. Connect your two sides, take stones in diamonds; Blue may steal Red's first stone."""

import re
from typing import NamedTuple

import numpy as np

from ludus.board import Board, Cell, Line, Mark, Piece, hexagon_at
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, convert_options, require
from ludus.games._bits import count_bits, has, lowest, put, take
from ludus.games._cachex_views import (  # noqa: F401, three of them are functions of the rules
    IDS,
    cell_of,
    heuristic,
    last_cell,
    mirrors,
    observe,
    still_needed,
    symmetry,
)
from ludus.games._rhombus import (
    BOARD,
    SMALL,
    STEPS_Q,
    STEPS_R,
    around,
    at,
    cells,
    chain,
    meet,
    same,
    side,
    turn_left,
    turn_right,
    words_of,
)
from ludus.grids import arranged, read_grid, write_grid

# A board can recur only after captures, and its 7th occurrence ends the game. The state keeps all moves, which are
# replayed only if a 7th occurrence is possible. To know that, it also counts moves onto cells where the player has lost
# a stone, because only such a move can repeat a board. `seen` holds these counts by a class from 0 to 63 that equal
# boards share. A board that occurs for the 7th time was counted 6 times.

LEAN = True
"""No function of the rules allocates an array, so ludus.native need not compile them twice to find out."""

TURNS = 343
REPEATS = 7

RUNNING, DRAWN = -1, 2
"""Values of `result` other than the winner."""


# By n and word: the set of the centre cell; empty if n is even.
CENTRE = np.array([words_of(n, [(n // 2, n // 2)] if n % 2 else []) for n in range(16)], np.uint64)


class Cachex(NamedTuple):
    n: int = 8
    steal: bool = True
    turns: int = TURNS
    turned: bool = True
    """True if Blue's actions and planes are mirrored, so that both players connect r = 0 with r = n - 1."""


def state_dtype(words):
    return np.dtype(
        [
            ("stones", np.uint64, (2, words)),
            ("origin", np.uint64, (2, words)),  # the board that the moves begin from
            ("lost", np.uint64, (2, words)),  # cells where a player has had a stone captured
            ("ply", np.int16),  # turns taken, in the whole game
            ("begun", np.int16),  # turns taken before `origin`
            ("result", np.int8),
            ("most", np.uint8),  # the highest number in `seen`
            ("seen", np.uint8, (64,)),
            ("moves", np.uint8, (TURNS,)),
        ]
    )


def reset(rules, state, random):
    state.origin[:] = np.uint64(0)
    state.begun = 0
    rewind(state)


def rewind(state):
    """Reset the fields to the board that the moves begin from, with no moves."""
    set_up(state)
    state.lost[:] = np.uint64(0)
    state.ply = state.begun
    state.result = RUNNING
    state.most = 0
    state.seen[:] = 0
    state.moves[:] = 0


def set_up(state):
    """Copy the board that the moves begin from to the stones."""
    for player in range(2):
        for word in range(state.stones.shape[1]):
            state.stones[player, word] = state.origin[player, word]


def to_move(rules, state):
    return state.ply & 1


def legal(rules, state, player, actions):
    count = list_free(rules.n, state.stones, mirrors(rules, player), state.ply == 0, actions)
    if state.ply == 1 and rules.steal:
        actions[count] = rules.n * rules.n
        count += 1
    return count


def list_free(n, stones, mirrored, first, actions):
    count = np.uint64(0)  # unsigned, because compiled code checks a signed index for being negative
    for word in range(stones.shape[1]):
        free = BOARD[n, word] & ~(stones[0, word] | stones[1, word])
        if first:
            free &= ~CENTRE[n, word]
        while free:
            actions[count] = IDS[n, mirrored, 64 * word + lowest(free)]
            count += np.uint64(1)
            free &= free - np.uint64(1)
    return np.int64(count)


def play(rules, state, action):
    take_turn(rules, state, np.int64(action))  # one integer type, so that the functions below are compiled only once


def take_turn(rules, state, action):
    ply, stones, lost = state.ply, state.stones, state.lost
    me = ply & 1
    state.moves[ply - state.begun] = action
    state.ply = ply + 1
    own = make_move(rules, stones, lost, me, action)
    if own >= 0:
        r, q = cell_of(rules, me, action)
        if joins(rules, own, me, r, q) and connects(rules, stones[me], me, r, q):
            state.result = me
        elif has(lost[me], at(lost[me], r, q)) and stands_again(rules, state):
            state.result = DRAWN
    if ply + 1 == rules.turns and state.result == RUNNING:
        state.result = DRAWN


def make_move(rules, stones, lost, me, action):
    """Change the board; returns the own neighbours of the stone placed, as bits 0 to 5, or -1 after a steal."""
    if action == rules.n * rules.n:
        steal_stone(rules, stones)
        return -1
    r, q = cell_of(rules, me, action)
    return place(rules, stones, lost, me, r, q)


def outcome(rules, state, values):
    if state.result == RUNNING:
        return False
    values[:] = 0.0
    if state.result != DRAWN:
        values[state.result] = 1.0
        values[1 - state.result] = -1.0
    return True


def steal_stone(rules, stones):
    """Red's only stone becomes a blue one on the mirrored cell."""
    red, blue = stones[0], stones[1]
    for r in range(rules.n):
        for q in range(rules.n):
            if has(red, at(red, r, q)):
                take(red, at(red, r, q))
                put(blue, at(blue, q, r))
                return


def place(rules, stones, lost, me, r, q):
    """Put a stone down and remove what it captures; returns its own neighbours, as bits 0 to 5."""
    mine, theirs = stones[me], stones[1 - me]
    put(mine, at(mine, r, q))
    own, tips = around(mine, rules.n, r, q)
    enemy, _ = around(theirs, rules.n, r, q)
    before, after = turn_left(enemy), turn_right(enemy)
    # Bit i of `pairs`: the neighbours i and i + 1 are the enemy's, the tip between them is own.
    # Bit i of `middles`: the neighbour i is own, the neighbours on both sides of it are the enemy's.
    pairs = enemy & after & tips
    middles = own & before & after
    taken = pairs | turn_left(pairs) | turn_left(middles) | turn_right(middles)
    if taken:
        for i in range(6):
            if taken >> i & 1:
                cell = at(theirs, r + STEPS_R[i], q + STEPS_Q[i])
                take(theirs, cell)
                put(lost[1 - me], cell)
    return own


def joins(rules, own, me, r, q):
    """False if a stone with these own neighbours cannot have completed a connection; saves searching the board."""
    if own == 0:
        return False
    along = r if me == 0 else q
    begins = own & ~turn_left(own)  # first bits of the runs of neighbours; each run is one chain already
    return begins & (begins - 1) != 0 or along == 0 or along == rules.n - 1


def connects(rules, stones, me, r, q):
    """True if the chain of the stone on a cell reaches both sides of its player."""
    reached = chain(stones, r, q)
    return meet(reached, side(rules.n, me, 0)) and meet(reached, side(rules.n, me, 1))


# --- Repetition -------------------------------------------------------------------------------------------------------


def stands_again(rules, state):
    """Count a board that may have occurred before; True if this occurrence ends the game."""
    place, seen = class_of(state.stones), state.seen
    if seen[place] < 255:
        seen[place] += 1
    if seen[place] > state.most:
        state.most = seen[place]
    return seen[place] >= REPEATS - 1 and occurrences(rules, state) >= REPEATS


def class_of(stones):
    """A class from 0 to 63, the same for a board and its half turn, computed from stones and neighbours in rows."""
    number = 0
    for word in range(stones.shape[1]):
        red, blue = stones[0, word], stones[1, word]
        number += count_bits(red) + 5 * count_bits(blue)
        number += 11 * count_bits(red & red >> np.uint64(1)) + 23 * count_bits(blue & blue >> np.uint64(1))
    return number & 63


def occurrences(rules, state):
    """The number of occurrences of the current board, including this one; replays all moves."""
    stones, plies = state.stones, state.ply - state.begun
    red, blue = cells(stones[0]), cells(stones[1])
    set_up(state)
    count = 1 if same(cells(stones[0]), red) and same(cells(stones[1]), blue) else 0
    for i in range(plies):
        make_move(rules, stones, state.lost, (state.begun + i) & 1, np.int64(state.moves[i]))
        if same(cells(stones[0]), red) and same(cells(stones[1]), blue):
            count += 1
    return count


def mix(h, word):
    h = (h ^ word) * np.uint64(0x9E3779B97F4A7C15)
    return h ^ (h >> np.uint64(32))


def hash_of(boards, h):
    for player in range(2):
        for word in range(boards.shape[1]):
            h = mix(h, boards[player, word])
    return h


def fingerprint(rules, state):
    """A hash of the board and the turn; and of the moves, once a board may have occurred 5 times.

    Before that, repetition cannot change the value of a position. A player who can force a win can do so without moving
    twice on the same board, so that no board occurs more than twice from here on. A player who can avoid a loss still
    can, as repetition only causes draws.
    """
    h = mix(hash_of(state.stones, np.uint64(2)), np.uint64(state.ply))
    if state.most >= REPEATS - 3:
        h = hash_of(state.origin, h)
        for i in range(state.ply - state.begun):
            h = mix(h, np.uint64(state.moves[i]))
    return h


class CachexGame(Game):
    Rules = Cachex
    name = "cachex"
    title = "Cachex"

    @classmethod
    def options(cls):
        return {"n": 8, "steal": True, "turns": TURNS, "view": "own"}

    def make_rules(self, **options):
        given = convert_options(self.name, self.options(), options)
        view = given.pop("view")
        require(view in ("own", "planes4"), f"cachex: view must be own or planes4, not {view!r}")
        return Cachex(**given, turned=view == "own")

    def options_in_use(self):
        n, steal, turns, turned = self.rules
        return {"n": n, "steal": steal, "turns": turns, "view": "own" if turned else "planes4"}

    def setup(self):
        n, _, turns, turned = self.rules
        require(3 <= n <= 15, f"cachex: n, the cells along a side, must be from 3 to 15, not {n}")
        require(1 <= turns <= TURNS, f"cachex: turns, after which it is a draw, must be from 1 to {TURNS}, not {turns}")
        self.state = state_dtype(1 if n <= SMALL else 4)
        self.actions = n * n + 1
        self.most_legal = n * n
        self.longest = turns
        self.observation = (6 if turned else 4, n, n)
        self.observation_bounds = (0.0, 1.0)
        self.places = np.array([[*((0, cell // n, cell % n) for cell in range(n * n)), (1, -1, -1)]], np.int32)
        self.symmetries = 2

    # --- text -----------------------------------------------------------------------------------------------------

    def grid(self, stones):
        """int8 [n, n], by r and q: 0 empty, 1 red, 2 blue."""
        n = self.rules.n
        grid = np.zeros((n, n), np.int8)
        for player in range(2):
            for r in range(n):
                for q in range(n):
                    if has(stones[player], at(stones[player], r, q)):
                        grid[r, q] = player + 1
        return grid

    def write(self, state):
        words = ["start"]
        if state.origin.any():
            words = [write_grid(self.grid(state.origin)[::-1], ".rb"), "rb"[state.begun & 1], str(state.begun)]
        for i in range(state.ply - state.begun):
            words.append(self.write_move(state, (state.begun + i) & 1, int(state.moves[i])))
        return " ".join(words)

    def read(self, text, state):
        """Read `start` and moves; or a board, the player to move, optionally the turns taken, and moves."""
        reset(self.rules, state, None)
        words = [(found.group(), found.start()) for found in re.finditer(r"\([^()]*\)|[^\s()]+|[()]", text)]
        if not words:
            raise BadPosition("there is no text; a position is 'start', or a board, and moves such as 3,4")
        if words[0][0] == "start":
            del words[0]
        elif "/" in words[0][0]:
            self.read_board(words, state)
        with np.errstate(over="ignore"):
            for word, place in words:
                if state.result != RUNNING:
                    raise BadPosition(f"the game is over before {word}", place)
                try:
                    action = self.read_move(state, state.ply & 1, word)
                except IllegalMove as error:
                    raise BadPosition(str(error), place) from None
                play(self.rules, state, action)

    def read_board(self, words, state):
        """Take the words of a board off the list, and begin from there."""
        (board, begin), *rest = words
        grid = read_grid(board, self.rules.n, self.rules.n, ".rb", begin)[::-1]
        if not rest or rest[0][0] not in ("r", "b"):
            place = rest[0][1] if rest else begin + len(board)
            raise BadPosition("after the board comes r or b, whose turn it is", place)
        mover, place = "rb".index(rest[0][0]), rest[0][1]
        red, blue = int((grid == 1).sum()), int((grid == 2).sum())
        least = max(2 * red - 1, 2 * blue, 0)
        least += (least + mover) % 2
        turns = least
        del words[:2]
        if words and words[0][0].isascii() and words[0][0].isdigit():
            (number, place), turns = words[0], int(words[0][0][-9:])
            del words[0]
            if turns % 2 != mover:
                raise BadPosition(f"after {number} turns it is not the turn of {self.player_name(mover)}", place)
            if turns < least:
                raise BadPosition(f"{red} red and {blue} blue stones take {least} turns at least", place)
        if turns >= self.rules.turns:
            raise BadPosition(f"the game ends after {self.rules.turns} turns, so it would be over", place)
        if turns and not (red, blue)[1 - mover]:
            raise BadPosition(f"{self.player_name(1 - mover)} has just moved, but has no stone", begin)
        for r, q in np.argwhere(grid).tolist():
            stones = state.origin[grid[r, q] - 1]
            put(stones, at(stones, r, q))
        state.begun = turns
        rewind(state)
        for player in range(2):
            if still_needed(self.rules, state, player) == 0:
                raise BadPosition(f"{self.player_name(player)} has connected: the game is over", begin)

    # --- moves ----------------------------------------------------------------------------------------------------

    def write_move(self, state, player, action):
        if action == self.rules.n * self.rules.n:
            return "steal"
        r, q = cell_of(self.rules, player, action)
        return f"{r},{q}"

    def read_move(self, state, player, text):
        """Read a move such as 3,4 or (3, 4), the row r and then q; or steal."""
        n = self.rules.n
        move = text.strip().lower()
        if move == "steal":
            if not self.rules.steal:
                raise IllegalMove("this game is played without stealing")
            if state.ply != 1:
                raise IllegalMove("only blue may steal, and only with its first move")
            return n * n
        found = re.fullmatch(r"\(\s*([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*\)|([0-9]{1,3})\s*[,\s]\s*([0-9]{1,3})", move)
        if not found:
            raise IllegalMove(f"{text!r} is not a move; moves are r,q such as 3,4 for row 3, or steal")
        r, q = (int(found[1] or found[3]), int(found[2] or found[4]))
        if r >= n or q >= n:
            raise IllegalMove(f"there is no cell {r},{q}; r and q are from 0 to {n - 1}")
        for owner in range(2):
            if has(state.stones[owner], at(state.stones[owner], r, q)):
                raise IllegalMove(f"{r},{q} is taken by a stone of {self.player_name(owner)}")
        if state.ply == 0 and 2 * r == 2 * q == n - 1:
            raise IllegalMove("the first stone may not be placed in the centre")
        return int(IDS[n, mirrors(self.rules, player), at(state.stones[0], r, q)])

    def player_name(self, player):
        return ("red", "blue")[player]

    # --- pictures -------------------------------------------------------------------------------------------------

    def captured(self, state):
        """The cells [[r, q], ...] that the last move has emptied."""
        if state.ply == state.begun or state.moves[state.ply - state.begun - 1] == self.rules.n**2:
            return []
        before = self.new_states(1)
        before[0] = state
        earlier = self.state_view(before)
        set_up(earlier)
        for i in range(state.ply - state.begun - 1):
            make_move(self.rules, earlier.stones, earlier.lost, (state.begun + i) & 1, int(state.moves[i]))
        emptied = (self.grid(earlier.stones) > 0) & (self.grid(state.stones) == 0)
        return np.argwhere(emptied).tolist()

    def winning_chain(self, state):
        """The cells [[r, q], ...] that connect the winner's sides; none while the game is on, and in a draw."""
        if state.result not in (0, 1):
            return []
        n, stones = self.rules.n, state.stones[state.result]
        bits = sum(int(word) << 64 * i for i, word in enumerate(chain(stones, *last_cell(self.rules, state))))
        return [[r, q] for r in range(n) for q in range(n) if bits >> at(stones, r, q) & 1]

    def status(self, state):
        if state.result in (0, 1):
            return f"{self.player_name(state.result)} has connected its sides in turn {state.ply}"
        if state.result == DRAWN and state.ply < self.rules.turns:
            return "draw: the same board for the 7th time"
        if state.result == DRAWN:
            return f"draw: turn {state.ply}"
        return f"turn {state.ply + 1}, {self.player_name(state.ply & 1)} to move"

    def draw(self, state):
        """r grows upward, q to the right; (R) is the last move, x are cells whose stones it has captured."""
        n, captured, last = self.rules.n, self.captured(state), last_cell(self.rules, state)
        lines = []
        for r, row in enumerate(self.grid(state.stones).tolist()):
            marks = ["x" if [r, q] in captured else ".RB"[cell] for q, cell in enumerate(row)]
            gaps = [" "] * (n + 1)
            if last[0] == r:
                gaps[last[1] : last[1] + 2] = "()"
            line = "".join(gap + mark for gap, mark in zip(gaps, [*marks, ""], strict=True))
            lines.insert(0, f"{' ' * r}{r:2} {line}".rstrip())
        tens = "".join(f" {q // 10 or ' '}" for q in range(n)) if n > 10 else ""
        units = "".join(f" {q % 10}" for q in range(n))
        lines += [f"   {line}".rstrip() for line in (tens, units) if line]
        note = "; x: just captured" if captured else ""
        lines += [f"red R connects bottom and top, blue B left and right{note}", self.status(state)]
        return "\n".join(lines)

    def drawing(self, position):
        n, state = self.rules.n, position.state
        places = {(r, q): hexagon_at(q + r, -r) for r in range(n) for q in range(n)}
        cells = [Cell(f"{r},{q}", x, y, "hexagon") for (r, q), (x, y) in places.items()]
        grid = self.grid(state.stones)
        pieces = [
            Piece(f"{r},{q}", owner, symbol=("vertical", "horizontal")[owner], name=self.player_name(owner))
            for r, q in np.argwhere(grid).tolist()
            for owner in [int(grid[r, q]) - 1]
        ]
        player, last = int(state.ply) & 1, last_cell(self.rules, state)
        actions = [action for action in position.actions_of(player) if action < n * n]
        places_of = {action: cell_of(self.rules, player, action) for action in actions}
        return Board(
            cells,
            pieces,
            {action: [f"{r},{q}"] for action, (r, q) in places_of.items()},
            paints=("red", "blue"),
            marks=[Mark(x - 1, y, str(r)) for (r, q), (x, y) in places.items() if q == 0]
            + [Mark(x + 0.5, y + 0.95, str(q)) for (r, q), (x, y) in places.items() if r == 0],
            lines=edges_of(n),
            notes=["red connects bottom and top, blue left and right"],
            last=[] if last[0] < 0 else [f"{last[0]},{last[1]}"],
            won=[f"{r},{q}" for r, q in self.winning_chain(state)],
            stock=[
                Piece("", owner, symbol=("vertical", "horizontal")[owner], name=self.player_name(owner))
                for owner in range(2)
            ],
        )

    def arrange(self, placed, player):
        n = self.rules.n
        ids = [f"{r},{q}" for r in range(n - 1, -1, -1) for q in range(n)]
        return f"{write_grid(arranged(placed, ids, n, n), '.rb')} {'rb'[player]}" if placed else "start"

    def describe(self, state):
        grid, last = self.grid(state.stones), last_cell(self.rules, state)
        colours = (None, "red", "blue")
        return {
            "n": self.rules.n,
            "stones": [{"r": r, "q": q, "colour": colours[grid[r, q]]} for r, q in np.argwhere(grid).tolist()],
            "last": None if last[0] < 0 else [int(last[0]), int(last[1])],
            "captured": self.captured(state),
            "chain": self.winning_chain(state),
            "turns": int(state.ply),
            "status": self.status(state),
        }


def edges_of(n):
    """The four sides of the rhombus, along the outlines of their cells: red below and above, blue left and right."""
    tall = 3**-0.5
    top, upper, lower, bottom = -tall, -tall / 2, tall / 2, tall

    def along(cells, corners):
        return [(x + dx, y + dy) for q, r in cells for x, y in [hexagon_at(q + r, -r)] for dx, dy in corners]

    return [
        Line(along([(k, 0) for k in range(n)], [(-0.5, lower), (0, bottom), (0.5, lower)]), "red"),
        Line(along([(k, n - 1) for k in range(n)], [(-0.5, upper), (0, top), (0.5, upper)]), "red"),
        Line(along([(0, k) for k in range(n)], [(-0.5, lower), (-0.5, upper), (0, top)]), "blue"),
        Line(along([(n - 1, k) for k in range(n)], [(0, bottom), (0.5, lower), (0.5, upper)]), "blue"),
    ]
