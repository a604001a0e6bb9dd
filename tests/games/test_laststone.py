from functools import cache

import numpy as np
import pytest

from ludus.errors import BadOption, BadPosition, IllegalMove
from ludus.registry import make


def test_values_of_the_three_players():
    position = make("laststone", stones=5, most=2).start()
    for move in ("2", "1", "1"):
        assert not position.is_over
        assert position.values == (0.0, 0.0, 0.0)
        position = position.play(move)
    assert position.to_move == 0
    assert position.moves == ["1"]
    assert position.play("1").values == (1.0, 0.0, -1.0)
    game = make("laststone")
    assert [game.parse(f"0 {side}").values for side in "abc"] == [(0, -1, 1), (1, 0, -1), (-1, 1, 0)]


def best(most):
    """By backward induction: what (mover, next, third) get, and every best number to take, from a heap of `stones`."""

    @cache
    def solve(stones):
        if stones == 0:
            return (0, -1, 1), frozenset()
        results = {}
        for taken in range(1, min(most, stones) + 1):
            following, _ = solve(stones - taken)
            results[taken] = (following[2], following[0], following[1])  # the next player is the mover there
        result = max(results.values())
        ties = {taken for taken in results if results[taken][0] == result[0]}
        assert all(results[taken] == result for taken in ties), "the mover would decide between the two others"
        return result, frozenset(ties)

    return solve


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7])
def test_solution_is_that_of_backward_induction(most):
    game = make("laststone", stones=60, most=most)
    solve = best(most)
    for stones in range(61):
        values, ties = solve(stones)
        claimed, take = game.solution(stones)
        assert claimed == values
        if take:
            assert ties == {take}
        else:
            assert len(ties) == min(most, stones)  # nothing to take, or all alike


def test_solution_in_play():
    game = make("laststone")
    position = game.start()
    while not position.is_over:
        _, take = game.solution(int(position.state.stones))
        position = position.play(str(take or 1))
    assert position.values == game.solution(12)[0] == (1, 0, -1)
    assert position.played == ["2", "1", "1", "3", "1", "1", "3"]


def test_text_notation_and_drawing():
    game = make("laststone")
    position = game.start().play("2").play(2)
    assert position.text == "7 c"
    assert position == game.parse(" 7 c ")
    assert position.played == ["2", "3"]
    assert str(position) == "ooooo oo\nc to move"
    assert str(game.parse("0 a")) == "c took the last stone"


def test_observation():
    game = make("laststone", stones=4, most=3)
    planes = game.start().play("1").observe(2)
    assert planes.shape == (4, 1, 4)
    assert planes[0, 0].tolist() == [1, 1, 1, 0]
    assert planes[1:, 0, 0].tolist() == [0, 0, 1]  # for c, b is the third player
    assert np.array_equal(game.start().play("1").observe()[1:, 0, 0], [1, 0, 0])


@pytest.mark.parametrize(
    ("move", "reason"),
    [
        ("3", "3 is more than the 2 stones"),
        ("4", "1 to 3 stones, not 4"),
        ("0", "1 to 3 stones"),
        ("all", "not a move"),
    ],
)
def test_illegal_moves(move, reason):
    with pytest.raises(IllegalMove, match=reason):
        make("laststone").parse("2 a").play(move)


@pytest.mark.parametrize(
    ("text", "place"), [("13 a", 0), ("-1 a", 0), ("x a", 0), ("", 0), ("12", 3), (" 12 d", 4), ("12 ab", 3)]
)
def test_bad_positions(text, place):
    with pytest.raises(BadPosition) as caught:
        make("laststone").parse(text)
    assert caught.value.place == place


@pytest.mark.parametrize("options", [{"stones": 0}, {"stones": 10_001}, {"most": 0}, {"stones": 3, "most": 4}])
def test_bad_options(options):
    with pytest.raises(BadOption, match="laststone: "):
        make("laststone", **options)
