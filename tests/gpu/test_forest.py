"""Searches on a GPU: the same, bit for bit, as on the CPU."""

import numpy as np
import pytest
import torch

import ludus
from ludus.errors import Unsuitable
from ludus.gpu.compiler import arrays_in, to_ptx
from ludus.gpu.forest import (
    aligned,
    begin_tree,
    grow_tree,
    grow_tree_of_groups,
    make_forest,
    score_leaf_move,
    show_tree,
)
from ludus.native import kernel, part
from ludus.nets.engines import CpuEngine
from ludus.nets.evaluator import PlaneEvaluator
from ludus.nets.group_evaluator import GroupEvaluator
from ludus.nets.network import sizes_of
from ludus.runs.config import Config, with_settings
from ludus.search import rounds
from ludus.search.forest import Forest
from ludus.search.gumbel import Gumbel, gumbel
from ludus.search.noisy_puct import NoisyPuct
from ludus.search.puct import Puct
from ludus.search.tree import NOTHING
from ludus.search.ucb1 import Ucb1
from ludus.training.worker import Worker

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")


class Exact(CpuEngine):
    """A network of sums so short that every machine adds them up to the same bits; planes are rounded as on a GPU."""

    def __init__(self, game: ludus.Game, groups: bool = False):
        sizes = sizes_of(game)
        rng = np.random.default_rng(0)
        inputs = int(np.prod(game.groups.inputs if groups else sizes.observation))
        self.shape = (game.groups.cells + 1, 4) if groups else (sizes.heads, sizes.actions)
        self.weights = [rng.integers(-64, 65, (inputs, count)) / 32 for count in (np.prod(self.shape), sizes.outputs)]

    def load(self, network, calibration=None):
        raise NotImplementedError

    def run(self, planes):
        rounded = torch.from_numpy(planes).flatten(1).to(torch.bfloat16).double().numpy()
        policy, values = (rounded @ weight for weight in self.weights)
        return policy.reshape(-1, *self.shape).astype(np.float32), np.clip(values / 16, -1, 1).astype(np.float32)


class ExactOnGpu(Exact):
    """The same network on a GPU, with the trees there too."""

    def __init__(self, game: ludus.Game, groups: bool = False):
        super().__init__(game, groups)
        self.stream = torch.cuda.Stream()
        self.there = [torch.tensor(weight, device="cuda", dtype=torch.float64) for weight in self.weights]

    def forward(self, planes):
        policy, values = (planes.flatten(1).double() @ weight for weight in self.there)
        return policy.unflatten(1, self.shape).float(), (values / 16).clamp(-1, 1).float()

    def make_forest(self, game, rules, evaluator, view, **sizes):
        return make_forest(game, rules, evaluator, self, view, **sizes)


def random_states(game, count):
    """States [count] in which the game is on, after up to 12 random plies, played in plain Python."""
    random = np.random.default_rng(5)
    states = game.new_states(count)
    for number in range(count):
        position = game.start(number)
        for _ in range(random.integers(13)):
            after = position.play(position.actions[random.integers(len(position.actions))])
            if not after.is_over:
                position = after
        states[number] = position.states[0]
    return states


def with_aligned_states(forest):
    """The states of trees on a GPU are aligned. With them on the CPU too, the rules are compiled only once."""
    forest.trees, forest.buffer = (each._replace(states=aligned(each.states)) for each in (forest.trees, forest.buffer))
    return forest


def searched(game, rule, states, simulations, groups=False):
    """The search on the CPU."""
    forest = Forest(game, rule, trees=len(states), nodes=simulations + 1, seed=3)
    if states.dtype.isalignedstruct:
        with_aligned_states(forest)
    forest.plant(states)
    make = GroupEvaluator if groups else PlaneEvaluator
    forest.search(make(game, Exact(game, groups)), simulations=simulations)
    return forest


