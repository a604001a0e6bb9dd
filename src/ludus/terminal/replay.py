"""`ludus replay`: a recorded game move by move, with the thoughts of each agent."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from ludus.agents.human import Quit, read_line
from ludus.api.result import signed
from ludus.arena.record import positions_of
from ludus.arena.results import open_results
from ludus.registry import make
from ludus.terminal.show import command, complain, in_a_row, new_table, plain, print_table, wrapped
from ludus.terminal.trust import with_trust

if TYPE_CHECKING:
    from ludus.arena.record import Thought
    from ludus.arena.store import Store, StoredGame
    from ludus.game import Game

LISTED = 20
"""Number of games in the list of the latest games."""


def show_replay(given: str, number: int | None, everything: bool, trust: bool = False, file: str | None = None) -> None:
    """Show one recorded game, or list the latest. `file` is the Python file of the game, if it has moved."""
    with open_results(given) as results:
        if number is None:
            list_games(results, given)
            return
        stored = results.game(number)
        rules = results.rules_of(stored)
        if file is not None:
            game = rules.check(make(file, **rules.spec.options))
        else:
            game = with_trust(trust, rules.make)
        with contextlib.suppress(Quit):
            replay(game, stored, step=sys.stdin.isatty() and sys.stdout.isatty() and not everything)


def list_games(store: Store, given: str) -> None:
    """The latest games, in a table."""
    latest = store.latest(LISTED)
    if not latest:
        print("No games are recorded yet.")
        return
    table = new_table()
    for heading in ("number", "game", "agents, by seat", "result", "plies", "seconds", "ended"):
        table.add_column(heading, justify="right" if heading in ("number", "plies", "seconds") else "left")
    for each in latest:
        record = each.record
        table.add_row(
            str(each.number),
            each.rules.partition("(")[0],
            " - ".join(each.agents),
            " : ".join(signed(value) for value in record.values)
            + (f" ({_brief(record.reason)})" if record.reason else ""),
            str(len(record.moves)),
            f"{record.seconds:.1f}",
            each.ended,
        )
    print_table(table)
    print(f"\nA game move by move: {command('ludus', 'replay', given, latest[0].number)}")


def _brief(reason: str) -> str:
    return reason.partition(":")[0]


def replay(game: Game, stored: StoredGame, step: bool) -> None:
    """Show all positions of a game; with `step`, one at a time, as the person asks."""
    record = stored.record
    names = [game.player_name(player) for player in range(game.players)]
    who = ", ".join(f"{names[player]}: {label}" for player, label in enumerate(stored.agents))
    print(wrapped(f"Game {stored.number} of {stored.rules}: {who}"))
    print(plain(f"ended {stored.ended} after {record.seconds:.1f} s, Ludus {stored.code}, start {record.seed}"))
    positions, error = positions_of(game, record)
    if error is not None:
        complain(f"the record cannot be played from here on: {error}")
    print(f"\n{positions[0]}")
    at = 0
    while at < len(positions) - 1:
        at = _ask_where(at, len(positions) - 1) if step else at + 1
        if at:
            print("\n" + wrapped(f"{at}. {_told(game, stored, at - 1)}"))
        print(f"{positions[at]}")
    print("\n" + wrapped(_ending(game, stored)))
    print(wrapped(f"Moves: {in_a_row(record.moves)}"))


def _ask_where(at: int, last: int) -> int:
    """The number of the position that the person wants to see next."""
    while True:
        typed = read_line(f"{at} of {last}> ").lower()
        match typed:
            case "" | "n":
                return at + 1
            case "b":
                return max(0, at - 1)
            case "e":
                return last
            case "q" | "quit":
                raise Quit
            case _ if typed.isdecimal() and len(typed) < 10 and int(typed) <= last:
                return int(typed)
        print("Enter: the next move; b: back; a number: go there; e: the end; q: leave")


def _told(game: Game, stored: StoredGame, ply: int) -> str:
    """A ply, with the thoughts about it."""
    record = stored.record
    move = record.moves[ply]
    if ply < record.opening:
        return f"{move} (random opening)"
    thoughts = record.thoughts[ply - record.opening : ply - record.opening + 1]
    return f"{move}  " + "; ".join(_thought(game, stored, each) for found in thoughts for each in found)


def _thought(game: Game, stored: StoredGame, thought: Thought) -> str:
    parts = []
    if thought.value is not None:
        two = game.players == 2 and game.zero_sum
        parts.append(f"expects {50 * (thought.value + 1):.0f} %" if two else f"expects {thought.value:+.2f}")
    if thought.simulations:
        parts.append(f"{thought.simulations:,} simulations")
    parts.append(f"{thought.seconds:.2f} s")
    return f"{stored.agents[thought.player]} ({game.player_name(thought.player)}): {', '.join(parts)}"


def _ending(game: Game, stored: StoredGame) -> str:
    """The results of a game, the fault that ended it, if one did, and faults that did not."""
    record = stored.record
    names = [game.player_name(player) for player in range(game.players)]
    results = ", ".join(f"{name} {signed(value)}" for name, value in zip(names, record.values, strict=True))
    if not record.is_forfeit:
        return f"Results: {results}." + (f" Faults: {record.reason}" if record.reason else "")
    loser = record.values.index(min(record.values))
    return f"Results: {results}. {stored.agents[loser]} ({names[loser]}) lost because it {_as_verb(record.reason)}"


def _as_verb(reason: str) -> str:
    return reason.replace("illegal move: ", "made an illegal move: ", 1)
