"""What a network sees of a game in GDL: facts that count as numbers, all others as planes or in a list."""

import numpy as np
import pytest

import ludus
from ludus.errors import Unsuitable
from ludus.registry import remake
from ludus.runs.config import Config, with_settings
from ludus.runs.players import pack_player, read_pack
from ludus.runs.run import Run, detached
from ludus.spec import GameSpec

RACE = """(role a) (role b) (init (step 0)) (init (at a 3)) (init (at b 3)) (init (score a 0)) (init (score b 0))
(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7)
(<= (legal ?r up) (role ?r)) (<= (legal ?r down) (role ?r))
(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
(<= (next (at ?r ?m)) (does ?r up) (true (at ?r ?n)) (succ ?n ?m))
(<= (next (at ?r ?m)) (does ?r down) (true (at ?r ?n)) (succ ?m ?n))
(<= (next (at ?r 7)) (does ?r up) (true (at ?r 7)))
(<= (next (at ?r 0)) (does ?r down) (true (at ?r 0)))
(<= (next (score ?r ?m)) (true (score ?r ?n)) (succ ?n ?m) (does ?r up))
(<= (next (score ?r ?n)) (true (score ?r ?n)) (does ?r down))
(<= terminal (true (step 7)))
(<= (goal ?r 100) (true (score ?r 7))) (<= (goal ?r 0) (true (score ?r ?n)) (distinct ?n 7))"""
"""Steps and scores only rise; (at ?r ?n) is a place on a line."""
SMALL = with_settings(Config(), {"network": "mlp", "blocks": 1, "width": 4})


@pytest.fixture
def race(tmp_path):
    (tmp_path / "race.kif").write_text(RACE)
    return tmp_path / "race.kif"


def shown(position, player=0):
    """What a player sees, written by plain Python and by machine code."""
    game = position.game
    plain, native = (np.zeros(game.observation, np.float32) for _ in range(2))
    ludus.rules.observe(game.rules, position.states[0], player, plain)
    native[...] = position.observe(player)
    assert np.array_equal(plain, native)
    return plain


def test_facts_that_only_rise_are_numbers_and_places_are_not(race):
    game = ludus.make(race)
    assert [counter.name for counter in game.counters] == [("step", None), ("score", "a", None), ("score", "b", None)]
    assert game.observation == (16 + 3 * 3 + 2,)
    position = game.start().play("up,down").play("up,up")
    seen = shown(position, 1).tolist()
    assert sum(seen[:16]) == 2  # two places
    numbers = [2 / 7, 2 / 4, 1.0, 2 / 7, 2 / 4, 1.0, 1 / 7, 1 / 4, 1.0]
    assert seen[16:25] == pytest.approx(numbers)
    assert seen[25:] == [0.0, 1.0]


def test_on_a_board_a_counter_fills_its_planes():
    game = ludus.make("gdl:pacman")
    assert [counter.name for counter in game.counters] == [("eaten", None), ("time", None)]
    planes = shown(game.start().play("(go north),(go west),(go west)"))
    assert planes.shape == (5 + 2 * 3 + 3, 6, 6)
    assert planes.reshape(14, 36).sum(1)[-9:] == pytest.approx([36 / 36, 36 / 4, 36, 36 / 36, 36 / 4, 36, 36, 0, 0])


def test_without_the_option_every_value_has_its_place(race):
    game = ludus.make(race, counters="no")
    assert not game.counters
    assert game.observation == (16 + 8 + 16 + 2,)
    seen = shown(game.start().play("up,down"))
    assert set(seen.tolist()) == {0.0, 1.0}
    assert seen.sum() == 1 + 2 + 2 + 1


def test_specs_from_before_counters_make_the_game_as_it_was(race):
    new = ludus.make(race)
    old = remake(GameSpec(str(race), {"longest": 1000, "reasoner": False}, new.digest))
    assert (old.observation, new.observation) == ((42,), (27,))
    assert old.identity == new.identity  # the games are the same
    assert remake(new.spec).observation == new.observation
    assert remake(GameSpec(str(race))).observation == new.observation  # not stored, but written by a person


def test_a_run_with_another_view_says_which_option_to_add(race, tmp_path):
    old = ludus.make(race, counters=False)
    run = Run.create(tmp_path / "run", old, SMALL)
    run.save(1, detached(SMALL.make_network(old).state_dict()), {}, {}, {})
    assert Run.open(run.folder).game.observation == old.observation
    with pytest.raises(Unsuitable, match=r"run was trained with counters=no: add --option counters=no"):
        Run.open(run.folder, ludus.make(race))
    pack_player(str(run.folder), tmp_path / "mine.player")
    with pytest.raises(Unsuitable, match="add --option counters=no"):
        read_pack(tmp_path / "mine.player").load(ludus.make(race))
    assert read_pack(tmp_path / "mine.player").load(old)
