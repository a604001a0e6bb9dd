"""Commands that train players and export their networks."""

from __future__ import annotations

from typing import Annotated

import typer

from ludus.errors import BadOption
from ludus.options import split_assignment
from ludus.terminal.commands.app import app
from ludus.terminal.commands.arguments import (
    Cluster,
    Options,
    Trust,
    make_game,
)


@app.command(short_help="Train a player from nothing.")
def train(
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME", help="A name from `ludus games` or the path of a Python file; not needed with --resume."
        ),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Train until the run has taken this number of minutes in all.")
    ] = None,
    games: Annotated[int | None, typer.Option(metavar="N", help="Train until this number of games was played.")] = None,
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Train until this number of learning steps was taken.")
    ] = None,
    run: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="The folder of the run; by default runs/GAME-DATE.")
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="RUN", help="Continue this run.")] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="RUN[@CHECKPOINT]", help="Start with the weights of another run or player."),
    ] = None,
    recipe: Annotated[
        str | None, typer.Option(metavar="NAME", help="Take settings from a recipe, or from a file that ends in .toml.")
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option("--set", "-s", metavar="NAME=VALUE", help="Change a setting; --settings lists them."),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed of all random numbers, by default 0.")] = None,
    settings: Annotated[
        bool, typer.Option("--settings", help="List all settings; with GAME, as a run would use them.")
    ] = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="The same as --log tensorboard.")] = False,
    log: Annotated[
        list[str] | None,
        typer.Option("--log", metavar="NAME", help="Log to tensorboard, wandb or mlflow as well; may be repeated."),
    ] = None,
    cluster: Cluster = None,
    lockstep: Annotated[
        bool,
        typer.Option(
            "--lockstep", help="With --cluster: repeat the weights of one machine exactly; nodes wait for each other."
        ),
    ] = False,
    option: Options = None,
    trust: Trust = False,
) -> None:
    """Train a player from nothing by self-play. Ctrl-C stops the training, and --resume continues it.

    \b
    Examples
      ludus train connect4 --minutes 10
      ludus train breakthrough --option height=6 --option width=6 --games 2000
      ludus train connect4 --minutes 60 --set blocks=6 --set width=64
      ludus train --resume runs/connect4-20261115-101500 --minutes 30
      ludus train connect4 --option rows=4 --option columns=5 --set size_free=yes --run runs/small
      ludus train connect4 --from runs/small
      ludus train connect4 --cluster auto
    """
    from ludus.terminal.training import run_training, show_settings

    made = make_game(game, option) if game else None
    chosen = read_settings([*(set or []), *([] if seed is None else [f"seed={seed}"])])
    if settings:
        show_settings(made, recipe, chosen, start, resume, trust)
        return
    run_training(
        made,
        logs=[*(log or []), *(["tensorboard"] if tensorboard else [])],
        minutes=minutes,
        games=games,
        steps=steps,
        run=run,
        resume=resume,
        recipe=recipe,
        settings=chosen,
        start=start,
        trust=trust,
        cluster=cluster,
        lockstep=lockstep,
    )


def read_settings(given: list[str]) -> dict[str, str]:
    """The settings of --set name=value."""
    try:
        return dict(split_assignment(text, "--set") for text in given)
    except ValueError as error:
        raise BadOption(str(error)) from None


@app.command(short_help="Train a player of Connect-4 in five minutes and show how it learned.")
def demo(
    minutes: Annotated[float, typer.Option(metavar="M", help="Number of minutes to train.")] = 5.0,
    run: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="The folder of the run; by default runs/demo-DATE.")
    ] = None,
) -> None:
    """Train a player of Connect-4 from nothing, let it play against random and uct:1000, and show how it learned.

    \b
    Example
      ludus demo --minutes 2
    """
    from ludus.terminal.demo import run_demo

    run_demo(minutes, run)


@app.command(short_help="Write a trained network to a file for other programs.")
def export(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN[@CHECKPOINT]", help="A training run, optionally with the number of a checkpoint."),
    ],
    onnx: Annotated[str, typer.Option(metavar="FILE", help="The file to write the ONNX model to.")],
    trust: Trust = False,
) -> None:
    """Write the network of a run as an ONNX model, after comparing it with PyTorch on random input.

    \b
    Example
      ludus export runs/connect4-20261115-101500 --onnx connect4.onnx
    """
    from ludus.terminal.training import show_export

    show_export(run, onnx, trust)


@app.command(short_help="Pack a trained player into one file.")
def pack(
    run: Annotated[
        str,
        typer.Argument(metavar="RUN[@CHECKPOINT]", help="A training run, optionally with the number of a checkpoint."),
    ],
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The file to write; by default RUN.player, beside the run.")
    ] = None,
    note: Annotated[str, typer.Option(metavar="TEXT", help="A text to keep in the file, such as the command.")] = "",
    trust: Trust = False,
) -> None:
    """Write the network of a run and its origin to one small file, which other people can play with.

    \b
    Examples
      ludus pack runs/connect4-20261115-101500 mine.player
      ludus play connect4 --against zero:mine.player
    """
    from ludus.terminal.players import show_pack

    show_pack(run, file, note, trust)
