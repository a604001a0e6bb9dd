"""Hive: surround the other's queen. All expansions, tournament rules, and endings that suit learning."""

import copy
import itertools
from typing import NamedTuple

import numpy as np
from numpy import int64

from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, GraphShape, GroupShape, TouchShape, convert_options, require
from ludus.games._hive_board import (
    BUG,
    FILLED,
    NEXT,
    NOBODY,
    NOWHERE,
    PASS,
    SLOTS,
    bugs_of,
    clear,
    columns_between,
    is_top,
    layout,
    lift,
    pinned,
    put,
    rows_between,
)
from ludus.games._hive_drawing import attempted, draw_hive
from ludus.games._hive_groups import GROUPS, KINDS, PLANES, side_of
from ludus.games._hive_groups import groups as groups
from ludus.games._hive_groups import touches as touches
from ludus.games._hive_moves import is_legal, list_moves, list_placements, name_moves, reference
from ludus.games._hive_reasons import why_not
from ludus.games._hive_setup import cells_around, check_put, check_set_up, first_ply, write_set_up
from ludus.games._hive_text import (
    COLOURS,
    NAMES,
    PUT,
    STATUSES,
    describe_pieces,
    draw_board,
    expansions_in,
    hand_in_words,
    parse_move,
    past_moves,
    read_game_type,
    stacks_in_words,
    write_game_type,
    write_move,
    write_status,
    write_turn,
)
from ludus.games._hive_views import (
    FEATURES,
    RELATIONS,
    adjacency,
    fill_graph,
    fill_planes,
    graph_bounds,
    planes_shape,
)

# An action is a piece and its target, given by a reference piece that lies there or beside it: (piece * pieces +
# reference) * 7 + the direction from the reference, or 6 for on top of it. Both pieces are from the mover's view, own
# ones even, so that one network serves both players. Of several references the lowest is used; the first piece of the
# game has none, and refers to itself. The last id is a pass. Ids do not change when the hive is shifted, and only the
# direction changes when it is rotated.


class Hive(NamedTuple):
    expansions: int
    """The sum of 1 for the mosquito, 2 for the ladybug and 4 for the pillbug."""
    repetition: bool
    limit: int
    decide_at_limit: bool
    surround: int
    matrix: bool
    """True if the observation is the adjacency matrix instead of planes."""
    worth: float = 1.0
    """The value of a game that is decided at the limit. In a curriculum it fades, else a lead would be as good as a
    win."""


OPTIONS = {
    "expansions": "",
    "repetition": False,
    "limit": 300,
    "decide_at_limit": False,
    "surround": 6,
    "view": "planes",
}
VIEWS = ("planes", "adjacency")
CURRICULUM = ((0.1, 4, 60, 1.0), (0.25, 6, 80, 1.0), (0.5, 6, 120, 0.6), (1.0, 6, 200, 0.3))
"""The stages of a training: until which fraction of the run, neighbours that surround a queen, limit of plies, and the
value of a game that is decided at the limit."""
LEAN = True
"""No function of the rules allocates an array, so ludus.native need not compile them twice to find out."""
WHITE, BLACK = int64(0), int64(1)
"""Typed numbers: Numba would compile a function again for each literal that it is called with."""


def reset(rules, state, random):
    clear(state)


def to_move(rules, state):
    return int64(state.ply) & 1


def legal(rules, state, player, actions):
    player, pieces = int64(player), 2 * int64(SLOTS[rules.expansions])
    count = list_placements(state, rules.expansions, pieces, player, actions)
    count = list_moves(state, rules.expansions, pieces, player, actions, count)
    if count == 0:
        actions[0] = 7 * pieces * pieces
        return 1
    name_moves(state, pieces, player, actions, count)
    return count


def play(rules, state, action):
    player, pieces = int64(state.ply) & 1, 2 * int64(SLOTS[rules.expansions])
    piece = int64(action) // (7 * pieces) ^ player
    beside = int64(action) // 7 % pieces ^ player
    way = int64(action) % 7
    cell = 0
    if piece >= pieces:
        piece = NOBODY
    elif beside != piece:
        cell = int64(state.cell[beside])
        if way < 6:
            cell = int64(NEXT[cell, way])
    advance(rules, state, piece, cell)


