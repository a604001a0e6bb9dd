"""The command line. Every mistake of the user's gets one line on standard error and exit code 2, never a traceback.

Nothing heavy is imported before a command needs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from ludus.arguments import (
    Anchor,
    AnchorRating,
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
    read_size,
    start_of,
)

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

AGENTS = (
    "Agents: random, greedy, adversarial:3 (plies ahead), uct:10000 (simulations a move), uct:2s (seconds), "
    "uct:1000:c=0.7, zero:RUN (a trained one), solver, human."
)


@app.callback(invoke_without_command=True)
def ludus(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Ludus: AlphaZero for any board game on ordinary hardware.

    \b
    Begin with
      ludus games                                  the games there are
      ludus play connect4 --against uct:10000      play one
      ludus match connect4 uct:1000 uct:100        let two agents play
      ludus train connect4 --minutes 10            let one learn
      ludus arena RUN                              see how strong it has become
      ludus grade zero:RUN connect4                and how far from perfect it is
      ludus COMMAND --help                         what a command does, with examples

    Wherever GAME is asked for, the path of a Python file of your own does as well.
    """
    if version:
        from ludus import __version__

        print(f"ludus {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


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
    from ludus.terminal.play import Session, find_seat

    start = start_of(make_game(game, option), position, moves, seed)
    Session(start, against, find_seat(start, seat), seed).run()


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
) -> None:
    """Show a recorded game move by move, with what each agent thought.

    \b
    Examples
      ludus replay runs/connect4-20261115-101500
      ludus replay results.sqlite 17 --all
    """
    from ludus.terminal.replay import show_replay

    show_replay(results, number, all)


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
      ludus train connect4 --set grade_every=5 --set grade_positions=connect4.txt
    """
    from ludus.terminal.grading import show_grades

    seconds = read_limit(limit)
    assert seconds is not None
    show_grades(agent, make_game(game, option), positions, count, seed, seconds)


@app.command(short_help="Train a player from nothing.")
def train(
    game: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="As for `ludus play`; not with --resume.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Train for so long (in all, when resumed).")
    ] = None,
    games: Annotated[int | None, typer.Option(metavar="N", help="Or until so many games were played.")] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Or until so many steps were learned.")] = None,
    run: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where; by default runs/GAME-DATE.")] = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Go on with a run.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", metavar="RUN[@CHECKPOINT]", help="Begin with the weights of another run.")
    ] = None,
    recipe: Annotated[str | None, typer.Option(metavar="NAME", help="Settings by name: a file, or a recipe.")] = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", "-s", metavar="NAME=VALUE", help="A setting; see --settings.")
    ] = None,
    settings: Annotated[bool, typer.Option("--settings", help="List all settings, with their defaults.")] = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Keep the log for TensorBoard too.")] = False,
    option: Options = None,
) -> None:
    """Train a player from nothing by playing against itself. Ctrl-C stops it; --resume goes on.

    \b
    Examples
      ludus train connect4 --minutes 10
      ludus train breakthrough --option height=6 --option width=6 --games 2000
      ludus train connect4 --minutes 60 --set blocks=6 --set width=64
      ludus train --resume runs/connect4-20261115-101500 --minutes 30
      ludus train connect4 --option rows=4 --option columns=5 --set sizefree=yes --run runs/small
      ludus train connect4 --from runs/small
    """
    from ludus.terminal.training import show_settings, start_training

    if settings:
        show_settings()
        return
    made = make_game(game, option) if game else None
    start_training(made, run, resume, recipe, set or [], minutes, games, steps, start, tensorboard)


@app.command(short_help="See it learn Connect-4 from nothing, in five minutes.")
def demo(
    minutes: Annotated[float, typer.Option(metavar="M", help="Train for so long.")] = 5.0,
    run: Annotated[str | None, typer.Option(metavar="FOLDER", help="Where; by default runs/demo-DATE.")] = None,
) -> None:
    """Train a player of Connect-4 from nothing, let it play random and uct:1000, and show how it learned.

    \b
    Example
      ludus demo --minutes 2
    """
    from ludus.terminal.demo import run_demo

    run_demo(minutes, run)


@app.command(short_help="Write a trained network to a file for other programs.")
def export(
    run: Annotated[
        str, typer.Argument(metavar="RUN[@CHECKPOINT]", help="A training run, at its end or at a checkpoint.")
    ],
    onnx: Annotated[str, typer.Option(metavar="FILE", help="Where to write the ONNX model.")],
) -> None:
    """Write the network of a run as an ONNX model, checked against PyTorch on random input.

    \b
    Example
      ludus export runs/connect4-20261115-101500 --onnx connect4.onnx
    """
    from ludus.terminal.training import export_onnx

    export_onnx(run, onnx)


@app.command(short_help="Count the lines of play to a depth.")
def perft(
    game: GameName,
    depth: Annotated[int, typer.Option(metavar="N", help="How many plies deep.")],
    option: Options = None,
    position: PositionText = None,
    moves: Moves = None,
) -> None:
    """Count the lines of play to a depth: the classic check of a game's rules, and of their speed.

    \b
    Examples
      ludus perft connect4 --depth 8
      ludus perft breakthrough --depth 5 --option height=6 --option width=6
    """
    from ludus.errors import BadOption
    from ludus.terminal.tables import show_perft

    if depth < 1:
        raise BadOption(f"--depth must be at least 1, not {depth}")
    show_perft(start_of(make_game(game, option), position, moves), depth)


@app.command(short_help="Solve a position exactly.")
def solve(
    game: GameName,
    option: Options = None,
    position: PositionText = None,
    moves: Moves = None,
    limit: Annotated[str | None, typer.Option(metavar="TIME", help="Give up after this long: 30s, 5min.")] = None,
    memory: Annotated[str, typer.Option(metavar="SIZE", help="For the table of positions.")] = "256MB",
) -> None:
    """Solve a position exactly: its value, and every move's, with perfect play. For two-player games.

    \b
    Examples
      ludus solve tictactoe
      ludus solve connect4 --option rows=4 --option columns=5
      ludus solve connect4 --moves 'd d d d d a e e e e e a b b b'
    """
    from ludus.terminal.tables import show_solution

    seconds, size = read_limit(limit), read_size(memory)
    show_solution(start_of(make_game(game, option), position, moves), seconds, size)


@app.command(short_help="Measure what this machine does.")
def bench(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="By default connect4 and breakthrough.")] = None,
    option: Options = None,
    seconds: Annotated[float, typer.Option(metavar="S", help="For each figure.")] = 1.2,
) -> None:
    """Measure what this machine does: playouts, searches and games a second. Takes about 15 seconds.

    Playouts are whole games of random moves. uct adds a tree to them. Tree operations are what a search costs when the
    evaluation of positions costs nothing: a network can only make it slower. Games from Python go move by move through
    the interface for people. Compiling is not counted.

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


