"""Hive. Boards are drawn as in a terminal: cells are ten columns apart, and every row is shifted by half of that; +
joins the pieces of a stack from the ground up, and * marks where the piece in question may go."""

import io
import json
import re
import shlex
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest

import ludus
from ludus import rules as generic
from ludus.cli import main
from ludus.errors import BadOption, BadPosition, IllegalMove
from ludus.game import Position
from ludus.games._hive_board import NEXT, NOBODY, NOWHERE, cell_at, clear, put
from ludus.games._hive_checks import BrokenHive, check_board, check_position, load_failure, play_checked
from ludus.games._hive_text import DECORATED, NAMES, parse_move
from ludus.games.hive import adjacency, hashed
from ludus.search.perft import perft

FAILURES = Path(__file__).parent / "failures"
TYPES = ("", "M", "L", "P", "ML", "MP", "LP", "MLP")
BASE, FULL = ludus.make("hive"), ludus.make("hive", expansions="MLP")


def drawn(drawing, player=0, last=None, shift=(0, 0), game=FULL, half_a_cell=5):
    """The position of a drawing, and its marked cells."""
    states = game.new_states(1)
    state = game.state_view(states)
    clear(state)
    names, marked, parity = NAMES[game.rules.expansions], set(), None
    for row, line in enumerate(line for line in drawing.splitlines() if line.strip()):
        for found in re.finditer(r"\S+", line):
            half = found.start() // half_a_cell
            parity = (half - row) % 2 if parity is None else parity
            assert (half - row) % 2 == parity, f"{found[0]} in row {row} is out of place"
            cell = cell_at((half - row - parity) // 2 + shift[0], row + shift[1])
            if found[0].endswith("*"):
                marked.add(cell)
            for name in filter(None, found[0].rstrip("*").split("+")):
                put(state, names.index(name), cell)
    state.ply = 40 + player
    state.last = NOBODY if last is None else names.index(last)
    return Position(game, states), marked


def ends(position, name):
    """The cells that the mover can bring a piece to."""
    code = position.game.rules.expansions
    piece = NAMES[code].index(name)
    found = [parse_move(code, position.state, move) for move in position.moves]
    return {cell for mover, cell in found if mover == piece}


def played(moves, game=BASE):
    position = game.start()
    for move in moves.split(";"):
        position = position.play(move)
    return position


# --- Against what is known --------------------------------------------------------------------------------------------

PERFT = {
    "": (4, 96, 1440, 21600, 516240),
    "M": (5, 150, 2610, 45414, 1252800),
    "L": (5, 150, 2610, 45414, 1252800),
    "P": (5, 150, 2610, 45414, 1255932),
    "ML": (6, 216, 4320, 86400, 2725920),
    "MP": (6, 216, 4320, 86400, 2730888),
    "LP": (6, 216, 4320, 86400, 2730240),
    "MLP": (7, 294, 6678, 151686, 5427108),
}


@pytest.mark.parametrize("expansions", TYPES)
def test_perft_is_that_of_other_engines(expansions):
    start = ludus.make("hive", expansions=expansions).start()
    assert tuple(perft(start, depth) for depth in range(1, 6)) == PERFT[expansions]


def test_moves_are_those_of_openspiel():
    pyspiel = pytest.importorskip("pyspiel")
    theirs, ours = pyspiel.load_game("hive(board_size=14)"), ludus.make("hive", expansions="MLP").compile()
    compared = 0
    for seed in range(28):
        random, state, position = Random(seed), theirs.new_initial_state(), ours.start()
        while not position.is_over and position.state.ply < 100:
            assert not state.is_terminal()
            assert state.current_player() == position.to_move
            cells, names = position.state.cell.tolist(), {}
            for action in state.legal_actions():
                piece, *place = taken_apart(state.action_to_string(action))
                # Of equal pieces in hand only the lowest can be placed here; there all of them, the lowest first.
                while (
                    1 < piece < NOBODY
                    and cells[piece] == cells[piece - 2] == NOWHERE
                    and KINDS[piece] == KINDS[piece - 2]
                ):
                    piece -= 2
                names.setdefault((piece, end_of(cells, *place)), action)
            moves = {}
            for move in position.moves:
                piece, *place = taken_apart(move)
                moves[piece, end_of(cells, *place)] = move
            assert len(moves) == len(position.actions)
            # Of five pieces, OpenSpiel does not yet know which ones hold the hive together.
            if position.state.ply != 5:
                assert set(names) == set(moves), position.text
                compared += position.state.ply > 5
            chosen = random.choice(sorted(set(names) & set(moves)))
            state.apply_action(names[chosen])
            position = position.play(moves[chosen])
        if position.state.ply < 100:
            assert state.is_terminal()
            assert tuple(state.returns()) == position.values
    assert compared >= 2000


KINDS = [name[:2] for name in NAMES[7]]
CELLS = NEXT.tolist()


@cache
def taken_apart(move):
    """Piece, reference and direction of a move with all expansions; without reference NOBODY and 6."""
    name, _, place = move.partition(" ")
    if name == "pass":
        return NOBODY, NOBODY, 6
    for way, form in enumerate(DECORATED):
        bare = place.strip("-/\\")
        if place and form.format(bare) == place:
            return NAMES[7].index(name), NAMES[7].index(bare), way
    return NAMES[7].index(name), NOBODY, 6


def end_of(cells, beside, way):
    cell = 0 if beside == NOBODY else cells[beside]
    return cell if way == 6 else CELLS[cell][way]


def test_random_games_agree_with_themselves():
    for seed, game in enumerate((BASE, FULL, ludus.make("hive", expansions="P", repetition=True))):
        random, position = Random(seed), game.start()
        for ply in range(60):
            if position.is_over:
                break
            position = position.play(random.choice(position.actions))
            check_board(position.state)
            if ply % 10 == 9:
                check_position(position)


# --- How the bugs move ------------------------------------------------------------------------------------------------

WALKS = {
    "the queen slides one step and keeps contact": (
        "wQ",
        """
     wA1       bQ
 *        wQ        bA1
                *
""",
    ),
    "the queen does not pass a gate": (
        "wQ",
        """
     wA1       bQ
wS1       wQ
     wB1       bA1
""",
    ),
    "the spider walks exactly three steps": (
        "wS1",
        """
           *
     bA1       bQ
wS1       wQ        wG1
                          *
""",
    ),
    "the spider does not enter a hole with two cells through a gate": (
        "wS1",
        """
           *
     bA1       bQ        wG1
wS1                           wQ
     bA2       bA3       bB1
           *
""",
    ),
    "the ant goes all round, but not into a hole": (
        "wA1",
        """
           *         *         *
      *        bA1       bQ        wA1
 *        wG1                 bG1        *
      *        wS1       wQ         *
           *         *         *
""",
    ),
    "the ant enters a wide bay": (
        "wA1",
        """
           *         *         *
      *        bA1       bQ        wA1
 *        wG1        *         *         *
      *        wS1        *        bB1        *
           *        wQ        bG1        *
                *         *         *
""",
    ),
    "the ant passes a cell between two parts of the hive on both sides, and that is one move": (
        "wA1",
        """
           *         *         *         *
      *        bA1       bA2       bQ        wA1
 *        bG1        *         *        bB1        *
      *         *         *        bB2        *
           *        wQ        bG2        *
                *         *         *
""",
    ),
    "the grasshopper jumps straight over any number": (
        "wG1",
        """
           *                   *
               bA1       bQ
 *        wQ        wG1       bA2       bA3        *
               bS1
           *
""",
    ),
    "the beetle steps on the ground and up": (
        "wB1",
        """
     bA1*      bQ*
wQ*       wB1        *
      *
""",
    ),
    "the beetle on top steps anywhere": (
        "wB1",
        """
     bA1*      bQ*
wQ*       bS1+wB1    *
     wG1*       *
""",
    ),
    "the beetle does not step up between two higher stacks": (
        "wB1",
        """
 *        bA1+bB1*  bQ
     wB1       wG1
 *        wS1+bB2*  wQ
""",
    ),
    "the beetle does not step down between two higher stacks": (
        "wB1",
        """
     wQ*       bA1+bB1*  bQ
 *        bS1+wB1
      *        wG1+bB2*
""",
    ),
    "the ladybug goes two on top and one down": (
        "wL",
        """
      *         *         *
 *        bA1       bQ         *
     wL        wQ        bA2        *
           *         *         *
""",
    ),
    "the ladybug does not step up between two higher stacks": (
        "wL",
        """
           *         *
     bA1+bB1   bQ         *
wL        wQ        bA2
     bG1+bB2    *
""",
    ),
    "the mosquito moves like ant and grasshopper beside them, each cell once": (
        "wM",
        """
      *         *         *
 *        bA1       bQ         *
     wM        wG1        *
 *        wQ         *
      *         *
""",
    ),
    "the mosquito among mosquitoes does not move": ("wM", "wM        bM        wQ        bQ"),
    "the mosquito on top is a beetle": (
        "wM",
        """
     bA1*      bQ*
wQ*       bS1+wM     *
     wG1*       *
""",
    ),
    "the mosquito imitates the top of a stack": (
        "wM",
        """
      *
wM        bS1+bB1*  bQ
      *        wQ
""",
    ),
    "the pillbug slides one step": (
        "wP",
        """
      *
wP        bQ        wQ
      *
""",
    ),
}


@pytest.mark.parametrize("case", WALKS)
def test_how_bugs_walk(case):
    name, drawing = WALKS[case]
    position, marked = drawn(drawing)
    assert ends(position, name) == marked
    assert len(set(position.actions)) == len(position.actions)
    check_board(position.state)


def test_the_beetle_on_a_stack_as_high_passes():
    drawing = """
      wQ*         bA1+bB1*    bQ
 *          bS1+wB2+wB1 *
      *           wG1+bB2*
"""
    position, marked = drawn(drawing, half_a_cell=6)
    assert ends(position, "wB1") == marked


THROWS = {
    "the pillbug throws a piece of the other colour": (
        "bA1",
        None,
        """
     bA1        *
wQ        wP        bQ
      *         *
""",
    ),
    "the pillbug throws one's own piece, also where it could walk": (
        "wQ",
        None,
        """
 *        wA1        *
     wQ        wP        bQ
           *         *
""",
    ),
    "a pillbug that holds the hive together throws": (
        "bG1",
        None,
        """
      *         *
wQ        wP        bQ        bA1
     bG1        *
""",
    ),
    "a piece that has just moved is not thrown": (
        "bA1",
        "bA1",
        """
     bA1
wQ        wP        bQ
""",
    ),
    "a pillbug that was thrown last turn does not throw": (
        "bA1",
        "wP",
        """
     bA1
wQ        wP        bQ
""",
    ),
    "a piece that holds the hive together is not thrown": (
        "bA1",
        None,
        """
bG1       bA1
               wP        wQ        bQ
""",
    ),
    "nothing is thrown up between two stacks": (
        "bA1",
        None,
        """
     bS1+bB1
bA1       wP
     bS2+bB2   wQ        bQ
""",
    ),
    "nothing is thrown down between two stacks": (
        "bA1",
        None,
        """
     bA1       wG1+wB1
 *        wP
     wQ        bS1+bB1   bQ
""",
    ),
    "a piece in a stack is not thrown": (
        "bB1",
        None,
        """
     bG1+bB1
wQ        wP        bQ
""",
    ),
    "a mosquito beside a pillbug of any colour throws": (
        "bA1",
        None,
        """
      *         *
bA1       wM        bP        wQ        bQ
     wG1        *
""",
    ),
    "a mosquito throws the very pillbug that it touches": (
        "bP",
        None,
        """
     bP         *
wQ        wM        bQ
      *         *
""",
    ),
    "a mosquito on top does not throw": ("bA1", None, "bA1       wG1+wM    bP        wQ        bQ"),
    "a piece that was thrown rests": (
        "wA1",
        "wA1",
        """
     wA1       wG1
wQ        bP        bQ
""",
    ),
}


@pytest.mark.parametrize("case", THROWS)
def test_how_pieces_are_thrown(case):
    name, last, drawing = THROWS[case]
    position, marked = drawn(drawing, last=last)
    assert ends(position, name) == marked


# --- Placing, passing, ending -----------------------------------------------------------------------------------------


def test_of_equal_bugs_in_hand_the_lowest_is_placed_and_not_the_queen_first():
    assert BASE.start().moves == ["wS1", "wB1", "wG1", "wA1"]
    assert FULL.start().moves == ["wS1", "wB1", "wG1", "wA1", "wM", "wL", "wP"]
    assert len(BASE.start().play("wS1").moves) == 4 * 6


def test_the_queen_is_placed_by_the_fourth_turn():
    position = played("wS1;bS1 wS1-;wS2 -wS1;bS2 bS1-;wB1 -wS2;bB1 bS2-")
    assert {move.split()[0] for move in position.moves} == {"wQ"}
    assert {move.split()[0] for move in position.play("wQ -wB1").moves} == {"bQ"}


def test_a_stack_has_the_colour_of_its_top():
    white = """
     wS1       bQ
wQ        bA1+wB1
"""
    position, _ = drawn(white)
    beside = position.state.cell[NAMES[7].index("wB1")]
    assert int(NEXT[beside, 4]) in ends(position, "wG1")  # beside wQ and wB1, which lies on a black piece
    assert int(NEXT[beside, 2]) not in ends(position, "wG1")  # beside bQ too


def test_no_piece_moves_before_its_queen_is_placed():
    position = played("wS1;bS1 wS1-;wA1 -wS1")
    assert all(not move.startswith("bS1") for move in position.moves)


def test_a_pass_is_forced_and_else_illegal():
    position, _ = drawn("bA1       wQ        bQ")
    assert position.moves == ["pass"]
    after = position.play("PASS")
    assert (after.to_move, int(after.state.last)) == (1, NOBODY)
    with pytest.raises(IllegalMove, match="white may pass only when nothing else is legal"):
        BASE.start().play("pass")


SURROUNDED = """
     bA1       bA2
wA1       wQ        bA3
     wG1       bQ
wG2       wG3       wB1
"""


def test_a_surrounded_queen_loses_and_two_at_once_draw():
    position, _ = drawn(SURROUNDED)
    assert position.is_over
    assert position.values == (-1.0, 1.0)
    both, _ = drawn(re.sub(r"wG1 +bQ", lambda found: found[0] + "        bG1", SURROUNDED))
    assert both.is_over
    assert both.values == (0.0, 0.0)


def test_fewer_neighbours_may_win():
    moves = "wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wS2 -wQ;bS2 bQ-"
    assert not played(moves).is_over
    assert played(moves.rpartition(";")[0], ludus.make("hive", surround=2)).values == (-1.0, 1.0)


def test_the_limit_ends_a_game():
    moves = "wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wS2 -wQ"  # two pieces around white's queen, one around black's
    assert played(moves, ludus.make("hive", limit=5)).values == (0.0, 0.0)
    decided = ludus.make("hive", limit=5, decide_at_limit=True)
    assert played(moves, decided).values == (-1.0, 1.0)
    assert played("wS1;bS1 wS1-", ludus.make("hive", limit=2, decide_at_limit=True)).values == (0.0, 0.0)
    sooner = BASE.decided_at(5)
    assert Position(sooner, played(moves).states).values == (-1.0, 1.0)


TO_AND_FRO = "wQ \\wS1;bQ bS1/;wQ -wS1;bQ bS1-"


def test_the_third_time_is_a_draw_where_repetition_counts():
    game = ludus.make("hive", repetition=True)
    once = "wS1;bS1 wS1-;wQ -wS1;bQ bS1-"
    twice = played(f"{once};{TO_AND_FRO}", game)
    assert not twice.is_over
    thrice = played(f"{once};{TO_AND_FRO};{TO_AND_FRO}", game)
    assert thrice.is_over
    assert thrice.values == (0.0, 0.0)
    assert thrice.text.split(";")[1] == "Draw"
    assert game.parse(thrice.text) == thrice
    assert not played(f"{once};{TO_AND_FRO};{TO_AND_FRO}").is_over
    image = game.new_states(1)
    with np.errstate(over="ignore"):
        generic.symmetry(game.rules, thrice.state, 7, game.state_view(image), np.zeros(1, np.int32), 0)
        assert Position(game, image).is_over
        prints = [generic.fingerprint(game.rules, each.state) for each in (played(once, game), twice, thrice)]
    assert len(set(prints)) == 3


def test_boards_are_told_apart_by_their_hashes():
    """Sums over pairs of pieces, each in many places, are all different."""
    game = ludus.make("hive", repetition=True)
    state = game.state_view(game.new_states(1))
    clear(state)
    parts = []
    with np.errstate(over="ignore"):
        for piece in (0, 1, 2, 6):
            for cell in (0, 1, 2, 3, 31, 32, 33, 34, 64, 65, 1023):
                state.cell[piece] = cell
                parts.append((piece, int(hashed(game.rules, state, piece))))
    sums = [(one + other) % 2**64 for p, one in parts for q, other in parts if p < q]
    assert len(set(sums)) == len(sums)


# --- What people read and write ---------------------------------------------------------------------------------------

OPENING = "wS1;bA1 wS1-"
REASONS = [
    ("", "wQ", "the queen cannot be the first piece"),
    ("", "wA2", "wA1 must be placed before wA2"),
    ("", "wS1 wS1-", "write wS1 alone"),
    ("", "bS1", "bS1 belongs to black"),
    ("wS1", "bQ wS1-", "the queen cannot be the first piece"),
    ("wS1", "bA1", "say where bA1 goes, such as bA1 wS1-"),
    ("wS1", "bA1 bQ-", "bQ is not on the board"),
    (OPENING, "wA4 wS1-", "there is no piece wA4; there is wA1 wA2 wA3"),
    (OPENING, "wX1 wS1-", "there is no bug 'X'"),
    (OPENING, "wM wS1-", "there is no mosquito in a game of Base"),
    (OPENING, "-wS1 wA1", "is not a move"),
    (OPENING, "wA1 -wS1-", "is not a move"),
    (OPENING, "wA1 wS1-", "cannot be placed on top of the hive, and bA1 is there"),
    (OPENING, "wA1 bA1-", "must not touch the other colour, and there wA1 would touch bA1"),
    (OPENING, "wA3 -wS1", "wA1 must be placed before wA3"),
    (OPENING, "wS1 bA1-", "no piece may be moved before wQ is placed"),
    (OPENING, "bA1 -wS1", "no piece may be moved before wQ is placed"),
    ("wS1;bA1 wS1-;wS2 -wS1;bB1 bA1-;wA1 -wS2;bS1 bB1-", "wA2 -wA1", "the queen must be placed by the fourth turn"),
    (f"{OPENING};wQ -wS1;bQ bA1-", "wS1 bQ-", "moving wS1 would break the hive"),
    (f"{OPENING};wQ -wS1;bQ bA1-", "bQ wS1/", "bQ belongs to black"),
    (f"{OPENING};wQ -wS1;bQ bA1-", "wQ -wS1", "wQ is there already"),
    (f"{OPENING};wQ -wS1;bQ bA1-", "wQ bQ-", "wQ moves only one step"),
    (f"{OPENING};wQ -wS1;bQ bA1-", "wQ -wQ", "there wQ would touch no other piece"),
    (f"{OPENING};wQ -wS1;bQ bA1-", "wQ wS1", "wQ cannot climb on wS1"),
]


@pytest.mark.parametrize(("moves", "move", "reason"), REASONS)
def test_an_illegal_move_has_a_reason(moves, move, reason):
    position = played(moves) if moves else BASE.start()
    with pytest.raises(IllegalMove, match=re.escape(reason)):
        position.play(move)


RING = "     wA1       bQ\nwQ                  bA1\n     wB1       bG1"
POCKET = "     bA1       bQ        wA1\nwG1\n     wS1       wQ"
BAY = "          bA1       bA2       bA3\n     wA1                           bQ\n          wQ                  bG1"
LINE = "wL        bA1       bQ        wQ        bA2"
TOWERS = "     bA1+bB1   bQ\nwB1       wG1\n     wS1+bB2   wQ"
DRAWN_REASONS = [
    ("wA1       wB1+bB1   wQ        bQ", None, "wB1 -wA1", "wB1 is under bB1"),
    ("     wA1       wG1\nwQ        bP        bQ", "wA1", "wA1 wG1-", "wA1 was thrown last turn and rests"),
    ("     bA1\nwQ        wP        bQ", "bA1", "bA1 wP/", "bA1 has just moved and cannot be thrown"),
    ("     bA1\nwQ        wP        bQ", "wP", "bA1 wP/", "wP was thrown last turn and rests"),
    ("     bA1\nwQ        wP        bQ", None, "bA1 bQ-", "bA1 can be thrown only to a cell beside wP"),
    ("     bA1\nwQ        wP        bQ", None, "bA1 wQ", "bA1 can be thrown only to an empty cell, and wQ is there"),
    ("     bG1+bB1\nwQ        wP        bQ", None, "bB1 wP\\", "bB1 is in a stack and cannot be thrown"),
    ("bG1       bA1\n               wP        wQ        bQ", None, "bA1 wP\\", "throwing bA1 would break the hive"),
    (
        "     bS1+bB1\nbA1       wP\n     bS2+bB2   wQ        bQ",
        None,
        "bA1 wP-",
        "bA1 cannot be lifted onto wP between",
    ),
    (
        "     bA1       wG1+wB1\n          wP\n     wQ        bS1+bB1   bQ",
        None,
        "bA1 wP-",
        "cannot be set down from wP",
    ),
    ("bA1       wQ        bQ        wP\n     bS1", None, "bA1 wP/", "bA1 belongs to black, and no pillbug of white's"),
    (RING, None, "wQ wQ-", "wQ cannot slide through the gate between wA1 and wB1"),
    (BAY, None, "wQ wQ-", "wQ would lose contact with the hive on the way"),
    ("wA1       bQ\n     wQ        bA1", None, "wQ /wQ", "there wQ would touch no other piece"),
    (TOWERS, None, "wB1 wG1", "wB1 cannot pass between bB1 and bB2, which are higher than it goes"),
    (POCKET, None, "wA1 wG1-", "wA1 cannot slide through the gate"),
    (POCKET + "        bG1", None, "wA1 wG1-", "wA1 cannot slide through the gate"),
    (
        "     bA1       bQ        wA1\nwG1                 bG1\n     wS1       wQ",
        None,
        "wA1 wG1-",
        "the cell is walled in",
    ),
    (POCKET + "\n                    wS2", None, "wS2 wG1-", "wS2 cannot slide through the gate"),
    (POCKET.replace("wA1", "wS2"), None, "wS2 \\bQ", "wS2 walks exactly three steps, and no such way ends there"),
    ("     bA1       bQ\nwQ        wG1       bA2", None, "wG1 wG1\\", "wG1 has nothing to jump over in that direction"),
    ("wG1       bA1       bQ\n                         wQ", None, "wG1 wQ\\", "wG1 jumps only in a straight line"),
    (
        "wG1       bA1                 bA2\n               wQ        bQ",
        None,
        "wG1 bA2-",
        "wG1 lands on the first empty cell",
    ),
    (LINE, None, "wL bA2-", "wL goes two steps on top of the hive and one down, and no such way ends there"),
    ("wM        bM        wQ        bQ", None, "wM wQ\\", "wM touches nothing but mosquitoes, and so cannot move"),
    ("     bQ\nwM        bG1       wQ", None, "wM wQ\\", "wM can move like what it touches (queen, grasshopper), and"),
    (LINE.replace("wL", "wM"), None, "wM wQ", "wM cannot climb on wQ"),
]


@pytest.mark.parametrize(("drawing", "last", "move", "reason"), DRAWN_REASONS)
def test_an_illegal_move_on_the_board_has_a_reason(drawing, last, move, reason):
    position, _ = drawn(drawing, last=last)
    with pytest.raises(IllegalMove, match=re.escape(reason)):
        position.play(move)


def test_moves_are_read_with_any_reference_in_any_case_with_any_spaces():
    position = played("wS1;bS1 wS1-;wQ -wS1;bQ bS1-")
    moves = ("wQ \\wS1", "WQ  \\WS1", "wq wq/", " wQ\t\\ wS1 ", "wQ1 \\wS1")
    assert len({position.action_of(move) for move in moves}) == 1
    assert position.notation(position.action_of("wQ wQ/")) == "wQ \\wS1"


def test_the_text_is_a_game_string():
    position = played("wS1;bS1 wS1-")
    assert position.text == "Base;InProgress;White[2];wS1;bS1 wS1-"
    assert BASE.start().text == "Base;NotStarted;White[1]"
    assert FULL.start().text == "Base+MLP;NotStarted;White[1]"
    assert BASE.parse(" base ; inprogress ; white[2] ; WS1 ; bs1  ws1- ") == position
    assert BASE.parse("Base;Draw;White[2];wS1;bS1 wS1-") == position  # agreed on
    over = SURROUND_2.parse("Base;BlackWins;Black[3];wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wS2 -wQ")
    assert over.is_over


SURROUND_2 = ludus.make("hive", surround=2)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "'' is not a game type", 0),
        ("Base+X;InProgress;White[1]", "'Base+X' is not a game type", 0),
        ("Base+MM;InProgress;White[1]", "'Base+MM' is not a game type", 0),
        ("Base+M;NotStarted;White[1]", "this is Base, not Base+M", 0),
        ("Base", "after the game type come its state and turn", 4),
        ("Base;Going;White[1]", "'Going' is not the state of a game", 5),
        ("Base;NotStarted;Black[1]", "it is the turn White[1], not 'Black[1]'", 16),
        ("Base;InProgress;White[1]", "the game is NotStarted, not InProgress", 5),
        ("Base;WhiteWins;Black[1];wS1", "the game is InProgress, not WhiteWins", 5),
        ("Base;InProgress;White[2];wS1;bQ wS1-", "'bQ wS1-': the queen cannot be the first piece", 29),
        ("Base;InProgress;White[2];wS1;", "'' is not a move", 29),
        ("Base;InProgress;White[2];wS1;wS1", "'wS1': say where wS1 goes", 29),
    ],
)
def test_bad_game_strings_are_refused_with_the_place(text, message, place):
    with pytest.raises(BadPosition, match=re.escape(message)) as caught:
        BASE.parse(text)
    assert caught.value.place == place


