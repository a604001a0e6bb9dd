"""Tests that need the same machine code run in one process (see conftest.py)."""

import pytest

from tests.conftest import group_of

SEEN = []
"""The tests of this file that have run in this process."""


@pytest.fixture(autouse=True)
def seen(request):
    SEEN.append(request.node.nodeid)


@pytest.mark.parametrize(
    ("test", "group"),
    [
        ("tests/games/test_check_game.py::test_contract[hive-options3]", "hive"),
        ("tests/games/test_hive.py::test_perft_is_that_of_other_engines[L]", "hive"),
        ("tests/protocols/test_uhp.py::test_info", "hive"),
        ("tests/search/test_known_solutions.py::test_tic_tac_toe_is_a_draw[ucb1]", "known_solutions"),
        ("tests/fuzz/test_fuzz.py::test_fixed_seeds_find_nothing[command:]", "fuzz"),
    ],
)
def test_the_group_is_the_game_or_the_file(test, group):
    assert group_of(test) == group


def test_the_tests_of_this_file_share_a_process(request):
    """The last one of the file: if xdist takes each test for a group of its own, the others run elsewhere too."""
    assert [item.nodeid for item in request.session.items if item.path == request.path] == SEEN