@app.command(short_help="Check that a game of your own keeps its promises.")
def check(
    game: GameName,
    option: Options = None,
    games: Annotated[int, typer.Option(metavar="N", help="How many random games to play.")] = 20,
    seed: Seed = 0,
) -> None:
    """Check that a game keeps its promises; for a game of your own. Exit code 1 if it breaks one.

    Random games are played in plain Python and in machine code side by side: the same moves and results, ids in range,
    nothing written out of bounds, text and notation read as they were written, symmetries that are ones.

    \b
    Example
      ludus check path/to/mygame.py
    """
    from ludus.errors import BadOption
    from ludus.terminal.tables import show_check

    if games < 1:
        raise BadOption(f"--games must be at least 1, not {games}")
    if not show_check(make_game(game, option) if option else game, games, seed):
        raise typer.Exit(1)


@app.command(short_help="Be a Hive engine for viewers that speak UHP.", epilog=AGENTS)
def uhp(
    agent: Annotated[str, typer.Option(metavar="AGENT", help="Who chooses the best moves.")] = "uct",
    seed: Seed = 0,
) -> None:
    """Be a Hive engine: speak the Universal Hive Protocol on standard input and output.

    Name this command as the engine in a viewer such as MzingaViewer, or type: help lists the commands.

    \b
    Examples
      ludus uhp
      ludus uhp --agent greedy
    """
    from ludus.protocols.uhp import run

    run(agent, seed)


@app.command("sevn-read", short_help="Read a Sevn position from a picture.")
def sevn_read(
    image: Annotated[str, typer.Argument(metavar="IMAGE", help="A picture of our own, or a screenshot of the app.")],
    base: Annotated[int | None, typer.Option(metavar="N", help="The base of the board; else it is found out.")] = None,
    to_move: Annotated[
        int | None, typer.Option("--to-move", metavar="1|2", help="Whose turn it is, where the picture does not tell.")
    ] = None,
) -> None:
    """Read a Sevn position from a picture, and print its text: of sevn-draw, or of the phone app when a game begins.

    \b
    Examples
      ludus sevn-read board.png
      ludus play sevn --position "$(ludus sevn-read screenshot.png --to-move 2)"
    """
    from ludus.errors import BadOption
    from ludus.protocols.sevn_screen import read_picture

    if to_move not in (None, 1, 2):
        raise BadOption(f"--to-move must be 1 or 2, not {to_move}")
    print(read_picture(image, base, to_move).text)


