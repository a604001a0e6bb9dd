"""A short run of the fuzz suite with fixed seeds, and the proof that it finds what it looks for."""

import os
import subprocess
import sys
import time

import pytest

from ludus.errors import BadPosition
from tests.fuzz import __main__ as runner
from tests.fuzz import commands
from tests.fuzz.parsers import TARGETS, Target

ROOT = commands.Path(__file__).parents[2]


def run_suite(*arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True
    )


@pytest.mark.parametrize("only", ["parsers", "command:"])
def test_fixed_seeds_find_nothing(only):
    ended = run_suite("--only", only)
    assert ended.returncode == 0, ended.stdout[-5000:] + ended.stderr[-2000:]


def test_every_command_is_covered():
    assert {name.removeprefix("command:") for name in commands.targets()} == set(commands.application())
    assert len(commands.targets()) >= 18


def test_the_same_seed_gives_the_same_input_in_every_process():
    case = run_suite("--case", "position:connect4", "7").stdout.splitlines()[0]
    assert case == f"input: {runner.input_of('position:connect4', 7)!r}"


def test_every_input_of_the_corpus_belongs_to_a_target():
    assert {target for target, _ in runner.CORPUS} <= set(runner.TARGETS)


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (lambda text: int("x"), "ValueError"),
        (lambda text: bytearray(8 << 30), "MemoryError"),
        (lambda text: os._exit(3), "the process ended with 3"),
        (lambda text: time.sleep(60), "more than 0.2 s"),
    ],
    ids=["wrong error", "memory", "crash", "hang"],
)
def test_a_parser_that_breaks_its_promise_is_found(monkeypatch, capfd, broken, says):
    def check(text):
        if text == 1:
            broken(text)

    made = iter(range(10))
    monkeypatch.setitem(runner.TARGETS, "broken", lambda: Target(lambda random: next(made), check))
    monkeypatch.setattr(runner, "input_of", lambda name, seed: seed)
    monkeypatch.setattr(runner, "TIME_LIMIT", 0.2)
    assert runner.run_cases("broken", [0, 1, 2]) == [1]
    shown = capfd.readouterr().out
    assert "FAILED: python -m tests.fuzz --case broken 1" in shown
    assert says in shown


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"code": 3}, "exit code 3"),
        ({"code": 1}, "exit code 1"),
        ({"late": True, "code": -9}, "did not end in time"),
        ({"left_processes": True}, "left processes behind"),
        ({"interrupted": True, "code": 130}, "reads an input without an end"),
        ({"error": "Traceback (most recent call last):\n"}, "traceback"),
        ({"code": 2, "error": "one\ntwo\n"}, "not one line of error"),
        ({"code": 2, "error": "ludus: KeyError: 3\n"}, "bare exception name KeyError"),
        ({"code": 2, "error": f"ludus: {'x' * 5000}\n"}, "an error of 5007 characters"),
        ({"code": 2, "error": "ludus: \x1b[31m\n"}, "control characters in an error"),
        ({"code": 2, "error": "ludus: there is not enough memory for this\n"}, "filled the memory"),
    ],
)
def test_a_command_that_breaks_a_promise_is_found(changes, fault):
    good = {"code": 0, "output": "", "error": "", "interrupted": False, "late": False, "left_processes": False}
    line = ("perft", "/dev/zero")
    assert commands._faults(line, commands.Outcome(**good)) == []
    assert fault in commands._faults(line, commands.Outcome(**{**good, **changes}))


def test_a_changed_file_is_found(tmp_path):
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "text.txt").write_text("a")
    before = commands._listing(tmp_path)
    os.utime(tmp_path / "beside" / "text.txt", (1, 1))
    assert commands._changes(before, commands._listing(tmp_path)) == ["changed beside/text.txt"]


def test_a_position_that_is_written_as_another_one_is_found(monkeypatch):
    target = TARGETS["position:tictactoe"]()
    target.check("3/3/3")
    kind = type(runner.parsers.make("tictactoe"))
    monkeypatch.setattr(kind, "write", lambda self, state: "x2/3/3")
    with pytest.raises(AssertionError, match="another one"):
        target.check("3/3/3")
    with pytest.raises(BadPosition):
        runner.parsers.make("tictactoe").parse("3/3/4")
