"""Commands for descriptions in GDL, the Game Description Language."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.terminal.commands.app import app

gdl = typer.Typer(
    rich_markup_mode=None,
    help="Check and describe rules in GDL, the Game Description Language.",
    short_help="Check and describe rules in GDL.",
)
app.add_typer(gdl, name="gdl")

File = Annotated[str, typer.Argument(metavar="FILE", help="The path of a .kif file, or gdl:NAME from `ludus games`.")]


@gdl.command(short_help="List the errors and warnings of a description.")
def check(file: File) -> None:
    """List the errors and warnings of a description, each with its line and column. The exit code is 1 for errors.

    \b
    Example
      ludus gdl check path/to/rules.kif
    """
    from ludus.terminal.gdl import show_problems

    if not show_problems(file):
        raise typer.Exit(1)


@gdl.command(short_help="Show what is known about a game in GDL.")
def info(file: File) -> None:
    """Show roles, facts, moves, the board and symmetries that were found, and the length and branching of random games.

    \b
    Examples
      ludus gdl info path/to/rules.kif
      ludus gdl info gdl:pacman
    """
    from ludus.terminal.gdl import show_info

    show_info(file)
