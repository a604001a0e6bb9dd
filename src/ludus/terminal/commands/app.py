"""The application that all commands belong to, and the page that `ludus` alone shows."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

AGENTS = (
    "Agents: random; greedy; adversarial:3 (searches 3 plies); uct:10000 (simulations a move); uct:2s (seconds a "
    "move); uct:1000:c=0.7 (with an option); zero:RUN (a trained player); sb3:model.zip (a model of "
    "Stable-Baselines3); solver; human. Other programs: 'engine:COMMAND', 'uhp:COMMAND', cachex:FILE, ggp:HOST:PORT, "
    "openspiel:mcts (ludus docs engines)."
)


@app.callback(invoke_without_command=True)
def ludus(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Ludus: AlphaZero for any board game on ordinary hardware.

    \b
    Begin with
      ludus games                                  list the games
      ludus play connect4 --against uct:10000      play against an agent
      ludus match connect4 uct:1000 uct:100        let two agents play each other
      ludus train connect4 --minutes 10            train a player
      ludus arena RUN                              rate the checkpoints of a training run
      ludus grade zero:RUN connect4                compare its moves with perfect play
      ludus COMMAND --help                         explain a command, with examples
      ludus docs                                   list the pages of the documentation

    GAME is a name from `ludus games`, or the path of a game of your own: a Python file, or rules in GDL (.kif).
    """
    if version:
        from ludus import __version__

        print(f"ludus {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
