"""Commands that list games, play them, and let agents play them."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.terminal.commands.app import AGENTS, app
from ludus.terminal.commands.arguments import (
    Cluster,
    GameName,
    MoveLimit,
    Moves,
    Options,
    Parallel,
    PositionText,
    Seed,
    make_game,
    read_limit,
    start_of,
)


@app.command(short_help="List the games, their players and options.")
def games() -> None:
    """List the games, their players and their options."""
    from ludus.terminal.tables import show_games

    show_games()


@app.command(short_help="List the trained players that come with Ludus.")
def players() -> None:
    """List the trained players that come with Ludus, with their origin. `zero` plays with the one of its game.

    \b
    Examples
      ludus players
      ludus play connect4 --against zero:level=2
    """
    from ludus.terminal.players import show_players

    show_players()


@app.command(short_help="Play against an agent in the terminal.", epilog=AGENTS)
def play(
    game: GameName,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT",
            help="The agent that plays the other side; by default zero, the player that comes with Ludus for this "
            "game, or uct:10000 if there is none.",
        ),
    ] = None,
    seat: Annotated[
        str,
        typer.Option(
            metavar="SEAT", help="Your seat: first, second ..., or its number from 1, or the name of the player."
        ),
    ] = "first",
    option: Options = None,
    position: PositionText = None,
    moves: Moves = None,
    seed: Seed = 0,
) -> None:
    """Play against an agent in the terminal.

    Type moves in the notation of the game. Other commands are help, moves, hint, undo, board and quit.

    \b
    Examples
      ludus play connect4
      ludus play connect4 --against zero:level=2
      ludus play connect4 --against uct:2s --seat second
      ludus play breakthrough --option height=6 --option width=6
      ludus play tictactoe --against solver
      ludus play path/to/mygame.py --against random
    """
    from ludus.agents.zero import default_opponent
    from ludus.terminal.play import find_seat, play

    start = start_of(make_game(game, option), position, moves, seed)
    play(start, against or default_opponent(start.game), find_seat(start, seat), seed)


@app.command(short_help="Let agents play each other, and score them.", epilog=AGENTS)
def match(
    game: GameName,
    agents: Annotated[list[str], typer.Argument(metavar="AGENT", help="The agents, one for each player of the game.")],
    games: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Number of games, a multiple of the number of players; by default 20, or 10,000 with --test.",
        ),
    ] = None,
    option: Options = None,
    seed: Seed = 0,
    test: Annotated[
        bool,
        typer.Option("--test", help="Stop as soon as a sequential test decides whether the first agent is better."),
    ] = False,
    error: Annotated[float, typer.Option(metavar="E", help="Maximum probability of a wrong verdict of --test.")] = 0.05,
    by: Annotated[
        float, typer.Option(metavar="POINTS", help="Difference in Elo points that --test must not miss.")
    ] = 50.0,
    openings: Annotated[
        int, typer.Option("--openings", metavar="K", help="Number of random plies before the agents begin.")
    ] = 0,
    parallel: Parallel = None,
    equal_time: Annotated[
        str | None, typer.Option("--equal-time", metavar="TIME", help="Give every agent this time a move: 1s, 500ms.")
    ] = None,
    move_limit: MoveLimit = 60.0,
    cluster: Cluster = None,
    results: Annotated[
        str | None, typer.Option(metavar="FILE", help="Record the games in this file, for ludus ratings and replay.")
    ] = None,
) -> None:
    """Let agents play a match, and show wins, draws, losses and scores. Each start position is played from all seats.

    Games are played on all CPU cores. An agent that fails, or takes too long for a move, loses the game.

    \b
    Examples
      ludus match connect4 uct:1000 uct:100 --games 100
      ludus match connect4 uct:1000 uct:800 --test --openings 4
      ludus match breakthrough uct adversarial:3 --results results.sqlite
      ludus match connect4 uct:c=0.7 uct:c=1.4 --equal-time 200ms
      ludus match laststone uct:200 random random --games 30
    """
    from ludus.arena.sequential import Sequential
    from ludus.terminal.match import run_match

    run_match(
        make_game(game, option),
        agents,
        games,
        seed,
        test=Sequential(by=by, error=error) if test else None,
        openings=openings,
        parallel=parallel,
        equal_time=read_limit(equal_time, "--equal-time"),
        move_limit=move_limit,
        results=results,
        cluster=cluster,
    )
