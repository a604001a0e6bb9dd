"""Hive for networks that see groups of cells and moves by what they touch."""

import numpy as np
import pytest

import ludus
from ludus.games._hive_groups import (
    BESIDE,
    BOTH_RINGS,
    CROWD,
    EDGE,
    FREE,
    FROM,
    IN_HAND,
    KINDS,
    MOVED,
    PLACES,
    PLANES,
    SIDE,
    TO,
    groups,
    touches,
)
from ludus.games.hive import advance
from ludus.nets.families import make_network

OPENING = ["wS1", "bS1 wS1-", "wQ -wS1", "bQ bS1-", "wA1 -wQ", "bA1 bQ-", "wA1 bA1-"]


def after(moves, **options):
    position = ludus.make("hive", **options).start()
    for move in moves:
        position = position.play(move)
    return position


def view(position, player):
    planes, ids = np.zeros((PLANES, SIDE, SIDE), np.float32), np.full((1, SIDE, SIDE), -1, np.float32)
    groups(position.game.rules, position.state, player, planes, ids)
    return planes, ids


def touched(position, move):
    roles, cells = np.zeros((2, 2), np.int32)
    player = position.to_move
    kind, count = touches(position.game.rules, position.state, player, position.action_of(move), roles, cells)
    return kind, dict(zip(roles[:count].tolist(), cells[:count].tolist(), strict=True))


def test_a_shifted_hive_looks_the_same():
    position = after(OPENING)
    moves = [divmod(int(move), 1024) for move in position.state.past[: len(OPENING)]]
    start = ludus.make("hive").start()
    for piece, cell in moves:
        advance(start.game.rules, start.state, piece, ((cell >> 5) + 9 & 31) << 5 | (cell + 21 & 31))
    for one, other in zip(view(position, 0), view(start, 0), strict=True):
        assert np.array_equal(one, other)


def test_the_other_player_sees_the_same_with_sides_swapped():
    position = after(OPENING)
    (mine, ids), (theirs, other_ids) = view(position, 0), view(position, 1)
    for first in (0, FREE, BESIDE, PLACES, CROWD, IN_HAND):
        width = 8 if first in (0, IN_HAND) else 1
        assert np.array_equal(mine[first : first + width], theirs[first + width : first + 2 * width])
    assert np.array_equal(ids == EDGE, other_ids == EDGE)
    assert np.array_equal(ids == BOTH_RINGS, other_ids == BOTH_RINGS)


def test_planes_say_where_each_player_may_place_a_piece():
    position = after(OPENING[:-1])
    planes, _ = view(position, 0)
    free = {
        targets[TO] for move in position.moves for kind, targets in [touched(position, move)] if FROM not in targets
    }
    assert free == set(np.flatnonzero(planes[PLACES]).tolist())


def test_a_move_touches_the_cell_it_leaves_and_the_cell_where_it_ends():
    position = after(OPENING[:-1])
    planes, _ = view(position, 0)
    kind, cells = touched(position, "wA1 bA1-")
    assert kind == MOVED + 4
    assert planes[4].ravel()[cells[FROM]] == 1.0
    assert planes[BESIDE + 1].ravel()[cells[TO]] == pytest.approx(1 / 6)


def test_queens_between_crowds_share_cells_and_count_neighbours():
    position = after(["wS1", "bS1 wS1-", "wQ /wS1", "bQ bS1\\", "wA1 -wQ", "bA1 bQ-"])
    planes, ids = view(position, 0)
    assert planes[CROWD, 0, 0] == pytest.approx(2 / 6)
    assert (ids == BOTH_RINGS).sum() > 0
    assert planes[IN_HAND + 4, 0, 0] == pytest.approx(2 / 3)  # one of three ants is on the board


def test_a_hive_is_in_the_middle_of_its_frame_and_keeps_its_shape():
    random = np.random.default_rng(2)
    position, whole = ludus.make("hive").start(), 0
    for ply in range(60):
        position = position.play(position.actions[random.integers(len(position.actions))])
        planes, _ = view(position, 0)
        rows, columns = np.nonzero(planes[:BESIDE].any(0) | (planes[BESIDE : BESIDE + 2] > 0).any(0))
        tops = planes[:16].sum(0)
        beside = sum(
            np.roll(np.roll(tops, -row, 0), -column, 1)
            for row, column in ((0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1))
        )
        assert np.allclose(planes[BESIDE] + planes[BESIDE + 1], beside / 6)
        for places in (rows, columns):
            assert abs(places.min() + places.max() - SIDE) <= 2 or ply > 40
        whole += max(np.ptp(rows), np.ptp(columns)) < SIDE - 1
    assert whole > 50


def test_one_set_of_weights_fits_all_expansions():
    one, other = (
        make_network("groups", ludus.make("hive", expansions=expansions), blocks=1, width=8)
        for expansions in ("", "MLP")
    )
    other.load_state_dict(one.state_dict())
    position = after(["wP", "bS1 wP-", "wQ -wP", "bQ bS1-", "wA1 -wQ", "bA1 bQ-"], expansions="MLP")
    told = [touched(position, move) for move in position.moves]
    assert max(kind for kind, _ in told) < KINDS
    assert len({(kind, *sorted(cells.items())) for kind, cells in told}) == len(told)
