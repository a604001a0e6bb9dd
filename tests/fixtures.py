"""Fixtures: agents that misbehave, and runs whose checkpoints were not trained."""

import json
from pathlib import Path

import pytest

import ludus
from ludus.agents import KINDS
from ludus.runs.config import Config, with_settings, write_toml
from ludus.runs.run import Run, detached


@pytest.fixture
def misbehaving(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setitem(KINDS, "misbehaving", "misbehaving")


@pytest.fixture
def hollow_run(tmp_path):
    """A run whose checkpoints hold anything: nobody looks inside to tell them apart. Call it to add checkpoints."""
    folder = tmp_path / "learned"
    folder.mkdir()
    game = ludus.make("tictactoe")
    (folder / "config.toml").write_text(write_toml(game.spec, Config()))
    (folder / "about.json").write_text(json.dumps({"game": game.identity}))

    def add(*numbers):
        for number in numbers:
            checkpoint = folder / "checkpoints" / f"{number:06d}"
            checkpoint.mkdir(parents=True)
            (checkpoint / "player.safetensors").write_bytes(b"weights %d" % number)
        return Run.open(folder)

    return add


@pytest.fixture
def run_that_plays(tmp_path):
    """A run with small networks, random ones. Call it to add a checkpoint."""
    from ludus.nets.families import make_network

    game = ludus.make("tictactoe")
    run = Run.create(tmp_path / "run", game, with_settings(Config(), {"blocks": 1, "width": 8}))

    def add(number):
        network = make_network("residual", game, blocks=1, width=8)
        run.save(number, detached(network.state_dict()), {}, {}, {})
        return run

    return add
