"""ludus.Tree: every number of a node has the right sign, belongs to one moment, and costs little to read."""

import json
import time

import numpy as np
import pytest

import ludus
from ludus.agents import Budget, make_agent
from ludus.agents.search import SearchAgent
from ludus.api.tree import StaleTree
from ludus.errors import BadAgent
from ludus.native import kernel
from ludus.python_games import PythonGame
from ludus.rules import EVERYONE
from ludus.search.forest import Forest
from ludus.search.gumbel import gumbel
from ludus.search.noisy_puct import NoisyPuct
from ludus.search.puct import Puct
from ludus.search.selection import select
from ludus.search.ucb1 import Ucb1
from tests.search.test_golden_trees import Opinions

TICTACTOE, CONNECT4 = ludus.make("tictactoe"), ludus.make("connect4")


class RuleAgent(SearchAgent):
    """Any selection rule, with any evaluator."""

    def __init__(self, game, rule, evaluator=None, **settings):
        super().__init__(game, type(rule).__name__, Budget(simulations=200))
        self.rule, self.evaluator, self.settings = rule, evaluator, settings

    def make_forest(self, nodes):
        return Forest(self.game, self.rule, nodes=nodes, seed=self.seed, **self.settings)


@kernel
def selected(rule, trees, tree, node, first, count, player):
    return select(rule, trees, tree, node, first, count, player)


def all_nodes(node, least_visits=1):
    yield node
    for child in node.children.values():
        if child.visits >= least_visits:
            yield from all_nodes(child, least_visits)


