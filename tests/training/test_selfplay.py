"""The seam of self-play: weights in, rows and counts out, state and restore."""

import threading

import numpy as np
import pytest

import ludus
from ludus.nets.evaluator import make_evaluator
from ludus.runs.config import Config, with_settings
from ludus.search.puct import Puct
from ludus.training.gating import NoGate, ScoreGate, UctGate, make_gate
from ludus.training.ladder import Ladder
from ludus.training.playoff import Tally
from ludus.training.selfplay import LocalSelfPlay
from ludus.training.state import State
from tests.training.small import SMALL

CONFIG = with_settings(Config(), {**SMALL, "resign_threshold": 0.9})


@pytest.fixture(scope="module")
def game():
    return ludus.make("tictactoe").compile()


@pytest.fixture(scope="module")
def network(game):
    return CONFIG.make_network(game).eval()


def new_selfplay(game, network, workers=2, config=CONFIG):
    return LocalSelfPlay(game, config, network, games=16, workers=workers, seed=5)


def assert_equal(one, other):
    for name, array in one._asdict().items():
        np.testing.assert_array_equal(array, getattr(other, name), err_msg=name)


def test_counts_come_with_the_rows(game, network):
    selfplay = new_selfplay(game, network)
    first, second = selfplay.play(100, 8), selfplay.play(60, 8)
    assert len(first.rows) >= 100
    assert len(second.rows) >= 60
    for played in (first, second):
        counts = played.counts
        assert counts.games > 0
        assert 3 <= counts.plies / counts.games <= 9
        assert counts.simulations > 0
        assert counts.seconds > 0
        assert 0.0 <= counts.resign_error <= 1.0
    assert first.counts.games + second.counts.games == sum(worker.finished for worker in selfplay.workers)


def test_a_restored_state_goes_on_with_the_same_games(game, network):
    whole, again = new_selfplay(game, network), new_selfplay(game, network)
    whole.play(80, 8)
    state = whole.state()
    wanted = whole.play(80, 8)
    again.play(40, 4)  # elsewhere by now
    again.restore(State(arrays=dict(state.arrays), facts=state.facts))
    found = again.play(80, 8)
    assert_equal(found.rows, wanted.rows)
    assert found.counts[:3] == wanted.counts[:3]


def test_a_state_does_not_change_when_play_goes_on(game, network):
    selfplay = new_selfplay(game, network)
    state = selfplay.state()
    before = {name: array.copy() for name, array in state.arrays.items()}
    selfplay.play(50, 8)
    for name, array in before.items():
        np.testing.assert_array_equal(state.arrays[name], array, err_msg=name)


@pytest.mark.parametrize("engine", ["onnx", "torch", "int8"])
def test_all_workers_play_with_the_weights_that_were_loaded(game, network, engine):
    config = with_settings(CONFIG, {"engine": engine})
    other = CONFIG.make_network(game).eval()
    loaded = new_selfplay(game, network, config=config)
    loaded.load(other)
    assert_equal(loaded.play(60, 8).rows, new_selfplay(game, other, config=config).play(60, 8).rows)


def test_a_shared_evaluator_follows_the_weights_of_the_first(game, network):
    first = make_evaluator(game, network)
    second = first.share()
    before = value_of(first, game)
    assert value_of(second, game) == before
    first.load(CONFIG.make_network(game).eval())
    assert value_of(first, game) == value_of(second, game) != before


def value_of(evaluator, game):
    """What the evaluator says about the start."""
    forest = evaluator.make_forest([Puct()], trees=1, nodes=2, seed=0)
    assert not forest.on_gpu
    assert forest.why_not_on_gpu == ""
    forest.plant(game.start())
    forest.search(evaluator, simulations=0)
    return forest.trees.nodes[forest.trees.root[0]]["value"].tolist()


def test_a_stop_ends_play_within_a_move(game, network):
    selfplay = new_selfplay(game, network)
    stop = threading.Event()
    stop.set()
    played = selfplay.play(10**9, 8, stop)
    assert len(played.rows) == 0
    assert played.counts[:3] == (0, 0, 0)


# --- the other objects that keep their own state ----------------------------------------------------------------------


def copied(state):
    return State({name: value.clone() for name, value in state.tensors.items()}, dict(state.arrays), dict(state.facts))


def weights(network):
    return [value.numpy().tobytes() for value in network.state_dict().values()]


@pytest.mark.parametrize(
    ("settings", "kind"), [({}, NoGate), ({"gating": 0.55}, ScoreGate), ({"gating_uct": 20}, UctGate)]
)
def test_a_gate_goes_on_from_its_state(game, settings, kind):
    config = with_settings(CONFIG, settings)
    candidate = CONFIG.make_network(game)
    gate = make_gate(config, candidate)
    assert type(gate) is kind
    candidate.load_state_dict(CONFIG.make_network(game).state_dict())
    gate.decide(lambda new, old, uct: Tally(9, 0, 1))
    candidate.load_state_dict(CONFIG.make_network(game).state_dict())  # learned on since
    state, playing = copied(gate.state()), {name: value.clone() for name, value in gate.best.state_dict().items()}
    fresh = CONFIG.make_network(game)
    again = make_gate(config, fresh)
    again.restore(state, playing)
    assert weights(again.best) == weights(gate.best)
    assert weights(fresh) == weights(candidate)
    assert (weights(gate.best) == weights(candidate)) == (kind is NoGate)
    if kind is UctGate:
        assert (again.uct, again.best_score) == (20, 0.9)


def test_a_ladder_goes_on_from_its_state(game):
    ladder = Ladder(CONFIG.make_network(game))
    for wins in (16, 16, 10):
        ladder.add(CONFIG.make_network(game), Tally(wins, 0, 16 - wins))
    again = Ladder(CONFIG.make_network(game))
    again.restore(copied(ladder.state()))
    assert again.rating == ladder.rating
    assert weights(again.rival) == weights(ladder.rival)