def advance(rules, state, piece, cell):
    """Play one ply: a piece goes to a cell; NOBODY is a pass."""
    was = hashed(rules, state, piece)
    if piece == NOBODY:
        state.past[state.ply] = PASS
    else:
        state.past[state.ply] = piece << 10 | cell
        if state.cell[piece] != NOWHERE:
            lift(state, piece)
        put(state, piece, cell)
    state.last = piece
    state.ply += 1
    if rules.repetition:
        seen = state.seen[state.ply - 1] - was + hashed(rules, state, piece)
        state.seen[state.ply] = seen
        state.repeats = 1
        for ply in range(int64(state.ply) - 2, 0, -2):
            state.repeats += state.seen[ply] == seen


def hashed(rules, state, piece):
    """The contribution of a piece to the hash of the board, the same for all bugs of one kind and colour."""
    if not rules.repetition or piece == NOBODY or state.cell[piece] == NOWHERE:
        return np.uint64(0)
    bug = 2 * int64(BUG[rules.expansions, piece]) + (piece & 1)
    place = (bug << 5 | int64(state.level[piece])) << 10 | int64(state.cell[piece])
    return mix(mix(np.uint64(0), place + 1), 0)  # mixed twice, because the contributions are added up


def mix(total, value):
    total = (total ^ np.uint64(value)) * np.uint64(0x9E3779B97F4A7C15)
    return total ^ (total >> np.uint64(29))


def outcome(rules, state, values):
    crowds = crowd(state, WHITE), crowd(state, BLACK)
    lead = 0.0
    if crowds[0] >= rules.surround or crowds[1] >= rules.surround:
        lead = 1.0 * (crowds[1] >= rules.surround) - 1.0 * (crowds[0] >= rules.surround)
    elif state.ply >= rules.limit:
        if rules.decide_at_limit:
            lead = rules.worth * (1.0 * (crowds[1] > crowds[0]) - 1.0 * (crowds[0] > crowds[1]))
    elif state.repeats < 3:
        return False
    values[0] = lead
    values[1] = 0.0 - lead
    return True


def crowd(state, player):
    """The number of pieces around a player's queen; 0 while it is in hand."""
    cell = state.cell[player]
    return int64(FILLED[state.around[cell]]) if cell != NOWHERE else 0


def observe(rules, state, player, planes):
    """The planes of `fill_planes`; with the view "adjacency", the matrix of `adjacency` as one plane."""
    if rules.matrix:
        adjacency(rules, state, int64(player), planes[0])
    else:
        fill_planes(rules, state, int64(player), planes)


def graph(rules, state, player, actions, count, features, edges, sizes):
    fill_graph(rules, state, int64(player), actions, count, features, edges, sizes)


def symmetry(rules, state, which, image, actions, count):
    """Symmetries 0 to 5 are clockwise sixths of a turn, 6 to 11 the same after a reflection. Past moves turn too."""
    clear(image)
    for ply in range(int64(state.ply)):
        move = int64(state.past[ply])
        piece, cell = move >> 10, turned(move & 1023, int64(which))
        if move == PASS:
            piece, cell = NOBODY, 0
        advance(rules, image, piece, cell)
    pieces = 2 * int64(SLOTS[rules.expansions])
    for index in range(count):
        way = int64(actions[index]) % 7
        if way < 6 and actions[index] < 7 * pieces * pieces:
            actions[index] += ((way if which < 6 else 5 - way) + which) % 6 - way


def turned(cell, which):
    q, r = cell & 31, cell >> 5
    if which >= 6:
        q, r = r, q
    for _ in range(which % 6):
        q, r = -r & 31, q + r & 31
    return r << 5 | q


DANGER = np.array([0.0, 1.0, 2.0, 3.5, 5.5, 8.0, 12.0])
"""The cost of the neighbours of one's queen, by their number."""
WORTH = np.array([1.0, 0.25, 0.5, 0.35, 0.7, 0.7, 0.6, 0.5])
"""The worth of each bug that is free to move, from Q to P."""


def heuristic(rules, state, player):
    """The cost of the queens' neighbours and the worth of bugs free to move, the player's minus the other's."""
    pieces = 2 * int64(SLOTS[rules.expansions])
    held = pinned(state, pieces)
    lead = DANGER[crowd(state, BLACK)] - DANGER[crowd(state, WHITE)]
    for piece in range(pieces):
        if is_top(state, piece) and (state.level[piece] > 0 or not held >> piece & 1):
            worth = WORTH[BUG[rules.expansions, piece]]
            lead += worth if piece & 1 == 0 else -worth
    if player == 1:
        lead = -lead
    return lead / (6.0 + abs(lead))


