"""Arguments that several commands share: how they are written, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ludus.game import Game, Position

GameName = Annotated[
    str,
    typer.Argument(metavar="GAME", help="A name from `ludus games`, a Python file of your own, or openspiel:NAME."),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="An option of the game; may be repeated."),
]
PositionText = Annotated[
    str | None,
    typer.Option("--position", metavar="TEXT", help="Start from this position instead of the game's first."),
]
Moves = Annotated[
    str | None,
    typer.Option("--moves", metavar="MOVES", help="Moves to play first: 'd d c', or with ; between them."),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same moves and starts.")]

Trust = Annotated[
    bool, typer.Option("--trust", help="Run Python code that a run, a recipe or a file of results brings or names.")
]

Parallel = Annotated[
    int | None, typer.Option("--parallel", metavar="N", help="Games at once; by default, one for each core.")
]
MoveLimit = Annotated[
    float,
    typer.Option(
        "--move-limit", metavar="S", help="Who takes more seconds for a move loses; with a time a move, 5 x + 10."
    ),
]
Anchor = Annotated[str, typer.Option("--anchor", metavar="AGENT", help="Whose rating is fixed,")]
AnchorRating = Annotated[float, typer.Option("--anchor-rating", metavar="R", help="and where.")]
Openings = Annotated[
    int, typer.Option("--openings", metavar="K", help="Begin with K random plies, the same from all seats.")
]


def make_game(name: str, options: list[str] | None) -> Game:
    """The game of a name, with options as name=value."""
    from ludus.errors import BadOption
    from ludus.registry import make

    given: dict[str, str] = {}
    for option in options or []:
        key, equals, value = option.partition("=")
        if not equals or not key.strip():
            raise BadOption(f"--option takes name=value, not {option!r}")
        given[key.strip()] = value.strip()
    return make(name, **given)


def start_of(game: Game, text: str | None, moves: str | None, seed: int = 0) -> Position:
    """The game's first position or the one given, after the moves given."""
    from ludus.errors import IllegalMove

    position = game.parse(text) if text is not None else game.start(seed)
    given = (moves or "").split(";" if ";" in (moves or "") else None)
    for number, move in enumerate(given, 1):
        try:
            position = position.play(move)
        except IllegalMove as error:
            raise IllegalMove(f"--moves, move {number}: {error}") from None
    return position


def read_limit(text: str | None, name: str = "--limit") -> float | None:
    """Seconds, from 30s or 5min."""
    from ludus.agents import Budget
    from ludus.errors import BadOption, LudusError

    if text is None:
        return None
    try:
        seconds = Budget.of(text).seconds
    except LudusError:
        seconds = None
    if seconds is None:
        raise BadOption(f"{name} must be a time above 0, such as 30s or 5min, not {text!r}")
    return seconds


def read_parallel(given: int | None) -> int:
    """How many games at once."""
    from ludus.errors import BadOption

    if given is None:
        from ludus.machine import cpu_count

        return cpu_count()
    if given < 1:
        raise BadOption(f"--parallel must be at least 1, not {given}")
    return given


def read_size(text: str) -> int:
    from ludus.agents.naming import size
    from ludus.errors import BadOption

    try:
        return size(text)
    except ValueError as error:
        raise BadOption(f"--memory must be {error}, not {text!r}") from None
