"""Commands that analyse, count, solve and measure games."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.terminal.commands.app import AGENTS, app
from ludus.terminal.commands.arguments import (
    GameName,
    Moves,
    Options,
    PositionText,
    Seed,
    make_game,
    read_limit,
    read_size,
    start_of,
)


@app.command(short_help="Show what an agent thinks of a position.", epilog=AGENTS)
def analyse(
    game: Annotated[
        str | None, typer.Argument(metavar="GAME", help="A name from `ludus games`, or a .py or .kif file.")
    ] = None,
    agent: Annotated[str, typer.Option(metavar="AGENT", help="The agent that analyses.")] = "uct:2s",
    option: Options = None,
    position: PositionText = None,
    moves: Moves = None,
    seed: Seed = 0,
    json: Annotated[
        bool, typer.Option("--json", help="Read requests from standard input, one JSON object a line, and answer them.")
    ] = False,
    parallel: Annotated[int, typer.Option(metavar="N", help="With --json, number of requests answered at once.")] = 4,
) -> None:
    """Show what an agent thinks of a position: every move with its visits and value, and the best line.

    With --json, requests come by standard input and results go to standard output, one line each, many at once, with
    partial results and cancelling. `ludus docs web` lists the fields.

    \b
    Examples
      ludus analyse connect4 --moves 'd d c' --agent uct:5s
      echo '{"id": 1, "game": "connect4", "agent": "uct", "budget": "1s", "every": 0.2}' | ludus analyse --json
    """
    import sys

    from ludus.errors import BadOption
    from ludus.terminal.tables import show_analysis

    if json:
        if game is not None:
            raise BadOption("with --json the requests name their games: leave GAME out")
        from ludus.protocols.json_analysis import AnalysisServer

        AnalysisServer(lambda line: print(line, flush=True), parallel).run(sys.stdin)
    elif game is None:
        raise BadOption("name a game to analyse, or give --json; see ludus analyse --help")
    else:
        show_analysis(start_of(make_game(game, option), position, moves, seed), agent, seed)


@app.command(short_help="Count the lines of play to a depth.")
def perft(
    game: GameName,
    plies: Annotated[int | None, typer.Argument(metavar="DEPTH", help="Number of plies to count.")] = None,
    depth: Annotated[int | None, typer.Option("--depth", metavar="N", help="The same as DEPTH.")] = None,
    option: Options = None,
    position: PositionText = None,
    moves: Moves = None,
) -> None:
    """Count the lines of play to a depth: the classic check of the rules of a game, and of their speed.

    \b
    Examples
      ludus perft connect4 8
      ludus perft breakthrough 5 --option height=6 --option width=6
    """
    from ludus.errors import BadOption
    from ludus.terminal.tables import show_perft

    given = {each for each in (plies, depth) if each is not None}
    if len(given) != 1:
        raise BadOption("give one depth, as in ludus perft connect4 8")
    wanted = given.pop()
    if wanted < 1:
        raise BadOption(f"the depth must be at least 1, not {wanted}")
    show_perft(start_of(make_game(game, option), position, moves), wanted)


@app.command(short_help="Solve a position exactly.")
def solve(
    game: GameName,
    option: Options = None,
    position: PositionText = None,
    moves: Moves = None,
    limit: Annotated[str | None, typer.Option(metavar="TIME", help="Give up after this time: 30s, 5min.")] = None,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="Memory for the table of positions.")] = "256MB",
) -> None:
    """Solve a position exactly: its value and the value of every move under perfect play. For two-player games.

    \b
    Examples
      ludus solve tictactoe
      ludus solve connect4 --option rows=4 --option columns=5
      ludus solve connect4 --moves 'd d d d d a e e e e e a b b b'
    """
    from ludus.terminal.tables import show_solution

    seconds, size = read_limit(limit), read_size(memory)
    show_solution(start_of(make_game(game, option), position, moves), seconds, size)


@app.command(short_help="Measure the speed of this machine.")
def bench(
    game: Annotated[
        str | None,
        typer.Argument(metavar="GAME", help="The game to measure with; by default connect4 and breakthrough."),
    ] = None,
    option: Options = None,
    seconds: Annotated[float, typer.Option(metavar="S", help="Seconds to measure each figure.")] = 1.2,
) -> None:
    """Measure the speed of this machine: playouts, searches and games a second. Takes about 15 seconds.

    Playouts are games of random moves, which some games cut off. uct is tree search with playouts. Tree operations are
    a search whose evaluations cost nothing: the upper limit for a search with a network. Games from Python are played
    move by move with `Position.play`. The time for compiling is not counted.

    \b
    Examples
      ludus bench
      ludus bench breakthrough --option height=6 --option width=6
    """
    from ludus.errors import BadOption
    from ludus.terminal.tables import show_bench

    if not 0 < seconds <= 60:
        raise BadOption(f"--seconds must be above 0 and at most 60, not {seconds:g}")
    if game is None and option:
        raise BadOption("--option needs a GAME before it")
    show_bench([make_game(name, option) for name in ([game] if game else ["connect4", "breakthrough"])], seconds)
