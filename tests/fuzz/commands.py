"""Command lines: valid ones of every command of the Typer application, mutated, each run in a process of its own.

Commands and options are taken from the application, so a new command is covered as soon as it exists.
"""

from __future__ import annotations

import atexit
import functools
import importlib
import json
import os
import pkgutil
import re
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import typer

import ludus
from ludus.cli import app, main
from ludus.native.store import cache_folder
from tests.fuzz.mutating import hostile_text, mutate_text
from tests.fuzz.parsers import Target

SPACE = 4 << 30
"""Bytes of address space that a command may take, beyond what the imported libraries take."""
CPU_SECONDS = 120
INTERRUPT_AFTER = 1.5
"""Seconds after which a command that may run for long gets Ctrl-C."""
GRACE = 10.0
"""Seconds in which a command must end after Ctrl-C."""
COMPILING = 180.0
"""Seconds that a command may take longer if it compiles a game for the first time on this machine."""
PATIENCE = 20.0
"""Seconds in which other commands must end by themselves."""
LONGEST = PATIENCE + GRACE + COMPILING + 60.0
"""Seconds that `check_line` may take in all."""
MAY_RUN_LONG = {
    *("train", "match", "arena", "play", "bench", "demo", "uhp", "solve", "perft", "check", "grade", "cachex-referee"),
    *("web", "analyse"),
}
LONGEST_ERROR = 2000
"""Characters of an error message, at most."""
FIFOS = ("fifo", "fifo.py", "fifo.toml")
ENDLESS = ("/dev/zero", *FIFOS)
"""Inputs that never end: a command that reads them without a limit looks like one that runs for long."""

VALUES: dict[str, tuple[str, ...]] = {
    "game": ("tictactoe", "tictactoe", "laststone", "roshambo", "game.py"),
    "replay.game": ("game.py",),
    "web.game": ("game.py",),
    "web.games": ("kept",),
    "web.runs": ("folder",),
    "port": ("0",),
    "host": ("127.0.0.1", "localhost"),
    "token": ("secret1234",),
    "agents": ("random", "random", "uct:5"),
    "entrants": ("random", "uct:5", "run"),
    "option": ("stones=9", "most=2"),
    "position": ("3/3/3", "9 a"),
    "sevn-draw.position": ("1/aaa/aab.cba.cbc", "2/-dcc-ba/5.1dbbc.deeaa.eecb1.1ce2"),
    "moves": ("a1", "a1 b2", "a1;b2"),
    "against": ("random", "uct:5", "solver"),
    "agent": ("random", "uct:5", "zero:run:2"),
    "seat": ("first", "second", "1", "x"),
    "limit": ("1s", "100ms"),
    "equal_time": ("10ms",),
    "memory": ("1MB", "64MB"),
    "results": ("results.sqlite", "new.sqlite", "run"),
    "anchor": ("random", "uct:5"),
    "series": ("before:1", "before:1,10 nearest:uct:2"),
    "method": ("likelihood", "seed"),
    "plot": ("plot.svg", "plot.png"),
    "plot_kind": ("learning", "times", "matrix", "move-times"),
    "positions": ("positions.txt", "new.txt"),
    "run": ("run", "run@1"),
    "train.run": ("new",),
    "demo.run": ("new",),
    "resume": ("run",),
    "start": ("run", "run@1"),
    "recipe": ("recipe.toml", "ggp-mlp"),
    "set": ("blocks=1", "width=8", "simulations=4", "workers=1", "opening_plies=1", "seed=5", "engine=torch"),
    "onnx": ("out.onnx",),
    "image": ("board.png",),
    "file": ("out.png", "out.jpg"),
    "palette": ("ludus", "sea"),
    "background": ("white", "#102030"),
    "width": ("200",),
    "base": ("3",),
    "to_move": ("1", "2"),
    "n": ("3",),
    "red": ("agent:random", "player.py"),
    "blue": ("agent:random", "agent:greedy"),
    "time": ("5",),
    "minutes": ("0.01",),
    "games": ("2", "4"),
    "anchor_rating": ("500",),
    "move_limit": ("5",),
    "seconds": ("0.01",),
}
"""Valid values of a parameter: of a command's own, or of all parameters of that name. Others take small numbers."""
PATHS = (
    *(
        "/dev/zero",
        "/dev/null",
        "/dev/full",
        "folder",
        "missing",
        "missing/deep/file.png",
        "binary",
        "fifo",
        "fifo.toml",
        "text.txt",
    ),
    *("loop", "results.sqlite", "run", "recipe.toml", "board.png", "positions.txt", "broken.py", "..", "empty", "/"),
    *("run/config.toml", "run@1", "run@9", "zero:run:1", "policy:run", "uct:1:memory=1GB", "fifo.py"),
)
GAME = (Path(__file__).parent.parent / "test_cli.py").read_text().partition("OWN_GAME = '''")[2].partition("'''")[0]
PLAYER = "from ludus.protocols.cachex_player import make_player\nPlayer = make_player('random')\n"


