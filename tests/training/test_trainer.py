"""Runs that learn, stop, are killed, and go on."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import ludus
from ludus.agents import make_agent
from ludus.errors import BadOption
from ludus.game import Position
from ludus.nets.onnx import write_onnx
from ludus.runs.config import Config, read_toml, with_settings, write_toml
from ludus.runs.files import BadRun
from ludus.runs.run import Run
from ludus.training.gating import ScoreGate, UctGate
from ludus.training.ladder import Ladder
from ludus.training.learner import NotANumber
from ludus.training.playoff import Tally
from ludus.training.recording import concentrate
from ludus.training.resigning import Resigning
from ludus.training.trainer import Trainer
from tests.training.small import SMALL


def new_trainer(folder, game="tictactoe", **settings):
    return Trainer(Run.create(folder, ludus.make(game), with_settings(Config(), {**SMALL, **settings})))


def weights(trainer):
    both = (trainer.learner.network, trainer.learner.player)
    return [value.numpy().tobytes() for network in both for value in network.state_dict().values()]


@pytest.mark.parametrize(
    "settings",
    [
        {"soft_policy_weight": 1.0, "reply_policy_weight": 0.25, "surprise_weight": 0.5},
        {"search": "puct", "full_search_fraction": 0.5, "fast_simulations": 4, "concurrent_learning": True},
        {"engine": "int8"},
    ],
)
def test_a_run_stopped_and_resumed_gives_the_same_weights_bit_for_bit(tmp_path, settings):
    whole = new_trainer(tmp_path / "whole", **settings)
    for _ in range(4):
        whole.iterate()
        whole.save()
    stopped = new_trainer(tmp_path / "stopped", **settings)
    for _ in range(2):
        stopped.iterate()
        stopped.save()
    stopped.iterate()  # as if killed before its checkpoint: played again
    again = Trainer(Run.open(tmp_path / "stopped"))
    again.restore(2)
    for _ in range(2):
        again.iterate()
    assert weights(again) == weights(whole)
    assert [line["rows"] for line in again.run.log()] == [line["rows"] for line in whole.run.log()]


def test_workers_do_not_change_each_other(tmp_path):
    """The same seed with two workers, twice: threads may run as they like."""
    one, other = (new_trainer(tmp_path / name, workers=2, learner_threads=2) for name in ("one", "other"))
    for trainer in (one, other):
        trainer.iterate()
        trainer.iterate()
    assert weights(one) == weights(other)


def test_tictactoe_is_learned_in_seconds(tmp_path):
    trainer = new_trainer(
        tmp_path / "run", width=32, blocks=2, parallel_games=64, iteration_rows=1500, batch_size=128, simulations=16
    )
    for _ in range(8):
        trainer.iterate()
    trainer.save()
    game = trainer.game
    agents = [make_agent(f"zero:{tmp_path / 'run'}:64", game), make_agent("solver", game)]
    result = ludus.play_match(game, agents, 10, parallel=1)
    assert result.tally(0)[2] == 0


def test_an_iteration_stopped_by_the_user_changes_nothing_on_disk(tmp_path):
    trainer = new_trainer(tmp_path / "run")
    trainer.iterate()
    trainer.save()
    before = sorted(str(path) for path in (tmp_path / "run").rglob("*"))
    stop = threading.Event()
    stop.set()
    assert trainer.iterate(stop) is None
    assert sorted(str(path) for path in (tmp_path / "run").rglob("*")) == before


def test_only_the_latest_checkpoints_keep_the_learner(tmp_path):
    trainer = new_trainer(tmp_path / "run")
    for _ in range(4):
        trainer.iterate()
        trainer.save()
    run = trainer.run
    assert run.checkpoints() == [1, 2, 3, 4]
    assert [(run.checkpoint(i) / "state.npz").exists() for i in (1, 2, 3, 4)] == [False, False, True, True]
    for iteration in (1, 4):
        assert run.load_player(iteration)[1]["iteration"] == iteration


def test_the_loss_does_not_become_nan_unnoticed(tmp_path):
    trainer = new_trainer(tmp_path / "run")
    trainer.iterate()
    trainer.window.rows.results[:] = np.nan
    good = weights(trainer)
    with pytest.raises(NotANumber, match="no longer a number"):
        trainer.learner.learn(trainer.window.rows, 3, 0.0, np.random.default_rng(0))
    assert weights(trainer)[: len(good) // 2] == good[: len(good) // 2]


# --- What may be wrong with a run -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    trainer = new_trainer(folder)
    trainer.iterate()
    trainer.save()
    return folder


def test_a_folder_that_holds_a_run_is_not_overwritten(finished):
    with pytest.raises(BadRun, match="holds a run already"):
        Run.create(finished, ludus.make("tictactoe"), Config())


def test_a_run_of_another_game_is_refused(finished):
    with pytest.raises(BadRun, match="is a run of tictactoe"):
        Run.open(finished, ludus.make("connect4"))


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(BadRun, match="not a run"):
        Run.open(tmp_path)


def test_a_checkpoint_that_is_not_there_is_named(finished):
    with pytest.raises(BadRun, match="no checkpoint 9; the nearest is 1"):
        Run.open(finished).load_player(9)


def test_a_damaged_checkpoint_is_named(tmp_path):
    trainer = new_trainer(tmp_path / "run")
    trainer.iterate()
    trainer.save()
    path = trainer.run.checkpoint(1) / "player.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(BadRun, match=r"player\.safetensors is damaged"):
        trainer.run.load_player()


def test_a_setting_that_does_not_exist_or_fit_is_named(tmp_path):
    for wrong, message in (
        ({"block": 3}, "no setting is called 'block'; did you mean blocks"),
        ({"blocks": "many"}, "blocks must be a whole number"),
        ({"batch_size": 0}, "batch_size must be at least 1"),
        ({"network": "deep"}, "network must be one of"),
        ({"full_search_fraction": 0.5, "fast_simulations": 100}, "fast_simulations must not exceed simulations"),
    ):
        with pytest.raises(BadOption, match=message):
            with_settings(Config(), wrong)
    path = tmp_path / "config.toml"
    config = with_settings(Config(), SMALL)
    spec = ludus.GameSpec("connect4", {"rows": 5})
    path.write_text(write_toml(spec, config))
    read, settings = read_toml(path)
    assert (read, with_settings(Config(), settings)) == (spec, config)


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    trainer = new_trainer(tmp_path / "run")
    trainer.iterate()
    trainer.save()
    trainer.iterate()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez", full)
    with pytest.raises(BadRun, match="No space left on device; nothing was changed"):
        trainer.save()
    assert trainer.run.checkpoints() == [1]
    assert not list((tmp_path / "run" / "checkpoints").glob(".*"))


def test_with_concurrent_learning_files_are_written_while_the_run_goes_on(tmp_path, monkeypatch):
    trainer = new_trainer(tmp_path / "run", concurrent_learning=True)
    slow, written = threading.Event(), trainer.run.save

    def save(*arguments):
        slow.wait(20)
        written(*arguments)

    monkeypatch.setattr(trainer.run, "save", save)
    for _ in range(3):
        trainer.iterate()
    before = weights(trainer)
    trainer.save(wait=False)
    trainer.learner.learn(trainer.window.rows, 3, 0.0, trainer.rng)  # not in the checkpoint
    assert trainer.run.checkpoints() == []
    slow.set()
    trainer.finish()
    again = Trainer(Run.open(tmp_path / "run"))
    again.restore(3)
    assert weights(again) == before
    assert weights(trainer) != before


def test_a_full_disk_is_told_also_when_files_are_written_meanwhile(tmp_path, monkeypatch):
    trainer = new_trainer(tmp_path / "run", concurrent_learning=True)
    trainer.iterate()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez_compressed", full)  # the rows, and not the checkpoint that needs them
    trainer.iterate()
    trainer.save(wait=False)
    with pytest.raises(BadRun, match="No space left on device; nothing was changed"):
        trainer.finish()
    assert trainer.run.checkpoints() == []


def test_a_network_is_exported_and_checked(finished, tmp_path, capsys):
    from ludus.cli import main

    file = tmp_path / "out.onnx"
    assert main(["export", str(finished), "--onnx", str(file)]) == 0
    assert "differs from PyTorch by at most" in capsys.readouterr().out
    import onnxruntime

    session = onnxruntime.InferenceSession(file.read_bytes())
    policy, values = session.run(None, {"planes": np.zeros((3, 2, 3, 3), np.float32)})
    assert (policy.shape, values.shape) == ((3, 1, 9), (3, 1))
    assert main(["export", f"{finished}@7", "--onnx", str(file)]) == 2
    assert "no checkpoint 7" in capsys.readouterr().err


# --- The command ------------------------------------------------------------------------------------------------------


def ludus_train(*arguments):
    code = "import sys; from ludus.cli import main; sys.exit(main())"
    return [sys.executable, "-c", code, "train", *arguments]


def test_a_run_killed_at_any_moment_goes_on(tmp_path):
    folder = tmp_path / "run"
    settings = [f"--set={name}={value}" for name, value in SMALL.items()]
    begin = ludus_train("tictactoe", "--run", str(folder), "--games", "100000", *settings)
    process = subprocess.Popen(begin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (folder / "log.jsonl").exists() or len((folder / "log.jsonl").read_text().splitlines()) < 3:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    run = Run.open(folder)
    last = run.whole_checkpoint()
    assert last >= 2
    steps = json.loads((folder / "log.jsonl").read_text().splitlines()[last - 1])["steps"]
    again = subprocess.run(
        ludus_train("--resume", str(folder), "--steps", str(steps + 5)), capture_output=True, text=True, check=True
    )
    assert f"Going on from iteration {last}" in again.stdout
    assert run.whole_checkpoint() > last
    iterations = [line["iteration"] for line in run.log()]
    assert iterations == list(range(1, run.whole_checkpoint() + 1))


def test_ctrl_c_stops_cleanly_and_says_how_to_go_on(tmp_path):
    folder = tmp_path / "run"
    settings = [f"--set={name}={value}" for name, value in SMALL.items()]
    begin = ludus_train("tictactoe", "--run", str(folder), "--games", "100000", *settings)
    process = subprocess.Popen(begin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not (folder / "log.jsonl").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert f"Go on: ludus train --resume {folder}" in output
    assert Run.open(folder).whole_checkpoint() is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a game to train"),
        (["tictactoe", "--minutes", "0"], "minutes must be a number above 0"),
        (["tictactoe", "--set", "blocks"], "--set takes name=value"),
        (["tictactoe", "--recipe", "soup"], "no recipe is called 'soup'"),
        (["--resume", "nowhere"], "nowhere is not a run"),
        (["tictactoe", "--set", "network=graph"], "needs a game with a graph"),
        (["roshambo", "--set", "search=gumbel"], "roshambo needs search = puct"),
        (["laststone", "--set", "gating=0.55"], "cannot be trained with gating: that needs two players"),
    ],
)
def test_bad_commands_get_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    from ludus.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["train", *arguments]) == 2
    errors = capsys.readouterr().err.strip()
    assert message in errors
    assert len(errors.splitlines()) == 1
    assert not list(Path(tmp_path).iterdir())


# --- Gating and resigning ---------------------------------------------------------------------------------------------


def test_with_gating_only_a_better_network_plays_and_resuming_is_exact(tmp_path):
    settings = {"gating": 1.3, "gating_games": 8}
    whole = new_trainer(tmp_path / "whole", **settings)
    replaced = []
    for _ in range(4):
        before = weights_of(whole.gate.best)
        whole.iterate()
        whole.save()
        wins, draws, losses, passed = whole.gate.result
        assert wins + draws + losses == 8
        assert passed == (wins > 1.3 * losses)
        assert (weights_of(whole.gate.best) != before) == passed
        replaced.append(passed)
    again = Trainer(Run.open(tmp_path / "whole"))
    again.restore(3)
    again.iterate()
    assert weights(again) == weights(whole)
    assert weights_of(again.gate.best) == weights_of(whole.gate.best)


def weights_of(network):
    return [value.numpy().tobytes() for value in network.state_dict().values()]


@pytest.mark.parametrize(
    ("gate", "result", "wanted"),
    [(0.55, (11, 0, 9), True), (0.55, (10, 1, 9), False), (1.3, (13, 0, 10), False), (1.3, (14, 0, 10), True)],
)
def test_both_styles_of_gates(gate, result, wanted):
    assert ScoreGate(torch.nn.Linear(1, 1), gate).passes(Tally(*result)) == wanted


def test_resigning_ends_games_and_stops_when_it_errs(tmp_path):
    resigning = Resigning(0.5, 4)
    resigning.exempt[:] = [False, False, True, False]
    players, expected = np.array([0, 1, 0, 1], np.int8), np.array([-0.9, 0.9, -0.9, -0.9], np.float32)
    full = np.array([True, True, True, False])
    over, results = np.zeros(4, np.bool_), np.zeros((4, 2), np.float32)
    resigning.check(players, expected, full, over, results)
    assert over.tolist() == [True, False, False, False]
    assert results[0].tolist() == [-1.0, 1.0]
    assert resigning.loser.tolist() == [-1, -1, 0, -1]
    results[2] = 1.0, -1.0
    resigning.begin(np.array([False, False, True, False]), results, np.random.default_rng(0))
    assert resigning.counts.tolist() == [1, 1]
    resigning.counts[:] = 100, 6
    over[:] = False
    resigning.check(players, expected, full, over, results)
    assert not over.any()


def test_a_run_with_resigning_learns_from_shorter_games(tmp_path):
    trainer = new_trainer(tmp_path / "run", resign_threshold=0.3)
    report = trainer.iterate()
    assert 0.0 <= report.resign_error <= 1.0
    assert abs(trainer.window.rows.results).max() <= 1.0


@pytest.mark.parametrize("network", ["residual", "conv", "mlp"])
def test_auxiliary_policies_are_learned_and_never_play(tmp_path, network):
    trainer = new_trainer(tmp_path / "run", network=network, soft_policy_weight=1.0, reply_policy_weight=0.25)
    further = [value.clone() for value in trainer.learner.network.further.parameters()]
    for _ in range(2):
        trainer.iterate()
    trainer.save()
    assert any(
        (old != new).any() for old, new in zip(further, trainer.learner.network.further.parameters(), strict=True)
    )
    player, _ = trainer.run.load_player()
    assert b"further" not in write_onnx(player)
    rows = trainer.window.rows
    assert rows.replies.max() >= 0
    assert (rows.replies < 9).all()


def test_the_reply_is_the_move_that_was_played_next(tmp_path):
    rows = new_trainer(tmp_path / "run", opening_plies=0).selfplay.play(128, 8).rows
    game = ludus.make("tictactoe")
    checked = 0
    for index in np.flatnonzero(rows.replies >= 0):
        position = Position(game, rows.states[index : index + 1])
        nexts = [position.play(action) for action in position.actions]
        assert any(rows.replies[index] in each.actions for each in nexts if not each.is_over)
        checked += 1
    assert checked > 20


def test_noise_goes_by_the_legal_moves_of_each_position():
    game = ludus.make("connect4").compile()
    crowded = game.start()
    for _ in range(6):
        crowded = crowded.play("a")
    states = np.concatenate([game.start().states, crowded.states])
    shapes = np.zeros((2, 7), np.float32)
    concentrate(game.rules, states, 10.0, np.zeros(7, np.int32), shapes)
    np.testing.assert_allclose(shapes[0], 10 / 7)
    np.testing.assert_allclose(shapes[1], [10 / 6] * 6 + [0])


def test_uct_is_a_gate_that_rises():
    gate = UctGate(torch.nn.Linear(1, 1), 10)
    assert gate.passes(Tally(5, 0, 5))
    assert not gate.passes(Tally(4, 2, 4))
    assert gate.passes(Tally(8, 1, 1))
    assert gate.uct == 10
    assert gate.passes(Tally(10, 0, 0))
    assert gate.uct == 20
    assert gate.passes(Tally(1, 0, 9))


def test_a_run_whose_gate_is_uct(tmp_path):
    trainer = new_trainer(tmp_path / "run", gating_uct=2, gating_games=4)
    for _ in range(2):
        trainer.iterate()
    trainer.save()
    assert sum(trainer.gate.result[:3]) == 4
    again = Trainer(Run.open(tmp_path / "run"))
    again.restore(2)
    assert (again.gate.uct, again.gate.best_score) == (trainer.gate.uct, trainer.gate.best_score)


def test_a_network_that_loses_to_the_untrained_one_is_rated_0():
    ladder = Ladder(torch.nn.Linear(1, 1))
    assert ladder.rating is None
    ladder.add(torch.nn.Linear(1, 1), Tally(0, 0, 16))
    assert (ladder.rating, ladder.interval) == (0.0, (0.0, 0.0))
    ladder.add(torch.nn.Linear(1, 1), Tally(16, 0, 0))
    assert ladder.rating > 0


def test_the_ladder_rates_by_known_strengths():
    """Whoever wins with the probability of 200 Elo more, again and again, climbs by about 200 a rung."""
    rng = np.random.default_rng(0)
    ratings = []
    for _ in range(200):
        ladder, rival = Ladder(torch.nn.Linear(1, 1)), 0.0
        strength = 0.0
        for _ in range(30):
            strength = min(strength + 40.0, 600.0)
            wins = int(rng.binomial(16, 1 / (1 + 10 ** ((rival - strength) / 400))))
            before = ladder.base
            ladder.add(torch.nn.Linear(1, 1), Tally(wins, 0, 16 - wins))
            if ladder.base != before:
                rival = strength
        ratings.append(ladder.rating)
    assert 450 < np.mean(ratings) < 700
