"""The demo and what a run shows, on a small scale."""

import pytest

import ludus
from ludus.runs.run import Run
from ludus.terminal import demo
from ludus.terminal.training import start_training

SETTINGS = [
    "blocks=1",
    "width=8",
    "iteration_rows=128",
    "batch_size=64",
    "simulations=4",
    "parallel_games=16",
    "workers=1",
]


def test_the_demo_trains_plays_and_shows_a_curve(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(demo, "MATCHES", (("random", 2),))
    monkeypatch.setattr(demo, "start_training", lambda *given: start_training(*given[:4], SETTINGS, None, None, 24))
    demo.run_demo(5, str(tmp_path / "run"))
    shown = capfd.readouterr().out
    assert "against random" in shown
    assert f"ludus play connect4 --against zero:{tmp_path / 'run'}" in shown
    assert (tmp_path / "run" / "learning.png").read_bytes()[:4] == b"\x89PNG"
    lines = Run.open(tmp_path / "run").log()
    assert all(line["rating"] is not None for line in lines)


def test_the_log_for_tensorboard_holds_what_the_log_holds(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    run = start_training(
        ludus.make("tictactoe"), str(tmp_path / "run"), None, None, SETTINGS, None, None, 24, tensorboard=True
    )
    events = accumulator.EventAccumulator(str(run.folder / "tensorboard"))
    events.Reload()
    lines = run.log()
    for name in ("rows", "policy", "rating"):
        scalars = events.Scalars(name)
        assert [scalar.step for scalar in scalars] == [line["iteration"] for line in lines]
        assert [scalar.value for scalar in scalars] == pytest.approx([line[name] for line in lines], rel=1e-5)
