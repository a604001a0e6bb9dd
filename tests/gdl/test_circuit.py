"""The circuit of a network: what moves change, and what it costs to find out."""

import pytest

from ludus.gdl import circuit
from ludus.gdl.game import networks_of
from ludus.gdl.language import read_description
from tests.gdl.naive import Naive
from tests.gdl.random_descriptions import ByCircuit, differences

NUMBERS = [f"n{i}" for i in range(14)]
RACE = f"""(role r) (init (at n0)) (init (speed n0)) (change n0) (change n1) (change n2)
    {" ".join(f"(sum {a} {b} {c})" for i, a in enumerate(NUMBERS) for b, c in zip(NUMBERS, NUMBERS[i:], strict=False))}
    (<= (legal r (faster ?d)) (change ?d))
    (<= (faster ?v) (true (speed ?w)) (does r (faster ?d)) (sum ?w ?d ?v))
    (<= (next (speed ?v)) (faster ?v))
    (<= (next (at ?y)) (true (at ?x)) (faster ?v) (sum ?x ?v ?y))
    (<= terminal (true (at n13))) (<= (goal r 100) (true (at n13))) (<= (goal r 0) (not (true (at n13))))"""
"""All that follows depends on the move, which changes a speed."""


@pytest.fixture
def race():
    return read_description(RACE)


@pytest.mark.parametrize(("fixed", "each", "times"), [(100, 1, 100), (100, 1, 1)])
def test_a_network_is_not_copied_for_each_move_where_all_depends_on_it(race, monkeypatch, fixed, each, times):
    monkeypatch.setattr(circuit, "GATES_FOR_EFFECTS", fixed)
    monkeypatch.setattr(circuit, "GATES_PER_MOVE", each)
    monkeypatch.setattr(circuit, "MOST_TIMES", times)
    network = networks_of(race)[1]
    maker = circuit.Maker(network)
    maker.make()
    assert maker.effect_roles == [-1]  # moves are nodes
    assert len(maker.kinds) < 2 * len(network.kinds)
    assert differences(race, 0, 7, [ByCircuit(race), Naive(RACE)]) is None


def test_moves_that_reach_few_gates_change_facts_directly():
    text = "(role r) (num 1) (num 2) (<= (legal r (put ?x)) (num ?x)) (<= (next (on ?x)) (does r (put ?x))) (goal r 1)"
    maker = circuit.Maker(networks_of(read_description(text))[1])
    maker.make()
    assert maker.effect_roles == [0]
