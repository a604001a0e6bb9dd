"""Games with simultaneous moves whose positions a network sees once for all players (setting `shared_view`)."""

import numpy as np
import torch

import ludus
from ludus.nets.families import make_network
from ludus.nets.rows import Rows
from ludus.nets.samples import PlaneSampler, Targets
from ludus.training.planning import settings_for
from tests.nets.test_groups import InOrder
from tests.nets.test_nets import answers, lively


def test_with_a_shared_view_one_evaluation_answers_for_all_players():
    game = ludus.make("gdl:pacman")
    network = lively(make_network("mlp", game, blocks=1, width=8, shared_view=True))
    position = game.start().play("(go north),(go west),(go west)")
    roots, forest = answers(game, network, [position])
    with torch.no_grad():
        policy, values = network(torch.from_numpy(position.observe(0)[None]))
    assert policy.shape == (1, 3, game.actions)
    for player in range(3):
        wanted = torch.softmax(policy[0, player, position.actions_of(player)], 0).numpy()
        assert np.allclose(roots[0][player].priors, wanted, atol=1e-4)
    assert np.allclose(forest.trees.nodes[forest.trees.root[0]]["value"][:3], values[0].numpy(), atol=1e-5)


def test_rows_of_a_shared_view_are_seen_by_the_first_player():
    game = ludus.make("gdl:pacman")
    position = game.start().play("(go north),(go west),(go west)")
    legal = [position.actions_of(player) for player in range(3)]
    rows = Rows(
        np.repeat(position.states, 3, axis=0),
        np.arange(3, dtype=np.int8),
        np.cumsum([0, *map(len, legal)]),
        np.concatenate(legal).astype(np.int32),
        np.concatenate([np.eye(len(each))[-1] for each in legal]).astype(np.float32),
        np.array([[-0.5, 0.25, 0.5]] * 3, np.float32),
        np.array([0.1, 0.2, 0.3], np.float32),
        np.ones(3, np.float32),
        np.full(3, -1, np.int32),
    )
    sample = PlaneSampler(game, Targets(0.5, augment=False, shared_view=True), 3).draw(rows, 3, InOrder())
    assert sample.seats.tolist() == [0, 1, 2]
    assert all(np.array_equal(planes, position.observe(0)) for planes in sample.planes.numpy())
    wanted = [[-0.2, 0.25, 0.5], [-0.5, 0.225, 0.5], [-0.5, 0.25, 0.4]]  # half of it is what the search found
    assert np.allclose(sample.values.numpy(), wanted)
    for player in range(3):
        assert sample.policy[player, legal[player][-1]] == 1.0


def test_training_shares_the_view_where_players_move_at_once():
    assert settings_for(ludus.make("roshambo"))["shared_view"]
    assert "shared_view" not in settings_for(ludus.make("laststone"))
