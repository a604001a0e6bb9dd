"""The ids of environments for gymnasium.make and gymnasium.make_vec.

ludus/Connect4-v0    a built-in game: ludus/ and its name with a capital letter
ludus/Game-v0        any game; `game` is its name, its file, or through a bridge: game="gdl:babel"
"""

import gymnasium

from ludus.registry import names

VERSION = 0
"""The version of the environments. Raise it if rewards, observations or masks change for the same moves."""


def register_games() -> None:
    """Register an id for each built-in game, and one for any game; ids that exist already are left alone."""
    _register("Game")
    for name in names():
        _register(name.capitalize(), game=name)


def _register(title: str, **given: str) -> None:
    id = f"ludus/{title}-v{VERSION}"
    if id not in gymnasium.registry:
        gymnasium.register(
            id, entry_point="ludus.envs:GymEnv", vector_entry_point="ludus.envs:VectorEnv", kwargs=dict(given)
        )
