"""Commands that talk to other programs, and that read and draw pictures."""

from __future__ import annotations

import math
from typing import Annotated

import typer

from ludus.terminal.commands.app import AGENTS, app
from ludus.terminal.commands.arguments import (
    Seed,
    Trust,
)


@app.command(short_help="Run a Hive engine for viewers that speak UHP.", epilog=AGENTS)
def uhp(
    agent: Annotated[str, typer.Option(metavar="AGENT", help="The agent that chooses the moves.")] = "uct",
    seed: Seed = 0,
) -> None:
    """Run a Hive engine that speaks the Universal Hive Protocol on standard input and output.

    Name this command as the engine in a viewer such as MzingaViewer. The input `help` lists the commands.

    \b
    Examples
      ludus uhp
      ludus uhp --agent greedy
    """
    from ludus.protocols.uhp import run

    run(agent, seed)


@app.command(short_help="Run an agent as an engine for other programs.", epilog=AGENTS)
def engine(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent that chooses the moves.")] = "uct",
    trust: Trust = False,
) -> None:
    """Run an agent as an engine that speaks Ludus's engine protocol on standard input and output.

    The other program names the game. A game in a Python file is played only with --trust. `ludus docs
    engine-protocol` describes the commands. Two versions of Ludus play each other by it.

    \b
    Examples
      ludus engine uct:1000
      ludus match connect4 "engine:path/to/other/bin/ludus engine uct:1000" uct:1000
    """
    from ludus.protocols.engine import run

    run(agent, trust)


@app.command("sevn-read", short_help="Read a Sevn position from a picture.")
def sevn_read(
    image: Annotated[
        str, typer.Argument(metavar="IMAGE", help="A picture made by sevn-draw, or a screenshot of the phone app.")
    ],
    base: Annotated[
        int | None, typer.Option(metavar="N", help="The base of the board; by default it is detected.")
    ] = None,
    to_move: Annotated[
        int | None,
        typer.Option("--to-move", metavar="1|2", help="The player to move, if the picture does not show it."),
    ] = None,
) -> None:
    """Read a Sevn position from a picture, and print its text.

    The picture is one made by sevn-draw, or a screenshot of the phone app at the beginning of a game.

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
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to draw into, which ends in .png or .jpg.")],
    palette: Annotated[str, typer.Option(metavar="NAME", help="The colours: ludus, dusk, sea or candy.")] = "ludus",
    background: Annotated[
        str, typer.Option(metavar="COLOUR", help="The colour of the background: a name, or #rrggbb.")
    ] = "#f2efe8",
    width: Annotated[int, typer.Option(metavar="N", help="The width of the picture in pixels.")] = 600,
) -> None:
    """Draw a Sevn position as a picture, with the score grid above the board. sevn-read can read it.

    \b
    Example
      ludus sevn-draw 2/-dcc-ba/5.1dbbc.deeaa.eecb1.1ce2 board.png --palette sea
    """
    from ludus.games.sevn import read_record
    from ludus.protocols.sevn_picture import save

    save(read_record(position), file, palette, width, background)


@app.command("cachex-referee", short_help="Let two players written for the Cachex course play.")
def cachex_referee(
    n: Annotated[int, typer.Argument(metavar="N", help="Number of cells along a side, from 3 to 15.")],
    red: Annotated[
        str,
        typer.Argument(
            metavar="RED", help="The red player: a module, file or folder with a class Player, or agent:NAME."
        ),
    ],
    blue: Annotated[str, typer.Argument(metavar="BLUE", help="The blue player, given like RED.")],
    time: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="CPU time of each player; by default n * n seconds, 0 for no limit."),
    ] = None,
    space: Annotated[
        float | None, typer.Option(metavar="MB", help="Memory of each player, beyond the memory that loading it takes.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show only the result.")] = False,
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
        if limit is not None and not 0 <= limit < math.inf:
            raise BadOption(f"--{name} must be a finite number from 0 on, not {limit:g}")
    run(n, red, blue, Limits(n * n if time is None else time or None, space or None), quiet)
