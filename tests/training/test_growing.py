"""The settings that suit a game, and a larger network and a deeper search for runs with much time."""

import dataclasses

import pytest

import ludus
from ludus.runs.config import Config, with_settings
from ludus.training.growing import ENOUGH_ROWS, LARGER, grow, may_grow
from ludus.training.planning import Budget, settings_for
from ludus.training.preflight import Measured


def measured_on(speed):
    """A machine on which a network costs what its weights cost, as a function from settings to figures."""

    def measure(config):
        cost = config.blocks * config.width**2
        return Measured(
            parameters=cost,
            evaluations=speed / cost,
            simulations=speed / cost,
            plies=30.0,
            learned=speed / cost / 3,
            engine="int8",
            parallel_games=128,
            workers=2,
            learner_threads=1,
            learner_precision="float32",
            peak=0,
            tree_bytes=0,
            row_bytes=100.0,
            trees_on_gpu=False,
            why_not_on_gpu="",
        )

    return measure


@pytest.mark.parametrize("speed", [3e7, 2e8, 5e8, 1e10])
def test_a_faster_machine_trains_a_larger_network_on_enough_rows(speed):
    config, measure = Config(), measured_on(speed)
    grown, figures = grow(config, measure(config), 60, measure)
    assert figures == measure(grown)
    sizes = [(config.blocks, config.width), *((each.blocks, each.width) for each in LARGER)]
    level = sizes.index((grown.blocks, grown.width))
    if level:
        assert 3600 / figures.seconds_per_row(grown) >= ENOUGH_ROWS
        assert grown.simulations_end == LARGER[level - 1].simulations * config.simulations
    else:
        assert grown == config
    slower = measured_on(speed / 100)
    smaller, _ = grow(config, slower(config), 60, slower)
    assert sizes.index((smaller.blocks, smaller.width)) <= level
    assert level == {3e7: 0, 2e8: 1, 5e8: 2, 1e10: 4}[speed]


def test_only_a_run_of_some_length_whose_network_is_not_chosen_grows():
    suited = settings_for(ludus.make("connect4"))
    assert may_grow(Budget(60), suited, {"seed", "learning_rate"})
    assert not may_grow(Budget(10), suited, set())
    assert not may_grow(Budget(60, games=1000), suited, set())
    assert not may_grow(Budget(games=100_000), suited, set())
    for name in ("network", "blocks", "width", "simulations", "simulations_end"):
        assert not may_grow(Budget(60), suited, {name})
    assert not may_grow(Budget(60), settings_for(ludus.make("tictactoe")), set())


def test_moves_that_name_cells_are_scored_there_unless_a_network_is_chosen():
    breakthrough, connect4 = ludus.make("breakthrough"), ludus.make("connect4")
    assert settings_for(breakthrough)["size_free"]
    assert "size_free" not in settings_for(connect4)
    assert "size_free" not in settings_for(ludus.make("tictactoe"))
    for name in ("network", "reply_policy_weight", "reply"):
        assert "size_free" not in settings_for(breakthrough, [name])


def test_the_designs_are_ever_larger_settings():
    config = Config()
    for design in LARGER:
        larger = with_settings(config, {"blocks": design.blocks, "width": design.width})
        assert larger.blocks > config.blocks
        assert larger.width > config.width
        config = dataclasses.replace(larger)


def test_a_learning_rate_is_suggested_where_it_was_measured_and_nobody_chose_one(monkeypatch):
    game = ludus.make("connect4")
    for engine, given, suggested in (
        ("int8", set(), True),
        ("int8", {"blocks"}, True),
        ("int8", {"learning_rate"}, False),
        ("int8", {"network"}, False),
        ("cuda", set(), False),
    ):
        monkeypatch.setattr("ludus.training.planning.fastest_engine", lambda engine=engine: engine)
        settings = settings_for(game, given)
        assert ("learning_rate" in settings, "learning_rate_end" in settings) == (suggested, suggested)