RULES = {
    "ucb1": (Ucb1(0.7), None),
    "puct": (Puct(), Opinions()),
    "gumbel": (gumbel(150, considered=4), Opinions()),
    "noisy puct": (NoisyPuct(), Opinions()),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("moves", [[], ["d", "c", "d", "c"]])  # a quiet position, and one with moves that lose
def test_q_plus_u_picks_the_edge_that_the_rule_selects(rule, moves):
    agent = RuleAgent(CONNECT4, *RULES[rule])
    position = CONNECT4.start()
    for move in moves:
        position = position.play(move)
    for simulations in (5, 37, 150):
        agent.new_game(simulations)
        if rule == "noisy puct":
            agent.make_forest = lambda nodes: noisy(Forest(CONNECT4, RULES[rule][0], nodes=nodes))
        agent.think(position, simulations)
        tree = ludus.Tree(agent)
        trees = agent.forest.trees
        nodes = [node for node in all_nodes(tree.root) if node.edges and not node.solved]
        assert len(nodes) > 1 or simulations == 5
        for node in nodes:
            first = int(trees.nodes["first"][node.index])
            chosen = selected(agent.forest.rule, trees, 0, node.index, first, len(node.edges), node.to_move) - first
            scores = [edge.assumed_value + edge.exploration for edge in node.edges]
            assert scores[chosen] == pytest.approx(max(scores), rel=1e-5), (simulations, node)


def noisy(forest):
    """Self-play puts Dirichlet noise there."""
    forest.trees.bonus[:] = np.random.default_rng(1).gamma(0.3, size=forest.trees.bonus.shape)
    return forest


def test_numbers_of_the_root_are_those_of_the_choice():
    agent = make_agent("uct:3000", CONNECT4)
    choice = agent.choose(CONNECT4.start())
    root = ludus.Tree(agent).root
    edges = {edge.action: edge for edge in root.edges}
    assert [edges[action].visits for action in choice.actions] == choice.visits
    assert [edges[action].value for action in choice.actions] == pytest.approx(choice.values)
    assert [edges[action].policy for action in choice.actions] == pytest.approx(choice.policy)
    assert root.visits == 3000
    assert (root.position, root.to_move, root.solved) == (CONNECT4.start(), 0, False)


def test_visits_and_values_agree_from_node_to_node():
    agent = make_agent("uct:3000", CONNECT4)
    agent.choose(CONNECT4.start())
    for node in all_nodes(ludus.Tree(agent).root, 50):
        assert sum(edge.visits for edge in node.edges) == node.visits
        assert node.values[0] == -node.values[1]
        for edge in node.edges:
            if edge.child is not None and edge.child.visits:
                assert edge.child.visits == edge.visits - 1
                if any(below.solved for below in edge.child.edges):
                    continue  # an exact value has replaced the results of earlier simulations
                # The edge's value is the mover's; so is the child's, whoever moves there.
                mean = edge.child.values[node.to_move]
                assert abs(mean * edge.child.visits - edge.value * edge.visits) <= 1 + 1e-6


# --- signs ------------------------------------------------------------------------------------------------------------


def test_two_players_a_move_that_wins_is_worth_1_to_who_makes_it():
    position = TICTACTOE.parse("xx1/oo1/3")  # x to move wins with c3
    agent = make_agent("uct:500", TICTACTOE)
    agent.choose(position)
    root = ludus.Tree(agent).root
    win = next(edge for edge in root.edges if edge.move == "c3")
    assert (win.value, win.solved, win.length, win.player) == (1.0, True, 1, 0)
    assert root.values == (1.0, -1.0)
    assert (win.child.values, win.child.solved, win.child.edges) == ((1.0, -1.0), True, ())


def test_two_players_a_move_that_loses_is_worth_minus_1_to_who_makes_it():
    position = TICTACTOE.parse("xx1/oo1/1x1")  # o to move: wins with c2, loses to c3 otherwise
    assert position.to_move == 1
    agent = RuleAgent(TICTACTOE, Ucb1(100.0))  # explores, so that it sees the losses before it proves the win
    agent.think(position, 8)
    root = ludus.Tree(agent).root
    assert root.values == (-1.0, 1.0)
    for edge in root.edges:
        if edge.move != "c2" and edge.child is not None and edge.child.visits > 5:
            assert edge.value < 0


@pytest.mark.parametrize("rule", ["ucb1", "puct"])
def test_two_players_exact_values_are_those_of_the_solver(rule):
    agent = RuleAgent(TICTACTOE, *RULES[rule])
    position = TICTACTOE.parse("3/1x1/2o")
    agent.think(position, 3000)
    solved = 0
    for node in all_nodes(ludus.Tree(agent).root, 0):
        if node.solved:
            here = node.position
            exact = ludus.solve(here, memory=1 << 22).value if not here.is_over else here.values[0]
            mover = 0 if here.is_over else here.to_move
            assert (node.values[mover], node.values[1 - mover]) == (exact, -exact)
            solved += 1
    assert solved > 100


def test_three_players_have_each_their_own_value():
    game = ludus.make("laststone", stones=6)  # a takes 1 and leaves 5: b comes second, c last (see LastStone)
    agent = make_agent("uct:5000", game)
    agent.choose(game.start())
    root = ludus.Tree(agent).root
    assert root.values == (1.0, 0.0, -1.0) or root.values == pytest.approx((1.0, 0.0, -1.0), abs=0.1)
    for edge in root.edges:
        stones = 6 - edge.action - 1
        mover, following, third = game.solution(stones)[0]
        expected = {1: mover, 2: following, 0: third}  # b is to move there
        assert edge.child.to_move == 1
        for player in range(3):
            assert edge.child.values[player] == pytest.approx(expected[player], abs=0.25), (edge.move, player)
        assert edge.value == pytest.approx(expected[0], abs=0.25)


def test_players_who_move_at_once_have_each_their_own_values():
    game = ludus.make("roshambo", rock=1.0, paper=0.5, scissors=0.25)
    agent = make_agent("uct:4000", game)
    agent.choose(game.start(), player=0)
    root = ludus.Tree(agent).root
    assert root.to_move == EVERYONE
    assert [edge.move for edge in root.edges_of(1)].count("rock") == 1
    assert root.values[0] == pytest.approx(-root.values[1])
    pays = {"rock,scissors": 1.0, "scissors,rock": -1.0, "paper,rock": 0.5, "paper,scissors": -0.25, "rock,rock": 0.0}
    for move, value in pays.items():
        child = root.child(move)
        assert child.values == (value, -value)
        assert child.position.played == [move]
    assert len(root.children) == 9
    for player in (0, 1):  # a player's edge is the mean over what the other did
        for edge in root.edges_of(player):
            lowest, highest = {"rock": (-0.5, 1), "paper": (-0.25, 0.5), "scissors": (-1, 0.25)}[edge.move]
            assert lowest < edge.value < highest


def test_nodes_are_found_by_their_moves_and_go_into_json():
    agent = make_agent("uct:2000", CONNECT4)
    choice = agent.choose(CONNECT4.start())
    tree = ludus.Tree(agent)
    node = tree.node(choice.line[:2])
    assert node.position.played == choice.line[:2]
    assert tree.node(["d", "d", "d", "d", "d", "d", "a", "a", "a"]) is None
    read = json.loads(json.dumps(node.json, allow_nan=False))
    assert (read["visits"], read["to_move"]) == (node.visits, 0)
    assert [edge["move"] for edge in read["edges"]] == [edge.move for edge in node.edges]
    roshambo = ludus.make("roshambo")
    agent = make_agent("uct:500", roshambo)
    agent.choose(roshambo.start(), player=0)
    read = json.loads(json.dumps(ludus.Tree(agent).root.json, allow_nan=False))
    assert (len(read["edges"]), len(read["joint_moves"])) == (6, 9)
    assert "rock,paper" in read["joint_moves"]


# --- the tree while it lives ------------------------------------------------------------------------------------------


def test_positions_are_those_of_the_states_in_the_tree():
    for name, settings in (("connect4", ""), ("connect4", ":transpositions=yes"), ("roshambo", ""), ("laststone", "")):
        game = ludus.make(name)
        agent = make_agent(f"uct:800{settings}", game)
        agent.choose(game.start(), player=0)
        for node in all_nodes(ludus.Tree(agent).root, 3):
            assert node.position.states.tobytes() == agent.forest.trees.states[node.index : node.index + 1].tobytes()


def test_transpositions_share_a_node():
    agent = make_agent("uct:3000:transpositions=yes", CONNECT4)
    agent.choose(CONNECT4.start())
    root = ludus.Tree(agent).root
    one, other = (root.child(move).child("g").child(last) for move, last in (("d", "c"), ("c", "d")))
    assert one.index == other.index
    assert one.position == other.position


def test_a_tree_that_was_left_says_so():
    agent = make_agent("uct:500", CONNECT4)
    choice = agent.choose(CONNECT4.start())
    tree = ludus.Tree(agent)
    edges = tree.root.edges
    agent.choose(CONNECT4.start())  # thinks on about the same position: the tree grows
    assert not tree.is_stale
    tree.root.refresh()
    assert tree.root.visits == 1000
    unread = edges[0].child
    agent.choose(CONNECT4.start().play(choice.action))
    assert tree.is_stale
    with pytest.raises(StaleTree, match="take a new Tree"):
        _ = unread.visits
    assert tree.root.visits == 1000  # what was read stays
    fresh = ludus.Tree(agent)
    agent.new_game(0)
    assert fresh.is_stale


def test_agents_without_a_tree_have_none_to_show():
    with pytest.raises(BadAgent, match="builds no tree"):
        ludus.Tree(make_agent("random", CONNECT4))
    with pytest.raises(BadAgent, match="has no tree"):
        ludus.Tree(make_agent("uct", CONNECT4))


def test_a_running_search_can_be_read_node_by_node():
    analysis = ludus.analyse(CONNECT4.start(), "uct", "infinite", every=0.01)
    next(analysis)
    tree = ludus.Tree(analysis.agent)
    first = tree.root.visits
    while tree.root.visits < first + 10_000:
        node = tree.root
        while node is not None:
            node.refresh()
            assert sum(edge.visits for edge in node.edges) == node.visits or not node.edges
            best = max(node.edges, key=lambda edge: edge.visits, default=None)
            node = best.child if best else None
    analysis.close()


def test_virtual_loss_does_not_show():
    agent = RuleAgent(CONNECT4, *RULES["puct"], batch=8)
    seen = []

    def watch(search):
        edges = ludus.Tree(agent).root.edges
        seen.append((sum(edge.visits for edge in edges), search.simulations))
        assert all(edge.value is None or abs(edge.value) <= 0.5 for edge in edges)  # the opinions are from -0.5 to 0.5

    agent.think(CONNECT4.start(), 200, watch=watch)
    assert len(seen) > 10
    assert all(done - 8 <= visits <= done for visits, done in seen)


def test_a_node_of_a_tree_with_a_million_nodes_opens_at_once():
    agent = make_agent("uct:1000000:memory=1GB", CONNECT4)
    agent.choose(CONNECT4.start())
    tree = ludus.Tree(agent)
    assert tree.size > 900_000
    times = []
    node = tree.root
    while node.edges:
        node = max(node.edges, key=lambda edge: edge.visits).child
        began = time.perf_counter()
        if node is None or not node.edges:
            break
        _ = [edge.move for edge in node.edges]
        times.append(time.perf_counter() - began)
    assert len(times) > 5
    assert sorted(times)[len(times) // 2] < 0.01


class Ring(PythonGame):
    """A walk around a ring. The game is a draw when a place is reached for the third time, and its key is the place."""

    name, title = "ring", "Ring"

    def setup(self):
        self.actions = self.most_legal = 2
        self.longest = 11

    def initial(self, seed):
        return (0,)

    def mover(self, board):
        return len(board) % 2

    def legal_actions(self, board, player):
        return (0, 1)

    def after(self, board, action):
        return (*board, (board[-1] + 2 * action - 1) % 5)

    def result(self, board):
        return (0.0, 0.0) if board.count(board[-1]) == 3 else None

    def key(self, board):
        return board[-1], len(board) % 2


def test_with_transpositions_a_path_ends_where_its_own_history_ends_the_game():
    agent = make_agent("uct:300:transpositions=yes", Ring())
    choice = agent.choose(agent.game.start())
    tree = ludus.Tree(agent)
    node, plies = tree.root, 0
    while node.children:  # a longest path: by moves to places that were seen least
        node = max(node.children.values(), key=lambda child: (not child.position.is_over, child.visits))
        plies += 1
    assert 0 < plies <= 10
    assert len(choice.line) <= 10
