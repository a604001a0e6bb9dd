"""The command that starts the server of the browser board."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ludus.terminal.commands.app import app
from ludus.terminal.commands.arguments import read_size


@app.command(short_help="Play, analyse and train in the browser.")
def web(
    port: Annotated[int, typer.Option(metavar="N", help="Port to listen at; 0 takes a free one.")] = 8000,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Address to listen at; another than loopback needs --token.")
    ] = "127.0.0.1",
    token: Annotated[
        str, typer.Option(metavar="SECRET", help="Secret of 8 or more letters and digits that every browser must know.")
    ] = "",
    games: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Folder in which games are kept; by default a data folder.")
    ] = None,
    runs: Annotated[str, typer.Option(metavar="FOLDER", help="Folder of training runs.")] = "runs",
    results: Annotated[str, typer.Option(metavar="FILE", help="File of results of the arena.")] = "results.sqlite",
    game: Annotated[
        list[str] | None,
        typer.Option("--game", metavar="FILE", help="A game of your own, .py (is run) or .kif; may be repeated."),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", metavar="AGENT", help="An external program that may have a seat; may be repeated."),
    ] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the browser.")] = True,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Memory for the trees of all agents; by default a quarter of the machine's."),
    ] = None,
) -> None:
    """Play, analyse, train and rate in the browser. The server listens on loopback unless you say otherwise.

    \b
    Examples
      ludus web
      ludus web --game my_game.py --runs runs
      ludus web --agent "uhp:path/to/engine:5s"
      ludus web --host 0.0.0.0 --token SECRET123    other machines can open the printed address
    """
    from ludus.errors import missing_package

    try:
        from ludus.web.serving import serve
    except ModuleNotFoundError as error:
        raise missing_package("the browser board", error.name, "web") from None
    from ludus.web.settings import WebSettings, data_folder

    settings = WebSettings(
        host,
        port,
        token,
        data_folder() / "games" if games is None else Path(games),
        Path(runs),
        Path(results),
        tuple(game or ()),
        tuple(agent or ()),
        0 if memory is None else read_size(memory),
    )
    serve(settings, browser, print)
    # A thread may be in the compiler, or wait for clingo. Neither can be interrupted, and nothing of theirs is kept.
    sys.stdout.flush()
    os._exit(0)
