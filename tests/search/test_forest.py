"""The forest's promises: the same result on any number of threads, no more memory than asked for, nothing lost."""

import time

import numpy as np
import pytest

import ludus
from ludus.errors import BadOption, Unsuitable
from ludus.python_games import PythonGame
from ludus.search.batch import spread_answers
from ludus.search.forest import Forest, Uniform
from ludus.search.gumbel import gumbel, halving
from ludus.search.puct import Puct
from ludus.search.ucb1 import Ucb1
from tests.search.invariants import check_trees


@pytest.fixture(scope="module")
def game():
    return ludus.make("connect4")


def visits(forest, index=0):
    return [root.visits.tolist() for root in forest.roots(index)]


class Favourite:
    """An evaluator with an opinion: one action above all others, and a value for each player."""

    def __init__(self, action, logit=3.0, values=(0.25, -0.25)):
        self.action, self.logit, self.values = action, logit, values
        self.batches, self.seen = [], 0

    def evaluate(self, batch):
        self.batches.append(len(batch.values))
        for row in range(len(batch.values)):
            count = batch.counts[row].sum()
            assert count > 0
            batch.logits[row, :count] = np.where(batch.actions[row, :count] == self.action, self.logit, 0.0)
        batch.values[:] = self.values


@pytest.mark.parametrize("evaluator", [None, Uniform()])
def test_the_result_depends_on_the_seed_and_not_on_the_threads(game, evaluator):
    found = {}
    for threads in (1, 2, 3, 7):
        for seed in (0, 1):
            rule = Ucb1() if evaluator is None else Puct()
            forest = Forest(game, rule, trees=23, nodes=400, threads=threads, seed=seed)
            for array in (forest.trees.nodes, forest.trees.edges):
                array.view(np.uint8)[:] = 0  # so that the parts that are not used are equal too
            forest.plant([game.start().play(tree % 7) for tree in range(23)])
            forest.search(evaluator, simulations=300)
            check_trees(forest)
            found[threads, seed] = forest.trees.nodes.tobytes(), forest.trees.edges.tobytes()
    for threads in (2, 3, 7):
        assert found[threads, 0] == found[1, 0]
        assert found[threads, 1] == found[1, 1]
    if evaluator is None:
        assert found[1, 0] != found[1, 1]


def test_budgets_in_simulations_are_kept_exactly(game):
    for rule, evaluator in ((Ucb1(), None), (Puct(), Uniform()), (gumbel(100), Uniform())):
        forest = Forest(game, rule, trees=3, nodes=200)
        forest.plant(game.start())
        assert forest.search(evaluator, simulations=100) == 300
        assert [sum(visits(forest, tree)[0]) for tree in range(3)] == [100, 100, 100]
        check_trees(forest)
    forest = Forest(game, Puct(), trees=3, nodes=200)
    forest.plant(game.start())
    forest.search(Uniform(), simulations=np.array([10, 0, 30]))
    assert forest.trees.done.tolist() == [10, 0, 30]


def test_a_budget_in_seconds_ends_the_search(game):
    for rule, evaluator in ((Ucb1(), None), (Puct(), Uniform())):
        forest = Forest(game, rule, memory=200_000_000)
        forest.plant(game.start())
        forest.search(evaluator, simulations=10)  # compiled by now
        began = time.perf_counter()
        done = forest.search(evaluator, seconds=0.2)
        assert done > 0
        assert 0.2 <= time.perf_counter() - began < 10.0  # benchmarks/ measures it
        check_trees(forest)


def test_bad_budgets_are_refused(game):
    forest = Forest(game, nodes=10)
    forest.plant(game.start())
    for budget in ({}, {"simulations": -1}, {"seconds": 0}, {"seconds": -1.0}):
        with pytest.raises(BadOption):
            forest.search(**budget)
    with pytest.raises(BadOption):
        Forest(game, trees=0)
    with pytest.raises(BadOption):
        Forest(game, memory=1000)
    with pytest.raises(Unsuitable, match="in turn"):
        Forest(ludus.make("roshambo"), gumbel(10))