def assert_same(trees, edges, policy, cpu):
    """The roots of `trees`, and what was concluded there, must equal those of the forest on the CPU."""
    assert cpu.trees.done.mean() > 15
    np.testing.assert_array_equal(trees.done, cpu.trees.done)
    np.testing.assert_array_equal(trees.random, cpu.trees.random)
    edges_there, policy_there = cpu.conclude()
    np.testing.assert_array_equal(policy, policy_there)
    chosen = [
        np.where(each == NOTHING, NOTHING, arrays.edges["action"][each])
        for arrays, each in ((trees, edges), (cpu.trees, edges_there))
    ]
    np.testing.assert_array_equal(*chosen)
    for here, there in zip(trees.nodes[trees.root], cpu.trees.nodes[cpu.trees.root], strict=True):
        for field in ("visits", "mover", "solved", "counts", "value"):
            np.testing.assert_array_equal(here[field], there[field])
        if there["first"] == NOTHING:
            continue
        for field in ("total", "visits", "action", "prior"):
            both = [
                arrays.edges[field][root["first"] :][: root["counts"].sum()]
                for arrays, root in ((trees, here), (cpu.trees, there))
            ]
            np.testing.assert_array_equal(*both)


KINDS = [
    ("connect4", {}, gumbel(24, 7, schedule_length=32)),
    ("connect4", {}, NoisyPuct()),
    ("roshambo", {}, Puct(1.5)),
]
SEVN = "sevn", {"base": 5}, gumbel(24, 16)
ARGUMENTS = "name", "options", "rule", "groups"
begin_one, grow_one, show_one = map(part, (begin_tree, grow_tree, show_tree))
grow_one_of_groups, score_one = map(part, (grow_tree_of_groups, score_leaf_move))


@kernel
def begin_all(shown, grown, planted, wanted, budgets):
    for tree in range(wanted.size):
        begin_one(tree, shown, grown, planted, wanted, budgets)


@kernel
def grow_all(rules, rule, trees, leaves, budgets, planes, policy, outputs):
    for tree in range(budgets.size):
        grow_one(tree, rules, rule, trees, leaves, budgets, planes, policy, outputs)


@kernel
def grow_all_of_groups(rules, rule, trees, leaves, budgets, roles, cells, planes, parts, outputs):
    for index in range(leaves.actions.size):
        score_one(index, rules, leaves, roles, cells, 1, 1, parts)
    for tree in range(budgets.size):
        grow_one_of_groups(tree, rules, rule, trees, leaves, budgets, 1, planes, outputs)


@kernel
def show_all(rule, grown, shown, edges, policy):
    for tree in range(edges.shape[0]):
        show_one(tree, rule, grown, shown, edges, policy)


