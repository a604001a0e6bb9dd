"""A person at the terminal, for matches. `ludus play` offers more: undo, hints, the agents' expectations."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import TYPE_CHECKING

from ludus.agents.agent import Choice, player_asked
from ludus.errors import IllegalMove
from ludus.rules import EVERYONE

if TYPE_CHECKING:
    from ludus.agents.agent import Progress
    from ludus.agents.budget import Budget
    from ludus.agents.naming import Spec
    from ludus.game import Game, Position


class Quit(Exception):
    """The person leaves, or the input has ended."""


class HumanAgent:
    def __init__(self, name: str = "human"):
        self.name = name

    def choose(
        self,
        position: Position,
        budget: Budget | str | int | None = None,
        player: int | None = None,
        progress: Progress | None = None,
    ) -> Choice:
        began = time.perf_counter()
        player = player_asked(position, player)
        print(f"\n{position}" + (f"\nlast move: {position.played[-1]}" if position.parent else ""))
        while True:
            typed = read_line(f"{position.game.player_name(player)}> ")
            if typed == "quit":
                raise Quit
            if typed == "moves":
                print(list_moves(position, player))
            elif typed in ("", "help", "?"):
                print("Type a move, or: moves (all legal ones), quit (ends the match).")
            else:
                try:
                    action = read_move(position, player, typed)
                except IllegalMove as error:
                    print(error)
                    continue
                move = position.game.write_move(position.state, player, action)
                return Choice(player, action, move, seconds=time.perf_counter() - began)

    def new_game(self, seed: int) -> None:
        pass


def read_line(prompt: str) -> str:
    """A line that the person types; raises Quit at the end of the input."""
    if sys.stdin.isatty():
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401  (arrow keys and the lines typed before)
    try:
        line = input(prompt)
    except EOFError:
        print()
        raise Quit from None
    if not sys.stdin.isatty():
        print(line)  # a terminal would have shown it while it was typed
    return line.strip()


def read_move(position: Position, player: int, text: str) -> int:
    """One player's action from its notation; IllegalMove, with the reason."""
    action = position.game.read_move(position.state, player, text)
    if action not in position.actions_of(player):
        raise IllegalMove(f"{text!r} is not a legal move here")
    return action


def list_moves(position: Position, player: int) -> str:
    """A player's legal moves, in lines of readable length."""
    import textwrap

    names = [position.game.write_move(position.state, player, action) for action in position.actions_of(player)]
    who = position.game.player_name(player) if position.to_move == EVERYONE else ""
    heading = f"{len(names)} legal move{'s' * (len(names) != 1)}{' of ' * bool(who)}{who}: "
    unbroken = [name.replace(" ", "\xa0") for name in names]
    listed = "; ".join(unbroken) if unbroken != names else " ".join(names)  # some games have spaces in their moves
    return textwrap.fill(heading + listed, 100, subsequent_indent="  ", break_long_words=False).replace("\xa0", " ")


def make(spec: Spec, game: Game, seed: int) -> HumanAgent:
    spec.refuse_budget()
    return HumanAgent(spec.text, **spec.read())
