"""Random openings: long enough to vary games, short enough not to decide them."""

import pytest

import ludus
from ludus.arena.openings import default_opening
from ludus.arena.record import Task, start_of


@pytest.mark.parametrize(
    ("name", "options", "plies"),
    [
        ("tictactoe", {}, 1),
        ("connect4", {}, 4),
        ("connect4", {"rows": 3, "columns": 3, "line": 3}, 1),
        ("connect4", {"rows": 1, "columns": 1}, 0),
        ("breakthrough", {}, 4),
        ("laststone", {}, 1),
        ("laststone", {"stones": 8}, 0),
        ("roshambo", {"rounds": 3}, 0),
        ("roshambo", {"rounds": 20}, 4),
    ],
)
def test_the_default_opening_is_a_fifth_of_a_game_and_at_most_four_plies(name, options, plies):
    assert default_opening(ludus.make(name, **options)) == plies


def test_the_arena_begins_with_the_default_opening_unless_told(tmp_path):
    for given, plies in ((None, 1), (0, 0), (3, 3)):
        file = tmp_path / f"{given}.sqlite"
        ludus.rate(["greedy"], "tictactoe", results=file, games=4, parallel=1, openings=given)
        with ludus.open_results(file) as results:
            (rules,) = results.played()
            assert [game.record.opening for game in results.games(rules.identity)] == [plies] * 4


def test_an_opening_longer_than_the_game_leaves_a_move_to_the_agents():
    """As many plies as random play allows: one less than the longest of the games tried."""
    game = ludus.make("tictactoe")
    position = start_of(game, Task(0, ("random", "random"), (0, 1), 5, (1, 2), opening=1000))
    assert not position.is_over
    assert len(position.history) - 1 == 8
