"""Who is how strong: the arena, its ratings and games, and grading against truth."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.terminal.commands.app import AGENTS, app
from ludus.terminal.commands.arguments import (
    Anchor,
    AnchorRating,
    GameName,
    MoveLimit,
    Openings,
    Options,
    Parallel,
    Seed,
    Trust,
    make_game,
    read_limit,
    read_parallel,
)


@app.command(short_help="Rate agents and checkpoints against each other.", epilog=AGENTS)
def arena(
    entrants: Annotated[list[str], typer.Argument(metavar="RUN|AGENT", help="Runs of one game, or agents, or both.")],
    game: Annotated[str | None, typer.Option(metavar="GAME", help="Where there is no run: what they play.")] = None,
    option: Options = None,
    results: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="By default results.sqlite in the run; of several or none, here."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Stop after so long; by default, at Ctrl-C.")
    ] = None,
    games: Annotated[int | None, typer.Option(metavar="N", help="Or after so many games.")] = None,
    parallel: Parallel = None,
    anchor: Anchor = "random",
    anchor_rating: AnchorRating = 500.0,
    simulations: Annotated[
        int | None, typer.Option(metavar="N", help="A move, of checkpoints; by default 100.")
    ] = None,
    every: Annotated[
        int | None, typer.Option(metavar="K", help="Every K-th checkpoint takes part; by default, up to 24 do.")
    ] = None,
    series: Annotated[
        str | None,
        typer.Option(metavar="SERIES", help="Which games checkpoints play: 'before:1,10 nearest:uct:2'."),
    ] = None,
    openings: Openings = 4,
    move_limit: MoveLimit = 60.0,
    trust: Trust = False,
) -> None:
    """Rate agents: play what tells most next, until stopped, and keep a table of ratings up to date.

    Of a run, its checkpoints take part, and some uct agents to compare them with; of one that is still training, new
    ones as they appear. Results are recorded as they come: stop, go on, or let several play for one file.

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
        raise BadOption("--option needs a --game; that of a run has its options")
    run_arena(
        entrants,
        make_game(game, option) if game else None,
        results,
        minutes,
        games,
        read_parallel(parallel),
        anchor,
        anchor_rating,
        move_limit,
        openings,
        trust=trust,
        series=series,
        simulations=simulations,
        every=every,
    )


@app.command(short_help="Show the ratings of recorded games.")
def ratings(
    results: Annotated[
        str | None, typer.Argument(metavar="RUN|FILE", help="By default, where the latest results are.")
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="likelihood, or seed: the older estimator, to compare.")
    ] = "likelihood",
    anchor: Anchor = "random",
    anchor_rating: AnchorRating = 500.0,
    game: Annotated[str | None, typer.Option(metavar="GAME", help="Of a file with several games, this one.")] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw a plot too; ends in .png or .svg.")] = None,
    plot_kind: Annotated[
        str, typer.Option("--plot-kind", metavar="KIND", help="learning, times, matrix or move-times.")
    ] = "learning",
) -> None:
    """Show how strong everybody is, by all recorded games at once, with 95 % intervals.

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
    results: Annotated[str, typer.Argument(metavar="RUN|FILE", help="Where it was recorded.")],
    number: Annotated[
        int | None, typer.Argument(metavar="NUMBER", help="Which game; else, the latest are listed.")
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Print all of it, instead of waiting at every move.")] = False,
    game: Annotated[
        str | None, typer.Option(metavar="FILE", help="The file of a game of your own, if it has moved since.")
    ] = None,
    trust: Trust = False,
) -> None:
    """Show a recorded game move by move, with what each agent thought.

    \b
    Examples
      ludus replay runs/connect4-20261115-101500
      ludus replay results.sqlite 17 --all
    """
    from ludus.terminal.replay import show_replay

    show_replay(results, number, all, trust, game)


@app.command(short_help="Grade an agent's moves against exact truth.", epilog=AGENTS)
def grade(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="Who is graded.")],
    game: GameName,
    option: Options = None,
    positions: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Use these positions; a file that is not there is made."),
    ] = None,
    count: Annotated[
        int | None, typer.Option(metavar="N", help="How many positions: 300 by default, of a file all.")
    ] = None,
    seed: Seed = 0,
    limit: Annotated[str, typer.Option(metavar="TIME", help="To solve one position: longer ones are left out.")] = "1s",
) -> None:
    """Grade an agent against exact truth: how often its moves keep the outcome, in each phase of the game.

    Positions are drawn from play and solved exactly: those within reach of `ludus solve`; at Connect-4 also openings,
    if bitbully is installed. For two-player games. Keep the positions in a file to compare agents and to grade runs
    while they train.

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
