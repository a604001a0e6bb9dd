"""Games, and playing them."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.terminal.commands.app import AGENTS, app
from ludus.terminal.commands.arguments import (
    GameName,
    MoveLimit,
    Moves,
    Openings,
    Options,
    Parallel,
    PositionText,
    Seed,
    make_game,
    read_limit,
    read_parallel,
    start_of,
)


@app.command(short_help="List the games, their players and options.")
def games() -> None:
    """List the games, their players and their options."""
    from ludus.terminal.tables import show_games

    show_games()


@app.command(short_help="Play against an agent in the terminal.", epilog=AGENTS)
def play(
    game: GameName,
    against: Annotated[str, typer.Option(metavar="AGENT", help="Who plays the other side.")] = "uct:10000",
    seat: Annotated[str, typer.Option(metavar="SEAT", help="first, second, 1 to the number of players.")] = "first",
    option: Options = None,
    position: PositionText = None,
    moves: Moves = None,
    seed: Seed = 0,
) -> None:
    """Play against an agent in the terminal.

    Type moves in the game's notation. help lists what else can be typed: moves, hint, undo, board, quit.

    \b
    Examples
      ludus play connect4 --against uct:2s --seat second
      ludus play breakthrough --option height=6 --option width=6
      ludus play tictactoe --against solver
      ludus play path/to/mygame.py --against random
    """
    from ludus.terminal.play import find_seat, play

    start = start_of(make_game(game, option), position, moves, seed)
    play(start, against, find_seat(start, seat), seed)


@app.command(short_help="Let agents play each other, and score them.", epilog=AGENTS)
def match(
    game: GameName,
    agents: Annotated[list[str], typer.Argument(metavar="AGENT", help="As many agents as the game has players.")],
    games: Annotated[
        int | None,
        typer.Option(metavar="N", help="A multiple of the number of players; by default 20, with --test up to 10,000."),
    ] = None,
    option: Options = None,
    seed: Seed = 0,
    test: Annotated[
        bool, typer.Option("--test", help="Stop as soon as it is decided whether the first is better,")
    ] = False,
    error: Annotated[float, typer.Option(metavar="E", help="wrongly with at most this probability,")] = 0.05,
    by: Annotated[float, typer.Option(metavar="POINTS", help="by so many points of Elo, or not.")] = 50.0,
    openings: Openings = 0,
    parallel: Parallel = None,
    equal_time: Annotated[
        str | None, typer.Option("--equal-time", metavar="TIME", help="So long a move for everybody: 1s, 500ms.")
    ] = None,
    move_limit: MoveLimit = 60.0,
    results: Annotated[
        str | None, typer.Option(metavar="FILE", help="Record the games, for ludus ratings and replay.")
    ] = None,
) -> None:
    """Let agents play a match: each start from every seat, then wins, draws, losses and the score.

    Games are played on all cores. An agent that fails, or takes too long for a move, loses the game.

    \b
    Examples
      ludus match connect4 uct:1000 uct:100 --games 100
      ludus match connect4 uct:1000 uct:800 --test --openings 4
      ludus match breakthrough uct adversarial:3 --results results.sqlite
      ludus match connect4 uct:c=0.7 uct:c=1.4 --equal-time 200ms
      ludus match laststone uct:200 random random --games 30
    """
    from ludus.arena.sequential import Sequential
    from ludus.errors import BadOption
    from ludus.terminal.match import run_match

    if games is not None and games < 1:
        raise BadOption(f"--games must be at least 1, not {games}")
    run_match(
        make_game(game, option),
        agents,
        games,
        seed,
        test=Sequential(by=by, error=error) if test else None,
        opening=openings,
        parallel=None if parallel is None else read_parallel(parallel),
        equal_time=read_limit(equal_time, "--equal-time"),
        move_limit=move_limit,
        results=results,
    )
