"""Full disks, folders that cannot be written, killed processes, and two processes at once."""

import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

import ludus
from ludus.runs import files
from ludus.runs.files import BadRun
from ludus.runs.lock import training_lock
from ludus.runs.run import Run
from ludus.training import preflight
from ludus.training.events import BudgetAssumed
from tests.training.small import QUICK

SETTINGS = {**QUICK, "iteration_rows": 64, "seed": 5, "planned_rows": 4000}


@pytest.fixture(autouse=True)
def short_preflight(monkeypatch):
    monkeypatch.setattr(preflight, "SECONDS", 0.05)


def train(folder, *more, settings=SETTINGS):
    given = [f"--set={name}={value}" for name, value in settings.items()]
    code = "import sys; from ludus.training import preflight; preflight.SECONDS = 0.05\n"
    code += "from ludus.cli import main; sys.exit(main())"
    return [sys.executable, "-c", code, "train", "tictactoe", "--run", str(folder), *given, *more]


def weights_of(run):
    return safetensors.numpy.load_file(run.checkpoint(run.checkpoints()[-1]) / "player.safetensors")


def assert_same(some, others):
    assert all(np.array_equal(some[key], others[key]) for key in some)


def wait_for(path, lines, process):
    while not path.exists() or len(path.read_text().splitlines()) < lines:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


@pytest.mark.parametrize("place", ["/proc/ludus/run", "/dev/null/run"])
def test_a_folder_that_cannot_be_written_is_noticed_before_anything_else(place):
    events = []
    with pytest.raises(BadRun, match=f"{place} cannot be written"):
        ludus.train("tictactoe", steps=1, run=place, settings=SETTINGS, on_event=events.append)
    assert [event for event in events if not isinstance(event, BudgetAssumed)] == []


@pytest.mark.parametrize("call", range(0, 24, 3))
def test_a_disk_that_is_full_at_any_moment_loses_nothing(call, tmp_path, monkeypatch):
    """The write number `call` fails. The run then goes on to the same weights as one on a larger disk."""
    folder, count = tmp_path / "run", 0
    with monkeypatch.context() as patch:

        def fail(*given):
            nonlocal count
            count += 1
            if count > call:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return to_disk(*given)

        to_disk = files._to_disk
        patch.setattr(files, "_to_disk", fail)
        with pytest.raises(BadRun, match="cannot be written: No space left on device"):
            ludus.train("tictactoe", steps=50, run=folder, settings=SETTINGS)
    assert not list(folder.rglob("*.part*"))
    if not (folder / "config.toml").exists():
        run = ludus.train("tictactoe", steps=5, run=folder, settings=SETTINGS)
    else:
        run = ludus.train(resume=folder, steps=5)
    whole = ludus.train("tictactoe", steps=5, run=tmp_path / "whole", settings=SETTINGS)
    assert [line["rows"] for line in run.log()] == [line["rows"] for line in whole.log()]
    assert_same(weights_of(run), weights_of(whole))


def test_a_quota_on_the_size_of_files_is_one_line(tmp_path):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))

    done = subprocess.run(
        train(tmp_path / "run", "--steps", "50"), capture_output=True, text=True, preexec_fn=limit, timeout=120
    )
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if not line.endswith("...")]  # what goes on
    assert "cannot be written" in line
    assert "File too large" in line


def test_a_run_killed_twice_ends_with_the_same_weights(tmp_path):
    folder = tmp_path / "run"
    command, lines = train(folder, "--steps", "40"), 2
    for lines in (2, 5):
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(folder / "log.jsonl", lines, process)
        process.kill()
        process.communicate()
        command = [*train(folder)[:3], "train", "--resume", str(folder), "--steps", "40"]
    run = ludus.train(resume=folder, steps=40)
    whole = ludus.train("tictactoe", steps=40, run=tmp_path / "whole", settings=SETTINGS)
    assert [line["rows"] for line in run.log()] == [line["rows"] for line in whole.log()]
    assert_same(weights_of(run), weights_of(whole))


def test_one_process_trains_a_run_at_a_time(tmp_path):
    run = ludus.train("tictactoe", steps=1, run=tmp_path / "run", settings=SETTINGS)
    with training_lock(run.folder), pytest.raises(BadRun, match=rf"is being trained by process {os.getpid()}: wait"):
        ludus.train(resume=run.folder, steps=100)
    assert ludus.train(resume=run.folder, steps=3).log()[-1]["steps"] >= 3


def test_the_second_of_two_processes_is_refused(tmp_path):
    folder = tmp_path / "run"
    first = subprocess.Popen(train(folder, "--steps", "100000"), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        wait_for(folder / "log.jsonl", 1, first)
        with pytest.raises(BadRun, match=f"is being trained by process {first.pid}"):
            ludus.train(resume=folder, steps=100_001)
    finally:
        first.kill()
        first.communicate()
    assert ludus.train(resume=folder, steps=1).checkpoints()


def test_a_moved_run_goes_on(tmp_path):
    run = ludus.train("tictactoe", steps=1, run=tmp_path / "run", settings=SETTINGS)
    moved = shutil.move(run.folder, tmp_path / "moved")
    assert ludus.train(resume=moved, steps=3).folder == Path(moved)
    assert Run.open(Path(moved)).log()[-1]["steps"] >= 3


def test_the_memory_that_was_announced_is_not_exceeded(tmp_path):
    done = subprocess.run(
        ["/usr/bin/env", "python3", "-c", MEASURE, *train(tmp_path / "run", "--games", "400")],
        capture_output=True,
        text=True,
        check=True,
    )
    announced = int(done.stdout.split("at most ")[1].split(" MB")[0].replace(",", ""))
    peak = int(done.stdout.split("peak ")[1])
    assert peak / 1024 <= announced <= 2 * peak / 1024


MEASURE = """
import resource, subprocess, sys
print(subprocess.run(sys.argv[1:], capture_output=True, text=True, check=True).stdout)
print("peak", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
