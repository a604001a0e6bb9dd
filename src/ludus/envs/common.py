"""What all environments share: the game, its spaces, a player's observation and mask, the drawing."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ludus.errors import BadOption, IllegalMove, Unsuitable
from ludus.game import Game
from ludus.position import Position
from ludus.registry import make
from ludus.spec import GameSpec, shortened

GameSource = str | os.PathLike[str] | GameSpec | Game
"""A game, or all that ludus.make takes."""

RENDER_MODES = ["human", "ansi", "rgb_array"]
"""`ansi` gives the board as text, `rgb_array` as an image, `human` prints the text after each step."""
RENDER_FPS = 2

LOSE, RAISE = "lose", "raise"
ILLEGAL = (LOSE, RAISE)
"""What happens at an action that the mask forbids: the game ends and the player gets LOST, or IllegalMove is raised."""
LOST = -1.0
"""The reward of a player whose action is illegal. All other players get 0."""

BEGINNINGS = 100
"""A learner whose games end this many times in a row before its first move cannot learn anything."""


def open_game(source: GameSource, options: dict[str, Any]) -> Game:
    """The compiled game of an environment; Unsuitable if it has no observation."""
    if isinstance(source, Game) and options:
        raise BadOption(f"give the options {', '.join(options)} to ludus.make, which makes the game")
    game = source if isinstance(source, Game) else make(source, **options)
    if game.observation is None:
        raise Unsuitable(f"{game.name} has no observation: an environment needs one (ludus docs writing-a-game)")
    return game.compile()


def choice_of(name: str, value: Any, known: Iterable[Any]) -> Any:
    """`value`, if it is one of the `known` ones; else BadOption names the argument."""
    allowed = list(known)
    if (isinstance(value, np.ndarray) and value.ndim) or value not in allowed:
        raise BadOption(f"{name} must be one of {', '.join(map(str, allowed))}, not {shortened(value)}")
    return value


def known_options(options: dict[str, Any] | None, *known: str) -> dict[str, Any]:
    """The options of a reset; BadOption if one is not `known`."""
    if options is not None and not isinstance(options, Mapping):
        raise BadOption(f"options of a reset must be a dictionary, not {shortened(options)}")
    for name in options or {}:
        if name not in known:
            raise BadOption(f"reset has no option {shortened(name)}; its options are {', '.join(known)}")
    return options or {}


def action_id(action: Any) -> int:
    """An action as a Python integer; IllegalMove if it is none, such as 1.7 or None."""
    try:
        return operator.index(action)
    except TypeError:
        raise IllegalMove(f"an action must be an integer, not {shortened(action)}") from None


def observation_space(game: Game) -> Any:
    """The space of one player's observations."""
    assert game.observation is not None
    low, high = game.observation_bounds
    return spaces.Box(low, high, game.observation, np.float32)


def mask_of(game: Game, actions: list[int]) -> NDArray[np.int8]:
    """int8 [actions]: 1 for these action ids, else 0. Gymnasium's `Discrete.sample` takes it."""
    mask = np.zeros(game.actions, np.int8)
    mask[actions] = 1
    return mask


def render(position: Position, mode: str | None) -> Any:
    """The board as text or as an image uint8 [height, width, 3]; None if the mode is `human`, which prints the text."""
    if mode == "rgb_array":
        from ludus.board.raster import raster

        return raster(position)
    if mode == "human":
        print(position, end="\n\n", flush=True)
    return str(position) if mode == "ansi" else None
