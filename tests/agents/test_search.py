"""Agents that search: watched, stopped, one search at a time, and read by other threads."""

import threading

import numpy as np
import pytest

import ludus
from ludus.agents import Budget, SearchAgent, make_agent, think
from ludus.agents.rollout import RolloutAgent, RolloutEvaluator
from ludus.errors import BadAgent
from ludus.search.forest import Uniform
from tests.search.invariants import check_trees

CONNECT4 = ludus.make("connect4")


def test_progress_ends_the_thinking_of_every_agent_that_asks():
    asked = []

    def stop(fraction):
        asked.append(fraction)
        return False

    for name in ("uct:1000000", "adversarial:3", "solver"):
        asked.clear()
        choice = make_agent(name, CONNECT4).choose(CONNECT4.start(), progress=stop)
        assert choice.action in CONNECT4.start().actions
        assert len(asked) == 1
    choice = make_agent("uct:1000000", CONNECT4).choose(CONNECT4.start(), progress=stop)
    assert 0 < choice.simulations < 100_000


def test_a_stopped_search_goes_on_where_it_was():
    agent, twin = (make_agent("uct:threads=1", CONNECT4, 2) for _ in range(2))
    choice, last = agent.think(CONNECT4.start(), 20_000, watch=lambda search: search.simulations < 3_000)
    assert last.ended == "stopped"
    assert 3_000 <= choice.simulations < 20_000
    rest = agent.choose(CONNECT4.start(), 20_000 - choice.simulations)
    assert rest.visits == twin.choose(CONNECT4.start(), 20_000).visits


def test_a_budget_of_a_blink_still_gives_a_move():
    for _ in range(20):
        agent = make_agent("uct", CONNECT4)
        assert agent.choose(CONNECT4.start(), Budget(seconds=1e-9)).simulations > 0


def test_any_agent_thinks_through_one_function():
    stopped = threading.Event()
    stopped.set()
    for name in ("uct:50", "random", "greedy"):
        choice, last = think(make_agent(name, CONNECT4), CONNECT4.start(), is_stopped=stopped.is_set)
        assert last.final
        assert last.block.best == choice.action


def test_a_search_on_several_threads_is_compiled_before_the_first_move():
    for name, has_parcels in (("uct:2s:threads=2", True), ("uct:50:threads=2", False), ("uct:2s:threads=1", False)):
        agent, forests = make_agent(name, CONNECT4), []
        make_forest = agent.make_forest
        agent.make_forest = lambda nodes, make=make_forest, kept=forests: kept.append(make(nodes)) or kept[-1]
        agent.prepare()
        assert [len(forest.parcels.log) > 0 for forest in forests] == [has_parcels]


def test_a_reader_never_sees_a_half_written_node():
    agent = make_agent("uct", CONNECT4)
    agent.prepare()
    over = threading.Event()
    wrong = []

    def read():
        while not over.is_set():
            with agent.reading():
                if agent.root is not None:
                    node = agent.grown.trees.nodes[agent.grown.trees.root[0]]
                    block = agent.grown.trees.edges[node["first"] : node["first"] + node["counts"][0]]
                    if node["first"] >= 0 and block["visits"].sum() != node["visits"]:
                        wrong.append((block["visits"].sum(), node["visits"]))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        position = CONNECT4.start()
        for _ in range(4):
            position = position.play(agent.choose(position, 30_000).action)
    finally:
        over.set()
        reader.join()
    assert wrong == []


def test_readers_do_not_change_the_search():
    quiet = make_agent("uct", CONNECT4, 1).choose(CONNECT4.start(), 30_000)
    agent = make_agent("uct", CONNECT4, 1)

    def watch(search):
        with agent.reading():
            pass

    assert agent.think(CONNECT4.start(), 30_000, watch=watch)[0].visits == quiet.visits


def test_a_search_of_another_game_and_a_second_search_are_refused():
    agent = make_agent("uct", CONNECT4)
    with pytest.raises(BadAgent, match="was made for"):
        agent.choose(ludus.make("tictactoe").start())

    def again(search):
        with pytest.raises(BadAgent, match="thinking already"):
            agent.choose(CONNECT4.start())
        with pytest.raises(BadAgent, match="thinking already"):
            agent.new_game(0)

    assert agent.think(CONNECT4.start(), 100, watch=again)[0].simulations == 100


def test_playouts_of_a_network_end_in_mid_game():
    evaluator = RolloutEvaluator(CONNECT4, Uniform())
    agent = RolloutAgent(CONNECT4, evaluator, budget=Budget(simulations=10_000))
    evaluator.poll = agent.poll
    agent.prepare()
    plies = []
    wanted = 30

    def watch(search):
        plies.append(search.simulations)
        return search.simulations < wanted

    choice, last = agent.think(CONNECT4.start(), watch=watch)
    assert last.ended == "stopped"
    assert choice.action in CONNECT4.start().actions
    assert len(plies) > 2 * len(set(plies))  # asked at every ply, not only after every batch
    check_trees(agent.forest)
    assert np.sum(choice.visits) == choice.simulations


def test_search_agents_are_told_by_their_class():
    assert isinstance(make_agent("uct", CONNECT4), SearchAgent)
    assert not isinstance(make_agent("greedy", CONNECT4), SearchAgent)
