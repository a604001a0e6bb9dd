"""Commands that measure strength: the arena, its ratings and games, and grading against exact truth."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.terminal.commands.app import AGENTS, app
from ludus.terminal.commands.arguments import (
    Anchor,
    AnchorRating,
    Cluster,
    GameName,
    MoveLimit,
    Options,
    Parallel,
    Seed,
    Trust,
    make_game,
    read_limit,
)


@app.command(short_help="Rate agents and checkpoints by games between them.", epilog=AGENTS)
def arena(
    entrants: Annotated[
        list[str], typer.Argument(metavar="RUN|AGENT", help="Training runs of one game, or agents, or both.")
    ],
    game: Annotated[
        str | None, typer.Option(metavar="GAME", help="The game that the agents play; needed without a run.")
    ] = None,
    option: Options = None,
    results: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The file of results; by default results.sqlite, in the run's folder if exactly one run is given.",
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Stop after this number of minutes; by default at Ctrl-C.")
    ] = None,
    games: Annotated[int | None, typer.Option(metavar="N", help="Stop after this number of games.")] = None,
    parallel: Parallel = None,
    anchor: Anchor = "random",
    anchor_rating: AnchorRating = 500.0,
    simulations: Annotated[
        int | None, typer.Option(metavar="N", help="Simulations a move for checkpoints; by default 100.")
    ] = None,
    every: Annotated[
        int | None, typer.Option(metavar="K", help="Take every K-th checkpoint of a run; by default up to 24 in all.")
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(metavar="SERIES", help="The opponents of each checkpoint: 'before:1,10 nearest:uct:2'."),
    ] = None,
    openings: Annotated[
        int | None,
        typer.Option(
            "--openings",
            metavar="K",
            help="Number of random plies before the agents begin; by default up to 4, fewer in short games.",
        ),
    ] = None,
    move_limit: MoveLimit = 60.0,
    cluster: Cluster = None,
    trust: Trust = False,
) -> None:
    """Rate agents by games between them, and keep a table of ratings up to date. Ctrl-C stops.

    The next game is always the one expected to tell most about the ratings. A run enters its checkpoints, and some uct
    agents for comparison. Checkpoints of a run that is still training join as they appear. All games are recorded: the
    same command continues later, and several commands can share one file.

    \b
    Examples
      ludus arena runs/connect4-20261115-101500
      ludus arena runs/one runs/other --results both.sqlite --minutes 30
      ludus arena uct:100 uct:1000 adversarial:3 --game breakthrough --games 400
      ludus arena runs/connect4-20261115-101500 --series 'before:1,10 nearest:uct:2'
    """
    from ludus.errors import BadOption
    from ludus.terminal.arena import run_arena

    if option and not game:
        raise BadOption("--option needs a --game; the game of a run has its options")
    run_arena(
        entrants,
        make_game(game, option) if game else None,
        trust=trust,
        results=results,
        minutes=minutes,
        games=games,
        parallel=parallel,
        anchor=anchor,
        anchor_rating=anchor_rating,
        simulations=simulations,
        every=every,
        series=series,
        openings=openings,
        move_limit=move_limit,
        cluster=cluster,
    )


@app.command(short_help="Show the ratings of recorded games.")
def ratings(
    results: Annotated[
        str | None,
        typer.Argument(metavar="RUN|FILE", help="A training run or a file of results; by default the newest."),
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="The estimator: likelihood, or seed, an older one for comparison.")
    ] = "likelihood",
    anchor: Anchor = "random",
    anchor_rating: AnchorRating = 500.0,
    game: Annotated[
        str | None, typer.Option(metavar="GAME", help="Show only this game, if the file holds several.")
    ] = None,
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw a plot into this file, which ends in .png or .svg.")
    ] = None,
    plot_kind: Annotated[
        str,
        typer.Option("--plot-kind", metavar="KIND", help="The plot to draw: learning, times, matrix or move-times."),
    ] = "learning",
) -> None:
    """Show the ratings of all agents by all recorded games at once, with 95 % intervals.

    \b
    Examples
      ludus ratings runs/connect4-20261115-101500
      ludus ratings runs/connect4-20261115-101500 --plot learning.png
      ludus ratings results.sqlite --plot matrix.svg --plot-kind matrix
    """
    from ludus.terminal.ratings import show_ratings

    show_ratings(results, method, anchor, anchor_rating, plot, plot_kind, game)


@app.command(short_help="Show a recorded game move by move.")
def replay(
    results: Annotated[str, typer.Argument(metavar="RUN|FILE", help="A training run or a file of results.")],
    number: Annotated[
        int | None,
        typer.Argument(metavar="NUMBER", help="The number of the game; without it, the latest games are listed."),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Print the whole game instead of waiting at every move.")] = False,
    game: Annotated[
        str | None, typer.Option(metavar="FILE", help="The Python file of the game, if it has moved since.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Show a recorded game move by move, with the thoughts of each agent.

    \b
    Examples
      ludus replay runs/connect4-20261115-101500
      ludus replay results.sqlite 17 --all
    """
    from ludus.terminal.replay import show_replay

    show_replay(results, number, all, trust, game)


@app.command(short_help="Grade an agent's moves against exact truth.", epilog=AGENTS)
def grade(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent to grade.")],
    game: GameName,
    option: Options = None,
    positions: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="The file of positions; if it does not exist, it is made."),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of positions; by default 300, or all positions of a file."),
    ] = None,
    seed: Seed = 0,
    limit: Annotated[
        str, typer.Option(metavar="TIME", help="Time to solve one position; slower ones are left out.")
    ] = "1s",
) -> None:
    """Grade an agent against exact truth: how often its moves keep the outcome, in each phase of the game.

    Positions are drawn from play and solved by the solver of `ludus solve`; positions of Connect-4 by bitbully, if it
    is installed, which also reaches openings. The game must have two players. Keep the positions in a file to compare
    agents and to grade runs while they train.

    \b
    Examples
      ludus grade uct:1000 connect4 --positions connect4.txt
      ludus grade zero:runs/connect4-20261115-101500 connect4 --positions connect4.txt
      ludus grade adversarial:2 breakthrough -o height=5 -o width=4 --count 90 --limit 5s
      ludus train connect4 --set evaluate_every=5 --set evaluation_positions=connect4.txt
    """
    from ludus.terminal.grading import show_grades

    seconds = read_limit(limit)
    assert seconds is not None
    show_grades(agent, make_game(game, option), positions, count, seed, seconds)