def test_a_position_set_up_by_hand_is_text_and_is_played_on():
    game = ludus.make("hive", repetition=True)
    position = game.parse("Base;InProgress;White[9];put wS1;put wQ wS1-;put bA1 -wS1;put bQ -bA1;put bB1 wQ")
    assert (position.to_move, position.state.last) == (0, NOBODY)
    assert position.text == "Base;InProgress;White[9];put wS1;put wQ wS1-;put bA1 -wS1;put bQ -bA1;put bB1 wQ"
    assert "last:" not in str(position)
    moved = position.play("pass").play("bB1 wQ-").play("wA1 \\wQ")
    assert game.parse(moved.text) == moved
    assert moved.text.endswith("put bB1 wQ;pass;bB1 wQ-;wA1 \\wQ")
    for shown in (position, moved):
        check_position(shown)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("White[3];put wA1;put bA1 wA1-;put bA2 bA1-", "after 3 pieces that are put and 0 moves, the turn is Black"),
        ("White[900];put wA1;put bA1 wA1-", "a game ends after 300 plies"),
        ("Green[9];put wA1;put bA1 wA1-", "'Green\\[9\\]' is not a turn"),
        ("White[9];put wA1;put bA1 wA1-;put wA1 bA1-", "wA1 is put twice"),
        ("White[9];put wA2;put bA1 wA2-", "wA1 must be put before wA2"),
        ("White[9];put wA1;put bA1 wA1", "only a beetle can lie on another piece, and bA1 lies on wA1"),
        ("White[9];put wA1;put bB1 wA1", "bB1 lies on wA1, and black cannot climb before its queen is placed"),
        ("White[9];put wA1;put wA2 wA1-", "black has no piece on the board"),
        ("White[9];put wQ;put bA1 wQ-", "white has its queen alone"),
        (
            "White[9];put wA1;put wA2 wA1-;put wA3 wA2-;put wS1 wA3-;put bA1 -wA1",
            "white has 4 pieces without the queen",
        ),
        ("Black[9];put wA1;put bA1 wA1-", "so white has had 1 turn and black 0; black has 1 pieces"),
        ("White[9];put wA1;put pass", "a pass puts no piece"),
        ("White[9];put wA1;bA1 wA1-;put bA2 bA1-", "black has no piece on the board"),
    ],
)
def test_a_wrong_position_set_up_by_hand_is_explained(text, message):
    with pytest.raises(BadPosition, match=message):
        BASE.parse(f"Base;InProgress;{text}")