class Fault(AssertionError):
    """A command did not keep a promise."""


# --- lines ------------------------------------------------------------------------------------------------------------


def application() -> dict[str, Any]:
    """All commands by name, as Click describes them."""
    return dict(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


def valid_line(random: Random, name: str, command: Any) -> list[str]:
    """A line that uses some options of the command, with valid values."""
    line = [name]
    for parameter in command.params:
        is_option = parameter.param_type_name == "option"
        if (is_option and not parameter.required and random.random() < 0.7) or (
            not is_option and not parameter.required and random.random() < 0.3
        ):
            continue
        if is_option:
            line.append(random.choice(parameter.opts))
        if not getattr(parameter, "is_flag", False):
            count = 2 if parameter.nargs == -1 else 1
            line += [value_of(random, name, parameter) for _ in range(count)]
    return line


def value_of(random: Random, command: str, parameter: Any) -> str:
    known = VALUES.get(f"{command}.{parameter.name}") or VALUES.get(parameter.name)
    return random.choice(known or ("1", "2", "5"))


def mutate_line(random: Random, name: str, command: Any) -> tuple[str, ...]:
    line = valid_line(random, name, command)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        at = random.randrange(1, len(line)) if len(line) > 1 else 0
        match random.randrange(9):
            case 0 | 1 | 2 if at:
                line[at] = random.choice((hostile_text(random), random.choice(PATHS)))
            case 3 if at:
                line[at] = mutate_text(random, line[at], tuple(line))
            case 4 if at:
                del line[at]
            case 5 if at:  # an option doubled, with its value
                line += line[at : at + 2]
            case 6 if at:
                other = random.randrange(1, len(line))
                line[at], line[other] = line[other], line[at]
            case 7:
                line.insert(
                    random.randrange(1, len(line) + 1), random.choice(("--", "-x", "--nothing", "-h", "--help"))
                )
            case _:
                parameter = random.choice(command.params or [None])
                if parameter is not None and parameter.param_type_name == "option":
                    line.append(random.choice(parameter.opts))
                    if not getattr(parameter, "is_flag", False):
                        line.append(random.choice((hostile_text(random), random.choice(PATHS), setting(random))))
    return tuple(passable(each) for each in line)


def setting(random: Random) -> str:
    """A setting of `ludus train --set`, or an option of a game, with a hostile value."""
    from ludus.runs.config import Config

    known = (*Config.__dataclass_fields__, "stones", "most", "rows", "rounds")
    return f"{random.choice(known)}={hostile_text(random)}"


def passable(text: str) -> str:
    """The text as an operating system can pass it on: no NUL, and other bytes than UTF-8 as Python decodes them."""
    return text.replace("\0", "\x01").replace("\ud800", "\udcff")


# --- running ----------------------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    code: int
    """The exit code; negative for a signal."""
    output: str
    error: str
    interrupted: bool
    late: bool
    """True if the command did not end in time and was killed."""
    left_processes: bool


@functools.cache
def load_everything() -> None:
    """Import all modules before processes are forked, so that each command starts at once."""
    for module in pkgutil.walk_packages(ludus.__path__, "ludus."):
        if not module.name.startswith(("ludus.gpu.", "ludus.openspiel", "ludus.arena.worker_main", "ludus.cli")):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as error:  # it needs a package that is not installed
                if (error.name or "ludus").startswith("ludus"):
                    raise
    for name in ("matplotlib.pyplot", "onnxruntime", "scipy.optimize", "safetensors.torch", "PIL.Image"):
        importlib.import_module(name)


@functools.cache
def template() -> Path:
    """A folder with inputs of all kinds, which every command gets a copy of."""
    load_everything()
    folder = Path(tempfile.mkdtemp(prefix="ludus-fuzz-"))
    owner = os.getpid()
    atexit.register(lambda: os.getpid() == owner and shutil.rmtree(folder, ignore_errors=True))
    inputs = folder / "inputs"
    for name in ("inputs/folder", "beside", "home", "tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "beside" / "text.txt").write_text("not to be changed\n")
    (inputs / "binary").write_bytes(Random(1).randbytes(5000))
    (inputs / "empty").touch()
    (inputs / "text.txt").write_text("some text\n" * 10)
    (inputs / "game.py").write_text(GAME)
    (inputs / "broken.py").write_text("import nothing_of_this_name\n")
    (inputs / "player.py").write_text(PLAYER)
    (inputs / "recipe.toml").write_text('game = "tictactoe"\n[settings]\nblocks = 1\nwidth = 8\n')
    (inputs / "loop").symlink_to("loop")
    for fifo in FIFOS:
        os.mkfifo(inputs / fifo)
    for line in (
        ["sevn-draw", "1/aaa/aab.cba.cbc", "board.png", "--width", "120"],
        ["match", "tictactoe", "random", "uct:5", "--games", "4", "--parallel", "1", "--results", "results.sqlite"],
        ["grade", "random", "tictactoe", "--count", "9", "--positions", "positions.txt"],
    ):
        made = execute(line, inputs, patience=300.0, long=False)
        assert made.code == 0, made.error
    if not os.fork():  # in a child: PyTorch starts threads, which forks do not carry over
        make_run(inputs / "run")
        os._exit(0)
    os.wait()
    assert (inputs / "run" / "checkpoints").is_dir()
    return folder


def make_run(folder: Path) -> None:
    """A run of tic-tac-toe with one checkpoint that holds random weights."""
    from ludus.nets.families import make_network
    from ludus.runs.config import Config, with_settings
    from ludus.runs.run import Run, detached

    game = ludus.make("tictactoe")
    run = Run.create(folder, game, with_settings(Config(), {"blocks": 1, "width": 8}))
    run.save(1, detached(make_network("residual", game, blocks=1, width=8).state_dict()), {}, {}, {})


def execute(line: list[str], folder: Path, patience: float, long: bool) -> Outcome:
    """Run a command in a forked process, in a folder, with closed input and limits on time and memory."""
    sys.stdout.flush()
    sys.stderr.flush()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as error:
        child = os.fork()
        if not child:
            _become_command(line, folder, output.fileno(), error.fileno())
        interrupted, late = False, False
        code = _wait(child, INTERRUPT_AFTER if long else patience)
        if code is None and long:
            interrupted = True
            for _ in range(2):  # the second Ctrl-C ends what the first one lets finish, such as compiling
                if code is None:
                    os.killpg(child, signal.SIGINT)
                    code = _wait(child, GRACE / 2)
        if code is None and "Compiling " in _content(error):
            code = _wait(child, COMPILING)
        if code is None:
            late = True
            os.killpg(child, signal.SIGKILL)
            code = _wait(child, 60.0)
        assert code is not None
        return Outcome(code, _content(output), _content(error), interrupted, late, _end_group(child))


def _become_command(line: list[str], folder: Path, output: int, error: int) -> None:
    code = 1
    try:
        os.setsid()
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        limit_memory(SPACE)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        cache = os.environ.get("LUDUS_CACHE") or str(cache_folder())  # before HOME changes: it holds what is compiled
        os.environ.update(HOME=str(folder.parent / "home"), TMPDIR=str(folder.parent / "tmp"), LUDUS_CACHE=cache)
        os.environ["LUDUS_DATA"] = str(folder / "data")  # where `ludus web` keeps its games; else that is below HOME
        os.environ["BROWSER"] = "true"  # the program of this name takes the place of a browser
        tempfile.tempdir = None
        for target, source in ((0, os.open(os.devnull, os.O_RDONLY)), (1, output), (2, error)):
            os.dup2(source, target)
        code = main(line)
    except BaseException:
        traceback.print_exc()
    finally:
        for end in (threading._shutdown, atexit._run_exitfuncs, sys.stdout.flush, sys.stderr.flush):
            try:
                end()
            except BaseException:
                traceback.print_exc()
                code = 1
        os._exit(code)


def limit_memory(space: int) -> None:
    """Let this process take `space` bytes of address space more than it has."""
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + space, now + space))


