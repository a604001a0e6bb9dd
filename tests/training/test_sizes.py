"""Runs whose weights play, and begin runs, on other board sizes than their own."""

import pytest
import torch

import ludus
from ludus.agents import make_agent
from ludus.arena.roster import Plan, Roster
from ludus.cli import main
from ludus.errors import Unsuitable
from ludus.runs.config import Config, with_settings
from ludus.runs.files import BadRun
from ludus.runs.players import first_weights
from ludus.runs.run import Run
from ludus.training.trainer import Trainer
from tests.training.small import SMALL

BOARD = {"rows": 4, "columns": 4, "line": 3}


def trained(folder, game, iterations=1, **settings):
    trainer = Trainer(Run.create(folder, game, with_settings(Config(), {**SMALL, **settings})))
    for _ in range(iterations):
        trainer.iterate()
        trainer.save()
    return trainer


def weights(network):
    return {name: value.numpy().tobytes() for name, value in network.state_dict().items()}


@pytest.fixture(scope="module")
def small_board(tmp_path_factory):
    """A run on a board of 4 x 4, of two iterations."""
    folder = tmp_path_factory.mktemp("sizes") / "small"
    return folder, trained(folder, ludus.make("connect4", **BOARD), 2, size_free=True, soft_policy_weight=0.5)


def test_it_learns_and_goes_on_bit_for_bit(small_board):
    folder, trainer = small_board
    first, _ = trainer.run.load_player(1)
    again = Trainer(Run.open(folder))
    again.restore(1)
    again.iterate()
    assert weights(again.learner.player) == weights(trainer.learner.player)
    assert weights(again.learner.network) == weights(trainer.learner.network)
    changed = [name for name, value in weights(first).items() if value != weights(trainer.learner.player)[name]]
    assert {name.split(".")[0] for name in changed} == {"trunk", "policy", "value", "further"}


def test_each_seat_learns_planes_of_its_own(tmp_path):
    game = ludus.make("tictactoe")
    trainer = trained(tmp_path / "run", game, 0, size_free=True, roles=True, soft_policy_weight=0.5)
    network = trainer.learner.network
    before = [head.planes.weight.detach().clone() for head in (network.policy, network.further)]
    trainer.iterate()
    for head, old in zip((network.policy, network.further), before, strict=True):
        assert old.shape[0] == 2
        assert ((head.planes.weight - old).abs().amax((1, 2, 3)) > 1e-4).all()


def test_its_checkpoints_take_part_in_an_arena_of_another_board(small_board):
    game = ludus.make("connect4", rows=5, columns=6)
    run = Run.open(small_board[0], game, any_size=True)
    roster = Roster(game, "random", runs=[(run, Plan(agents=()))])
    assert [each.checkpoint for each in roster.entrants.values()] == [None, 1, 2]


@pytest.mark.parametrize("kind", ["zero:{}:16", "policy:{}", "rollout:{}@1:4"])
def test_its_agents_play_on_another_board(small_board, kind):
    game = ludus.make("connect4", rows=5, columns=6)
    agents = [make_agent(kind.format(small_board[0]), game), make_agent("random", game)]
    assert sum(ludus.play_match(game, agents, 2, parallel=1).tally(0)) == 2


def test_the_command_plays_it_on_another_board(small_board, capsys):
    options = ["--option=rows=5", "--option=columns=5"]
    assert main(["match", "connect4", *options, f"zero:{small_board[0]}:8", "random", "--games=2", "--parallel=1"]) == 0
    assert "zero:" in capsys.readouterr().out


def test_what_it_says_on_another_board_is_what_its_weights_say_there(small_board):
    folder, trainer = small_board
    game = ludus.make("connect4", rows=5, columns=6)
    position = game.start().play("c").play("d")
    policy, value = make_agent(f"policy:{folder}", game).evaluate(position, 0)
    network = trainer.config.make_network(game)
    network.load_state_dict(trainer.learner.player.state_dict())
    with torch.no_grad():
        logits, values = network.eval()(torch.from_numpy(position.observe()[None]))
    assert policy.tolist() == pytest.approx(torch.softmax(logits[0, 0], 0).tolist(), abs=1e-4)
    assert value == pytest.approx(float(values[0, 0]), abs=1e-4)


def test_other_games_and_training_on_are_refused_as_before(small_board):
    with pytest.raises(BadRun, match="is a run of connect4"):
        make_agent(f"policy:{small_board[0]}", ludus.make("tictactoe"))
    with pytest.raises(BadRun, match=r"is a run of connect4\(rows=4.*not of connect4\(rows=6,columns=7,line=4\)v1$"):
        Run.open(small_board[0], ludus.make("connect4"))


def test_a_network_with_sizes_says_how_to_be_without(tmp_path):
    trained(tmp_path / "run", ludus.make("connect4", **BOARD))
    with pytest.raises(
        BadRun, match=r"not of connect4.*are trained with --set size_free=yes, or network=graph or groups"
    ):
        make_agent(f"zero:{tmp_path / 'run'}", ludus.make("connect4"))


