"""The demo on a small scale, as one types it."""

from ludus.cli import main
from ludus.runs.run import Run
from tests.training.small import QUICK


def test_the_demo_trains_plays_and_shows_a_curve(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr("ludus.terminal.demo.MATCHES", (("random", 2),))
    monkeypatch.setattr("ludus.terminal.demo.SETTINGS", QUICK)
    assert main(["demo", "--minutes", "0.05", "--run", str(tmp_path / "run")]) == 0
    shown = capfd.readouterr().out
    assert "against random" in shown
    assert f"ludus play connect4 --against zero:{tmp_path / 'run'}" in shown
    assert (tmp_path / "run" / "learning.png").read_bytes()[:4] == b"\x89PNG"
    lines = Run.open(tmp_path / "run").log()
    assert all(line["rating"] is not None for line in lines)
