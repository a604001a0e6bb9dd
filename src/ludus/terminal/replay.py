"""`ludus replay`: a recorded game, move by move, with what each agent thought."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from ludus.agents.human import Quit, read_line
from ludus.api.result import signed
from ludus.arena.store import Store
from ludus.errors import LudusError
from ludus.terminal.ratings import find_results
from ludus.terminal.show import complain, in_a_row, new_table, print_table, wrapped

if TYPE_CHECKING:
    from ludus.arena.record import Thought
    from ludus.arena.store import StoredGame
    from ludus.game import Game

LISTED = 20
"""Games in the list of the latest."""


def show_replay(given: str, number: int | None, everything: bool) -> None:
    with Store.open(find_results(given)) as store:
        if number is None:
            list_games(store, given)
            return
        stored = store.game(number)
        rules = next(each for each in store.rules() if each.identity == stored.rules)
        with contextlib.suppress(Quit):
            replay(rules.make(), stored, step=sys.stdin.isatty() and sys.stdout.isatty() and not everything)


def list_games(store: Store, given: str) -> None:
    """The latest games."""
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
    print(f"\nA game move by move: ludus replay {given} {latest[0].number}")


def _brief(reason: str) -> str:
    return reason.partition(":")[0]


def replay(game: Game, stored: StoredGame, step: bool) -> None:
    """All positions; one at a time, where somebody steps through."""
    record = stored.record
    names = [game.player_name(player) for player in range(game.players)]
    who = ", ".join(f"{names[player]}: {label}" for player, label in enumerate(stored.agents))
    print(wrapped(f"Game {stored.number} of {stored.rules}: {who}"))
    print(f"ended {stored.ended} after {record.seconds:.1f} s, Ludus {stored.code}, start {record.seed}")
    positions = [game.start(record.seed)]
    try:
        for move in record.moves:
            positions.append(positions[-1].play(move))
    except LudusError as error:
        complain(f"the record cannot be played from here on: {error}")
    print(f"\n{positions[0]}")
    at = 0
    while at < len(positions) - 1:
        if step:
            at = _ask_where(at, len(positions) - 1)
        else:
            at += 1
        if at:
            print("\n" + wrapped(f"{at}. {_told(game, stored, at - 1)}"))
        print(f"{positions[at]}")
    print(f"\n{_ending(game, stored)}")
    print(wrapped(f"Moves: {in_a_row(record.moves)}"))


def _ask_where(at: int, last: int) -> int:
    """Where somebody who steps through wants to go."""
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
            case _ if typed.isdecimal() and int(typed) <= last:
                return int(typed)
        print("Enter: the next move; b: back; a number: go there; e: the end; q: leave")


def _told(game: Game, stored: StoredGame, ply: int) -> str:
    """A ply, and what was thought about it."""
    record = stored.record
    move = record.moves[ply]
    if ply < record.opening:
        return f"{move} (random opening)"
    return f"{move}  " + "; ".join(_thought(game, stored, each) for each in record.thoughts[ply - record.opening])


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
    record = stored.record
    names = [game.player_name(player) for player in range(game.players)]
    results = ", ".join(f"{name} {signed(value)}" for name, value in zip(names, record.values, strict=True))
    if not record.reason:
        return f"Results: {results}."
    loser = record.values.index(min(record.values))
    return f"Results: {results}. {stored.agents[loser]} ({names[loser]}) lost because it {_as_verb(record.reason)}"


def _as_verb(reason: str) -> str:
    return reason.replace("illegal move: ", "made an illegal move: ", 1)
