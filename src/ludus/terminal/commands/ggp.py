"""Commands of general game playing: a player, a game manager, and learning inside a start clock."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.terminal.commands.app import app
from ludus.terminal.commands.arguments import Seed

ggp = typer.Typer(
    rich_markup_mode=None,
    help="Play games in GDL with other programs: a player, a game manager, and learning inside a start clock.",
    short_help="Play games in GDL with other programs.",
)
app.add_typer(ggp, name="ggp")

Rules = Annotated[str, typer.Argument(metavar="RULES", help="The path of a .kif file, or gdl:NAME from `ludus games`.")]


@ggp.command(short_help="Run a player that game managers call.")
def player(
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="The port to listen on; 0 takes a free one.")
    ] = 9147,
    host: Annotated[
        str,
        typer.Option(metavar="HOST", help="The address to listen on. Other machines reach the player at 0.0.0.0 only."),
    ] = "127.0.0.1",
    name: Annotated[str, typer.Option(metavar="NAME", help="The name that the player answers to INFO.")] = "ludus",
    learn: Annotated[
        bool, typer.Option("--learn/--no-learn", help="Train a network in start clocks of 30 seconds or more.")
    ] = True,
) -> None:
    """Run a player of general game playing. It plays the matches that a game manager starts, one after the other.

    The player answers INFO, START, PLAY, STOP, ABORT and PREVIEW by HTTP. It keeps a tenth of each clock in reserve, at
    least a quarter of a second and at most two seconds. Between its moves it thinks on. Ctrl-C ends it.

    Rules that can be grounded are searched with compiled code, all others by the reasoner, which is slower. If loading
    takes longer than the start clock, random legal moves are played until it is done.

    \b
    Examples
      ludus ggp player
      ludus ggp player --port 9148 --no-learn
      ludus ggp player --host 0.0.0.0 --name my-player
    """
    from ludus.terminal.ggp import run_player

    run_player(host, port, name, learn)


@ggp.command(short_help="Run a game manager: let players play, and record their games.")
def match(
    rules: Rules,
    players: Annotated[
        list[str], typer.Argument(metavar="HOST:PORT", help="The addresses of the players, one for each role.")
    ],
    start_clock: Annotated[
        int, typer.Option("--start-clock", metavar="S", help="Seconds between START and the first PLAY.")
    ] = 60,
    play_clock: Annotated[int, typer.Option("--play-clock", metavar="S", help="Seconds for each move.")] = 10,
    games: Annotated[int, typer.Option(metavar="N", help="Number of games; the players change roles each time.")] = 1,
    scramble: Annotated[
        bool, typer.Option("--scramble", help="Rename all words of the description, differently in each game.")
    ] = False,
    results: Annotated[
        str | None, typer.Option(metavar="FILE", help="Record the games in this file, for ludus ratings and replay.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", metavar="N", min=0, max=2**62, help="Seed of scrambling and of moves that are replaced."
        ),
    ] = None,
) -> None:
    """Run a game manager: let players at these addresses play a game in GDL, and show their scores.

    A move that is late, illegal, garbled or missing is replaced by a random legal one, and the game goes on. Each such
    fault is shown, and the record of the game counts them. Answers may be one second late, for the network.

    \b
    Examples
      ludus ggp match gdl:connect4 127.0.0.1:9147 127.0.0.1:9148 --play-clock 5 --games 10
      ludus ggp match rules.kif 127.0.0.1:9147 --start-clock 30 --scramble --results results.sqlite
    """
    from ludus.protocols.ggp_manager import Settings
    from ludus.terminal.ggp import run_manager

    run_manager(rules, players, Settings(start_clock, play_clock, games, seed, scramble), results)


@ggp.command("train-within", short_help="Learn a game inside a start clock, and choose who plays it.")
def train_within(
    rules: Rules,
    start_clock: Annotated[
        float, typer.Option("--start-clock", metavar="S", help="Seconds in which everything must be done.")
    ] = 600.0,
    run: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="The folder of the run; by default runs/GAME-DATE.")
    ] = None,
    role: Annotated[
        str | None, typer.Option(metavar="ROLE", help="The role to choose an agent for; by default all roles alike.")
    ] = None,
    seed: Seed = 0,
) -> None:
    """Learn a game inside a start clock, as `ludus ggp player` does, and choose the agent that plays it best.

    A network is trained for four fifths of the time. Then plain UCT, the search with the network and their mixture play
    short games against UCT, and the one with the highest mean value is chosen. A few seconds stay unused. Compiling,
    once on a machine, is not part of the clock.

    \b
    Examples
      ludus ggp train-within gdl:breakthrough-6x6 --start-clock 600
      ludus ggp train-within rules.kif --start-clock 60 --role white
    """
    from ludus.terminal.ggp import run_train_within

    run_train_within(rules, start_clock, run, role, seed)
