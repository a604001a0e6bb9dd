"""A toy game that keeps all its promises, or breaks the one that its option `flaw` names.

Two players in turn mark one of five cells in a line; when all are marked, who has marked the middle one wins.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ludus.board import Board, Piece, grid
from ludus.errors import BadPosition, IllegalMove
from ludus.game import Game, GraphShape, GroupShape, TouchShape
from ludus.rules import EVERYONE

SIZE = 5
FLAWS = (
    "NONE RESET_PARTLY RESET_BY_CHANCE LEGAL_TWICE LEGAL_OUT_OF_RANGE LEGAL_UNWRITTEN LEGAL_TOO_MANY LEGAL_NONE "
    "LEGAL_CHANGES TO_MOVE_RANGE TO_MOVE_EVERYONE TO_MOVE_CHANGES OUTCOME_PARTLY OUTCOME_LARGE OUTCOME_SUM "
    "OUTCOME_EARLY OUTCOME_CHANGES LONGEST PLAY_OUTSIDE PLAY_FAILS OBSERVE_NAN OBSERVE_CHANGES OBSERVE_OUTSIDE "
    "HEURISTIC_LARGE SYMMETRY_IDENTITY SYMMETRY_PARTLY SYMMETRY_ACTIONS SYMMETRY_ONE_ACTION SYMMETRY_TURN "
    "SYMMETRY_LAST FINGERPRINT_WEAK TEXT_LOSES TEXT_CHANGES TEXT_CRASHES TEXT_MISSING DRAW_NOTHING MOVES_ALIKE "
    "MOVES_MISREAD MOVES_CRASH NATIVE_PLAY NATIVE_OUTCOME NATIVE_LEGAL NATIVE_OBSERVE NATIVE_HEURISTIC "
    "NATIVE_FINGERPRINT NATIVE_SYMMETRY NATIVE_INDEX NATIVE_MARGIN GRAPH_MOVES "
    "GRAPH_PARTLY GRAPH_EDGES GRAPH_TWICE NATIVE_GRAPH JSON DRAWING "
    "GROUPS_NAN GROUPS_RANGE NATIVE_GROUPS TOUCHES_ALIKE TOUCHES_RANGE TOUCHES_MANY NATIVE_TOUCHES "
    "OBSERVE_BOUNDS CUT_OFF_LARGE CUT_OFF_SUM CUT_OFF_PARTLY NATIVE_CUT_OFF"
)
Flaw = IntEnum("Flaw", FLAWS, start=0)


class Line(NamedTuple):
    flaw: int = 0


STATE = np.dtype([("cells", np.int8, (SIZE,)), ("big", np.uint8), ("ply", np.int8), ("last", np.int8)])


def reset(rules, state, random):
    state.cells[:] = 0
    state.big = 250
    state.ply = 0
    if rules.flaw != Flaw.RESET_PARTLY:
        state.last = -1
    if rules.flaw == Flaw.RESET_BY_CHANCE:
        state.last = np.random.randint(0, 100)  # noqa: NPY002


def overflows(state):
    """1 in plain Python, where eight bits overflow, and 65 in machine code, where they do not."""
    return (state.big + np.uint8(10)) // np.uint8(4)


def to_move(rules, state):
    if rules.flaw == Flaw.TO_MOVE_RANGE:
        return 2
    if rules.flaw == Flaw.TO_MOVE_EVERYONE:
        return EVERYONE
    if rules.flaw == Flaw.TO_MOVE_CHANGES:
        state.last = 3
    return state.ply & 1


def legal(rules, state, player, actions):
    if rules.flaw == Flaw.LEGAL_NONE:
        return 0
    if rules.flaw == Flaw.LEGAL_CHANGES:
        state.last = 3
    count = 0
    for cell in range(SIZE):
        if state.cells[cell] == 0:
            actions[count - 1 if rules.flaw == Flaw.LEGAL_UNWRITTEN else count] = cell
            count += 1
    if rules.flaw == Flaw.LEGAL_TWICE and count > 1:
        actions[1] = actions[0]
    if rules.flaw == Flaw.LEGAL_OUT_OF_RANGE:
        actions[0] = SIZE
    if rules.flaw == Flaw.NATIVE_LEGAL:
        actions[count - 1] *= overflows(state)
    return SIZE + 1 if rules.flaw == Flaw.LEGAL_TOO_MANY else count


def mark(cells, cell, player):
    cells[cell] = player + 1


def play(rules, state, action):
    factor = np.int64(overflows(state)) if rules.flaw == Flaw.NATIVE_INDEX else 1
    mark(state.cells, action * factor + (3 if rules.flaw == Flaw.PLAY_OUTSIDE else 0), state.ply & 1)
    if rules.flaw == Flaw.PLAY_FAILS and state.ply == 2:
        raise ValueError("no third move")
    state.last = action
    state.ply += 1
    if rules.flaw == Flaw.NATIVE_PLAY:
        state.last *= overflows(state)


def outcome(rules, state, values):
    if rules.flaw == Flaw.OUTCOME_CHANGES:
        state.last = 3
    if rules.flaw == Flaw.OUTCOME_EARLY:
        values[:] = 0.0
    if state.ply < SIZE:
        return rules.flaw == Flaw.NATIVE_OUTCOME and overflows(state) == 65
    winner = state.cells[SIZE // 2] - 1
    values[winner] = 2.0 if rules.flaw == Flaw.OUTCOME_LARGE else 1.0
    if rules.flaw != Flaw.OUTCOME_PARTLY:
        values[1 - winner] = 0.5 if rules.flaw == Flaw.OUTCOME_SUM else -1.0
    return True


def observe(rules, state, player, planes):
    for cell in range(SIZE):
        if state.cells[cell]:
            planes[0 if state.cells[cell] == player + 1 else 1, cell] = 1.0
    if rules.flaw == Flaw.OBSERVE_NAN:
        planes[0, 0] = np.nan
    if rules.flaw == Flaw.OBSERVE_BOUNDS:
        planes[0, 0] = 1000.0
    if rules.flaw == Flaw.OBSERVE_CHANGES:
        state.last = 3
    if rules.flaw == Flaw.OBSERVE_OUTSIDE:
        planes[2, 0] = 1.0
    if rules.flaw == Flaw.NATIVE_OBSERVE:
        planes[0, 0] = overflows(state)
    if rules.flaw == Flaw.NATIVE_MARGIN:
        planes.flat[overflows(state)] = 1.0


def symmetry(rules, state, which, image, actions, count):
    """1 is the mirror image."""
    mirror = which == 1 or rules.flaw == Flaw.SYMMETRY_IDENTITY
    for cell in range(SIZE):
        image.cells[SIZE - 1 - cell if mirror else cell] = state.cells[cell]
    image.big = state.big
    image.ply = state.ply
    if rules.flaw == Flaw.SYMMETRY_TURN and which == 1:
        image.ply ^= 1
    if rules.flaw != Flaw.SYMMETRY_PARTLY:
        image.last = state.last
        if mirror and state.last >= 0 and rules.flaw != Flaw.SYMMETRY_LAST:
            image.last = SIZE - 1 - state.last
    if rules.flaw == Flaw.NATIVE_SYMMETRY:
        image.last *= overflows(state)
    for i in range(count):
        if mirror and rules.flaw != Flaw.SYMMETRY_ACTIONS:
            actions[i] = 0 if rules.flaw == Flaw.SYMMETRY_ONE_ACTION else SIZE - 1 - actions[i]


def graph(rules, state, player, actions, count, features, edges, sizes):
    """A node for each cell, linked to the next; and one for each move, linked to its cell."""
    for node in range(SIZE + count):
        features[node, 0] = overflows(state) if rules.flaw == Flaw.NATIVE_GRAPH else 0.0
        if rules.flaw != Flaw.GRAPH_PARTLY or node < SIZE:
            features[node, 1] = node < SIZE
    for cell in range(SIZE - 1):
        edges[cell, 0] = 2 if rules.flaw == Flaw.GRAPH_EDGES else 0
        edges[cell, 1] = cell
        edges[cell, 2] = cell + 1
    if rules.flaw == Flaw.GRAPH_TWICE:
        edges[1, :] = edges[0, :]
    for i in range(count):
        edges[SIZE - 1 + i, 0] = 1
        edges[SIZE - 1 + i, 1] = SIZE + i
        edges[SIZE - 1 + i, 2] = actions[i]
    sizes[0] = count - 1 if rules.flaw == Flaw.GRAPH_MOVES else SIZE + count
    sizes[1] = SIZE - 1 + count


def groups(rules, state, player, planes, ids):
    for cell in range(SIZE):
        planes[0, 0, cell] = np.nan if rules.flaw == Flaw.GROUPS_NAN else state.cells[cell]
        ids[0, 0, cell] = 2 if rules.flaw == Flaw.GROUPS_RANGE else cell & 1
    if rules.flaw == Flaw.NATIVE_GROUPS:
        planes[0, 0, 0] = overflows(state)


def touches(rules, state, player, action, roles, cells):
    roles[0] = 0
    cells[0] = 0 if rules.flaw == Flaw.TOUCHES_ALIKE else action
    if rules.flaw == Flaw.TOUCHES_RANGE:
        cells[0] = SIZE
    kind = overflows(state) // 65 if rules.flaw == Flaw.NATIVE_TOUCHES else 0
    return kind, 3 if rules.flaw == Flaw.TOUCHES_MANY else 1


def heuristic(rules, state, player):
    if rules.flaw == Flaw.NATIVE_HEURISTIC:
        return overflows(state) / 100
    return 1.5 if rules.flaw == Flaw.HEURISTIC_LARGE else 0.5


def cut_off(rules, state, plies, values):
    if plies < 2:
        return False
    values[0] = overflows(state) / 100 if rules.flaw == Flaw.NATIVE_CUT_OFF else 0.5
    if rules.flaw == Flaw.CUT_OFF_LARGE:
        values[0] = 1.5
    if rules.flaw != Flaw.CUT_OFF_PARTLY:
        values[1] = 0.5 if rules.flaw == Flaw.CUT_OFF_SUM else -values[0]
    return True


def fingerprint(rules, state):
    number = np.uint64(state.last + 1)
    for cell in range(SIZE):
        number = number * np.uint64(3) + np.uint64(state.cells[cell])
    if rules.flaw == Flaw.NATIVE_FINGERPRINT:
        number += np.uint64(overflows(state))
    return np.uint64(state.ply) if rules.flaw == Flaw.FINGERPRINT_WEAK else number


class LineGame(Game):
    Rules = Line
    name = "line"
    title = "Line"

    def setup(self):
        self.state = STATE
        self.actions = self.most_legal = SIZE
        self.longest = SIZE - 1 if self.rules.flaw == Flaw.LONGEST else SIZE
        self.observation = (2, SIZE)
        self.observation_bounds = (-999.0, 999.0)
        self.graph = GraphShape(2 * SIZE, 2 * SIZE, 2, ("next", "marks"))
        self.groups = GroupShape(1, 1, SIZE, (2,))
        self.touches = TouchShape(kinds=2, roles=1, cells=2)
        self.symmetries = 2

    def describe(self, state):
        return {"cells": state.cells if self.rules.flaw == Flaw.JSON else state.cells.tolist()}

    def drawing(self, position):
        cells, _ = grid(["1"], "abcde")
        return Board(cells, [Piece("f1" if self.rules.flaw == Flaw.DRAWING else "a1", 0)])

    def write(self, state):
        text = "".join("-xo"[cell] for cell in state.cells)
        return text if self.rules.flaw == Flaw.TEXT_LOSES else f"{text} {state.last}"

    def read(self, text, state):
        if self.rules.flaw == Flaw.TEXT_MISSING:
            raise NotImplementedError
        cells, _, last = text.partition(" ")
        if self.rules.flaw != Flaw.TEXT_CRASHES and (
            len(cells) != SIZE or set(cells) - set("-xo") or last not in ("", *map(str, range(-1, SIZE)))
        ):
            raise BadPosition("five of -xo, a space, and the last cell marked")
        reset(self.rules, state, None)
        for cell in range(SIZE):
            state.cells[cell] = "-xo".index(cells[cell])
        state.ply = np.count_nonzero(state.cells)
        state.last = int(last or 0)
        if self.rules.flaw == Flaw.TEXT_CHANGES:
            state.last = -1

    def write_move(self, state, player, action):
        return "x" if self.rules.flaw == Flaw.MOVES_ALIKE else "abcde"[action]

    def read_move(self, state, player, text):
        if self.rules.flaw == Flaw.MOVES_CRASH:
            return "abcde".index(text)
        if text not in ("a", "b", "c", "d", "e"):
            raise IllegalMove("a move is one of a to e")
        return "bcdea".index(text) if self.rules.flaw == Flaw.MOVES_MISREAD else "abcde".index(text)

    def draw(self, state):
        return "" if self.rules.flaw == Flaw.DRAW_NOTHING else "|".join("-xo"[cell] for cell in state.cells)
