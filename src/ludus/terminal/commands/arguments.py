"""Arguments that several commands share, and the functions that read them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ludus.game import Game, Position

GameName = Annotated[
    str,
    typer.Argument(
        metavar="GAME", help="A name from `ludus games`, the path of a .py or .kif file, or openspiel:NAME."
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="NAME=VALUE", help="Set an option of the game; may be repeated."),
]
PositionText = Annotated[
    str | None,
    typer.Option("--position", metavar="TEXT", help="Start from this position instead of the initial one."),
]
Moves = Annotated[
    str | None,
    typer.Option("--moves", metavar="MOVES", help="Play these moves first: 'd d c', or separated by semicolons."),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        metavar="N",
        min=0,
        max=2**62,
        help="Seed of all random numbers: the same seed repeats the same positions and moves.",
    ),
]

Trust = Annotated[
    bool, typer.Option("--trust", help="Run Python code from a run, a recipe or a file of results without asking.")
]

Parallel = Annotated[
    int | None,
    typer.Option("--parallel", metavar="N", help="Number of games played at once; by default one for each CPU core."),
]
MoveLimit = Annotated[
    float,
    typer.Option(
        "--move-limit",
        metavar="S",
        help="Seconds after which an agent loses for not moving. Agents with a time budget of T seconds get 5 T + 10.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="auto|ADDRESS",
        help="Play the games on a Ray cluster: its HOST:PORT, or auto for the Ray of this machine, else a new one.",
    ),
]
Anchor = Annotated[str, typer.Option("--anchor", metavar="AGENT", help="The agent whose rating is fixed.")]
AnchorRating = Annotated[float, typer.Option("--anchor-rating", metavar="R", help="The rating of the anchor.")]


def make_game(name: str, options: list[str] | None) -> Game:
    """The game of that name, with options written as name=value."""
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
    """The initial position or the one given, after the moves given."""
    from ludus.errors import IllegalMove

    position = game.parse(text) if text is not None else game.start(seed)
    given = (moves or "").split(";" if ";" in (moves or "") else None)
    for number, move in enumerate(filter(str.strip, given), 1):
        try:
            position = position.play(move)
        except IllegalMove as error:
            raise IllegalMove(f"--moves, move {number}: {error}") from None
    return position


def read_limit(text: str | None, name: str = "--limit") -> float | None:
    """A time such as 30s or 5min, in seconds."""
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


def read_size(text: str) -> int:
    """A size such as 256MB, in bytes."""
    from ludus.agents.naming import size
    from ludus.errors import BadOption

    try:
        return size(text)
    except ValueError as error:
        raise BadOption(f"--memory must be {error}, not {text!r}") from None
