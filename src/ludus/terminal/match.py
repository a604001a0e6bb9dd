"""`ludus match`: agents play each other, with live progress, and what that says about them."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from ludus.errors import BadOption
from ludus.terminal.show import complain, describe, new_table, print_table, terminal, wrapped

if TYPE_CHECKING:
    from ludus.arena.match import MatchResult
    from ludus.arena.sequential import Sequential
    from ludus.game import Game

MOST_GAMES = 10_000
"""Of a match that ends when it is decided, unless told otherwise."""


def run_match(
    game: Game,
    agents: Sequence[str],
    games: int | None,
    seed: int,
    test: Sequential | None = None,
    opening: int = 0,
    parallel: int | None = None,
    equal_time: float | None = None,
    move_limit: float = 60.0,
    results: str | None = None,
) -> None:
    """Play a match with live progress, then show its result; of one that is stopped, what there is.

    `parallel` is how many games are played at once; None: as many as there are cores, if other processes can play them.
    """
    from ludus.agents import make_agent
    from ludus.agents.human import Quit
    from ludus.agents.identity import identify, takes_run, with_time
    from ludus.arena.match import new_match, play_match
    from ludus.arena.store import Store
    from ludus.arena.workers import can_work, warm_up
    from ludus.machine import cpu_count

    if opening < 0:
        raise BadOption(f"--openings must be 0 or more plies, not {opening}")
    if move_limit <= 0:
        raise BadOption(f"--move-limit must be above 0, not {move_limit:g}")
    if equal_time is not None:
        agents = [with_time(agent, equal_time) for agent in agents]
    made = [make_agent(agent, game) for agent in agents]
    # While it is played, a run that trains may get another latest checkpoint.
    names = [identify(agent, game).name if takes_run(agent) else agent for agent in agents]
    if test is not None and game.players != 2:
        raise BadOption(f"--test compares two agents; {game.name} has {game.players} players")
    games = games or (20 if test is None else MOST_GAMES) // game.players * game.players
    result = new_match(game, made, games, seed)
    # Two at least, so that whoever fails loses on a small machine too: that takes processes of their own.
    at_once = max(2, cpu_count()) if parallel is None and can_work(agents) else parallel or 1
    if at_once > 1 and not can_work(agents):
        raise BadOption("people, and agents that live in this process only, need --parallel 1")
    if at_once > 1:
        warm_up(names, game)
    else:
        for index, agent in enumerate(made):
            agent.new_game(index)  # compiles before the bar begins
    with ExitStack() as stack:
        store = stack.enter_context(Store(results)) if results else None
        identities = [identify(name, game) for name in names] if store else []
        added = 0

        def after_start(result: MatchResult) -> bool:
            nonlocal added
            records = result.games[-game.players :]
            if store is not None:
                added += store.add(game, identities, records)
            if test is None:
                return True
            return test.add(sum(points(record.values[record.seats.index(0)]) for record in records)) is None

        try:
            with MatchProgress(result) as progress:
                play_match(
                    game,
                    names if at_once > 1 else made,
                    games,
                    seed,
                    progress,
                    result,
                    parallel=at_once,
                    opening=opening,
                    move_limit=move_limit,
                    after_start=after_start,
                )
        except Quit:
            print(f"The match was left in game {len(result.games) + 1} of {games}.")
        finally:
            if result.games:
                show_match(game, result, test)
            if store is not None:
                known = len(result.games) // game.players * game.players - added
                again = f"; {known} were there already: another --seed plays others" if known else ""
                print(f"\n{added} games recorded in {results}{again}.")


def points(value: float) -> float:
    """A win counts 1, a draw 1/2."""
    return ((value > 0) - (value < 0) + 1) / 2


class MatchProgress:
    """A bar with the standing, on a terminal; elsewhere a line now and then."""

    EVERY = 10.0
    """Seconds between two lines."""

    def __init__(self, result: MatchResult):
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


def show_match(game: Game, result: MatchResult, test: Sequential | None = None) -> None:
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
    if game.players == 2:
        show_comparison(result, test)
    for failure in sorted({record.reason for record in result.games if record.reason}):
        complain(f"lost by failing: {failure}")
    different = len({record.actions for record in result.games})
    if games >= 10 and different <= games // 2:
        print(
            wrapped(
                f"\nOnly {different} of these games are different ones; --openings 4 begins each with random moves."
            )
        )


def show_comparison(result: MatchResult, test: Sequential | None) -> None:
    """Is the first agent better? Its result in pairs of games with the same start and swapped seats says.

    A p-value is for a match whose length was fixed before: one that stops when it is decided has its own verdict.
    """
    from ludus.arena.sequential import p_value

    one, other = labels(result)
    if test is not None:
        verdict = {
            "better": f"{one} is better than {other}",
            "not better": f"{one} is not better than {other} by {test.by:g} points",
            None: "not decided",
        }[test.verdict]
        print(f"\nSequential test at an error of {100 * test.error:g} %: {verdict}, after {test.pairs} pairs.")
        return
    scores = [points(game.values[game.seats.index(0)]) for game in result.games]
    pairs = [first + second for first, second in zip(scores[::2], scores[1::2], strict=False)]
    if pairs:
        print(
            f"\nProbability of such a result in {len(pairs)} pairs if {one} were not better: p = {p_value(pairs):.4f}"
        )
