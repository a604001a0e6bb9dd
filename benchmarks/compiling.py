"""Time to compile against another version: python -m benchmarks.compiling FOLDER [ROUNDS] (about six minutes a round)

FOLDER is a checkout of another version. Both versions run `check`, `perft`, `match` and `train` with the Othello of
benchmarks/data/othello.py, one after the other, first with an empty cache of machine code and then with a full one.
The difference is the time to compile. It is CPU time of all processes, which depends less on other load than seconds.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Table

HERE = Path(__file__).parent.parent
GAME = str(HERE / "benchmarks" / "data" / "othello.py")
SETTINGS = ("workers=1", "learner_threads=1", "engine=onnx", "rating_games=0", "blocks=1", "width=8")
"""Settings that all versions have."""
COMMANDS = {
    "check": ["check", GAME, "--games", "1"],
    "perft": ["perft", GAME, "--depth", "2"],
    "match": ["match", GAME, "uct:100", "random", "--games", "2", "--parallel", "1"],
    "train": ["train", GAME, "--steps", "1", "--run", "run", *(f"--set={setting}" for setting in SETTINGS)],
}
CODE = "import sys; from ludus.cli import main; sys.exit(main(sys.argv[1:]))"


def cpu_seconds(version: Path, cache: str, words: list[str]) -> float:
    """The CPU time of a command of that version, with its processes."""
    environment = {**os.environ, "PYTHONPATH": str(version / "src"), "LUDUS_CACHE": cache, "NUMBA_CACHE_DIR": cache}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", CODE, *words]
        subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compile_seconds(version: Path) -> dict[str, float]:
    """CPU time to compile, for each command after those before it."""
    with tempfile.TemporaryDirectory() as cache:
        cold, warm = (
            {name: cpu_seconds(version, cache, words) for name, words in COMMANDS.items()} for _ in ("empty", "full")
        )
    return {name: cold[name] - warm[name] for name in COMMANDS}


def main() -> None:
    other = Path(sys.argv[1]).resolve()
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    report = Table()
    pairs = [(compile_seconds(HERE), compile_seconds(other)) for _ in range(rounds)]
    for name in COMMANDS:
        mine, theirs = (statistics.median(pair[side][name] for pair in pairs) for side in (0, 1))
        report(f"Compiling for {name}", f"{mine:.1f} s", f"{theirs:.1f} s in {other.name}")
    totals = [tuple(sum(side.values()) for side in pair) for pair in pairs]
    mine, theirs = (statistics.median(total[side] for total in totals) for side in (0, 1))
    ratio = statistics.median(mine / theirs for mine, theirs in totals)
    report("All four, one after the other", f"{mine:.1f} s", f"{theirs:.1f} s; ratio {ratio:.2f}", "0.5")
    report.finish(f"python -m benchmarks.compiling {other.name} {rounds}")


if __name__ == "__main__":
    main()