PLAYOUT_PLIES = 8
"""Random moves in a playout before the heuristic tells who is ahead."""


def cut_off(rules, state, plies, values):
    """After some random moves the heuristic decides, because few games of random moves end before the limit."""
    if plies < PLAYOUT_PLIES:
        return False
    values[0] = heuristic(rules, state, WHITE)
    values[1] = 0.0 - values[0]
    return True


def fingerprint(rules, state):
    """A hash of the pieces' places relative to the first piece on the board, and of all else that affects play."""
    pieces = 2 * int64(SLOTS[rules.expansions])
    anchor, total = -1, np.uint64(state.ply)
    for piece in range(pieces):
        place = -1
        if state.cell[piece] != NOWHERE:
            cell = int64(state.cell[piece])
            if anchor < 0:
                anchor = cell
            place = (int64(state.level[piece]) << 5 | rows_between(anchor, cell)) << 5 | columns_between(anchor, cell)
        total = mix(total, place + 1)
    if rules.expansions & 4:
        total = mix(total, state.last)
    if rules.repetition:
        before = np.uint64(0)
        for ply in range(1, int64(state.ply) + 1):
            before += mix(state.seen[ply], ply & 1)
        total = mix(total, before)
    return total


def most_moves(expansions):
    """An upper bound for the number of moves in a position.

    A hive of n pieces has at most 2 n + 4 empty neighbour cells: each further piece takes one and adds at most three.
    So with m pieces of the mover among n, a bug in hand has at most 2 m + 4 moves, and an ant at most 2 n + 2. A spider
    and a ladybug end within three cells, where there are 36; all others move to one of six. Two throwers have at most
    9 moves each, as one with k neighbours throws k pieces to 6 - k cells. 36 more are added because moves of a mosquito
    like several bugs are listed more than once before duplicates are removed.
    """
    most = 0
    for spiders, beetles, hoppers, ants in np.ndindex(3, 3, 4, 4):
        for extra in range(8):
            if extra & ~expansions:
                continue
            mine = 1 + spiders + beetles + hoppers + ants + extra.bit_count()
            kinds = (spiders < 2) + (beetles < 2) + (hoppers < 3) + (ants < 3) + (expansions ^ extra).bit_count()
            reach = 2 * (mine + len(bugs_of(expansions))) + 2
            moves = 6 + 36 * spiders + 6 * beetles + 6 * hoppers + ants * reach
            moves += (extra & 1) * (reach + 6) + (extra >> 1 & 1) * 36 + (extra >> 2 & 1) * 6 + 18 * (extra > 3)
            most = max(most, moves + kinds * (2 * mine + 4))
    return most + 36 * (expansions & 1)


def is_put(text):
    return text.strip().lower().startswith(PUT)


