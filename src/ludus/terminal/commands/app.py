"""What all commands belong to, and what `ludus` alone shows."""

from __future__ import annotations

from typing import Annotated

import typer

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