@pytest.mark.parametrize("rule", [Ucb1(), Puct()])
@pytest.mark.parametrize("room", [{"nodes": 40}, {"nodes": 400, "edges": 70}])
def test_a_full_tree_is_searched_on_without_growing(game, rule, room):
    forest = Forest(game, rule, trees=2, **room)
    before = forest.bytes
    forest.plant(game.parse("7/7/7/7/2oo3/2xx3"))
    done = forest.search(None if isinstance(rule, Ucb1) else Uniform(), simulations=3000)
    assert forest.bytes == before
    check_trees(forest)
    (root,) = forest.roots()
    assert done == 6000 or root.solved
    assert int(forest.trees.used[0, 0]) <= room["nodes"]
    if isinstance(rule, Ucb1):
        assert game.start().notation(root.best) in ("b", "e")


def test_memory_is_what_was_asked_for(game):
    for trees, memory, transpositions in ((1, 10_000_000, False), (64, 50_000_000, True), (1, 1 << 28, True)):
        forest = Forest(game, trees=trees, memory=memory, transpositions=transpositions)
        assert 0.5 * memory < forest.bytes <= memory
    roshambo = Forest(ludus.make("roshambo", rounds=3), trees=4, memory=10_000_000)
    assert 5_000_000 < roshambo.bytes <= 10_000_000


@pytest.mark.parametrize("batch", [1, 4, 16])
def test_virtual_loss_leaves_no_trace(game, batch):
    forest = Forest(game, Puct(), trees=2, nodes=600, batch=batch)
    forest.plant(game.start())
    evaluator = Favourite(3)
    forest.search(evaluator, simulations=500)
    check_trees(forest)  # among others: no total beyond its visits, no visit too many
    assert sum(visits(forest)[0]) == 500
    # Every leaf was valued the same, so the root must be: but for games that ended.
    (root,) = forest.roots()
    assert max(evaluator.batches) == 2 * batch
    assert root.visits.argmax() == 3


def test_logits_are_aligned_with_the_legal_list(game):
    # Column d is full, so that the list of legal actions has a gap.
    position = game.start()
    for _ in range(6):
        position = position.play("d")
    forest = Forest(game, Puct(), nodes=50)
    forest.plant(position)
    forest.search(Favourite(5, logit=2.0), simulations=20)
    (root,) = forest.roots()
    assert root.actions.tolist() == [0, 1, 2, 4, 5, 6]
    expected = np.exp(np.where(root.actions == 5, 2.0, 0.0))
    assert root.priors == pytest.approx(expected / expected.sum(), rel=1e-5)
    assert root.best == 5


@pytest.mark.parametrize("transpositions", [False, True])
@pytest.mark.parametrize("rule", [Ucb1(), Puct()])
def test_what_is_known_of_a_move_is_kept(game, rule, transpositions):
    forest = Forest(game, rule, trees=2, nodes=3000, transpositions=transpositions)
    evaluator = None if isinstance(rule, Ucb1) else Uniform()
    position = game.start()
    forest.plant(position)
    forest.search(evaluator, simulations=2000)
    for move in "dcd":
        action = position.action_of(move)
        child = subtree(forest, position, action)
        position = position.play(move)
        kept = forest.advance(np.array([[action], [action]], np.int32), position)
        assert kept.all()
        check_trees(forest, transpositions)
        assert description(forest, forest.trees.root[0]) == child
        forest.search(evaluator, simulations=500)
        check_trees(forest, transpositions)
    # A move that was never searched starts an empty tree.
    empty = Forest(game, rule, nodes=100)
    empty.plant(game.start())
    assert not empty.advance(np.array([[3]], np.int32), game.start().play("d"))[0]
    empty.search(evaluator, simulations=50)
    assert sum(visits(empty)[0]) == 50


def subtree(forest, position, action):
    root = forest.trees.nodes[forest.trees.root[0]]
    edges = forest.trees.edges[root["first"] : root["first"] + root["counts"][0]]
    return description(forest, int(edges["child"][edges["action"] == action][0]))


def description(forest, index):
    """All that a tree says below a node, without saying where it lies."""
    trees = forest.trees
    lines, seen, queue = [], {int(index): 0}, [int(index)]
    for number in queue:
        node = trees.nodes[number]
        lines.append(
            (node["visits"], node["mover"], node["solved"], node["value"].tolist(), trees.states[number].tobytes())
        )
        if node["first"] >= 0:
            for edge in trees.edges[node["first"] : node["first"] + node["counts"][0]]:
                child = int(edge["child"])
                if child >= 0 and child not in seen:
                    seen[child] = len(seen)
                    queue.append(child)
                lines.append((edge["action"], edge["visits"], edge["total"], edge["prior"], seen.get(child)))
    return lines