def test_no_move_follows_the_end():
    text = "Base;BlackWins;White[4];wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wS2 -wQ;bS2 bQ-"
    with pytest.raises(BadPosition, match="'bS2 bQ-' comes after the end of the game"):
        SURROUND_2.parse(text)


def test_the_board_is_drawn_with_its_stacks():
    position = played("wS1;bS1 wS1-;wQ -wS1;bQ bS1-;wB1 -wQ;bA1 bQ-;wB1 wQ")
    assert str(position) == (
        "     .     .     .     .     .     .\n"
        "  .    wB1^  wS1   bS1   bQ    bA1    .\n"
        "     .     .     .     .     .     .\n"
        "\n"
        "stacks: wB1 on wQ\n"
        "white in hand: S2 B2 G1 G2 G3 A1 A2 A3\n"
        "black in hand: S2 B1 B2 G1 G2 G3 A2 A3\n"
        "surrounded: white's queen 1 of 6, black's queen 2 of 6\n"
        "last: wB1 wQ\n"
        "black to move, turn 4"
    )


def test_moves_with_spaces_are_told_apart_in_a_list():
    from ludus.agents.human import list_moves

    lines = list_moves(played("wS1;bS1 wS1-"), 0).splitlines()
    assert lines[0].startswith("15 legal moves: wQ \\wS1; wS2 \\wS1; ")
    assert len(lines) > 1
    assert all(line.endswith(";") for line in lines[:-1])


