"""Parcels: one tree on several threads. The tree does not depend on the threads, nor on when clocks are read."""

import time

import numpy as np
import pytest

import ludus
from ludus.search import forest as forests
from ludus.search import parcels
from ludus.search.forest import Forest
from ludus.search.gumbel import gumbel
from ludus.search.puct import Puct
from ludus.search.solver import solve
from ludus.search.ucb1 import Ucb1
from tests.search.invariants import check_trees, reachable
from tests.search.test_forest import PlainTicTacToe, description

CONNECT4 = ludus.make("connect4")


def new_forest(game=CONNECT4, **options):
    forest = Forest(game, **{"nodes": 40_000, "seed": 1, "threads": 2, **options})
    for array in (forest.trees.nodes, forest.trees.edges):
        array.view(np.uint8)[:] = 0  # so that the parts that are not used are equal too
    return forest


def content(forest):
    """All that a forest knows, byte for byte."""
    trees = forest.trees
    return [array.tobytes() for array in (trees.nodes, trees.edges, trees.used, trees.done, trees.random)]


def in_slices(monkeypatch, seed):
    """Let searches return to Python after random numbers of simulations, many of them small."""
    random = np.random.default_rng(seed)
    monkeypatch.setattr(forests._Clock, "next_portion", lambda *_, **__: int(2 ** random.uniform(0, 9)))


def visits(forest):
    (root,) = forest.roots()
    return root.visits.sum()


@pytest.mark.parametrize("name", ["connect4", "breakthrough", "laststone", "sevn"])
def test_the_tree_is_the_same_for_every_number_of_threads(name):
    game = ludus.make(name, stones=40) if name == "laststone" else ludus.make(name)
    found = []
    for threads in (2, 3, 4):
        forest = new_forest(game, threads=threads)
        assert forest.threads == threads
        forest.plant(game.start())
        assert forest.search(simulations=12_000) == 12_000
        check_trees(forest)
        found.append(content(forest))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("threads", [2, 3])
def test_the_tree_does_not_depend_on_when_clocks_are_read(monkeypatch, threads):
    forest = new_forest()
    forest.plant(CONNECT4.start())
    forest.search(simulations=8000)
    whole = content(forest)
    for seed in range(3):
        in_slices(monkeypatch, seed)
        forest = new_forest(threads=threads)
        forest.plant(CONNECT4.start())
        forest.search(simulations=8000)
        assert content(forest) == whole


def test_small_trees_are_searched_one_by_one(monkeypatch):
    found = []
    for fewest in (parcels.FEWEST, 1 << 30):
        monkeypatch.setattr(parcels, "FEWEST", fewest)
        forest = new_forest()
        forest.plant(CONNECT4.start())
        forest.search(simulations=parcels.FROM)
        small = content(forest)
        forest.search(simulations=500)
        found.append((small, content(forest)))
    assert found[0][0] == found[1][0]
    assert found[0][1] != found[1][1]


def test_no_simulation_is_lost():
    forest = new_forest(threads=2)
    forest.plant(CONNECT4.start())
    total = 0
    for simulations in (1, 998, 1, 1, 62, 4000, 4001, 7):
        assert forest.search(simulations=simulations) == simulations
        total += simulations
        assert visits(forest) == total
        check_trees(forest)


def test_a_budget_in_seconds_ends_amid_a_round():
    forest = new_forest(nodes=1_000_000, threads=2)
    forest.plant(CONNECT4.start())
    forest.search(simulations=10)
    for seconds in (0.03, 0.005, 0.02):
        before = visits(forest)
        began = time.perf_counter()
        done = forest.search(seconds=seconds)
        assert seconds <= time.perf_counter() - began < 10.0
        assert visits(forest) == before + done
    check_trees(forest)


def test_what_is_seen_during_a_search_is_consistent(monkeypatch):
    in_slices(monkeypatch, 5)
    forest = new_forest(threads=2)
    forest.plant(CONNECT4.start())
    amid = []

    def look(fraction):
        state = forest.parcels.state
        if forest.trees.done[0] > 0:
            assert visits(forest) == forest.trees.done[0]
        if state[parcels.FIRST] == 1 and len(amid) < 20:
            check_trees(forest)
            check_disjoint(forest, forest.lanes.root[1 : state[parcels.LAST]])
            amid.append(fraction)

    forest.search(simulations=12_000, progress=look)
    assert len(amid) == 20


def check_disjoint(forest, roots):
    seen = set()
    for root in roots.tolist():
        below = set(reachable(forest.trees._replace(root=np.array([root])), 0))
        assert not seen & below
        seen |= below


def test_a_search_that_is_stopped_leaves_a_whole_tree(monkeypatch):
    for stop in range(1, 30, 4):
        in_slices(monkeypatch, stop)
        forest = new_forest(threads=2)
        forest.plant(CONNECT4.start())
        forest.search(simulations=5000)
        left = iter(range(stop))
        done = forest.search(simulations=5000, progress=lambda fraction, left=left: next(left, None) is not None)
        assert 0 < done < 5000 or stop == 1
        assert visits(forest) == 5000 + done
        check_trees(forest)
        assert forest.search(simulations=1000) == 1000
        check_trees(forest)


