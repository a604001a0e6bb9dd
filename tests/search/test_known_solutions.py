"""Search on games whose truth is known must find it."""

import numpy as np
import pytest

import ludus
from ludus.search.forest import Forest, Uniform
from ludus.search.gumbel import gumbel
from ludus.search.puct import Puct
from ludus.search.solver import solve
from ludus.search.ucb1 import Ucb1
from tests.search.invariants import check_trees

RULES = {"ucb1": lambda n: Ucb1(), "puct": lambda n: Puct(), "gumbel": lambda n: gumbel(n)}


def random_positions(game, count, plies, seed=0):
    """Positions in which the game is on, after so many random plies."""
    random = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        position = game.start()
        for _ in range(random.choice(plies)):
            if not position.is_over:
                position = position.play(position.actions[random.integers(len(position.actions))])
        if not position.is_over:
            found.append(position)
    return found


def search(game, position, rule="ucb1", simulations=20_000, **options):
    forest = Forest(game, RULES[rule](simulations), nodes=simulations + 1, **options)
    forest.plant(position)
    forest.search(None if rule == "ucb1" else Uniform(), simulations=simulations)
    check_trees(forest, options.get("transpositions", False))
    return forest


@pytest.mark.parametrize("rule", RULES)
def test_tic_tac_toe_is_a_draw(rule):
    game = ludus.make("tictactoe")
    (root,) = search(game, game.start(), rule, 30_000, transpositions=True).roots()
    assert abs(root.value) < 0.1


@pytest.mark.parametrize("rule", RULES)
def test_tic_tac_toe_endings_are_proven_and_played_right(rule):
    game = ludus.make("tictactoe")
    for position in random_positions(game, 40, plies=range(4, 9)):
        (root,) = search(game, position, rule, 3000).roots()
        truth = solve(position)
        assert root.solved
        assert root.value == truth.value
        assert root.best in truth.best


@pytest.mark.parametrize("rule", RULES)
def test_what_is_proven_at_connect4_is_true(rule):
    game = ludus.make("connect4", rows=5, columns=5)
    proven = 0
    for position in random_positions(game, 40, plies=range(10, 20)):
        (root,) = search(game, position, rule, 3000).roots()
        if root.solved:
            truth = solve(position)
            assert root.value == truth.value
            assert root.best in truth.best
            proven += 1
    assert proven >= 20


@pytest.mark.parametrize("rule", RULES)
def test_forced_wins_at_connect4_are_proven(rule):
    game = ludus.make("connect4")
    # With three in the middle of the bottom row x threatens both ends, and o can stop only one of them.
    position = game.parse("7/7/7/7/2oo3/2xx3").play("e")
    (root,) = search(game, position, rule, 2000).roots()
    assert root.solved
    assert root.value == -1.0
    (root,) = search(game, position.parent, rule, 2000).roots()
    assert root.solved
    assert root.value == 1.0
    assert position.parent.notation(root.best) in ("b", "e")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("stones", [5, 7, 8, 9])
def test_three_players_find_the_equilibrium(rule, stones):
    game = ludus.make("laststone", stones=stones, most=3)
    position = game.start()
    forest = search(game, position, rule, 5000)
    (root,) = forest.roots()
    rest = stones % 5
    if 1 <= rest <= 3:
        assert root.best == rest - 1
        assert root.value == pytest.approx(1.0, abs=0.05)
    elif rest == 0:
        assert root.best == 0
        assert root.value == pytest.approx(0.0, abs=0.15)
    else:
        assert root.value == pytest.approx(-1.0, abs=0.15)


@pytest.mark.parametrize("stones", [3, 4, 5, 6, 7, 8])
def test_small_three_player_games_are_solved_exactly(stones):
    game = ludus.make("laststone", stones=stones, most=3)
    forest = search(game, game.start(), "ucb1", 20_000)
    node = forest.trees.nodes[forest.trees.root[0]]
    assert node["solved"]
    assert node["value"][:3].tolist() == game_value(stones, 3)


def game_value(stones, most, mover=0):
    """Backward induction, written anew: everyone's value with `mover` to take."""
    if stones == 0:
        values = [0.0, 0.0, 0.0]
        values[(mover + 2) % 3], values[mover], values[(mover + 1) % 3] = 1.0, 0.0, -1.0
        return values
    takes = range(1, min(most, stones) + 1)
    return max((game_value(stones - take, most, (mover + 1) % 3) for take in takes), key=lambda values: values[mover])


@pytest.mark.parametrize("rounds", [1, 2])
def test_the_mixed_strategy_of_the_simultaneous_game(rounds):
    game = ludus.make("roshambo", rounds=rounds)
    forest = search(game, game.start(), "ucb1", 300_000)
    for root in forest.roots():
        distance = 0.5 * np.abs(root.policy - game.equilibrium()).sum()
        assert distance < 0.05, (root.policy, game.equilibrium())
        assert abs(root.value) < 0.02