def test_json_goes_out_and_in():
    position = played("wS1;bP wS1-;wQ -wS1", FULL)
    told = json.loads(json.dumps(position.json))
    assert told["game"]["options"] == {
        "expansions": "MLP",
        "repetition": False,
        "limit": 300,
        "decide_at_limit": False,
        "surround": 6,
        "view": "planes",
    }
    assert told["board"]["pieces"][1] == {
        **{"piece": "wS1", "colour": "white", "bug": "spider"},
        **{"q": 0, "r": 0, "level": 0},
    }
    assert told["board"]["last"] == "wQ"
    assert ludus.from_json(told) == position


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"expansions": "MX"}, "expansions must be letters of M"),
        ({"expansions": "MM"}, "expansions must be letters of M"),
        ({"limit": 0}, "limit must be from 1 to 10000"),
        ({"surround": 7}, "surround must be from 2 to 6"),
        ({"view": "cells"}, "view must be planes or adjacency"),
        ({"matrix": True}, "hive has no option 'matrix'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(BadOption, match=message):
        ludus.make("hive", **options)


def test_expansions_come_in_any_order_and_case():
    assert ludus.make("hive", expansions="plm").identity == FULL.identity
    assert "expansions=MLP" in FULL.identity


# --- Where the hive lies does not matter ------------------------------------------------------------------------------

SOME_BOARD = """
     bA1       bQ        wA1
wG1       wQ+bB1              bG1
     wS1       wP        bM
"""


@pytest.mark.parametrize("shift", [(29, 0), (0, 30), (17, 31)])
def test_ids_and_views_do_not_tell_where_the_hive_lies(shift):
    here, _ = drawn(SOME_BOARD)
    there, _ = drawn(SOME_BOARD, shift=shift)
    assert sorted(here.actions) == sorted(there.actions)
    assert np.array_equal(here.observe(0), there.observe(0))
    graphs = [each.graph() for each in (here, there)]
    assert [len(graph.edges) for graph in graphs] == [len(graphs[0].edges)] * 2
    assert np.array_equal(*(np.sort(graph.features, axis=0) for graph in graphs))
    with np.errstate(over="ignore"):
        prints = [generic.fingerprint(FULL.rules, each.state) for each in (here, there)]
    assert prints[0] == prints[1]
    matrices = [np.zeros((28, 27), np.float32) for _ in range(2)]
    for position, matrix in zip((here, there), matrices, strict=True):
        adjacency(FULL.rules, position.state, 0, matrix)
    assert np.array_equal(*matrices)


@pytest.mark.parametrize("way", range(3))
def test_a_line_of_all_pieces_fits(way):
    states = FULL.new_states(1)
    state = FULL.state_view(states)
    clear(state)
    cell = 0
    ant = NAMES[7].index("wA1")
    for piece in [*(piece for piece in range(28) if piece != ant), ant]:
        put(state, piece, cell)
        cell = int(NEXT[cell, way])
    state.ply = 100
    position = Position(FULL, states)
    check_board(state)
    assert position.observe()[:28].sum() == 28
    assert all(name in str(position) for name in NAMES[7])
    assert len(ends(position, "wA1")) == 2 * 27 + 4 - 1  # all round the others


def test_planes_show_every_piece_and_who_holds_the_hive():
    position, _ = drawn(SOME_BOARD)
    seen, names = position.observe(0), NAMES[7]
    assert seen.shape == (48, 28, 28) == FULL.observation
    assert seen[names.index("wQ")].max() == 0.5  # something lies on it
    assert seen[names.index("bB1")].max() == 1
    assert np.argwhere(seen[names.index("wQ")]).tolist() == np.argwhere(seen[names.index("bB1")]).tolist()
    assert seen[names.index("wA2")].max() == 0
    assert seen[28].sum() == sum(not ends(position, name) for name in ("wG1", "wA1"))
    assert seen[30].min() == 1
    assert seen[31].max() == pytest.approx(40 / 300)
    in_hand = seen[32:, 0, 0].tolist()
    assert in_hand[:4] == [0, 0, 0.5, 1]  # queens, spiders
    assert in_hand[8:10] == pytest.approx([2 / 3, 2 / 3])  # ants
    other = position.observe(1)
    assert np.array_equal(other[1], seen[0])
    assert other[30].max() == 0


def test_the_matrix_of_neighbours_has_the_codes_of_its_description():
    game = ludus.make("hive", view="adjacency")
    assert game.observation == (1, 22, 21)
    position = played("wS1;bA1 wS1-;wQ -wS1;bQ bA1/;wB1 -wQ;bA2 bA1-;wB1 wQ", game)
    order = ["wA1", "wA2", "wA3", "wB1", "wB2", "wG1", "wG2", "wG3", "wQ", "wS1", "wS2"]
    order += [f"b{name[1:]}" for name in order]

    def code(of, other, matrix):
        row, column = order.index(of), order.index(other)
        return matrix[row, column - (column > row)]

    matrix = position.observe(0)[0]
    assert code("wS1", "bA1", matrix) == 4
    assert code("bA1", "wS1", matrix) == 1
    assert code("bA1", "bQ", matrix) == 3
    assert code("bQ", "bA1", matrix) == 6
    assert code("bA2", "bQ", matrix) == 2
    assert code("bQ", "bA2", matrix) == 5
    assert code("wB1", "wQ", matrix) == 7
    assert code("wQ", "wB1", matrix) == 8
    assert code("wB1", "wS1", matrix) == 4
    assert code("wQ", "bQ", matrix) == 9
    assert code("wQ", "wA1", matrix) == code("wA1", "wQ", matrix) == 0
    assert np.array_equal(position.observe(1)[0][11:, :11], matrix[:11, 10:])  # for black the halves change places


def test_the_graph_joins_pieces_and_moves():
    position = played("wS1;bA1 wS1-;wQ -wS1;bQ bA1-")
    graph, names = position.graph(), NAMES[0]
    relations = position.game.graph.relations
    edges = {(relations[relation], int(start), int(end)) for relation, start, end in graph.edges}
    assert len(edges) == len(graph.edges)
    assert ("east", names.index("wS1"), names.index("bA1")) in edges
    assert ("west", names.index("bA1"), names.index("wS1")) in edges
    move = len(names) + position.actions.index(position.action_of("wQ \\wS1"))
    assert ("moves", names.index("wQ"), move) in edges
    assert ("moved by", move, names.index("wQ")) in edges
    assert ("ends northwest", names.index("wS1"), move) in edges
    assert ("touches", move, names.index("wS1")) in edges
    assert not any(start == names.index("wQ") for relation, start, end in edges if end == move and relation != "moves")
    assert graph.features.shape == (len(names) + len(position.actions), 20)
    assert graph.features[: len(names), 15].max() == 0
    assert graph.features[len(names) :, 15].min() == 1
    assert graph.features[names.index("wS1"), 13] == 1  # holds the hive together


def test_greedy_beats_random():
    from ludus import play_match
    from ludus.agents import make_agent

    game = ludus.make("hive", limit=40, decide_at_limit=True).compile()
    result = play_match(game, [make_agent("greedy", game), make_agent("random", game)], 2, seed=1)
    assert result.score(0).mean >= 0.75


# --- Failures are kept ------------------------------------------------------------------------------------------------


def test_a_failed_check_is_saved_and_loads_again(tmp_path, monkeypatch):
    position = played("wS1;bS1 wS1-;wQ -wS1;bQ bS1-")
    monkeypatch.setattr("ludus.games.hive.lift", lambda state, piece: None)  # leaves a shadow of the piece behind
    with pytest.raises(BrokenHive, match="saved to") as caught:
        play_checked(position, "wQ \\wS1", tmp_path)
    monkeypatch.undo()
    (file,) = tmp_path.glob("*.json")
    assert str(file) in str(caught.value)
    again, move, reason = load_failure(file)
    assert again == position
    assert (move, reason) == ("wQ \\wS1", "the top of a stack is wrong")
    assert play_checked(again, move, tmp_path).text == position.play(move).text


@pytest.mark.parametrize("file", sorted(FAILURES.glob("*.json")), ids=str)
def test_failures_of_the_past_are_mended(file, tmp_path):
    position, move, _ = load_failure(file)
    play_checked(position, move, tmp_path)


def test_an_illegal_move_is_no_failure(tmp_path):
    with pytest.raises(IllegalMove):
        play_checked(BASE.start(), "wQ", tmp_path)
    assert not list(tmp_path.iterdir())


# --- The page ---------------------------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "games" / "hive.md").read_text()


def test_the_python_of_the_page_runs(capsys):
    (code,) = re.findall(r"<!-- run -->\n```python\n(.*?)```", PAGE, re.DOTALL)
    exec(code, {})
    assert capsys.readouterr().out.endswith("moving wS1 would break the hive\n")


@pytest.mark.parametrize("command", re.search(r"<!-- shell -->\n```sh\n(.*?)```", PAGE, re.DOTALL)[1].splitlines())
def test_the_commands_of_the_page_run(command, monkeypatch):
    """In this process, which has compiled the rules."""
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    program, *arguments = shlex.split(command)
    assert program == "ludus"
    assert main(arguments) == 0
