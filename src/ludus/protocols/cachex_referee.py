"""A referee for two Cachex players written for the course's interface, each in a process of its own.

A player is a module, a file or a folder with a class `Player` (see cachex_player), or agent:NAME for an agent of Ludus.
It loses by an illegal action, by an error, by exceeding its CPU time or memory, and by not answering for far longer
than its CPU time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ludus.agents.external.cachex_process import COLOURS, Limits, Lost, Seat
from ludus.agents.naming import parse
from ludus.errors import BadAgent, BadOption, IllegalMove, LudusError
from ludus.game import Position
from ludus.registry import make


@dataclass
class Result:
    winner: str | None
    """red or blue; None in a draw."""
    reason: str
    position: Position
    seconds: dict[str, float] = field(default_factory=dict)
    megabytes: dict[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{f'{self.winner} wins' if self.winner else 'draw'}: {self.reason}"


def check_player(where: str) -> None:
    """Refuse a name that cannot be a player, before any process is started."""
    if where.startswith("agent:"):
        kind = parse(where.removeprefix("agent:")).kind
        if kind == "human":
            raise BadAgent(f"{where}: a person cannot play under the referee; use ludus play cachex")
    elif where.endswith(".py") and not Path(where).is_file():
        raise BadOption(f"there is no file {where}")


def found(where: str) -> tuple[str, dict[str, str]]:
    """The module, file or folder of a player, and additions to the environment of its process."""
    if where.startswith("agent:"):
        return "ludus.protocols.cachex_player", {"LUDUS_AGENT": where.removeprefix("agent:")}
    return where, {}


def referee(
    n: int, red: str, blue: str, limits: Limits | None = None, show: Callable[[Position], None] | None = None
) -> Result:
    """Let two players play a game; `show` is called with every position."""
    limits = limits or Limits(seconds=n * n)
    if limits.megabytes is not None and not Path("/proc/self/status").exists():
        raise BadOption("this system does not tell how much memory a process uses: omit the memory limit")
    position = make("cachex", n=n).start()
    for where in (red, blue):
        check_player(where)
    with contextlib.ExitStack() as stack:
        seats: list[Seat] = []
        for colour, where in zip(COLOURS, (red, blue), strict=True):
            player, environment = found(where)
            seats.append(Seat(colour, player, n, limits, environment))
            stack.callback(seats[-1].close)
        for seat in seats:
            seat.wait_until_loaded()
        winner: str | None = None
        asked = seats[0]
        try:
            for asked in seats:
                asked.ask({"do": "new", "player": asked.colour, "n": n})
            if show is not None:
                show(position)
            while not position.is_over:
                mover = asked = seats[position.to_move]
                action = asked.ask({"do": "action"})["action"]
                position = play(position, mover.colour, action)
                if show is not None:
                    show(position)
                for asked in seats:
                    # A failure after the end does not change the result.
                    with contextlib.suppress(*[Lost] if position.is_over else []):
                        asked.ask({"do": "turn", "player": mover.colour, "action": action})
            winner = COLOURS[position.values.index(1.0)] if any(position.values) else None
            reason = position.json["board"]["status"].removeprefix("draw: ")
        except Lost as error:
            winner, reason = COLOURS[1 - COLOURS.index(asked.colour)], str(error)
        return Result(
            winner,
            reason,
            position,
            {seat.colour: seat.used for seat in seats},
            {seat.colour: seat.most for seat in seats},
        )


def play(position: Position, colour: str, action: list[Any]) -> Position:
    """The position after a well-formed action; raises Lost if the action is not legal."""
    move = "steal" if action[0] == "STEAL" else f"{action[1]},{action[2]}"
    try:
        if action[0] == "PLACE" and min(action[1:]) < 0:
            raise IllegalMove(f"there is no cell {move}")
        return position.play(move)
    except LudusError as error:
        raise Lost(f"{colour} made an illegal action, {tuple(action)}: {error}") from None


def run(n: int, red: str, blue: str, limits: Limits, quiet: bool) -> None:
    """Play a game for the command line: print each position and the result."""

    def show(position: Position) -> None:
        moves = position.played[-1:]
        said = f"{COLOURS[len(position.history) % 2]} plays {moves[0]}\n" if moves else ""
        print(f"{said}{position}\n", flush=True)

    result = referee(n, red, blue, limits, None if quiet else show)
    print(result)
    for colour, where in zip(COLOURS, (red, blue), strict=True):
        of = "" if limits.seconds is None else f" of {limits.seconds:g}"
        memory = f", {result.megabytes[colour]:.0f} MB" if result.megabytes[colour] else ""
        print(f"  {colour}, {where}: {result.seconds[colour]:.2f}{of} s{memory}")
    print(f"game: {result.position.text}")
