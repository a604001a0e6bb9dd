"""What snapshots of a search cost: python -m benchmarks.analysis (about a minute)

The same search runs by `agent.choose`, without snapshots, and by `ludus.analyse`, with ten snapshots a second. The two
are measured in turn.
"""

import ludus
from benchmarks.measuring import Table, in_turn
from ludus.agents import make_agent

SIMULATIONS = {"connect4": 1_000_000, "breakthrough": 300_000, "cachex": 100_000}


def compare(report: Table, name: str, simulations: int) -> None:
    """One search with and without snapshots."""
    game = ludus.make(name)
    agent = make_agent(f"uct:{simulations}", game)
    counts = []

    def choose() -> int:
        agent.new_game(1)
        return agent.choose(game.start()).simulations

    def analyse() -> int:
        agent.new_game(1)
        snapshots = list(ludus.analyse(game.start(), agent, every=0.1))
        counts.append(len(snapshots))
        return snapshots[-1].simulations

    choose()
    analyse()
    mine, plain, ratio = in_turn(analyse, choose, rounds=7)
    report(
        f"Analysis of {name}, {simulations:,} simulations, {counts[-1]} snapshots",
        f"{mine:,.0f} simulations/s",
        f"{ratio:.3f} times the search without ({plain:,.0f}/s)",
    )


if __name__ == "__main__":
    table = Table()
    for each, budget in SIMULATIONS.items():
        compare(table, each, budget)
    table.finish("python -m benchmarks.analysis")
