"""A symmetry takes positions to positions, moves to moves, and the position after a move to the one after its image."""

from itertools import permutations

import numpy as np
import pytest

from ludus import registry
from ludus import rules as generic
from ludus.rng import below, generator
from ludus.testing.lockstep import some_symmetries

GAMES = [
    ("connect4", {}),
    ("connect4", {"rows": 12, "columns": 8}),
    ("tictactoe", {}),
    ("breakthrough", {}),
    ("breakthrough", {"height": 7, "width": 5}),
    ("breakthrough", {"height": 11, "width": 13}),
    ("sevn", {"base": 5}),
    ("sevn", {"base": 9}),
    ("cachex", {"n": 5}),
    ("cachex", {"n": 9, "view": "planes4"}),
]


def image_of(position, which, actions):
    """The image of a position, and of its actions."""
    game = position.game
    states = game.new_states(1)
    states.view(np.uint8)[:] = 255  # the image must be written whole
    moved = np.array(actions, np.int32)
    generic.symmetry(game.rules, position.state, which, game.state_view(states), moved, len(actions))
    return type(position)(game, states), moved.tolist()


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_moves_of_the_image_are_the_images_of_the_moves(name, options):
    game = registry.make(name, **options)
    for seed in range(2):
        random = generator(seed)
        position = game.start()
        while not position.is_over:
            actions = position.actions
            chosen = below(random, len(actions))
            after = position.play(actions[chosen])
            for which in some_symmetries(game):
                image, moved = image_of(position, which, actions)
                assert sorted(moved) == sorted(image.actions)
                image_after, _ = image_of(after, which, [])
                assert image.play(moved[chosen]) == image_after
                assert image_after.values == after.values
                if which == 0:
                    assert image == position
                    assert moved == actions
            position = after


@pytest.mark.parametrize(("name", "options"), GAMES)
def test_symmetries_differ(name, options):
    game = registry.make(name, **options)
    identities = range(game.actions)
    images = {tuple(image_of(game.start(), which, identities)[1]) for which in some_symmetries(game)}
    assert len(images) == len(some_symmetries(game))


def test_sevn_has_all_permutations_of_its_colours():
    game = registry.make("sevn", base=3)
    start = game.start()
    assert game.symmetries == 48
    colours = {tuple(action >> 3 for action in image_of(start, 8 * which, range(0, 24, 8))[1]) for which in range(6)}
    assert colours == set(permutations(range(3)))
