"""`ludus match`: progress while agents play each other, then the table of scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ludus.agents.naming import parse
from ludus.api.matches import play_match
from ludus.arena.events import GameEnded, MatchEvent, MatchStarted, MovePlayed
from ludus.cluster.events import ActorLost, ClusterChanged
from ludus.terminal.bar import Bar
from ludus.terminal.cluster import cluster_line
from ludus.terminal.interrupt import ctrl_c_stops
from ludus.terminal.show import complain, counted, describe, new_table, plain, print_table, wrapped

if TYPE_CHECKING:
    from ludus.arena.result import MatchResult
    from ludus.game import Game


def run_match(game: Game, agents: Sequence[str], games: int | None = None, seed: int = 0, **options: Any) -> None:
    """Play a match with live progress, then show its result. `options` are passed to `ludus.play_match`.

    If the match is stopped, or ends with an exception, the games that have ended are shown.
    """
    people = any(parse(name).kind == "human" for name in agents)  # a person needs the terminal for the board
    latest: MatchResult | None = None

    with Bar("game", hidden=people) as bar, ctrl_c_stops(active=not people) as stop:

        def show(event: MatchEvent) -> None:
            nonlocal latest
            match event:
                case MatchStarted(result):
                    latest = result
                case GameEnded(_, result):
                    bar.update(result.played, result.planned, standing(result))
                case ClusterChanged() | ActorLost():
                    complain(cluster_line(event))
                case MovePlayed(result, plies):
                    move = f"  move {plies}" if plies else ""
                    bar.update(result.played, result.planned, standing(result) + move)

        try:
            play_match(game, agents, games, seed, on_event=show, stop=stop, **options)
        finally:
            bar.stop()
            if latest is not None:
                show_match(game, latest, options.get("results"))
    if stop.is_set():
        raise KeyboardInterrupt


def standing(result: MatchResult) -> str:
    """The points so far; without exactly two players, the scores."""
    names = result.labels
    if result.players == 2:
        return f"{names[0]} {result.points(0):g} : {result.points(1):g} {names[1]}"
    return ", ".join(f"{name} {100 * result.score(i).mean:.0f} %" for i, name in enumerate(names))


def show_match(game: Game, result: MatchResult, file: object = None) -> None:
    """Show the table of a match, its comparison, and notes on failures and repeated games."""
    if result.ending == "left":
        print(f"The match was stopped in game {result.played + 1} of {result.planned}.")
    if result.played:
        show_scores(game, result)
        show_comparison(result)
        for reason in sorted(result.failures):
            complain(f"lost by failing: {reason}")
        if result.repeats:
            text = f"Only {result.different} of these games are different ones; --openings 4 begins with random moves."
            print("\n" + wrapped(text))
    if result.recorded is not None:
        again = f"; {result.known} were there already: another --seed plays others" if result.known else ""
        print(f"\n{counted(result.recorded, 'game')} recorded in {plain(file)}{again}.")


def show_scores(game: Game, result: MatchResult) -> None:
    """Wins, draws and losses of each agent from each seat, and its score."""
    played = f"{result.played:,} of " * (result.played < result.planned) + counted(result.planned, "game")
    print(f"{describe(game)}: {played} in {result.seconds:.1f} s, seed {result.seed}")
    print("Wins / draws / losses from each seat, and the score with its 95 % interval:\n")
    table = new_table()
    table.add_column("agent")
    for player in range(game.players):
        table.add_column(f"as {game.player_name(player)}", justify="right")
    if game.players > 1:
        table.add_column("in all", justify="right")
    table.add_column("score", justify="right")
    table.add_column("95 % interval", justify="right")
    for index, name in enumerate(result.labels):
        seats = [*range(game.players), None] if game.players > 1 else [0]
        tallies = [" / ".join(f"{count}" for count in result.tally(index, seat)) for seat in seats]
        score = result.score(index)
        interval = f"{100 * score.low:.1f} to {100 * score.high:.1f} %"
        table.add_row(name, *tallies, f"{100 * score.mean:.1f} %", interval)
    print_table(table)


def show_comparison(result: MatchResult) -> None:
    """The verdict of the sequential test, or the p-value of a match of fixed length."""
    if result.players != 2:
        return
    one, other = result.labels
    if (test := result.test) is not None:
        verdict = {
            "better": f"{one} is better than {other}",
            "not better": f"{one} is not better than {other} by {test.by:g} points",
            None: "not decided",
        }[test.verdict]
        text = f"Sequential test at an error of {100 * test.error:g} %: {verdict}, after {counted(test.pairs, 'pair')}."
        print("\n" + plain(text))
    elif (p_value := result.p_value) is not None:
        pairs = counted(result.pairs, "pair")
        text = f"Probability of such a result in {pairs} if {one} were not better: p = {p_value:.4f}"
        print("\n" + plain(text))