def _wait(child: int, seconds: float) -> int | None:
    """The exit code of a process; None if it has not ended after some seconds."""
    deadline = time.monotonic() + seconds
    pause = 0.001
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            return None
        time.sleep(pause)
        pause = min(0.02, 1.5 * pause)


def _end_group(group: int) -> bool:
    """End the processes that a command left behind; True if there were any."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    os.killpg(group, signal.SIGKILL)
    return True


def _content(file: Any) -> str:
    file.seek(0)
    return file.read(4 << 20).decode("utf-8", "replace")


# --- promises ---------------------------------------------------------------------------------------------------------

EXCEPTION = re.compile(r"\b(?:[A-Z]\w*(?:Error|Exception|Interrupt)|LUDUS_TRACEBACK|Errno)\b")
"""Names of exceptions, and what the command line adds to an error that nobody thought of."""


def check_line(line: tuple[str, ...]) -> None:
    """Run a command line, and raise Fault if it breaks a promise."""
    folder = template()
    place = Path(tempfile.mkdtemp(prefix="ludus-fuzz-"))  # not a TemporaryDirectory, which a forked process removes
    try:
        shutil.copytree(folder, place, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("fifo*"))
        for fifo in FIFOS:
            os.mkfifo(place / "inputs" / fifo)
        before = _listing(place)
        outcome = execute(list(line), place / "inputs", PATIENCE, line[0] in MAY_RUN_LONG)
        faults = [*_faults(line, outcome), *_changes(before, _listing(place))]
    finally:
        shutil.rmtree(place)
    if faults:
        shown = {"faults": faults, "code": outcome.code, "error": outcome.error[-1500:]}
        raise Fault(json.dumps(shown, indent=2, ensure_ascii=False))


def _faults(line: tuple[str, ...], outcome: Outcome) -> list[str]:
    faults = []
    if outcome.late:
        faults.append("did not end in time")
    elif outcome.code not in (0, 1, 2, 130, 141) or (outcome.code == 1 and line[0] != "check"):
        faults.append(f"exit code {outcome.code}")
    if outcome.left_processes:
        faults.append("left processes behind")
    if outcome.interrupted and any(each in ENDLESS for each in line):
        faults.append("reads an input without an end")
    if "Traceback (most recent call last)" in outcome.output + outcome.error:
        faults.append("traceback")
    said = [each for each in outcome.error.splitlines() if each.startswith("ludus: ")]
    if outcome.code == 2 and (len(said) != 1 or not outcome.error.rstrip("\n").endswith(said[0])):
        faults.append("not one line of error")
    for each in said:
        found = EXCEPTION.search(each)
        if found and not any(found[0] in argument for argument in line) and "broken.py" not in line:
            faults.append(f"bare exception name {found[0]}")
        if len(each) > LONGEST_ERROR:
            faults.append(f"an error of {len(each)} characters")
        if not each.isprintable():
            faults.append("control characters in an error")
        if "not enough memory" in each:
            faults.append("filled the memory")
    return faults


def _listing(folder: Path) -> dict[str, float]:
    """The files that no command may change, by their time of change."""
    kept = [*(folder / "beside").rglob("*"), *folder.glob("*"), *(folder / "tmp").glob("*")]
    kept += (folder / "home").rglob("*")
    return {
        str(path.relative_to(folder)): path.stat().st_mtime
        for path in kept
        if not path.is_dir() or path.parent == folder
    }


def _changes(before: dict[str, float], after: dict[str, float]) -> list[str]:
    changed = [name for name in sorted(before | after) if before.get(name) != after.get(name)]
    return [f"changed {name}" for name in changed if name not in ("inputs", "tmp")]


def targets() -> dict[str, Any]:
    """A target for each command."""
    made = {}
    for name, command in application().items():
        generate = functools.partial(mutate_line, name=name, command=command)
        made[f"command:{name}"] = lambda generate=generate: Target(generate, check_line)
    return made
