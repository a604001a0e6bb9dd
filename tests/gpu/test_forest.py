"""Searches on a card: the same, bit for bit, as on a processor."""

import numpy as np
import pytest
import torch

import ludus
from ludus.errors import Unsuitable
from ludus.gpu.compiler import arrays_in, to_ptx
from ludus.gpu.forest import aligned, begin_tree, grow_tree, show_tree
from ludus.native import kernel, part
from ludus.nets.evaluator import NetworkEvaluator
from ludus.nets.network import sizes_of
from ludus.runs.config import Config, with_settings
from ludus.search import rounds
from ludus.search.forest import Forest
from ludus.search.gumbel import Gumbel, gumbel
from ludus.search.noisy_puct import NoisyPuct
from ludus.search.puct import Puct
from ludus.search.tree import NOTHING
from ludus.search.ucb1 import Ucb1
from ludus.training.selfplay import SelfPlay

needs_card = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")


class Exact:
    """A network of sums so short that every machine adds them up to the same bits; planes are rounded as on a card."""

    def __init__(self, game: ludus.Game):
        sizes = sizes_of(game)
        draw = np.random.default_rng(0)
        inputs = int(np.prod(sizes.observation))
        self.shape = (sizes.heads, sizes.actions)
        self.weights = [draw.integers(-64, 65, (inputs, count)) / 32 for count in (np.prod(self.shape), sizes.outputs)]
        if torch.cuda.is_available():
            self.stream = torch.cuda.Stream()
            self.there = [torch.tensor(weight, device="cuda", dtype=torch.float64) for weight in self.weights]

    def run(self, planes):
        rounded = torch.from_numpy(planes).flatten(1).to(torch.bfloat16).double().numpy()
        policy, values = (rounded @ weight for weight in self.weights)
        return policy.reshape(-1, *self.shape).astype(np.float32), np.clip(values / 16, -1, 1).astype(np.float32)

    def runs(self, planes):
        policy, values = (planes.flatten(1).double() @ weight for weight in self.there)
        return policy.unflatten(1, self.shape).float(), (values / 16).clamp(-1, 1).float()


class NoCard:
    def __init__(self, game):
        self.run = Exact(game).run


def positions_of(game, games):
    config = with_settings(Config(), {"simulations": 8, "opening_plies": 12, "search": "puct"})
    return SelfPlay(game, config, NetworkEvaluator(game, NoCard(game)), games, 5).states


def searched(game, rule, games, simulations):
    """What the processor's own search comes to."""
    forest = Forest(game, rule, trees=games, nodes=simulations + 1, seed=3)
    forest.plant(positions_of(game, games))
    forest.search(NetworkEvaluator(game, NoCard(game)), simulations=simulations)
    return forest


def assert_same(trees, edges, policy, processor):
    """Do the roots of `trees`, and what was concluded there, equal those of the processor's forest?"""
    assert processor.trees.done.mean() > 15
    np.testing.assert_array_equal(trees.done, processor.trees.done)
    np.testing.assert_array_equal(trees.random, processor.trees.random)
    edges_there, policy_there = processor.conclude()
    np.testing.assert_array_equal(policy, policy_there)
    chosen = [
        np.where(each == NOTHING, NOTHING, arrays.edges["action"][each])
        for arrays, each in ((trees, edges), (processor.trees, edges_there))
    ]
    np.testing.assert_array_equal(*chosen)
    for here, there in zip(trees.nodes[trees.root], processor.trees.nodes[processor.trees.root], strict=True):
        for field in ("visits", "mover", "solved", "counts", "value"):
            np.testing.assert_array_equal(here[field], there[field])
        if there["first"] == NOTHING:
            continue
        for field in ("total", "visits", "action", "prior"):
            both = [
                arrays.edges[field][root["first"] :][: root["counts"].sum()]
                for arrays, root in ((trees, here), (processor.trees, there))
            ]
            np.testing.assert_array_equal(*both)


KINDS = pytest.mark.parametrize(
    ("name", "options", "rule"),
    [
        ("connect4", {}, gumbel(24, 7, schedule_length=32)),
        ("connect4", {}, NoisyPuct()),
        ("sevn", {"base": 5}, gumbel(24, 16)),
        ("roshambo", {}, Puct(1.5)),
    ],
)
begin_one, grow_one, show_one = map(part, (begin_tree, grow_tree, show_tree))


@kernel
def begin_all(shown, grown, planted, wanted, budgets):
    for tree in range(wanted.size):
        begin_one(tree, shown, grown, planted, wanted, budgets)


