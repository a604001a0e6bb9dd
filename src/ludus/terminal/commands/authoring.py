"""Commands for the authors of games: a file to start from, the check of a game, and the documentation."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.terminal.commands.app import app
from ludus.terminal.commands.arguments import GameName, Options, Seed, make_game


@app.command(short_help="Write a working game to start from.")
def new(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write, such as mygame.py.")],
    kind: Annotated[
        str,
        typer.Option(metavar="KIND", help="grid (stones on a grid), simultaneous, or python (any Python objects)."),
    ] = "grid",
) -> None:
    """Write a working game to start from, and show the commands that check, play and train it.

    An existing file is never overwritten. The comments in the file explain the parts of a game.

    \b
    Examples
      ludus new mygame.py
      ludus new duel.py --kind simultaneous
    """
    from ludus.terminal.authoring import show_new

    show_new(file, kind)


@app.command(short_help="Check that a game of your own keeps its promises.")
def check(
    game: GameName,
    option: Options = None,
    games: Annotated[int, typer.Option(metavar="N", help="Number of random games to play.")] = 20,
    seed: Seed = 0,
    compile: Annotated[
        bool, typer.Option(help="After the verdict, compile the game for match and training; Ctrl-C skips it.")
    ] = True,
) -> None:
    """Check that a game of your own keeps the promises of its interface. The exit code is 1 if it breaks one.

    Random games are played in plain Python and in machine code side by side. Moves and results must be the same, action
    ids in range, nothing written out of bounds, text and notation read as they were written, and symmetries valid.
    Without --option, the variants that the game lists are checked too, in plain Python.

    \b
    Example
      ludus check path/to/mygame.py
    """
    from ludus.errors import BadOption
    from ludus.terminal.authoring import show_check

    if games < 1:
        raise BadOption(f"--games must be at least 1, not {games}")
    if not show_check(make_game(game, option) if option else game, games, seed, compile):
        raise typer.Exit(1)


@app.command(short_help="Show the documentation.")
def docs(
    page: Annotated[str | None, typer.Argument(metavar="PAGE", help="A page; without one, all are listed.")] = None,
) -> None:
    """Show a page of the documentation, as Markdown, or list all pages.

    \b
    Examples
      ludus docs
      ludus docs writing-a-game
      ludus docs engines | less
    """
    from ludus.pages import pages, read_page, title_of

    if page is not None:
        print(read_page(page), end="")
        return
    for name, file in pages().items():
        print(f"{name:22} {title_of(file)}")
