"""A run whose files are cut, flipped, emptied or lost: it goes on from what is good, and says what was lost."""

import json
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import ludus
from ludus.errors import DamagedRun
from ludus.runs.files import BadRun
from ludus.runs.run import Run
from ludus.training import preflight
from tests.training.small import QUICK

ITERATIONS = 4
"""Iterations of the run; a resumed one has one more."""
SETTINGS = {**QUICK, "iteration_rows": 64, "seed": 5}


def go_on(folder):
    """One more iteration; returns the run and the warnings."""
    steps = json.loads((folder / "steps.json").read_text())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DamagedRun)
        run = ludus.train(resume=folder, steps=steps + 1)
    return run, [str(each.message) for each in caught if issubclass(each.category, DamagedRun)]


def weights_of(run):
    return safetensors.numpy.load_file(run.checkpoint(run.checkpoints()[-1]) / "player.safetensors")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that nothing has happened to, and its weights one iteration later."""
    folder = tmp_path_factory.mktemp("runs") / "whole"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preflight, "SECONDS", 0.05)
        run = ludus.train("tictactoe", steps=1, run=folder, settings=SETTINGS)
        while run.log()[-1]["iteration"] < ITERATIONS:
            ludus.train(resume=folder, steps=run.log()[-1]["steps"] + 1)
    (folder / "steps.json").write_text(str(run.log()[-1]["steps"]))
    later = shutil.copytree(folder, folder.with_name("later"))
    run, told = go_on(later)
    assert told == []
    return folder, weights_of(run)


@pytest.fixture
def folder(whole, tmp_path):
    return shutil.copytree(whole[0], tmp_path / "run")


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path):
    path.write_bytes(b"")


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0x10
    path.write_bytes(content)


def lose(path):
    path.unlink()


FILES = [
    "config.toml",
    "about.json",
    "log.jsonl",
    "games/000001.npz",
    f"games/{ITERATIONS:06d}.npz",
    *(
        f"checkpoints/{ITERATIONS:06d}/{name}"
        for name in ("player.safetensors", "learner.safetensors", "state.npz", "SHA256SUMS")
    ),
]


@pytest.mark.parametrize("damage", [cut, empty, flip, lose])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_named_and_the_run_goes_on(name, damage, folder, whole):
    damage(folder / name)
    before = {path: path.read_bytes() for path in (folder / "checkpoints").glob("[0-9]*/player.safetensors")}
    run, told = go_on(folder)
    if told:
        assert all("\n" not in line for line in told)
        assert any(Path(name).name in line or Path(name).parent.name in line for line in told), told
        assert not any("remove" in line or "delete" in line for line in told)
    else:  # the damage does not matter: what is learned is what would have been learned
        expected = whole[1]
        found = weights_of(run)
        assert all(np.array_equal(found[key], expected[key]) for key in expected)
    iterations = [line["iteration"] for line in run.log()]
    assert iterations[-1] >= ITERATIONS
    assert iterations == sorted(set(iterations))
    assert run.checkpoints()[-1] == iterations[-1]
    kept = [path for path in before if path.parent.name != f"{ITERATIONS:06d}"]
    assert all(path.read_bytes() == before[path] for path in kept)
    assert run.config == Run.open(whole[0]).config
    _, again = go_on(folder)  # what was lost is told once, except for files that are still damaged
    assert {line for line in again if "checkpoint" in line} == set()


def test_a_damaged_checkpoint_is_set_aside_and_played_again(folder, whole):
    flip(folder / "checkpoints" / f"{ITERATIONS:06d}" / "learner.safetensors")
    run, (told,) = go_on(folder)
    assert f"checkpoint {ITERATIONS} is lost" in told
    assert (folder / "checkpoints" / f"damaged-{ITERATIONS:06d}" / "learner.safetensors").is_file()
    expected, found = whole[1], weights_of(run)
    assert all(np.array_equal(found[key], expected[key]) for key in expected)


def test_without_a_good_checkpoint_nothing_is_started_anew(folder):
    for path in folder.glob("checkpoints/*/learner.safetensors"):
        flip(path)
    with pytest.raises(BadRun, match=r"no checkpoint to go on from: .*learner.safetensors.*--from .*@4 begins a new"):
        go_on(folder)
    other = ludus.train("tictactoe", start=f"{folder}@4", steps=1, run=folder / "other", settings=QUICK)
    assert other.checkpoints()


def test_lost_checkpoints_are_not_a_new_run(folder):
    shutil.rmtree(folder / "checkpoints")
    log = (folder / "log.jsonl").read_text()
    (folder / "log.jsonl").write_text(log + log.splitlines()[-1].replace('"iteration": 4', '"iteration": 9') + "\n")
    run = Run.open(folder)
    run._log.add({"iteration": 9})
    with pytest.raises(BadRun, match="checkpoints is empty after 9 iterations"):
        run.good_checkpoint()


def test_both_descriptions_damaged_is_one_line(folder):
    cut(folder / "config.toml")
    cut(folder / "about.json")
    with pytest.raises(BadRun, match=r"config.toml is damaged"):
        Run.open(folder)


def test_settings_may_be_edited_by_hand(folder):
    path = folder / "config.toml"
    text = path.read_text().replace("learning_rate = 0.002", "learning_rate = 0.001")
    path.write_text(text)
    with pytest.warns(DamagedRun, match="checksum does not match; the run goes on with the copy"):
        assert Run.open(folder).config.learning_rate == 0.002
    path.write_text("".join(line for line in text.splitlines(keepends=True) if not line.startswith("# checksum")))
    assert Run.open(folder).config.learning_rate == 0.001


def test_another_network_in_the_settings_is_not_called_damage(folder):
    path = folder / "config.toml"
    lines = [line for line in path.read_text().splitlines(keepends=True) if not line.startswith("# checksum")]
    path.write_text("".join(line.replace("width = 8", "width = 6") for line in lines))
    with pytest.raises(BadRun, match="says width = 6, but the network of the run was made with width = 8"):
        go_on(folder)


def test_a_damaged_player_names_itself_and_others_can_be_played(folder):
    flip(folder / "checkpoints" / f"{ITERATIONS:06d}" / "player.safetensors")
    run = Run.open(folder)
    with pytest.raises(BadRun, match=rf"{ITERATIONS:06d}/player.safetensors is damaged"):
        run.load_player()
    assert run.load_player(ITERATIONS - 1)[1]["iteration"] == ITERATIONS - 1


def test_damaged_positions_are_copied_again_or_left_out(tmp_path):
    game = ludus.make("tictactoe")
    given = tmp_path / "positions.txt"
    ludus.grade("random", game, positions=given, count=10)
    settings = {**QUICK, "evaluate_every": 1, "evaluation_positions": str(given)}
    run = ludus.train(game, steps=1, run=tmp_path / "run", settings=settings)
    (run.folder / "steps.json").write_text("1")
    flip(run.folder / "positions.txt")
    assert go_on(run.folder)[1] == []
    assert (run.folder / "positions.txt").read_bytes() == given.read_bytes()
    (run.folder / "steps.json").write_text("100")
    flip(run.folder / "positions.txt")
    lose(given)
    run, (told,) = go_on(run.folder)
    assert "positions.txt" in told
    assert told.endswith("the run goes on without evaluations")
    assert run.log()[-1]["graded"] is None


@pytest.mark.parametrize("part", [0, 1, 2, 3])
def test_old_runs_have_no_checksums(folder, part):
    """As Ludus 0.1 wrote them: they open, unless the settings are cut off."""
    for path in folder.rglob("SHA256SUMS"):
        path.unlink()
    about = json.loads((folder / "about.json").read_text())
    (folder / "about.json").write_text(json.dumps({"game": about["game"]}))
    lines = (folder / "config.toml").read_text().splitlines(keepends=True)[:-1]
    path = folder / "config.toml"
    path.write_text("".join(lines))
    if part:
        path.write_text(path.read_text()[: len(path.read_text()) * part // 4])
        with pytest.raises(BadRun, match=r"config\.toml"):
            Run.open(folder)
    else:
        run, told = go_on(folder)
        assert told == []
        assert run.checkpoints()[-1] > ITERATIONS
