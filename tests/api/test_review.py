"""`ludus.review`: the moves of a game judged by the solver where it reaches, and by a search elsewhere."""

import threading

import ludus


def played(name, *moves):
    position = ludus.make(name).start()
    for move in moves:
        position = position.play(move)
    return position


def test_mistakes_are_found_exactly_where_the_solver_reaches():
    judged = list(ludus.review(played("tictactoe", "a1", "c3", "c1", "b1", "b2")))
    assert [each.ply for each in judged] == [5, 4, 3, 2, 1, 0]
    assert all(each.exact for each in judged)
    by_ply = {each.ply: each for each in judged}
    assert by_ply[1].loss == 1.0  # only the centre holds the draw after a corner
    assert by_ply[1].best == "b2"
    assert by_ply[0].loss == 0.0
    assert by_ply[4].values == (1.0, -1.0)
    assert by_ply[5].played is None
    assert by_ply[4].json["values"] == [1.0, -1.0]


def test_positions_that_are_not_solved_are_searched():
    judged = list(ludus.review(played("connect4", "d", "d", "a"), "uct:300", solve_seconds=0, seed=1))
    assert not any(each.exact for each in judged)
    assert [each.played for each in judged] == [None, "a", "d", "d"]
    for each in judged:
        assert each.values[0] == -each.values[1]
        assert each.loss is None or 0.0 <= each.loss <= 2.0


def test_where_all_move_at_once_values_are_told_and_no_mistakes():
    judged = list(ludus.review(played("roshambo", "rock,paper"), "uct:200"))
    assert all(each.loss is None and each.best is None for each in judged)


def test_the_end_of_a_game_is_exact_and_a_review_can_be_stopped():
    over = played("tictactoe", "a1", "a2", "b1", "b2", "c1")
    stop = threading.Event()
    judged = ludus.review(over, stop=stop)
    first = next(judged)
    assert (first.exact, first.values, first.best) == (True, (1.0, -1.0), None)
    stop.set()
    assert list(judged) == []
