"""Time to compile against another version: python -m benchmarks.compiling FOLDER [ROUNDS] (about six minutes a round)

FOLDER is a checkout of another version. Both versions run `check`, `perft`, `match` and `train` with the rules of
examples/othello.py, one after the other, first with an empty cache of machine code and then with a full one. The
difference is the time to compile. It is CPU time of all processes, which depends less on other load than seconds.
"""

import inspect
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measuring import Table
from ludus import grids

HERE = Path(__file__).parent.parent
GAME = "othello.py"
GRID_CLASS = "class OthelloGame(GridGame):"
PLAIN_CLASS = """
import numpy as np

from ludus import Game
from ludus.errors import BadPosition


class OthelloGame(Game):
    Rules = Othello
    name, title = "othello", "Othello"

    def setup(self):
        size = self.rules.size
        require(4 <= size <= 16 and size % 2 == 0, "othello: size must be an even number from 4 to 16")
        self.state = np.dtype([("cells", np.int8, (size * size,)), ("turn", np.int8)])
        self.actions = self.most_legal = size * size + 1
        self.observation = (2, size, size)
        self.symmetries = 8
        self.longest = 2 * size * size
        cells = [(0, row, column) for row in range(size) for column in range(size)]
        self.places = np.array([[*cells, (1, -1, -1)]], np.int32)

    def write(self, state):
        return "".join(".xo"[cell] for cell in state.cells) + " xo"[state.turn + 1]

    def read(self, text, state):
        if len(text) != len(state.cells) + 1 or not set(text) <= set(".xo"):
            raise BadPosition(f"{text!r} is not a board")
        state.cells[:] = [".xo".index(each) for each in text[:-1]]
        state.turn = " xo".index(text[-1]) - 1

    def write_move(self, state, player, action):
        row, column = divmod(action, self.rules.size)
        return f"{'abcdefghijklmnop'[column]}{row + 1}" if row < self.rules.size else "pass"

    def draw(self, state):
        return "\\n".join("".join(".xo"[cell] for cell in row) for row in state.cells.reshape(self.rules.size, -1))
"""
"""The class of the game without `GridGame`, which older versions do not have."""
SETTINGS = ("workers=1", "learner_threads=1", "engine=onnx", "rating_games=0", "blocks=1", "width=8")
"""Settings that all versions have."""
COMMANDS = {
    "check": ["check", GAME, "--games", "1"],
    "perft": ["perft", GAME, "--depth", "2"],
    "match": ["match", GAME, "uct:100", "random", "--games", "2", "--parallel", "1"],
    "train": ["train", GAME, "--steps", "1", *(f"--set={setting}" for setting in SETTINGS)],
}
CODE = "import sys; from ludus.cli import main; sys.exit(main(sys.argv[1:]))"


def othello() -> str:
    """The rules of examples/othello.py in a file that needs nothing of ludus.grids."""
    rules = (HERE / "examples" / "othello.py").read_text().split(GRID_CLASS)[0]
    lines = [line for line in rules.splitlines() if not line.startswith("from ludus.grids")]
    helpers = (grids.turned, grids.turn_cells, grids.turn_actions, grids.observe_cells)
    return "\n".join([*lines, *map(inspect.getsource, helpers), PLAIN_CLASS])


def cpu_seconds(version: Path, home: str, words: list[str]) -> float:
    """The CPU time of a command of that version, with its processes, in a folder with the game and a cache."""
    cache = str(Path(home) / "cache")
    environment = {**os.environ, "PYTHONPATH": str(version / "src"), "LUDUS_CACHE": cache, "NUMBA_CACHE_DIR": cache}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", CODE, *words]
    subprocess.run(command, cwd=home, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compile_seconds(version: Path) -> dict[str, float]:
    """CPU time to compile, for each command after those before it."""
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / GAME).write_text(othello())
        commands = dict(COMMANDS)
        if (version / "src/ludus/api/ahead.py").exists():  # else check compiles for all commands
            commands["check"] = [*commands["check"], "--no-compile"]
        cold, warm = ({name: cpu_seconds(version, home, words) for name, words in commands.items()} for _ in range(2))
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
