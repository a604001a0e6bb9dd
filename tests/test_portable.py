"""What only Linux has is not needed: processes that are spawned, consoles of Windows, modules that Windows lacks."""

import multiprocessing
import os
import subprocess
import sys

import ludus

COMMANDS = """
import sys
from ludus.cli import main
from ludus.training import preflight

preflight.SECONDS = 0.05
for line in sys.argv[1:]:
    code = main(line.split())
    assert code == 0, line
assert main(["play", "\\u4e2d.py"]) == 2  # the message names a file that the console cannot write
print("done \\u4e2d \\u2192")
"""


def test_commands_write_to_a_console_that_has_few_characters(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "COLUMNS": "100"}
    commands = (
        "games",
        "players",
        "train --settings",
        "match tictactoe uct:20 random --games 2 --parallel 1 --results results.sqlite",
        "ratings results.sqlite",
        "replay results.sqlite 1 --all",
        "train tictactoe --steps 1 --run run --set iteration_rows=64 --set parallel_games=8 --set rating_games=0",
    )
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, *commands], cwd=tmp_path, env=environment, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("cp1252").endswith("done \\u4e2d \\u2192" + os.linesep)
    assert "\\u4e2d.py" in done.stderr.decode("cp1252")
    assert (tmp_path / "run" / "config.toml").is_file()


def test_a_command_runs_as_a_module(tmp_path):
    done = subprocess.run([sys.executable, "-m", "ludus", "--version"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == f"ludus {ludus.__version__}\n"


def searched(seed):
    """The move and the value that a search finds."""
    game = ludus.make("tictactoe")
    choice = ludus.make_agent("uct:200", game, seed=seed).choose(game.start())
    return choice.move, choice.value


def test_spawned_processes_search_as_this_one_does():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(searched, [3]) == [searched(3)]


WITHOUT = """
import os, signal, sys
import numba, scipy.sparse.linalg, torch  # they know themselves what a system lacks
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
for name in ("fork", "killpg", "setsid", "getpgrp", "sched_getaffinity", "sysconf", "register_at_fork", "getuid"):
    if hasattr(os, name):
        delattr(os, name)
for name in ("SIGKILL", "SIGIO", "SIGHUP"):
    if hasattr(signal, name):
        delattr(signal, name)
import importlib, pkgutil
import ludus
apart = ("ludus.__main__", "ludus.templates.", "ludus.gpu", "ludus.cluster", "ludus.envs", "ludus.openspiel.exported")
for module in pkgutil.walk_packages(ludus.__path__, "ludus."):
    if not module.name.startswith(apart):
        importlib.import_module(module.name)
from ludus.machine import cpu_count, cpu_name, memory_size, peak_memory
assert cpu_count() >= 1 and cpu_name() and memory_size() > 0 and peak_memory() == 0
game = ludus.make("tictactoe")
assert ludus.make_agent("uct:100", game).choose(game.start()).move
print("played")
"""


def test_without_what_windows_lacks_every_module_is_imported_and_a_search_works(tmp_path):
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.stdout == "played\n", done.stderr