@pytest.mark.parametrize(ARGUMENTS, [*((*kind, False) for kind in KINDS), (*SEVN, True)])
def test_the_functions_for_a_gpu_do_the_search_of_the_cpu(name, options, rule, groups):
    game = ludus.make(name, **options)
    games, simulations = 40, 24
    planted = aligned(random_states(game, games))
    game.compile()
    observers = game.players if game.simultaneous else 1
    shown, whole = (
        with_aligned_states(Forest(game, rule, trees=games, nodes=nodes, seed=3)) for nodes in (1, simulations + 1)
    )
    shown.plant(planted)
    rounds.begin(shown.trees, isinstance(rule, Gumbel))
    wanted, budgets = np.full(games, simulations, np.int32), np.zeros(games, np.int32)
    planes = np.zeros((games * observers, *(game.groups.inputs if groups else game.observation)), np.float32)
    network = Exact(game, groups)
    answers = network.run(planes)
    begin_all(shown.trees, whole.trees, np.ones(games, np.bool_), wanted, budgets)
    for evaluated in range(simulations + 2):
        if evaluated:
            answers = network.run(planes)
        if groups:
            scratch = np.zeros((2, games * game.most_legal, game.touches.cells), np.int32)
            grow_all_of_groups(game.rules, rule, whole.trees, whole.buffer, budgets, *scratch, planes, *answers)
        else:
            grow_all(game.rules, rule, whole.trees, whole.buffer, budgets, planes, *answers)
    max_edges = whole.trees.bonus.shape[1]
    edges = np.zeros((games, max_edges // game.most_legal), np.int32)
    policy = np.zeros((games, max_edges), np.float32)
    show_all(rule, whole.trees, shown.trees, edges, policy)
    assert_same(shown.trees, edges, policy, searched(game, rule, planted, simulations, groups))


def test_the_code_for_a_gpu_needs_nothing_else_and_takes_every_array():
    game = ludus.make("tictactoe").compile()
    forest = Forest(game, Puct(1.5), trees=8, nodes=9)
    seen = [np.zeros((8, *shape), np.float32) for shape in (sizes_of(game).observation, (1, 9), (1,))]
    arguments = (game.rules, forest.rule, forest.trees, forest.buffer, np.zeros(8, np.int32), *seen)
    text = to_ptx(grow_tree, arguments, 8, "sm_80")
    assert "call" not in text  # of a function that is somewhere else
    head = text[text.index(".entry entry") : text.index("{", text.index(".entry entry"))]
    assert head.count(".param") == 1 + len(arrays_in(arguments))


def test_groups_and_touched_cells_are_compiled_for_a_gpu():
    game = ludus.make("sevn", base=5).compile()
    forest = Forest(game, gumbel(24, 16), trees=8, nodes=9)
    scratch = [np.zeros((8 * game.most_legal, 5), np.int32) for _ in range(2)]
    planes = np.zeros((*game.groups.inputs, 8), np.float32).transpose(3, 0, 1, 2)
    parts, outputs = (np.zeros((8, *shape), np.float32) for shape in ((26, 4), (1,)))
    scored = game.rules, forest.buffer, *scratch, 1, 1, parts
    grown = game.rules, forest.rule, forest.trees, forest.buffer, np.zeros(8, np.int32), 1, planes, outputs
    for function, arguments in ((score_leaf_move, scored), (grow_tree_of_groups, grown)):
        assert "call" not in to_ptx(function, arguments, 8, "sm_80")


def test_rules_that_need_a_library_do_not_run_on_a_gpu():
    game = ludus.make("tictactoe").compile()
    forest = Forest(game, Ucb1(), trees=8, nodes=9)
    seen = [np.zeros((8, *shape), np.float32) for shape in (sizes_of(game).observation, (1, 9), (1,))]
    with pytest.raises(Unsuitable, match=r"a GPU has no .*log"):
        to_ptx(
            grow_tree, (game.rules, forest.rule, forest.trees, forest.buffer, np.zeros(8, np.int32), *seen), 8, "sm_80"
        )


@needs_gpu
@pytest.mark.parametrize(ARGUMENTS, [*((*kind, False) for kind in [*KINDS, SEVN]), (*SEVN, True)])
def test_a_search_on_the_gpu_is_the_same_bit_for_bit(name, options, rule, groups):
    game = ludus.make(name, **options)
    planted = random_states(game, 300)
    game.compile()
    evaluator = (GroupEvaluator if groups else PlaneEvaluator)(game, ExactOnGpu(game, groups))
    forest = evaluator.make_forest([rule], trees=300, nodes=25, seed=3)
    assert forest.on_gpu
    forest.plant(planted)
    forest.search(simulations=24)
    assert_same(forest.trees, *forest.conclude(), searched(game, rule, planted, 24, groups))


@needs_gpu
@pytest.mark.parametrize("settings", [{}, {"full_search_fraction": 0.3, "fast_simulations": 4}, {"search": "puct"}])
def test_games_on_the_gpu_are_those_of_the_cpu(settings):
    game = ludus.make("connect4").compile()
    config = with_settings(Config(), {"simulations": 12, "simulations_end": 16, **settings})
    played = []
    for engine, on_gpu in ((ExactOnGpu(game), True), (Exact(game), False)):
        worker = Worker(game, config, PlaneEvaluator(game, engine), 100, seed=1)
        played.append([worker.play(2000, simulations) for simulations in (12, 16)])
        assert worker.forest.on_gpu == on_gpu
    for mine, theirs in zip(*played, strict=True):
        for name, array in mine._asdict().items():
            np.testing.assert_array_equal(array, getattr(theirs, name), err_msg=name)
