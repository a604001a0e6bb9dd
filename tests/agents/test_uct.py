"""Tree search as an agent: it plays well, repeats itself by its seed, and keeps its tree from move to move."""

import numpy as np
import pytest

from ludus import make
from ludus.agents import make_agent
from ludus.agents.search import steps_between
from ludus.arena import play_game
from ludus.errors import BadAgent

CONNECT4 = make("connect4")


def agents(name, seed=0):
    return [make_agent(name, CONNECT4, seed), make_agent(name, CONNECT4, seed + 1)]


def test_a_win_in_one_is_proven():
    position = CONNECT4.start()
    for move in "dadada":
        position = position.play(move)
    choice = make_agent("uct:2000", CONNECT4).choose(position)
    assert (choice.move, choice.value, choice.solved, choice.line) == ("d", 1.0, True, ["d"])
    assert choice.simulations < 2000  # proven, so it stopped


def test_a_threat_is_parried():
    position = CONNECT4.start()
    for move in "dadad":
        position = position.play(move)
    assert make_agent("uct:2000", CONNECT4).choose(position).move == "d"


def test_what_it_thought():
    choice = make_agent("uct:500", CONNECT4).choose(CONNECT4.start())
    assert choice.actions == list(range(7))
    assert sum(choice.visits) == choice.simulations == 500
    assert choice.action == choice.actions[int(np.argmax(choice.visits))]
    assert sum(choice.policy) == pytest.approx(1.0)
    assert all(-1 <= value <= 1 for value in [choice.value, *choice.values])
    assert choice.line[0] == choice.move
    position = CONNECT4.start()
    for move in choice.line:
        position = position.play(move)


def test_the_same_seed_plays_the_same_game():
    first = play_game(CONNECT4.start(), agents("uct:200", seed=1))
    again = play_game(CONNECT4.start(), agents("uct:200", seed=1))
    other = play_game(CONNECT4.start(), agents("uct:200", seed=5))
    assert first.played == again.played
    assert first.played != other.played


def test_a_new_game_forgets():
    agent = make_agent("uct:200", CONNECT4, seed=4)
    start = CONNECT4.start()
    before = agent.choose(start).visits
    agent.choose(start.play("d"))
    agent.new_game(4)
    assert agent.choose(start).visits == before


def test_the_tree_is_kept_where_play_went_on():
    agent = make_agent("uct:1000", CONNECT4)
    first = agent.choose(CONNECT4.start())
    later = CONNECT4.start().play(first.line[0]).play(first.line[1])
    choice = agent.choose(later)
    assert choice.simulations == 1000
    assert sum(choice.visits) > 1000
    again = agent.choose(later)  # the very same position: thinks on
    assert sum(again.visits) == sum(choice.visits) + 1000


def test_the_tree_is_dropped_elsewhere():
    agent = make_agent("uct:300", CONNECT4)
    agent.choose(CONNECT4.start().play("d"))
    for elsewhere in (CONNECT4.start(), CONNECT4.start().play("a"), CONNECT4.parse("7/7/7/7/7/3x3")):
        agent.root = CONNECT4.start().play("d").play("d")
        assert sum(agent.choose(elsewhere).visits) == 300


def test_without_reuse_every_move_starts_from_nothing():
    agent = make_agent("uct:300:reuse=no", CONNECT4)
    position = CONNECT4.start()
    for _ in range(4):
        choice = agent.choose(position)
        assert sum(choice.visits) == 300
        position = position.play(choice.action)


def test_steps_between_positions():
    start = CONNECT4.start()
    later = start.play("a").play("b")
    assert steps_between(start, start) == []
    assert [step.action for step in steps_between(start, later)] == [0, 1]
    assert steps_between(CONNECT4.parse(start.text), later) is not None
    assert steps_between(later, start) is None
    assert steps_between(None, start) is None


def test_another_budget_for_one_move():
    agent = make_agent("uct:100", CONNECT4)
    assert agent.choose(CONNECT4.start(), 50).simulations == 50
    assert agent.choose(CONNECT4.start(), "3000").simulations == 3000
    assert agent.choose(CONNECT4.start(), "10ms").simulations > 0
    assert agent.choose(CONNECT4.start()).simulations == 100


def test_a_full_tree_is_searched_on():
    agent = make_agent("uct:20000:memory=200KB", CONNECT4)
    start = CONNECT4.start()
    choice = agent.choose(start)
    assert choice.simulations == 20_000
    assert agent.forest.bytes <= 200 << 10
    position = start.play(choice.action)
    assert agent.choose(position.play(position.actions[0])).simulations == 20_000


def test_transpositions_are_a_switch():
    choice = make_agent("uct:2000:transpositions=yes", CONNECT4).choose(CONNECT4.start())
    assert sum(choice.visits) == 2000


def test_progress_runs_to_the_end():
    parts = []
    make_agent("uct:20000", CONNECT4).choose(CONNECT4.start(), progress=parts.append)
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_another_game_is_refused():
    with pytest.raises(BadAgent, match="was made for"):
        make_agent("uct:10", CONNECT4).choose(make("tictactoe").start())


def test_two_opponents_who_move_at_once_draw_in_proportion():
    game = make("roshambo")
    drawn = set()
    for seed in range(12):
        choice = make_agent("uct:300", game, seed).choose(game.start(), player=seed % 2)
        assert choice.player == seed % 2
        assert sum(choice.policy) == pytest.approx(1.0)
        assert choice.line == []
        drawn.add(choice.move)
    assert len(drawn) > 1


def test_play_goes_on_after_moves_at_once():
    game = make("roshambo", rounds=3)
    agent = make_agent("uct:2000", game)
    first = agent.choose(game.start(), player=0)
    later = game.start().play((first.action, 0))
    assert sum(agent.choose(later, player=0).visits) > 2000


def test_three_players_find_the_last_stone():
    game = make("laststone")
    choice = make_agent("uct:3000", game).choose(game.start())  # 12 mod 5 = 2: take two, and take the last
    assert choice.move == "2"
