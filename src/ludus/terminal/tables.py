"""The output of `ludus games`, `solve`, `perft` and `bench`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ludus import registry
from ludus.api.analysis import analyse
from ludus.api.result import in_words as result_in_words
from ludus.api.result import signed
from ludus.api.solving import perft, solve
from ludus.gdl.described import DescribedGame
from ludus.gdl.sheets import rule_sheets
from ludus.terminal.show import counting, describe, in_a_row, new_table, option_words, print_table, terminal, thinking

if TYPE_CHECKING:
    from ludus.game import Game, Position


def show_games() -> None:
    """The built-in games in a table."""
    rows = []
    for name in registry.names():
        kind = registry.game_class(name)
        players = f"{kind.players}, at once" if kind.simultaneous else str(kind.players)
        about = (sys.modules[kind.__module__].__doc__ or "").strip().splitlines() or [""]
        text = about[0].removeprefix(f"{kind.title}: ")
        rows.append((name, players, kind.options(), f"{kind.title}: {text}"))
    for sheet in rule_sheets():
        text = sheet.about.partition(". ")[0].removesuffix(".")
        rows.append((f"gdl:{sheet.name}", str(sheet.roles), DescribedGame.options(), f"{sheet.title}: {text}."))
    words = [option_words(options) for _, _, options, _ in rows]
    table = new_table()
    table.add_column("name", no_wrap=True)
    table.add_column("players", no_wrap=True)
    table.add_column("options", overflow="fold", min_width=max(len(word) for each in words for word in each))
    table.add_column("what it is", overflow="fold")
    for (name, players, _, about_it), options in zip(rows, words, strict=True):
        table.add_row(name, players, " ".join(options), about_it)
    print_table(table)
    print(
        "\nOptions of a game: ludus play connect4 --option rows=5 --option columns=6\n"
        "A game of your own is one Python file, named by its path: ludus play path/to/mygame.py\n"
        "Or a description in GDL, the Game Description Language: ludus play path/to/rules.kif\n"
        "Games of OpenSpiel, if it is installed: ludus play 'openspiel:hex(board_size=5)'"
    )


def show_analysis(position: Position, agent: str, seed: int) -> None:
    """What an agent thinks of a position: its moves, the most visited first, and the best line."""
    print(f"{describe(position.game)}\n\n{position}\n")
    with thinking(terminal(), agent) as show:
        for snapshot in analyse(position, agent, seed=seed):
            if show is not None:
                show(snapshot)
    for block in snapshot.blocks:
        table = new_table()
        for heading in ("move", "visits", "value", "prior", "policy"):
            table.add_column(heading, justify="left" if heading == "move" else "right")
        stats = snapshot.moves_of(block.player)
        for each in sorted(stats, key=lambda each: (-(each.visits or 0), -(each.policy or 0))):
            table.add_row(
                each.move,
                "" if each.visits is None else f"{each.visits:,}",
                "" if each.value is None else f"{each.value:+.3f}" + (" exact" if each.length else ""),
                "" if each.prior is None else f"{100 * each.prior:.1f} %",
                "" if each.policy is None else f"{100 * each.policy:.1f} %",
            )
        if len(snapshot.blocks) > 1:
            print(position.game.player_name(block.player))
        print_table(table)
    told = f"{snapshot.simulations:,} simulations, {snapshot.seconds:.1f} s" + (", solved" if snapshot.solved else "")
    print(f"\n{told}" + (f"; line {in_a_row(snapshot.line[:20])}" if snapshot.line else ""))


def show_solution(position: Position, limit: float | None, memory: int) -> None:
    """The exact value of a position and of each of its moves."""
    from ludus.search.solver import prepare

    game = position.game
    prepare(position, memory)  # refuses unsuitable games before anything is shown
    print(f"{describe(game)}\n\n{position}\n")
    if position.is_over:
        print(f"The game is over. {result_in_words(game, position.values)}")
        return
    with counting(terminal(), "Solving") as report:
        solution = solve(position, limit, memory, report)
    mover = game.player_name(position.to_move)
    print(f"{mover} to move: {in_words(solution.value)} with perfect play")
    table = new_table()
    table.add_column("move")
    table.add_column("value", justify="right")
    table.add_column("")
    for action in sorted(solution.values, key=lambda action: -solution.values[action]):
        value = solution.values[action]
        table.add_row(
            position.notation(action), signed(value), in_words(value) + (", best" if action in solution.best else "")
        )
    print_table(table)
    rate = solution.positions / max(solution.seconds, 1e-9)
    print(f"\n{solution.positions:,} positions in {solution.seconds:.2f} s, {rate:,.0f} a second")


def in_words(value: float) -> str:
    """A value between -1 and 1, in words."""
    return {1.0: "a win", 0.0: "a draw", -1.0: "a loss"}.get(value, f"worth {value:+.3f}")


def show_perft(position: Position, depth: int) -> None:
    """The number of lines of play at each depth, as they are counted."""
    print(f"{describe(position.game)}: {position.text}")
    print(f"{'depth':>5}  {'lines of play':>20}  {'seconds':>9}  {'a second':>16}")
    perft(position, 1)  # compiles, so that the times below do not contain it
    for plies in range(1, depth + 1):
        began = time.perf_counter()
        with counting(terminal(), f"Counting {plies} plies deep") as report:
            count = perft(position, plies, report)
        took = time.perf_counter() - began
        if count == 0:
            print(f"Every game ends within {plies - 1} plies from here.")
            return
        print(f"{plies:>5}  {count:>20,}  {took:>9.3f}  {count / max(took, 1e-9):>16,.0f}", flush=True)


def show_bench(games: Sequence[Game], seconds: float) -> None:
    """The speed of this machine, figure by figure."""
    import platform

    from ludus import __version__
    from ludus.machine import cpu_count
    from ludus.search import bench

    cores = cpu_count()
    print(
        f"Ludus {__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {cores} CPU core{'s' * (cores != 1)}"
    )
    for game in games:
        print(f"\n{describe(game)}", flush=True)
        for figure in bench.measure(game, seconds):
            print(f"{figure.rate:>14,.0f} {figure.unit:<14} {figure.what}: {figure.meaning}", flush=True)
