"""Symmetries that are found in descriptions, compared with play by the reasoner."""

from random import Random

import pytest

from ludus.gdl.described import GAMES
from ludus.gdl.game import action_terms, networks_of
from ludus.gdl.language import read_description
from ludus.gdl.reasoner import Reasoner
from ludus.gdl.structure import find_grid
from ludus.gdl.symmetries import find_symmetries


def analysed(name, change=lambda text: text):
    """A description, its network and its symmetries by their texts."""
    description = read_description(change((GAMES / f"{name}.kif").read_text()))
    network = networks_of(description)[0]
    found = find_symmetries(network, find_grid(description, network.bases, action_terms(network)), seconds=20.0)
    return description, network, {str(each): each for each in found}


@pytest.mark.parametrize(
    ("name", "count", "some"),
    [
        ("tictactoe", 15, ["o for x", "rows mirrored", "quarter turn", "transposed with o for x"]),
        ("connect4", 3, ["rows mirrored", "black for red", "rows mirrored with black for red"]),
        ("breakthrough-6x6", 3, ["rows mirrored", "half turn with black for white"]),
        ("babel", 5, []),
        ("eightpuzzle", 0, []),
    ],
)
def test_symmetries_are_found_and_hold_in_play(name, count, some):
    description, network, found = analysed(name)
    assert len(found) == count
    assert set(some) <= set(found)
    reasoner, random = Reasoner(description), Random(1)
    moves = [move for each in network.inputs for move in each]
    starts = network.input_starts
    for symmetry in found.values():
        facts_of = {base: network.bases[symmetry.bases[number]] for number, base in enumerate(network.bases)}
        moves_of = [
            {moves[i]: moves[symmetry.inputs[i]] for i in range(starts[role], starts[role + 1])}
            for role in range(len(network.roles))
        ]
        facts = reasoner.initial
        for _ in range(12):
            over, legal, goals = reasoner.inspect(facts)
            turned = [facts_of[fact] for fact in facts]
            other_over, other_legal, other_goals = reasoner.inspect(turned)
            assert over == other_over
            if over:
                assert all(goals[role] == other_goals[symmetry.roles[role]] for role in range(len(goals)))
                break
            for role, each in enumerate(legal):
                assert {moves_of[role][move] for move in each} == set(other_legal[symmetry.roles[role]])
            chosen = [random.choice(each) for each in legal]
            there = {network.roles[symmetry.roles[role]]: moves_of[role][move] for role, move in enumerate(chosen)}
            facts = reasoner.next(facts, dict(zip(network.roles, chosen, strict=True)))
            assert {facts_of[fact] for fact in facts} == set(reasoner.next(turned, there))


def test_a_rule_that_breaks_a_symmetry_is_noticed():
    def only_rows(text):
        return text + "\n(<= terminal (true (cell 1 1 x)) (true (cell 1 2 o)))\n"

    _, _, found = analysed("tictactoe", only_rows)
    assert found == {}


def test_a_goal_that_prefers_a_role_is_noticed():
    _, _, found = analysed("tictactoe", lambda text: text + "\n(<= (goal x 60) (true (cell 2 2 o)))\n")
    assert "rows mirrored" in found
    assert not any("o for x" in name for name in found)
