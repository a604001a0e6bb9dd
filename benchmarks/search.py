"""The speed of search and solver: python -m benchmarks.search (about three minutes; OpenSpiel must be installed)."""

import statistics
import subprocess
import sys
import time

import pyspiel

import ludus
from benchmarks.measuring import Table, first_compile, in_turn, rate
from ludus.search.forest import Forest, Uniform
from ludus.search.puct import Puct
from ludus.search.solver import value_of
from ludus.search.ucb1 import Ucb1

report = Table()


def game_name(name: str, options: dict) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in options.items())])


def against_openspiel(name: str, options: dict, spiel: str, simulations: int) -> None:
    """UCT with one random playout a simulation, one thread, c = 1.4, from the initial position."""
    game = ludus.make(name, **options)
    forest = Forest(game, Ucb1(1.4), nodes=simulations + 1)
    theirs = pyspiel.load_game(spiel)
    state = theirs.new_initial_state()

    def run_ours() -> int:
        forest.plant(game.start())
        return forest.search(simulations=simulations)

    def run_theirs() -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        bot = pyspiel.MCTSBot(theirs, evaluator, 1.4, simulations, 1000, False, 1, False)
        bot.mcts_search(state)
        return simulations

    run_ours()
    mine, other, ratio = in_turn(run_ours, run_theirs)
    report(
        f"UCT, {game_name(name, options)}, {simulations:,} simulations",
        f"{mine:,.0f} simulations/s",
        f"{ratio:.1f} times OpenSpiel's C++ ({other:,.0f}/s)",
        "5 times",
    )


def on_two_threads(name: str) -> None:
    """One tree of UCT on two threads against one thread, from the initial position."""
    game = ludus.make(name)
    forests = [Forest(game, nodes=200_001, threads=threads) for threads in (2, 1)]

    def run(forest: Forest) -> int:
        forest.plant(game.start())
        return forest.search(simulations=200_000, seconds=1.0)

    for forest in forests:
        run(forest)
    mine, other, ratio = in_turn(lambda: run(forests[0]), lambda: run(forests[1]))
    report(f"UCT, {name}, two threads", f"{mine:,.0f} simulations/s", f"{ratio:.2f} times one thread ({other:,.0f}/s)")


def null_evaluator(name: str, options: dict, moves: str) -> None:
    """The cost of the trees alone: 64 trees, PUCT, the same evaluation for all positions."""
    game = ludus.make(name, **options)
    for threads in (1, 2):
        forest = Forest(game, Puct(), trees=64, nodes=401, threads=threads)

        def run(forest=forest) -> int:
            forest.plant(game.start())
            return forest.search(Uniform(), simulations=400)

        run()
        best = statistics.median(rate(run) for _ in range(5))
        on = "1 thread" if threads == 1 else f"{threads} threads"
        what = f"Null evaluator, 64 trees, {game_name(name, options)} ({moves} moves), {on}"
        report(what, f"{best:,.0f} simulations/s", "", "1,000,000")


def growth() -> None:
    """The cost of a simulation in a small and in a large tree, in CPU time; large trees use fresh memory."""
    game = ludus.make("connect4")

    def cost(simulations: int, repeats: int) -> float:
        forest = Forest(game, Ucb1(1.4), nodes=simulations + 1, edges=4 * simulations)
        began = time.thread_time()
        for _ in range(repeats):
            forest.plant(game.start())
            forest.search(simulations=simulations)
        return (time.thread_time() - began) / repeats / simulations

    cost(1_000, 1)
    pairs = [(cost(1_000, 200), cost(1_000_000, 1)) for _ in range(5)]
    small, large = (statistics.median(costs) for costs in zip(*pairs, strict=True))
    ratios = sorted(big / little for little, big in pairs)
    report(
        "Cost of a simulation, connect4, tree of 1,000 and of 1,000,000",
        f"{small * 1e6:.2f} and {large * 1e6:.2f} us",
        f"factor {statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})",
        "factor 2",
    )


def time_budgets() -> None:
    game = ludus.make("connect4")
    forest = Forest(game, memory=1 << 28)
    over = []
    for seconds in (0.02, 0.05, 0.2) * 5:
        forest.plant(game.start())
        began = time.perf_counter()
        forest.search(seconds=seconds)
        over.append(time.perf_counter() - began - seconds)
    report(
        "Overrun of a time budget, UCT, 15 searches of 20 to 200 ms",
        f"median {statistics.median(over) * 1e3:.1f}, most {max(over) * 1e3:.1f} ms",
        "",
        "10 ms",
    )


def start_up() -> None:
    def seconds(*command: str) -> float:
        times = []
        for _ in range(5):
            began = time.perf_counter()
            subprocess.run([sys.executable, *command], capture_output=True, check=True)
            times.append(time.perf_counter() - began)
        return statistics.median(times)

    bare = seconds("-c", "pass")
    report("import ludus, less the start of Python", f"{seconds('-c', 'import ludus') - bare:.2f} s", "", "0.3 s")
    help_page = "from ludus.cli import main; main()"
    report("ludus --help, whole process", f"{seconds('-c', help_page, '--help'):.2f} s", "", "0.7 s")
    first = "import ludus; from ludus.search.forest import Forest; g = ludus.make('connect4'); f = Forest(g, nodes=9);"
    first += "f.plant(g.start()); f.search(simulations=5)"
    report("A process that searches, compiled before", f"{seconds('-c', first):.2f} s", "", "1.5 s")


def solving() -> None:
    for rows, columns in ((5, 4), (5, 5)):
        start = ludus.make("connect4", rows=rows, columns=columns).start()
        value_of(ludus.make("connect4", rows=4, columns=4).start())
        began = time.perf_counter()
        value = value_of(start)
        report(
            f"Solve connect4 {rows} x {columns} from the empty board",
            f"{time.perf_counter() - began:.2f} s",
            f"value {value:g}",
            "seconds",
        )


def main() -> None:
    against_openspiel("connect4", {}, "connect_four", 20_000)
    against_openspiel("breakthrough", {"height": 6, "width": 6}, "breakthrough(rows=6,columns=6)", 10_000)
    for name in ("connect4", "breakthrough", "sevn", "hive"):
        on_two_threads(name)
    null_evaluator("connect4", {}, "7")
    null_evaluator("breakthrough", {"height": 8, "width": 8}, "about 22")
    null_evaluator("connect4", {"columns": 40, "rows": 6}, "40")
    growth()
    time_budgets()
    start_up()
    first_compile(report, "connect4")
    first_compile(report, "breakthrough")
    solving()
    report.finish("python -m benchmarks.search")


if __name__ == "__main__":
    main()