def test_joint_moves_are_kept_too():
    game = ludus.make("roshambo", rounds=3)
    forest = Forest(game, Ucb1(), nodes=2000)
    position = game.start()
    forest.plant(position)
    forest.search(simulations=5000)
    before = int(forest.trees.used[0, 0])
    position = position.play((0, 2))
    assert forest.advance(np.array([[0, 2]], np.int32), position).all()
    check_trees(forest)
    after = int(forest.trees.used[0, 0])
    assert 1 < after < before
    assert np.count_nonzero(forest.trees.joints["child"]) == after - 1  # every node but the root is some joint move's
    assert (forest.trees.states[forest.trees.root[0]]["wins"] == position.states[0]["wins"]).all()
    known = forest.trees.nodes[forest.trees.root[0]]["visits"]
    forest.search(simulations=1000)
    check_trees(forest)
    assert forest.trees.nodes[forest.trees.root[0]]["visits"] == known + 1000


def test_the_same_position_shares_a_node():
    game = ludus.make("tictactoe")
    sizes = {}
    for transpositions in (False, True):
        forest = Forest(game, Ucb1(), nodes=20_000, transpositions=transpositions)
        forest.plant(game.start())
        forest.search(simulations=20_000)
        check_trees(forest, transpositions)
        used = forest.trees.states[: forest.trees.used[0, 0]]
        sizes[transpositions] = len(used)
        if transpositions:
            assert len({state.tobytes() for state in used}) == len(used)
    assert sizes[True] < sizes[False]
    assert sizes[True] <= 5478  # so many positions there are


def test_halving_spends_its_budget_on_ever_fewer_moves():
    for considered in range(1, 17):
        for simulations in (1, 2, 7, 16, 50, 200):
            schedule = halving(considered, simulations)
            assert len(schedule) == simulations
            counts = np.zeros(considered, int)
            for wanted in schedule:  # play it: always some considered move has exactly the wanted visits
                (candidates,) = np.nonzero(counts == wanted)
                assert len(candidates) > 0
                counts[candidates[0]] += 1
    assert halving(4, 16)[:8] == [0, 0, 0, 0, 1, 1, 1, 1]


def test_gumbel_considers_only_so_many_moves(game):
    forest = Forest(game, gumbel(16, considered=4), trees=20, nodes=50)
    forest.plant(game.start())
    forest.search(Uniform(), simulations=16)
    chosen = set()
    for tree in range(20):
        (root,) = forest.roots(tree)
        assert np.count_nonzero(root.visits) == 4
        assert root.policy.sum() == pytest.approx(1.0)
        chosen.add(root.best)
    assert len(chosen) > 3  # the noise differs from tree to tree


