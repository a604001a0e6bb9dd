"""The speed of this checkout against another one: python -m benchmarks.versions FOLDER (about five minutes)

FOLDER is a checkout of another version. Each version runs in a process of its own; the two are measured in turn, and
the median of the ratios is printed. Only names that both versions have are used.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 7
HERE = Path(__file__).parent.parent


def uct(game: str, simulations: int):
    import ludus
    from ludus.agents import make_agent

    made = ludus.make(game)
    agent = make_agent(f"uct:{simulations}", made)

    def work() -> int:
        agent.new_game(1)
        return agent.choose(made.start()).simulations

    return work


def perft(game: str, depth: int):
    import ludus
    from ludus.search.perft import perft as count

    made = ludus.make(game)
    return lambda: count(made.start(), depth)


def solve(rows: int, columns: int):
    import ludus
    from ludus.search.solver import solve as solution

    made = ludus.make("connect4", rows=rows, columns=columns)
    return lambda: solution(made.start()).positions


def positions(game: str, games: int):
    from random import Random

    import ludus

    made = ludus.make(game).compile()

    def work() -> int:
        random, plies = Random(1), 0
        for _ in range(games):
            position = made.start()
            while not position.is_over:
                position, plies = position.play(random.choice(position.actions)), plies + 1
        return plies

    return work


def training(figure: str):
    """Self-play or learning of a short run of Connect-4, as its log tells."""
    from ludus.cli import main

    speed, seconds = {
        "play": ("simulations_per_second", "play_seconds"),
        "learn": ("rows_per_second", "learn_seconds"),
    }[figure]
    settings = {"games_at_once": 64, "workers": 1, "learner_threads": 1, "engine": "int8", "iteration": 1024, "seed": 1}

    def work() -> float:
        with tempfile.TemporaryDirectory() as folder:
            given = [f"--set={name}={value}" for name, value in settings.items()]
            main(["train", "connect4", "--steps", "32", "--set=batch=256", f"--run={folder}/run", *given])
            lines = [json.loads(line) for line in Path(folder, "run", "log.jsonl").read_text().splitlines()]
        return sum(line[speed] * line[seconds] for line in lines) / sum(line[seconds] for line in lines)

    return work


WORKLOADS = {
    "UCT, Connect-4, 200,000 simulations": lambda: uct("connect4", 200_000),
    "UCT, Breakthrough, 50,000 simulations": lambda: uct("breakthrough", 50_000),
    "UCT, Hive, 2,000 simulations": lambda: uct("hive", 2_000),
    "UCT, Sevn, 20,000 simulations": lambda: uct("sevn", 20_000),
    "UCT, Cachex, 10,000 simulations": lambda: uct("cachex", 10_000),
    "perft, Breakthrough, depth 4": lambda: perft("breakthrough", 4),
    "solver, Connect-4 on 4 x 5": lambda: solve(4, 5),
    "moves from Python, Connect-4": lambda: positions("connect4", 100),
    "self-play, Connect-4, one thread, int8": lambda: training("play"),
    "learning, Connect-4, one thread": lambda: training("learn"),
}


def serve() -> None:
    """Run workloads by their number, as lines come in, and write their speeds."""
    made: dict = {}
    requests, replies = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    sys.stdin = open(os.devnull)  # noqa: SIM115 - commands must not read the requests
    os.dup2(2, 1)
    for line in requests:
        name = list(WORKLOADS)[int(line)]
        if name not in made:
            made[name] = WORKLOADS[name]()
            made[name]()  # compiles
        began = time.perf_counter()
        count = made[name]()
        speed = count if isinstance(count, float) else count / (time.perf_counter() - began)
        print(speed, file=replies, flush=True)


def start(folder: Path) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    command = [sys.executable, str(Path(__file__).resolve()), "--serve"]
    return subprocess.Popen(
        command, cwd=folder, env=environment, text=True, bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def ask(server: subprocess.Popen, number: int) -> float:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{number}\n")
    return float(server.stdout.readline())


def main() -> None:
    other = Path(sys.argv[1]).resolve()
    servers = [start(HERE), start(other)]
    for number, name in enumerate(WORKLOADS):
        for server in servers:
            ask(server, number)
        pairs = [[ask(server, number) for server in servers] for _ in range(3 if "one thread" in name else ROUNDS)]
        ratios = sorted(mine / theirs for mine, theirs in pairs)
        here = statistics.median(mine for mine, _ in pairs)
        shown = f"{statistics.median(ratios):.3f} (from {ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"{name:42} {here:12,.0f}/s here, ratio to {other.name} {shown}", flush=True)
    for server in servers:
        server.stdin.close()


if __name__ == "__main__":
    serve() if "--serve" in sys.argv else main()
