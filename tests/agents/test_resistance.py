"""A lost position is defended: of moves that all lose, the one that holds out longest is played."""

import time
from functools import cache
from random import Random

import pytest

import ludus
from ludus.agents import Budget, make_agent
from ludus.agents.resistance import longest_resistance
from ludus.agents.zero import ZeroAgent
from ludus.search.forest import Uniform

SMALL = ludus.make("connect4", rows=4, columns=4, line=3)
OTHERS = [ludus.make("breakthrough", height=5, width=3, ranks=1), ludus.make("cachex", n=3)]
NEVER = 99


@cache
def plies_to_loss(position, player, limit=NEVER):
    """Plies until the player loses against an opponent who hurries, if it holds out as long as it can.

    NEVER if it does not lose within `limit` plies.
    """
    if position.is_over:
        return 0 if position.values[player] < 0 else NEVER
    if limit == 0:
        return NEVER
    counts = [plies_to_loss(position.play(action), player, limit - 1) for action in position.actions]
    return min(NEVER, 1 + (max(counts) if position.to_move == player else min(counts)))


def resistance(position, action, limit=NEVER):
    return min(NEVER, 1 + plies_to_loss(position.play(action), position.to_move, limit))


@cache
def lost_positions(game, count, plies, limit=NEVER):
    """Positions in which the player to move loses within `limit` plies, some moves sooner than others."""
    random, judge = Random(1), make_agent("uct:300", game)
    found = []
    while len(found) < count:
        position = game.start()
        for _ in range(random.randrange(*plies)):
            if not position.is_over:
                position = position.play(random.choice(position.actions))
        if position.is_over or not judge.choose(position).solved:
            continue
        lengths = {resistance(position, action, limit) for action in position.actions}
        if len(lengths) > 1 and max(lengths) < NEVER:
            found.append(position)
    return found


LOST = lost_positions(SMALL, 12, (0, 9))


def longest(position):
    return max(resistance(position, action) for action in position.actions)


@pytest.mark.parametrize("seed", range(2))
def test_the_longest_resistance_is_chosen(seed):
    for position in LOST:
        choice = make_agent("uct:20000", SMALL, seed).choose(position)
        assert (choice.value, choice.solved) == (-1.0, True)
        assert resistance(position, choice.action) == longest(position)
        assert choice.line[0] == choice.move


@pytest.mark.parametrize("game", OTHERS, ids=lambda game: game.name)
def test_other_games_are_defended_too(game):
    agent = make_agent("uct:20000", game)
    for position in lost_positions(game, 4, (4, 16), limit=3):
        agent.new_game(0)
        choice = agent.choose(position)
        assert (choice.value, choice.solved) == (-1.0, True)
        held = {action: resistance(position, action, 3) for action in position.actions}
        assert held[choice.action] == max(held.values())


def test_the_search_with_a_network_defends_as_well():
    agent = ZeroAgent(SMALL, Uniform(), budget=Budget(simulations=20_000))
    for position in LOST:
        agent.new_game(0)
        choice = agent.choose(position)
        assert choice.solved
        assert resistance(position, choice.action) == longest(position)


def test_bounds_from_the_tree_are_checked_as_far_as_the_budget_goes():
    for position in LOST:
        true = {action: resistance(position, action) for action in position.actions}
        rough = dict.fromkeys(true, 40)  # the tree has seen a loss, but a slow one
        same = dict.fromkeys(true, 1)
        best = longest_resistance(position, position.to_move, rough, same, lambda: True)
        assert true[best] == max(true.values())
        # Without any budget the bounds decide, and then the visits.
        first, *_, last = position.actions
        assert longest_resistance(position, position.to_move, {**rough, last: 41}, same, lambda: False) == last
        assert longest_resistance(position, position.to_move, rough, {**same, first: 2}, lambda: False) == first


def test_a_proven_loss_does_not_end_the_search_while_time_is_left():
    agent = make_agent("uct", SMALL)
    for position in LOST[:3]:
        agent.new_game(0)
        choice = agent.choose(position, "30s")
        grown = int(agent.grown.trees.done.sum())  # the tree ends with the proof
        assert choice.solved
        assert choice.simulations > grown
        assert choice.seconds < 25.0  # and the search when the longest resistance is known
        assert resistance(position, choice.action) == longest(position)


def test_the_rest_of_the_budget_is_not_exceeded():
    agent = make_agent("uct:20000", SMALL)
    for position in LOST:
        agent.new_game(0)
        assert agent.choose(position, 3000).simulations <= 3001
        began = time.perf_counter()
        agent.choose(position, "100ms")
        assert time.perf_counter() - began < 10.0


def test_a_search_that_is_stopped_still_answers():
    agent = make_agent("uct", SMALL)
    choice, last = agent.think(LOST[0], 100_000, watch=lambda search: False)
    assert choice.action in LOST[0].actions
    assert last.ended == "stopped"


def test_three_players_go_by_the_length_of_the_proof():
    game = ludus.make("laststone", stones=4)  # whatever a takes, b takes the last stone, and a comes last
    choice = make_agent("uct:2000", game).choose(game.start())
    assert (choice.value, choice.solved) == (-1.0, True)
    assert choice.move in ("1", "2", "3")