def test_progress_goes_from_0_to_1(game):
    forest = Forest(game, nodes=300_000)
    forest.plant(game.start())
    seen = []
    forest.search(simulations=200_000, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[0] == 0.0
    assert seen[-1] == 1.0


class PlainTicTacToe(PythonGame):
    """Tic-tac-toe in ordinary Python, over positions of the compiled one: what they do must be the same."""

    name, title = "plain-tictactoe", "Tic-tac-toe in ordinary Python"

    def setup(self):
        self.inner = ludus.make("tictactoe")
        self.actions = self.most_legal = self.longest = 9

    def initial(self, seed):
        return self.inner.start(seed)

    def mover(self, board):
        return board.to_move

    def legal_actions(self, board, player):
        return board.actions_of(player)

    def after(self, board, action):
        return board.play(action)

    def result(self, board):
        return board.values if board.is_over else None


@pytest.mark.parametrize("rule", [Ucb1(), Puct()])
def test_a_game_in_ordinary_python_grows_the_same_tree(rule):
    evaluator = None if isinstance(rule, Ucb1) else Uniform()
    found = []
    for game in (ludus.make("tictactoe"), PlainTicTacToe()):
        forest = Forest(game, rule, nodes=2000, seed=3)
        forest.plant(game.start())
        forest.search(evaluator, simulations=1000)
        found.append((visits(forest), forest.line(), forest.trees.used.tolist()))
    assert found[0] == found[1]


def test_a_full_table_of_joint_moves_does_not_stop_the_search():
    game = ludus.make("roshambo", rounds=3)
    forest = Forest(game, nodes=120, transpositions=True)
    forest.plant(game.start())
    for _ in range(20):
        assert forest.search(simulations=200) == 200
    check_trees(forest, transpositions=True)


def test_seconds_are_kept_where_nothing_is_left_to_evaluate():
    game = ludus.make("roshambo")  # all ends are known after nine simulations, and joint moves are never solved
    forest = Forest(game, Puct(), nodes=100)
    forest.plant(game.start())
    forest.search(Uniform(), simulations=10)
    began = time.perf_counter()
    assert forest.search(Uniform(), seconds=0.1) > 0
    assert time.perf_counter() - began < 10.0


def test_every_tree_gets_its_budget_however_fast_the_others_are():
    game = ludus.make("roshambo", rounds=4)
    late = game.start()
    for _ in range(3):
        late = late.play((0, 0))
    forest = Forest(game, Puct(), trees=2, nodes=500)
    forest.plant([game.start(), late])
    forest.search(Uniform(), simulations=400)
    assert forest.trees.done.tolist() == [400, 400]


@pytest.mark.parametrize("batch", [1, 4])
def test_an_evaluator_that_fails_leaves_the_trees_whole(game, batch):
    class Failing(Uniform):
        left = 20

        def evaluate(self, batch):
            batch.values[:] = np.nan
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            super().evaluate(batch)

    forest = Forest(game, Puct(), trees=2, nodes=500, batch=batch)
    forest.plant(game.start())
    with pytest.raises(KeyboardInterrupt):
        forest.search(Failing(), simulations=300)
    check_trees(forest)
    forest.advance(np.array([[3], [3]], np.int32), game.start().play("d"))
    check_trees(forest)
    forest.search(Uniform(), simulations=100)
    check_trees(forest)
    assert forest.trees.done.tolist() == [100, 100]


def test_proofs_under_virtual_loss_are_exact():
    game = ludus.make("tictactoe")
    forest = Forest(game, Puct(), nodes=3000, batch=8)
    random = np.random.default_rng(0)
    for _ in range(40):
        position = game.start()
        for _ in range(random.integers(2, 6)):
            if not position.is_over:
                position = position.play(int(random.choice(position.actions)))
        if position.is_over:
            continue
        forest.plant(position)
        forest.search(Uniform(), simulations=int(random.integers(20, 600)))
        check_trees(forest)
        nodes, edges = forest.trees.nodes, forest.trees.edges[: forest.trees.used[0, 1]]
        for node in nodes[: forest.trees.used[0, 0]]:
            for edge in edges[node["first"] : node["first"] + node["counts"][0]] if node["first"] >= 0 else ():
                if edge["prior"] < 0 and np.isfinite(edge["total"]) and edge["visits"]:
                    exact = nodes[edge["child"]]["value"][node["mover"]]
                    assert edge["total"] / edge["visits"] == pytest.approx(exact)


def test_memory_caps_what_was_asked_for_by_number(game):
    assert Forest(game, nodes=10, edges=100_000, memory=60_000).bytes <= 60_000


def test_a_forest_without_a_position_says_so():
    forest = Forest(ludus.make("tictactoe"), nodes=9)
    for ask in (lambda: forest.search(simulations=1), forest.roots, forest.line):
        with pytest.raises(BadOption, match="plant a position first"):
            ask()


def test_the_answer_for_one_player_stays_within_its_row():
    """A single output is the only player's value; there is no other player whose value would be its negative."""
    rows, moves = 3, 4
    policy = np.arange(rows * moves, dtype=np.float32).reshape(rows, 1, moves)
    outputs = np.array([[0.25], [0.5], [-0.75]], np.float32)
    logits, values = np.zeros((rows, moves), np.float32), np.full((rows + 1, 1), 9.0, np.float32)
    actions = np.tile(np.arange(moves, dtype=np.int32), (rows, 1))
    counts = np.full((rows, 1), moves, np.int32)
    spread_answers(np.zeros(rows, np.int8), actions, counts, policy, outputs, logits, values[:rows])
    assert values[:, 0].tolist() == [0.25, 0.5, -0.75, 9.0]
    assert (logits == policy[:, 0]).all()