def test_ctrl_c_leaves_a_whole_tree(monkeypatch):
    def interrupt(fraction):
        if fraction > 0.5:
            raise KeyboardInterrupt

    in_slices(monkeypatch, 3)
    forest = new_forest(threads=2)
    forest.plant(CONNECT4.start())
    with pytest.raises(KeyboardInterrupt):
        forest.search(simulations=10_000, progress=interrupt)
    assert 5000 < visits(forest) == forest.trees.done[0] < 10_000
    check_trees(forest)
    forest.advance(np.array([[3]], np.int32), CONNECT4.start().play("d"))
    check_trees(forest)
    assert forest.search(simulations=2000) == 2000
    check_trees(forest)


def test_proofs_are_backed_up_to_the_root():
    game = ludus.make("connect4", rows=4, columns=4)
    random = np.random.default_rng(0)
    proven = 0
    for _ in range(12):
        position = game.start()
        for _ in range(4):
            position = position.play(int(random.choice(position.actions)))
        if position.is_over:
            continue
        forest = new_forest(game, threads=2)
        forest.plant(position)
        done = forest.search(simulations=30_000)
        check_trees(forest)
        (root,) = forest.roots()
        if root.solved:
            proven += done > 2 * parcels.FROM
            assert root.value == solve(position).values[position.to_move]
        nodes, edges = forest.trees.nodes, forest.trees.edges
        for number in reachable(forest.trees, 0):
            node = nodes[number]
            for edge in edges[node["first"] : node["first"] + node["counts"][0]] if node["first"] >= 0 else ():
                if edge["prior"] < 0 and np.isfinite(edge["total"]) and edge["visits"]:
                    exact = nodes[edge["child"]]["value"][node["mover"]]
                    assert edge["total"] / edge["visits"] == pytest.approx(exact)
    assert proven >= 2


def test_visits_of_solved_positions_do_not_use_up_a_budget():
    """Tic-tac-toe: the best moves are soon proven to be draws, and nearly all visits go to them."""
    game = ludus.make("tictactoe")
    forest = new_forest(game)
    forest.plant(game.start())
    forest.search(simulations=30_000)
    began = time.perf_counter()
    done = forest.search(seconds=0.5)
    assert time.perf_counter() - began > 0.4
    assert done < 100_000_000
    check_trees(forest)


@pytest.mark.parametrize("room", [{"nodes": 5000}, {"nodes": 40_000, "edges": 6000}])
def test_a_full_tree_is_searched_on_without_growing(room):
    found = []
    for threads in (2, 3):
        forest = new_forest(threads=threads, **room)
        forest.plant(CONNECT4.start())
        assert forest.search(simulations=30_000) == 30_000
        assert forest.is_full
        assert forest.size <= room["nodes"]
        assert forest.parcels.state[parcels.LAST] == 0
        check_trees(forest)
        found.append(content(forest))
    assert found[0] == found[1]
    # Nearly all of the memory is used: what is in reserve when the tree is full stays a small part.
    used = forest.size if "edges" not in room else count_edges(forest)
    assert used > 0.9 * min(room.values())


def count_edges(forest):
    nodes = forest.trees.nodes[reachable(forest.trees, 0)]
    return int(nodes["counts"][nodes["first"] >= 0].sum())


def test_what_is_known_of_a_move_is_kept():
    forest = new_forest(threads=2)
    position = CONNECT4.start()
    forest.plant(position)
    forest.search(simulations=9000)
    for move in "dcd":
        action = position.action_of(move)
        root = forest.trees.nodes[forest.trees.root[0]]
        edges = forest.trees.edges[root["first"] : root["first"] + root["counts"][0]]
        child = description(forest, int(edges["child"][edges["action"] == action][0]))
        position = position.play(move)
        assert forest.advance(np.array([[action]], np.int32), position).all()
        check_trees(forest)
        assert forest.trees.used[0, 0] == forest.size  # compacted
        assert description(forest, forest.trees.root[0]) == child
        forest.search(simulations=3000)
        check_trees(forest)


def test_a_game_in_ordinary_python_grows_the_same_tree():
    found = []
    for game in (ludus.make("tictactoe"), PlainTicTacToe()):
        forest = Forest(game, nodes=6000, seed=3, threads=1 if game.parallel else 2)
        assert forest.threads == 1
        forest.plant(game.start())
        forest.search(simulations=2500)
        found.append((forest.roots()[0].visits.tolist(), forest.line(), forest.trees.used.tolist()))
    assert found[0] == found[1]


def test_trees_that_have_no_parcels():
    for forest in (
        Forest(CONNECT4, nodes=40_000, transpositions=True, threads=2),
        Forest(ludus.make("roshambo", rounds=3), nodes=40_000, threads=2),
        Forest(CONNECT4, nodes=1000, threads=2),
        Forest(CONNECT4, nodes=40_000, threads=1),
    ):
        assert forest.threads == 1
        assert len(forest.parcels.log) == 0


@pytest.mark.parametrize("rule", [Puct(), gumbel(3000)])
def test_other_rules(rule):
    """Puct has parcels; a rule that treats the root unlike other nodes has none."""
    forest = new_forest(rule=rule, threads=2)
    forest.plant(CONNECT4.start())
    assert forest.search(simulations=3000) == 3000
    assert visits(forest) == 3000
    check_trees(forest)
    assert (forest.lanes.done[1:].sum() > 0) == isinstance(rule, Puct)


def test_memory_is_what_was_asked_for():
    for memory in (1_000_000, 10_000_000):
        forest = Forest(CONNECT4, Ucb1(), memory=memory, threads=4)
        assert 0.5 * memory < forest.bytes <= memory
    assert len(Forest(CONNECT4, memory=100_000, threads=2).parcels.log) == 0
