"""Alpha-beta to a fixed depth finds what looking at everything finds."""

import numpy as np
import pytest

import ludus
from ludus.agents import make_agent
from ludus.agents.greedy import judge
from ludus.errors import BadAgent

CONNECT = ludus.make("connect4", rows=4, columns=5)
CACHEX = ludus.make("cachex", n=3)


def minimax(position, left, me):
    """The worth of a position without any pruning; a result counts more the sooner it comes."""
    if position.is_over:
        return position.values[me] * (1 + left)
    if left == 0:
        return judge(position, me)
    values = [minimax(position.play(action), left - 1, me) for action in position.actions]
    return max(values) if position.to_move == me else min(values)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize(("game", "moves"), [(CONNECT, ""), (CONNECT, "c c b d"), (CACHEX, "0,1 1,2 0,2 2,1")])
def test_its_moves_are_those_of_minimax(game, moves, depth):
    position = game.start()
    for move in moves.split():
        position = position.play(move)
    me = position.to_move
    worth = [minimax(position.play(action), depth - 1, me) for action in position.actions]
    best = {action for action, value in zip(position.actions, worth, strict=True) if np.isclose(value, max(worth))}
    agent = make_agent(f"adversarial:{depth}", game)
    choices = [agent.choose(position) for _ in range(12)]
    assert {choice.action for choice in choices} <= best
    assert all(np.isclose(choice.value, np.clip(max(worth), -1, 1)) for choice in choices)
    exact = [
        (value, given) for value, given in zip(worth, choices[0].values, strict=True) if not np.isnan(given)
    ]  # the others are known to be worse
    assert exact
    assert all(np.isclose(np.clip(value, -1, 1), given) for value, given in exact)


def test_it_wins_at_once_and_stops_the_other_from_doing_so():
    agent = make_agent("adversarial", CONNECT)
    position = CONNECT.start()
    for move in ("a", "b", "a", "b", "a", "c"):
        position = position.play(move)
    assert agent.choose(position).move == "a"
    assert agent.choose(position.play("e")).move == "a"
    assert agent.choose(position).value == 1


def test_the_seed_decides_between_equals():
    start = CONNECT.start()

    def moves(seed):
        agent = make_agent("adversarial:1", CONNECT)
        agent.new_game(seed)
        return [agent.choose(start).move for _ in range(12)]

    assert moves(0) == moves(0)
    assert moves(0) != moves(1)


@pytest.mark.parametrize(
    ("name", "game", "reason"),
    [
        ("adversarial:0", "connect4", "from 1 to"),
        ("adversarial:10", "connect4", "plies to look ahead, from 1 to 9"),
        ("adversarial:2s", "connect4", "plies to look ahead"),
        ("adversarial:2:c=1", "connect4", "adversarial has no option 'c'"),
        ("adversarial", "laststone", "needs two players who move in turn"),
        ("adversarial", "roshambo", "needs two players who move in turn"),
    ],
)
def test_what_it_cannot_do(name, game, reason):
    with pytest.raises(BadAgent, match=reason):
        make_agent(name, ludus.make(game))