@kernel
def grow_all(rules, rule, trees, leaves, budgets, planes, policy, outputs):
    for tree in range(budgets.size):
        grow_one(tree, rules, rule, trees, leaves, budgets, planes, policy, outputs)


@kernel
def show_all(rule, grown, shown, edges, policy):
    for tree in range(edges.shape[0]):
        show_one(tree, rule, grown, shown, edges, policy)


@KINDS
def test_what_a_card_does_is_the_processors_search(name, options, rule):
    game = ludus.make(name, **options).compile()
    games, simulations = 40, 24
    sizes, views = sizes_of(game), game.players if game.simultaneous else 1
    shown, whole = (Forest(game, rule, trees=games, nodes=nodes, seed=3) for nodes in (1, simulations + 1))
    for forest in (shown, whole):
        forest.trees, forest.buffer = (
            each._replace(states=aligned(each.states)) for each in (forest.trees, forest.buffer)
        )
    shown.plant(aligned(positions_of(game, games)))
    rounds.begin(shown.trees, isinstance(rule, Gumbel))
    wanted, budgets = np.full(games, simulations, np.int32), np.zeros(games, np.int32)
    planes = np.zeros((games * views, *sizes.observation), np.float32)
    answers = Exact(game).run(planes)
    begin_all(shown.trees, whole.trees, np.ones(games, np.bool_), wanted, budgets)
    for judged in range(simulations + 2):
        if judged:
            answers = Exact(game).run(planes)
        grow_all(game.rules, rule, whole.trees, whole.buffer, budgets, planes, *answers)
    room = whole.trees.bonus.shape[1]
    edges, policy = np.zeros((games, room // game.most_legal), np.int32), np.zeros((games, room), np.float32)
    show_all(rule, whole.trees, shown.trees, edges, policy)
    assert_same(shown.trees, edges, policy, searched(game, rule, games, simulations))


def test_the_code_for_a_card_needs_nothing_else_and_takes_every_array():
    game = ludus.make("tictactoe").compile()
    forest = Forest(game, Puct(1.5), trees=8, nodes=9)
    seen = [np.zeros((8, *shape), np.float32) for shape in (sizes_of(game).observation, (1, 9), (1,))]
    arguments = (game.rules, forest.rule, forest.trees, forest.buffer, np.zeros(8, np.int32), *seen)
    text = to_ptx(grow_tree, arguments, 8, "sm_80")
    assert "call" not in text  # of a function that is somewhere else
    head = text[text.index(".entry entry") : text.index("{", text.index(".entry entry"))]
    assert head.count(".param") == 1 + len(arrays_in(arguments))


def test_rules_that_need_a_library_do_not_run_on_a_card():
    game = ludus.make("tictactoe").compile()
    forest = Forest(game, Ucb1(), trees=8, nodes=9)
    seen = [np.zeros((8, *shape), np.float32) for shape in (sizes_of(game).observation, (1, 9), (1,))]
    with pytest.raises(Unsuitable, match=r"a card has no .*log"):
        to_ptx(
            grow_tree, (game.rules, forest.rule, forest.trees, forest.buffer, np.zeros(8, np.int32), *seen), 8, "sm_80"
        )


@needs_card
@KINDS
def test_a_search_on_the_card_is_the_same_bit_for_bit(name, options, rule):
    from ludus.gpu.forest import GpuForest

    game = ludus.make(name, **options).compile()
    card = GpuForest(game, [rule], NetworkEvaluator(game, Exact(game)), trees=300, nodes=25, seed=3)
    card.plant(positions_of(game, 300))
    card.search(simulations=24)
    assert_same(card.trees, *card.conclude(), searched(game, rule, 300, 24))


@needs_card
@pytest.mark.parametrize("settings", [{}, {"full_search_fraction": 0.3, "fast_simulations": 4}, {"search": "puct"}])
def test_games_on_the_card_are_those_of_the_processor(settings):
    game = ludus.make("connect4").compile()
    config = with_settings(Config(), {"simulations": 12, "simulations_end": 16, **settings})
    played = []
    for engine in (Exact(game), NoCard(game)):
        worker = SelfPlay(game, config, NetworkEvaluator(game, engine), 100, seed=1)
        played.append([worker.play(2000, simulations) for simulations in (12, 16)])
    assert type(worker.forest) is Forest
    for mine, theirs in zip(*played, strict=True):
        for name, array in mine._asdict().items():
            np.testing.assert_array_equal(array, getattr(theirs, name), err_msg=name)