def test_weights_that_see_other_planes_are_refused(tmp_path):
    run = Run.create(tmp_path / "run", ludus.make("cachex", n=3), with_settings(Config(), {**SMALL, "size_free": True}))
    Trainer(run).save()
    assert make_agent(f"policy:{tmp_path / 'run'}", ludus.make("cachex", n=4)).choose(ludus.make("cachex", n=4).start())
    with pytest.raises(Unsuitable, match="was trained with view=own: add --option view=own"):
        make_agent(f"policy:{tmp_path / 'run'}", ludus.make("cachex", n=3, view="planes4"))


@pytest.mark.parametrize("network", ["graph", "groups"])
def test_a_network_of_base_3_plays_base_5(tmp_path, network):
    folder = tmp_path / "run"
    trained(folder, ludus.make("sevn", base=3), network=network, blocks=3, width=16)
    game = ludus.make("sevn", base=5)
    for name in (f"zero:{folder}:16", f"policy:{folder}"):
        position = game.start(seed=4)
        choice = make_agent(name, game).choose(position)
        assert choice.action in position.actions
        assert sum(choice.policy) == pytest.approx(1.0, abs=1e-4)
        assert max(choice.policy) > min(choice.policy)


# --- Beginning with another run's weights -----------------------------------------------------------------------------


def test_a_run_begins_with_the_weights_of_another(small_board, tmp_path, capsys):
    folder, trainer = small_board
    where = tmp_path / "large"
    size = ["--option", "rows=5", "--option", "columns=5"]
    quick = [f"--set={name}={SMALL[name]}" for name in SMALL if name not in ("blocks", "width", "planned_rows")]
    begin = ["train", "connect4", *size, "--from", str(folder), "--run", str(where), "--steps", "1", *quick]
    still = ["--set", "learning_rate=0", "--set", "weight_decay=0", "--set", "augment=no"]
    assert main([*begin, *still, "--seed", "5"]) == 0
    run = Run.open(where)
    assert run.config.seed == 5
    assert run.config.initial_run == f"{folder}@2"
    assert (run.config.width, run.config.size_free, run.config.soft_policy_weight) == (8, True, 0.5)
    mine, theirs = run.load_player()[0].state_dict(), trainer.run.load_player()[0].state_dict()
    learned = [name for name in mine if "running" not in name and "num_batches" not in name]
    assert learned
    for name in learned:  # a rate of 0 leaves them as they began
        assert torch.allclose(mine[name], theirs[name], atol=1e-6)
    assert main(["train", "--resume", str(where), "--from", str(folder)]) == 2
    assert "resume keeps the settings of the run" in capsys.readouterr().err
    assert main([*begin[:6], "--from", str(folder), "--run", str(tmp_path / "other"), "--set", "width=16"]) == 2
    error = capsys.readouterr().err.strip()
    assert "has another network than this run; these settings must be the same" in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "other").exists()


def test_where_nothing_was_saved_yet_a_run_begins_there_again(small_board, tmp_path):
    folder, trainer = small_board
    game = ludus.make("connect4", rows=5, columns=5)
    settings = {**SMALL, "size_free": True, "soft_policy_weight": 0.5, "initial_run": f"{folder}@1"}
    Run.create(tmp_path / "run", game, with_settings(Config(), settings))
    again = Trainer(Run.open(tmp_path / "run"))
    assert weights(again.learner.network) == weights(trainer.run.load_player(1)[0])
    again.iterate()
    again.save()
    later = Trainer(Run.open(tmp_path / "run"))
    later.restore(1)
    assert weights(later.learner.network) == weights(again.learner.network)


def test_settings_of_another_network_are_named(small_board, tmp_path):
    run = Run.create(
        tmp_path / "run",
        ludus.make("connect4", **BOARD),
        with_settings(Config(), {**SMALL, "initial_run": str(small_board[0])}),
    )
    with pytest.raises(BadRun, match="size_free=True"):
        Trainer(run)


def test_weights_of_a_run_with_other_options_fit_if_their_shapes_are_the_same(tmp_path):
    run = trained(tmp_path / "run", ludus.make("connect4", **BOARD)).run
    four, larger = ludus.make("connect4", rows=4, columns=4, line=4), ludus.make("connect4", rows=5, columns=5)
    with pytest.raises(BadRun, match="is a run of"):
        Run.open(run.folder, four)
    found = first_weights(str(run.folder), four, run.config.make_network(four))
    own = run.load_player()[0].state_dict()
    assert all(torch.equal(found[name], own[name]) for name in own)
    with pytest.raises(BadRun, match="the network's inputs differ; weights for every size"):
        first_weights(str(run.folder), larger, run.config.make_network(larger))
