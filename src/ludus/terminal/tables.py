"""`ludus games`, `match`, `solve`, `perft` and `bench`: the work is done elsewhere, here it is shown."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ludus import registry
from ludus.terminal.show import counting, describe, new_table, print_table, signed, terminal, winner

if TYPE_CHECKING:
    from ludus.agents import Agent
    from ludus.arena.match import MatchResult
    from ludus.game import Game, Position


def show_games() -> None:
    table = new_table()
    for heading in ("name", "title", "players", "options", "what it is"):
        table.add_column(heading, overflow="fold")
    for name in registry.names():
        kind = registry.game_class(name)
        options = " ".join(f"{option}={value}" for option, value in kind.options().items())
        players = f"{kind.players}, at once" if kind.simultaneous else str(kind.players)
        about = (sys.modules[kind.__module__].__doc__ or "").strip().splitlines() or [""]
        table.add_row(name, kind.title, players, options, about[0].removeprefix(f"{kind.title}: "))
    print_table(table)
    print(
        "\nOptions follow a game's name: ludus play connect4 --option rows=5 --option columns=6\n"
        "A game of your own is one Python file, and goes wherever a name does: ludus play path/to/mygame.py\n"
        "Those of OpenSpiel, where it is installed, by their name there: ludus play 'openspiel:hex(board_size=5)'"
    )


# --- match ------------------------------------------------------------------------------------------------------------


def run_match(game: Game, agents: Sequence[Agent], games: int, seed: int) -> None:
    """Play a match with live progress, then show its result; of one that is stopped, what there is."""
    from ludus.agents.human import Quit
    from ludus.arena.match import new_match, play_match

    result = new_match(game, agents, games, seed)
    for index, agent in enumerate(agents):
        agent.new_game(index)  # compiles before the bar begins
    try:
        with MatchProgress(game, result) as progress:
            play_match(game, agents, games, seed, progress=progress, result=result)
    except Quit:
        print(f"The match was left in game {len(result.games) + 1} of {games}.")
    finally:
        if result.games:
            show_match(game, result)


class MatchProgress:
    """A bar with the standing, on a terminal; elsewhere a line now and then."""

    EVERY = 10.0
    """Seconds between two lines."""

    def __init__(self, game: Game, result: MatchResult):
        from ludus.agents.naming import parse

        console = terminal()
        # A person who plays needs the terminal for the board.
        human = any(parse(name).kind == "human" for name in result.agents)
        columns = (
            TextColumn("game"),
            MofNCompleteColumn(),
            BarColumn(30),
            TextColumn("{task.fields[standing]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self.bar = Progress(*columns, console=console, transient=True) if console.is_terminal and not human else None
        self.lines = not console.is_terminal and not human
        self.task = self.bar.add_task("", total=result.planned, standing="") if self.bar else None
        self.longest = game.longest
        self.last = time.perf_counter()

    def __enter__(self) -> MatchProgress:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self.bar:
            self.bar.stop()

    def __call__(self, result: MatchResult, plies: int) -> None:
        done = len(result.games)
        if self.bar is not None and self.task is not None:
            text = standing(result) + (f"  move {plies}" if plies else "")
            self.bar.update(self.task, completed=done, standing=text)
        elif self.lines and time.perf_counter() - self.last > self.EVERY:
            self.last = time.perf_counter()
            print(f"{done} of {result.planned} games: {standing(result)}", file=sys.stderr, flush=True)


def standing(result: MatchResult) -> str:
    """The points so far, or the mean results where there are not two players."""
    names = labels(result)
    if result.players == 2:
        points = [
            sum(value > 0 for value in result.values(i)) + 0.5 * sum(value == 0 for value in result.values(i))
            for i in (0, 1)
        ]
        return f"{names[0]} {points[0]:g} : {points[1]:g} {names[1]}"
    return ", ".join(f"{name} {100 * result.score(i).mean:.0f} %" for i, name in enumerate(names))


def labels(result: MatchResult) -> list[str]:
    """The agents' names, numbered where two are the same."""
    names = result.agents
    return [f"{name} #{i + 1}" if names.count(name) > 1 else name for i, name in enumerate(names)]


def show_match(game: Game, result: MatchResult) -> None:
    games = len(result.games)
    stopped = f" of {result.planned}" if games < result.planned else ""
    print(f"{describe(game)}: {games}{stopped} games in {result.seconds:.1f} s, seed {result.seed}")
    print("Wins / draws / losses from each seat, and the score with its 95 % interval:\n")
    table = new_table()
    table.add_column("agent")
    for player in range(game.players):
        table.add_column(f"as {game.player_name(player)}", justify="right")
    if game.players > 1:
        table.add_column("in all", justify="right")
    table.add_column("score", justify="right")
    table.add_column("95 % interval", justify="right")
    for index, name in enumerate(labels(result)):
        seats = [*range(game.players), None] if game.players > 1 else [0]
        tallies = [" / ".join(f"{count}" for count in result.tally(index, seat)) for seat in seats]
        score = result.score(index)
        interval = f"{100 * score.low:.1f} to {100 * score.high:.1f} %"
        table.add_row(name, *tallies, f"{100 * score.mean:.1f} %", interval)
    print_table(table)


# --- solve, perft, bench ----------------------------------------------------------------------------------------------


def show_solution(position: Position, limit: float | None, memory: int) -> None:
    from ludus.search.solver import prepare, solve

    game = position.game
    prepare(position, memory)  # or refuse, before anything is shown
    print(f"{describe(game)}\n\n{position}\n")
    if position.is_over:
        print(f"The game is over. {winner(position)}")
        return
    with counting(terminal(), "Solving") as report:
        solution = solve(position, limit=limit, memory=memory, progress=report)
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
    return {1.0: "a win", 0.0: "a draw", -1.0: "a loss"}.get(value, f"worth {value:+.3f}")


def show_perft(position: Position, depth: int) -> None:
    from ludus.search.perft import perft

    print(f"{describe(position.game)}: {position.text}")
    print(f"{'depth':>5}  {'lines of play':>20}  {'seconds':>9}  {'a second':>16}")
    perft(position, 1)  # compiles, so that the times are those of counting
    for plies in range(1, depth + 1):
        began = time.perf_counter()
        with counting(terminal(), f"Counting {plies} plies deep") as report:
            count = perft(position, plies, report)
        took = time.perf_counter() - began
        print(f"{plies:>5}  {count:>20,}  {took:>9.3f}  {count / max(took, 1e-9):>16,.0f}", flush=True)


def show_bench(games: Sequence[Game], seconds: float) -> None:
    import platform

    from ludus import __version__, bench
    from ludus.search.forest import threads_of_this_machine

    cores = threads_of_this_machine()
    print(
        f"Ludus {__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}, {cores} processor{'s' * (cores != 1)}"
    )
    for game in games:
        print(f"\n{describe(game)}", flush=True)
        for figure in bench.measure(game, seconds):
            print(f"{figure.rate:>14,.0f} {figure.unit:<14} {figure.what}: {figure.meaning}", flush=True)


def show_check(game: Game | str, games: int, seed: int) -> bool:
    """Does a game keep its promises? Says so, or says which one it breaks, and where."""
    from ludus.testing import BrokenPromise, check_game

    try:
        print(check_game(game, games, seed))
    except BrokenPromise as broken:
        print(f"Broken promise: {broken}")
        return False
    return True
