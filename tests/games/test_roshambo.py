import itertools

import numpy as np
import pytest

from ludus.errors import BadOption, BadPosition, IllegalMove
from ludus.registry import make
from ludus.rules import EVERYONE

PRIZES = [(1.0, 0.5, 0.25), (1.0, 1.0, 1.0), (0.1, 0.9, 0.3)]


def payoffs(game):
    """What the first player gets for each pair of actions, from playing them; [3, 3]."""
    return np.array([[game.start().play((mine, other)).values[0] for other in range(3)] for mine in range(3)])


@pytest.mark.parametrize("prizes", PRIZES)
def test_equilibrium(prizes):
    game = make("roshambo", **dict(zip(("rock", "paper", "scissors"), prizes, strict=True)))
    matrix, mix = payoffs(game), game.equilibrium()
    assert np.array_equal(matrix, -matrix.T)  # symmetric, so that one mix serves both players
    assert mix.min() > 0
    assert mix.sum() == pytest.approx(1)
    # Everyone is indifferent between all choices, and the value is 0.
    assert matrix @ mix == pytest.approx(np.zeros(3), abs=1e-7)
    # There is no other. Against an optimal mix no choice gets more than 0, and `mix`, which makes every choice at
    # times, gets 0 on the average; so all of them get 0. Of such mixes a matrix of rank 2 has one.
    assert np.linalg.matrix_rank(matrix, tol=1e-6) == 2


def test_default_equilibrium_is_far_from_uniform():
    assert make("roshambo").equilibrium() == pytest.approx([1 / 7, 4 / 7, 2 / 7])


def test_several_rounds_share_the_value():
    game = make("roshambo", rounds=2)
    single = payoffs(make("roshambo"))
    for first, second in itertools.product(itertools.product(range(3), repeat=2), repeat=2):
        position = game.start().play(first)
        assert not position.is_over
        position = position.play(second)
        assert position.is_over
        assert position.values[0] == pytest.approx((single[first] + single[second]) / 2)
        assert position.values[1] == -position.values[0]


@pytest.mark.parametrize("rounds", [2, 3])
def test_equilibrium_in_every_round(rounds):
    """Against the equilibrium in all rounds, every sequence of choices is worth 0."""
    game = make("roshambo", rounds=rounds)
    mix = game.equilibrium()

    def worth(position, choices):
        if not choices:
            return position.values[0]
        return sum(mix[other] * worth(position.play((choices[0], other)), choices[1:]) for other in range(3))

    for choices in itertools.product(range(3), repeat=rounds):
        assert worth(game.start(), choices) == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("compiled", [False, True])
def test_play(compiled):
    game = make("roshambo", rounds=3)
    position = (game.compile() if compiled else game).start()
    assert position.to_move == EVERYONE
    assert len(position.moves) == 9
    assert position.moves[1] == "rock,paper"
    position = position.play("rock, SCISSORS").play("p,r").play("s,r")
    assert position.text == "3 rp/r"
    assert position.values == pytest.approx((0.5 / 3, -0.5 / 3))
    assert position == game.parse(position.text)
    assert position.played == ["rock,scissors", "paper,rock", "scissors,rock"]
    assert str(position) == "3 of 3 rounds played\n first has won 1.5\nsecond has won 1"
    assert position.observe(1).ravel() == pytest.approx([1, 1 / 3, 0.5])
    assert game.start().text == "0 -/-"


@pytest.mark.parametrize(
    ("move", "reason"),
    [("rock", "give 2 moves"), ("rock,well", "'well' is none of rock"), ((0, 3), "not legal"), (0, "one id")],
)
def test_illegal_moves(move, reason):
    with pytest.raises(IllegalMove, match=reason):
        make("roshambo").start().play(move)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("", "rounds played must be from 0 to 3", 0),
        ("4 -/-", "from 0 to 3, not '4'", 0),
        ("1", "comes what each player won with", 2),
        ("2 r-/s", "'-' is none of r, p, s", 3),
        (" 2 r/x", "'x' is none of r, p, s", 5),
        ("2 r/", "wins of the second player are missing", 4),
        ("2 /r", "wins of the first player are missing", 2),
        ("1 r/s", "2 rounds are won, but only 1 played", None),
    ],
)
def test_bad_positions(text, message, place):
    with pytest.raises(BadPosition, match=message) as caught:
        make("roshambo", rounds=3).parse(text)
    assert caught.value.place == place


@pytest.mark.parametrize(
    "options", [{"rounds": 0}, {"rock": 0}, {"paper": 1.5}, {"scissors": -0.5}, {"rock": float("nan")}]
)
def test_bad_options(options):
    with pytest.raises(BadOption, match="roshambo: "):
        make("roshambo", **options)