class HiveGame(Game):
    Rules = Hive
    name = "hive"
    title = "Hive"

    @classmethod
    def options(cls):
        return dict(OPTIONS)

    def make_rules(self, **options):
        given = convert_options(self.name, self.options(), options)
        letters, view = given.pop("expansions").upper(), given.pop("view")
        require(
            set(letters) <= set("MLP") and len(set(letters)) == len(letters),
            f"hive: expansions must be letters of M (mosquito), L (ladybug), P (pillbug), not {letters!r}",
        )
        require(view in VIEWS, f"hive: view must be {' or '.join(VIEWS)}, not {view!r}")
        code = sum(1 << "MLP".index(letter) for letter in letters)
        return Hive(expansions=code, matrix=view == "adjacency", **given)

    def options_in_use(self):
        options = {**self.rules._asdict(), "expansions": expansions_in(self.rules.expansions)}
        options["view"] = VIEWS[options.pop("matrix")]
        del options["worth"]
        return options

    def identity_options(self):
        return self.options_in_use()

    def setup(self):
        rules = self.rules
        require(1 <= rules.limit <= 10_000, f"hive: limit must be from 1 to 10000 plies, not {rules.limit}")
        require(2 <= rules.surround <= 6, f"hive: surround must be from 2 to 6 neighbours, not {rules.surround}")
        pieces = 2 * int(SLOTS[rules.expansions])
        self.state = layout(rules.limit, rules.repetition)
        self.actions = 7 * pieces * pieces + 1
        self.most_legal = most_moves(rules.expansions)
        self.longest = rules.limit
        self.observation = (1, pieces, pieces - 1) if rules.matrix else planes_shape(rules.expansions)
        self.observation_bounds = (0.0, 9.0 if rules.matrix else 1.0)
        nodes, edges = graph_bounds(rules.expansions, self.most_legal)
        self.graph = GraphShape(nodes, edges, FEATURES, RELATIONS)
        side = side_of(rules.expansions)
        self.groups = GroupShape(PLANES, side, side, (GROUPS,))
        self.touches = TouchShape(kinds=KINDS, roles=2, cells=2)
        self.symmetries = 12

    def decided_at(self, ply):
        """The same game with an earlier limit, at which the queens' neighbours decide. States of both are compatible.

        It serves searches by playouts, because few random games end before the limit.
        """
        sooner = copy.copy(self)
        sooner.rules = self.rules._replace(limit=min(ply, self.rules.limit), decide_at_limit=True)
        return sooner

    def curriculum(self):
        """First four neighbours decide, then a lead at a limit, which rises: few games of beginners end otherwise."""
        stages = []
        for until, surround, limit, worth in CURRICULUM:
            easier = self.decided_at(limit)
            easier.rules = easier.rules._replace(surround=min(surround, self.rules.surround), worth=worth)
            stages.append((until, easier))
        return stages

    def player_name(self, player):
        return COLOURS[player]

    # --- text -------------------------------------------------------------------------------------------------------

    def values_of(self, state):
        """The values if the game is over, else None."""
        values = np.zeros(2, np.float32)
        return values.tolist() if outcome(self.rules, state, values) else None

    def write(self, state):
        ply = int(state.ply)
        status = write_status(ply, self.values_of(state))
        moves = past_moves(self.rules.expansions, state)
        return ";".join([write_game_type(self.rules.expansions), status, write_turn(ply), *moves])

    def read(self, text, state):
        """Read a GameString: its moves are played one by one, and its state and turn must agree with them.

        Before the moves may come pieces of a position that was set up by hand, such as `put bA1 wQ-`.
        """
        parts = text.split(";")
        places = list(itertools.accumulate((len(part) + 1 for part in parts), initial=0))[:-1]
        code = read_game_type(parts[0])
        if code != self.rules.expansions:
            raise BadPosition(f"this is {write_game_type(self.rules.expansions)}, not {parts[0].strip()}", 0)
        if len(parts) < 3:
            raise BadPosition("after the game type come its state and turn: Base;InProgress;White[2];...", len(text))
        status = next((known for known in STATUSES if known.lower() == parts[1].strip().lower()), None)
        if status is None:
            raise BadPosition(f"{parts[1].strip()!r} is not the state of a game: {' '.join(STATUSES)}", places[1])
        with np.errstate(over="ignore"):
            clear(state)
            puts = next((at for at, part in enumerate(parts[3:]) if not is_put(part)), len(parts) - 3)
            self.set_up(state, parts[2:], places[2:], puts)
            for move, place in zip(parts[3 + puts :], places[3 + puts :], strict=True):
                if self.values_of(state) is not None:
                    raise BadPosition(f"{move.strip()!r} comes after the end of the game", place)
                try:
                    piece, cell = self.find_move(state, int(state.ply) & 1, move)
                except IllegalMove as error:
                    raise BadPosition(f"{move.strip()!r}: {error}", place) from None
                advance(self.rules, state, piece, cell)
        turn, true = write_turn(int(state.ply)), write_status(int(state.ply), self.values_of(state))
        if parts[2].strip().lower() != turn.lower():
            raise BadPosition(f"after these moves it is the turn {turn}, not {parts[2].strip()!r}", places[2])
        if status != true and (status, true) != ("Draw", "InProgress"):  # players may agree on a draw
            raise BadPosition(f"after these moves the game is {true}, not {status}", places[1])

    def set_up(self, state, parts, places, puts):
        """Put down the pieces of a position that was set up by hand; `parts` are the turn, the pieces and the moves."""
        if puts == 0:
            return
        code, at = self.rules.expansions, 0
        try:
            lead = first_ply(parts[0], puts, len(parts) - 1 - puts, self.rules.limit)
            state.past[:lead], state.ply = PASS, lead
            for at in range(1, puts + 1):
                piece, cell = parse_move(code, state, parts[at].strip()[len(PUT) :])
                if piece == NOBODY:
                    raise BadPosition("a pass puts no piece")
                check_put(code, state, piece, cell)
                advance(self.rules, state, piece, cell)
            advance(self.rules, state, NOBODY, 0)
            check_set_up(code, state)
        except (BadPosition, IllegalMove) as error:
            raise BadPosition(str(error), places[at]) from None
        state.seen[: state.ply if self.rules.repetition else 0] = 0  # no earlier position is known

    def arrange(self, placed, player):
        return write_set_up(self.rules.expansions, placed, player)

    def cells_to_set_up(self, ids):
        return cells_around(ids)

    # --- moves ------------------------------------------------------------------------------------------------------

    def write_move(self, state, player, action):
        return write_move(self.rules.expansions, player, int(action))

    def read_move(self, state, player, text):
        """Read a MoveString; any neighbour may be the reference, in upper or lower case and with any spaces."""
        piece, cell = self.find_move(state, player, text)
        pieces = 2 * int(SLOTS[self.rules.expansions])
        if piece == NOBODY:
            return 7 * pieces * pieces
        name, own = int(reference(state, player, piece, cell)), piece ^ player
        return 7 * pieces * own + (name if name < 7 * pieces else 7 * own + 6)

    def find_move(self, state, player, text):
        """(piece, cell) of a legal move in notation, (NOBODY, 0) for a pass; IllegalMove says which rule is broken."""
        code = self.rules.expansions
        piece, cell = parse_move(code, state, text)
        pieces, room = 2 * int(SLOTS[code]), np.zeros(self.most_legal, np.int32)
        if piece == NOBODY:
            legal(self.rules, state, player, room)
            if room[0] != 7 * pieces * pieces:
                raise IllegalMove(f"{COLOURS[player]} may pass only when nothing else is legal")
        elif not is_legal(state, code, pieces, player, piece, cell, room):
            raise IllegalMove(why_not(code, state, player, piece, cell))
        return piece, cell

    # --- the board --------------------------------------------------------------------------------------------------

    def draw(self, state):
        code, ply = self.rules.expansions, int(state.ply)
        lines = [*draw_board(code, state), ""]
        stacks = stacks_in_words(code, state)
        lines += [f"stacks: {', '.join(stacks)}"] if stacks else []
        for player in range(2):
            hand = hand_in_words(code, state, player)
            lines += [f"{COLOURS[player]} in hand: {hand}"] if hand else []
        placed = [player for player in range(2) if state.cell[player] != NOWHERE]
        crowds = [f"{COLOURS[player]}'s queen {crowd(state, player)} of {self.rules.surround}" for player in placed]
        lines += [f"surrounded: {', '.join(crowds)}"] if crowds else []
        lines += [f"last: {move}" for move in past_moves(code, state)[-1:] if not is_put(move)]
        values = self.values_of(state)
        if values is None:
            lines.append(f"{COLOURS[ply & 1]} to move, turn {ply // 2 + 1}")
        else:
            lines.append(f"{COLOURS[values[0] < 0]} has won" if values[0] else "a draw")
        return "\n".join(lines)

    def drawing(self, position):
        placed = [player for player in range(2) if position.state.cell[player] != NOWHERE]
        crowds = [
            f"{COLOURS[player]}'s queen: {crowd(position.state, player)} of {self.rules.surround}" for player in placed
        ]
        return draw_hive(self.rules.expansions, position, [f"neighbours of {', '.join(crowds)}"] if crowds else [])

    def attempt(self, position, player, touched):
        return attempted(self.rules.expansions, position.state, player, touched)

    def describe(self, state):
        code = self.rules.expansions
        return {
            "pieces": describe_pieces(code, state),
            "hand": {COLOURS[player]: hand_in_words(code, state, player).split() for player in range(2)},
            "last": None if state.last == NOBODY else NAMES[code][state.last],
            "turn": int(state.ply) // 2 + 1,
            "surrounded": {COLOURS[player]: int(crowd(state, player)) for player in range(2)},
        }