@app.command("sevn-draw", short_help="Draw a Sevn position as a picture.")
def sevn_draw(
    position: Annotated[str, typer.Argument(metavar="TEXT", help="A position, or a record of a game.")],
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to put it; ends in .png or .jpg.")],
    palette: Annotated[str, typer.Option(metavar="NAME", help="ludus, dusk, sea or candy.")] = "ludus",
    background: Annotated[str, typer.Option(metavar="COLOUR", help="A name, or #rrggbb.")] = "#f2efe8",
    width: Annotated[int, typer.Option(metavar="N", help="In pixels.")] = 600,
) -> None:
    """Draw a Sevn position as a picture: the score grid above the board. sevn-read reads it again.

    \b
    Example
      ludus sevn-draw 2/-dcc-ba/5.1dbbc.deeaa.eecb1.1ce2 board.png --palette sea
    """
    from ludus.games.sevn import read_record
    from ludus.protocols.sevn_picture import save

    save(read_record(position), file, palette, width, background)


@app.command("cachex-referee", short_help="Let two players written for the Cachex course play.")
def cachex_referee(
    n: Annotated[int, typer.Argument(metavar="N", help="The cells along a side, from 3 to 15.")],
    red: Annotated[
        str, typer.Argument(metavar="RED", help="A module, file or folder with a class Player, or agent:NAME.")
    ],
    blue: Annotated[str, typer.Argument(metavar="BLUE", help="The same for the other side.")],
    time: Annotated[
        float | None, typer.Option(metavar="SECONDS", help="Processor time each; by default n * n, 0 for no limit.")
    ] = None,
    space: Annotated[float | None, typer.Option(metavar="MB", help="Memory each, beyond that of loading.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show the result only.")] = False,
) -> None:
    """Let two players play a game of Cachex, each in a process of its own, with limits on time and memory.

    A player is a module with a class Player, as for the referee of the University of Melbourne's course. It loses by an
    illegal action, an error, or too much time or memory.

    \b
    Examples
      ludus cachex-referee 8 my_player.py agent:uct
      ludus cachex-referee 5 my_package other_package:Player --time 10 --space 100
      ludus cachex-referee 6 agent:adversarial:2 agent:greedy --quiet
    """
    from ludus.errors import BadOption
    from ludus.protocols.cachex_referee import Limits, run

    for name, limit in (("time", time), ("space", space)):
        if limit is not None and not limit >= 0:
            raise BadOption(f"--{name} must be a number from 0 on, not {limit:g}")
    run(n, red, blue, Limits(n * n if time is None else time or None, space or None), quiet)


# --- The way in -------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    command = typer.main.get_command(app)
    given = list(sys.argv[1:] if arguments is None else arguments)
    if hasattr(sys.stdin, "reconfigure"):
        sys.stdin.reconfigure(errors="replace")
    try:
        with command.make_context("ludus", given) as context:
            command.invoke(context)
        sys.stdout.flush()
    except typer.Exit as exit:
        return exit.exit_code
    except KeyboardInterrupt:
        return fail("interrupted", 130)
    except BrokenPipeError:  # whoever read our output has enough, as head does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        if os.environ.get("LUDUS_TRACEBACK"):
            raise
        return fail(explain(error), 2)
    return 0


def fail(message: str, code: int) -> int:
    """One line on standard error, after all that stands on standard output."""
    sys.stdout.flush()
    print(f"ludus: {' '.join(message.split())}", file=sys.stderr)
    return code


def explain(error: Any) -> str:
    """What went wrong, in a line."""
    from ludus.errors import LudusError

    if isinstance(error, LudusError):
        return str(error)
    if hasattr(error, "format_message"):  # the command could not be understood
        message = error.format_message().rstrip(".")
        where = getattr(getattr(error, "ctx", None), "command_path", "ludus")
        return f"{message[:1].lower()}{message[1:]}" + ("" if message.endswith("?") else f"; see {where} --help")
    if isinstance(error, MemoryError):
        return "there is not enough memory for this"
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return f"{message[:400]} (LUDUS_TRACEBACK=1 shows where)"


if __name__ == "__main__":
    sys.exit(main())
